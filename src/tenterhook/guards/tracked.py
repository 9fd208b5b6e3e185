"""Whether git can restore a file or directory: everything in it is tracked and unchanged."""

from __future__ import annotations

import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST_INDEX = 1_000_000  # bytes; a larger one would take too long
MOST_FILES = 1_000

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">8xII20xI20xH")  # mtime in seconds and nanoseconds, size, flags
_EXTENDED = 0x4000
_NAME_LENGTH = 0x0FFF


def can_restore(path: str, root: str) -> bool:
    """Whether `git restore` would restore all of a path in the repository at `root`.

    False if it does not exist, or if the index is too large, of an unknown version, or elsewhere.
    """
    try:
        wanted = [(os.path.relpath(file, root), os.lstat(file)) for file in _files(path, [MOST_FILES])]
        if not wanted or os.path.getsize(f"{root}/.git/index") > LARGEST_INDEX:
            return False
        with open(f"{root}/.git/index", "rb") as index:
            known = dict(_entries(index.read()))
    except (OSError, ValueError, struct.error):
        return False
    return all(
        known.get(os.fsencode(name)) == (int(seen.st_mtime), seen.st_mtime_ns % 10**9, seen.st_size & 0xFFFFFFFF)
        for name, seen in wanted
    )


def _files(path: str, left: list[int]) -> Iterator[str]:
    """Yield the files at and below a path. Raises `ValueError` if there are too many."""
    left[0] -= 1
    if left[0] < 0:
        raise ValueError("too many files")
    if os.path.isdir(path) and not os.path.islink(path):
        for name in os.listdir(path):
            yield from _files(f"{path}/{name}", left)
    else:
        yield path


def _entries(index: bytes) -> Iterator[tuple[bytes, tuple[int, int, int]]]:
    """Yield the paths in an index of version 2 or 3, with the recorded time and size of each file."""
    signature, version, count = _HEADER.unpack_from(index)
    if signature != b"DIRC" or version not in (2, 3):
        raise ValueError("an index that is not read")
    at = _HEADER.size
    for _ in range(count):
        seconds, nanoseconds, size, flags = _ENTRY.unpack_from(index, at)
        start = at + _ENTRY.size + (2 if flags & _EXTENDED else 0)
        end = index.index(b"\0", start + (flags & _NAME_LENGTH))
        yield index[start:end], (seconds, nanoseconds, size)
        at += (end - at) // 8 * 8 + 8
