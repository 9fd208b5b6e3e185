"""Noticing that a hook or its cases have changed."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

Signature = dict[str, tuple[int, int, int, int]]

_POLL = 0.2  # seconds
_MOST_FILES = 20_000


def signature(paths: Iterable[str]) -> Signature:
    """Every file at or below these paths with what changes when it does."""
    found: Signature = {}
    for path in paths:
        _note(path, found)
        for directory, folders, names in os.walk(path):
            folders[:] = [name for name in folders if name not in (".git", "node_modules", "__pycache__")]
            for name in (*folders, *names):
                _note(os.path.join(directory, name), found)
            if len(found) > _MOST_FILES:
                return found
    return found


def _note(path: str, found: Signature) -> None:
    try:
        seen = os.stat(path)
    except OSError:  # gone, or a link that leads nowhere: noticed when it is there
        return
    found[path] = (seen.st_mtime_ns, seen.st_size, seen.st_ino, seen.st_mode)


def wait_for_change(paths: Iterable[str], before: Signature) -> list[str]:
    """Wait until something is other than before, and then until it has settled; return what it was."""
    paths = list(paths)
    while (now := signature(paths)) == before:
        time.sleep(_POLL)
    while (later := signature(paths)) != now:  # an editor writes in several steps
        now = later
        time.sleep(_POLL / 4)
    return sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path))
