"""An installation as version 0.1 left it."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from tenterhook.agents.codex import AGENT as CODEX
from tenterhook.install import launcher, trust_tables

VERSION_0_1 = Path(__file__).parent / "version_0_1"  # what it wrote, with names for the places


def install_as_before(home: Path) -> None:
    """The settings and the records that version 0.1 left behind, in all seven agents."""
    places = {"home": home, "python": sys.executable, "source": Path(launcher.BRIDGE).parent.parent}
    places["packages"] = sysconfig.get_path("purelib")
    for file in filter(Path.is_file, VERSION_0_1.rglob("*")):
        text = file.read_text()
        for name, place in places.items():
            text = text.replace(f"@{name}@", str(place))
        written = home / str(file.relative_to(VERSION_0_1)).replace("dot-", ".", 1)
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(text)
        written.chmod(0o600)
    # Codex's hashes are of the commands with the places in them
    hooks, config = home / ".codex/hooks.json", home / ".codex/config.toml"
    hashes = trust_tables.wanted(CODEX, str(hooks), hooks.read_bytes())
    config.write_bytes(trust_tables.with_hashes(CODEX.trust_table, config.read_bytes(), hashes))
