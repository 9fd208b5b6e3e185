"""A directory as it is, to the byte."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def tree(directory: Path) -> dict[str, tuple[int, bytes | str]]:
    """Everything below a directory: its mode, and its bytes or where it leads."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(directory.rglob("*")):
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        found[str(path.relative_to(directory))] = stat.S_IMODE(path.lstat().st_mode), content
    return found
