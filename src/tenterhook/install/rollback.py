"""Undoing a command that was interrupted: files and directories are restored."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from ..basics import places


class Rollback:
    """The state of files before a command changed them."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[bytes, int]] = {}  # content and mode
        self._entries: dict[str, set[str]] = {}  # the names in a directory
        self._missing: list[str] = []
        self._parents: list[str] = []  # directories that were missing above those, the deepest first

    def keep(self, path: str) -> None:
        """Save a file, or a directory with its content, as it is now; what is missing now is deleted by `undo`."""
        if os.path.isdir(path) and not os.path.islink(path):
            self._entries[path] = set(os.listdir(path))
            for name in self._entries[path]:
                self.keep(os.path.join(path, name))
        elif os.path.isfile(path):
            self._files[path] = Path(path).read_bytes(), stat.S_IMODE(os.stat(path).st_mode)
        else:
            self.keep_missing(path)

    def keep_missing(self, path: str) -> None:
        """Have `undo` delete a file or directory if it is missing now; else it is left alone."""
        if os.path.lexists(path):
            return
        self._missing.append(path)
        above = os.path.dirname(path)
        while not os.path.isdir(above):
            self._parents.append(above)
            above = os.path.dirname(above)

    def undo(self) -> None:
        """Restore everything."""
        for directory, names in self._entries.items():
            for name in set(os.listdir(directory)) - names if os.path.isdir(directory) else ():
                _delete(os.path.join(directory, name))
        for path in self._missing:
            _delete(path)
        for path in self._parents:
            with suppress(OSError):  # not empty: it has other files by now
                os.rmdir(path)
        for path, (content, mode) in self._files.items():
            if not os.path.isfile(path) or Path(path).read_bytes() != content:
                places.make_directories(os.path.dirname(path))
                places.replace_file(path, content, sync=True)
                os.chmod(path, mode)


def _delete(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        Path(path).unlink(missing_ok=True)
