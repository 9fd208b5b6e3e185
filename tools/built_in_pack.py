"""packs/built-in: the built-in hooks as a pack, generated from src/tenterhook/hooks.

python -m tools.built_in_pack    write it anew
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tenterhook import __version__
from tenterhook.cli.setup import RECOMMENDED

from .smoke import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HOOKS = ROOT / "src" / "tenterhook" / "hooks"
PACK = ROOT / "packs" / "built-in"
_PACK_FILE = """\
# Written by `make packs` from src/tenterhook/hooks: change the hooks there.
name = "built-in"
description = "The built-in hooks of Tenterhook"
requires = "{version}"
hooks = [{hooks}]   # by default; the others with --only
"""


def files() -> dict[str, tuple[bytes, bool]]:
    """Return the files of the pack: the content of each, and whether it is executable."""
    hooks = ", ".join(f'"{name}"' for name in RECOMMENDED)
    found = {"pack.toml": (_PACK_FILE.format(version=__version__, hooks=hooks).encode(), False)}
    for file in sorted(HOOKS.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            content = file.read_bytes(), bool(file.stat().st_mode & 0o100)
            found[f"hooks/{file.relative_to(HOOKS)}"] = content
    return found


def write(directory: Path = PACK) -> None:
    """Replace the pack in a directory."""
    shutil.rmtree(directory, ignore_errors=True)
    for name, (content, is_executable) in files().items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o755 if is_executable else 0o644)


if __name__ == "__main__":
    write()
    print(f"written: {PACK.relative_to(ROOT)}")
