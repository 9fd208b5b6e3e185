"""requirements.lock: pinned versions, with hashes, of all packages for development, tests, the site and releases.

python -m tools.lock [--check]    write it anew, keeping versions that still fit; or check that it is current
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from .smoke import ROOT

LOCK = ROOT / "requirements.lock"


class LockError(Exception):
    """The lock file cannot be made, or must not be committed."""


def resolve(known: Path, *, upgrade: bool = False) -> str:
    """Return the lock file for the current pyproject.toml; versions in `known` are kept if they fit."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary, LOCK.name)
        if known.exists() and not upgrade:
            shutil.copy(known, made)
        line = [str(Path(sys.executable).with_name("uv")), "pip", "compile", "--quiet", "pyproject.toml"]
        line += ["--all-extras", *(word for name in groups for word in ("--group", name))]
        line += ["--universal", "--python-version", "3.11", "--generate-hashes", "--no-annotate"]
        line += ["--custom-compile-command", "make lock", "--output-file", str(made)]
        ended = subprocess.run(line, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            raise LockError(ended.stderr.strip())
        text = made.read_text()
    if found := re.search(r"^.*(?:\w:/|^-|@ ).*$", text.replace("    --hash=sha256:", ""), re.MULTILINE):
        raise LockError(f"an address, a path or an option of this machine's index: {found[0]}")
    return text


def main(arguments: list[str]) -> int:
    try:
        text = resolve(LOCK, upgrade="--upgrade" in arguments)
    except LockError as error:
        print(error, file=sys.stderr)
        return 1
    if "--check" in arguments:
        is_current = LOCK.exists() and LOCK.read_text() == text
        print("requirements.lock is current" if is_current else "requirements.lock is not current: make lock")
        return 0 if is_current else 1
    LOCK.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
