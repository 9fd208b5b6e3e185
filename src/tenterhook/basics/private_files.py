"""Private files, which no other account can write. Caches are used only if they are private.

Imports nothing that would slow down the start of the bridge.
"""

from __future__ import annotations

import os
import stat

from . import light_json, places

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")

_A_DAY = 86400  # seconds
_KEPT = 30 * _A_DAY

_MOST_PARSED = 16  # files
_PARSED: dict[str, tuple[tuple[int, ...], Any]] = {}


def read(file: str) -> bytes | None:
    """Return a private file's content; None if it or its directory is not ours, or another account can write there."""
    return parsed(file, bytes)


def read_json(file: str) -> dict[str, Any]:
    """Return the JSON object in a private file; empty if it is not private, like `read`, or contains none."""
    try:
        found = light_json.loads((read(file) or b"").decode())
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def parsed(file: str, parse: Callable[[bytes], T]) -> T | None:
    """Return the parsed content of a private file, or None, like `read`. It is parsed again only if it has changed."""
    try:
        if not _is_private(os.lstat(os.path.dirname(file)), 0o040000):
            return None
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not _is_private(found, 0o100000):
            return None
        known = _PARSED.get(file)
        if known is not None and known[0] == signature_of(found):
            return known[1]  # type: ignore[no-any-return]  # a file is parsed in one way only
        data = b""
        while piece := os.read(descriptor, found.st_size + 1 - len(data)):
            data += piece
            if len(data) > found.st_size:
                return None
        value = parse(data)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if len(_PARSED) >= _MOST_PARSED:
        _PARSED.clear()
    _PARSED[file] = (signature_of(found), value)
    return value


def read_regular(file: str, most: int, *, no_links: bool = False) -> bytes | None:
    """Return at most `most` bytes of a regular file; None for anything else, with `no_links` also for links."""
    links = os.O_NOFOLLOW if no_links else 0
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | links)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        is_linked = no_links and found.st_nlink != 1
        return os.read(descriptor, most) if stat.S_ISREG(found.st_mode) and not is_linked else None
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_private(found: os.stat_result, kind: int) -> bool:
    return found.st_mode & 0o170000 == kind and found.st_uid == os.getuid() and not found.st_mode & 0o022


def write(file: str, data: bytes) -> None:
    """Write a private file; failures are ignored, as for a cache."""
    try:
        places.make_private(os.path.dirname(file))
        places.replace_file(file, data)
    except OSError:
        pass


def signature(path: str) -> tuple[int, ...] | None:
    """Return a value that changes with a file or directory, even if its time and size are restored; None if missing."""
    try:
        return signature_of(os.stat(path))
    except OSError:
        return None


def signature_of(found: os.stat_result) -> tuple[int, ...]:
    return (
        *(found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev),
        *(found.st_mode, found.st_uid, found.st_gid),
    )


def is_fresh(files: list[tuple[str, tuple[int, ...] | None]]) -> bool:
    """Whether each file still has the given signature."""
    return all(signature(path) == known for path, known in files)


def forget_old(directory: str, seconds: float = _KEPT) -> None:
    """Remove entries that were not modified for `seconds`, by default a month; at most once a day."""
    import time

    looked, now = f"{directory}.looked", time.time()  # the file is beside the directory
    try:
        if os.stat(looked).st_mtime > now - _A_DAY:
            return
    except OSError:  # not done yet
        pass
    try:
        with os.scandir(directory) as entries:
            old = [each for each in entries if each.stat().st_mtime < now - seconds]
        places.replace_file(looked, b"")
    except OSError:
        return
    for each in old:
        if each.is_dir(follow_symlinks=False):
            import shutil

            shutil.rmtree(each.path, ignore_errors=True)
        else:
            try:
                os.unlink(each.path)
            except OSError:  # another process has removed it
                pass


def writable_by_others(path: str) -> str | None:
    """Return a file, or the parent of it or its real path, that another account could change; or None."""
    named, real = os.path.abspath(path), os.path.realpath(path)
    return _first_writable(real) or (_first_writable(named) if named != real else None)


def _first_writable(path: str) -> str | None:
    is_parent = False
    while True:
        try:
            found = os.stat(path)
        except OSError:
            return None  # missing: reading it will fail
        # In a sticky directory such as /tmp only an entry's owner can replace it, and the entry was checked.
        sticky = is_parent and found.st_mode & stat.S_ISVTX and found.st_uid in (os.getuid(), 0)
        if not sticky and others_can_write(found):
            return path
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path, is_parent = parent, True


def others_can_write(found: os.stat_result, owners: tuple[int, ...] | None = None) -> bool:
    """Whether an account other than `owners`, by default us and root, could change this file or directory."""
    if found.st_uid not in (owners or (os.getuid(), 0)):
        return True
    mode = found.st_mode
    if not mode & (stat.S_IWOTH | stat.S_IWGRP):
        return False
    return bool(mode & stat.S_IWOTH) or not _is_own_group(found.st_gid)


def _is_own_group(gid: int) -> bool:
    """Whether a group is this account's private one, as many systems create them."""
    import grp
    import pwd

    if gid == 0:
        return True  # root's group is trusted
    try:
        mine = pwd.getpwuid(os.getuid())
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == mine.pw_gid and group.gr_name == mine.pw_name and set(group.gr_mem) <= {mine.pw_name}


def owned_by_root(path: str) -> bool:
    """Whether root owns the file and every directory above it, and no other account may write to them."""
    path = os.path.realpath(path)
    while True:
        try:
            found = os.stat(path)
        except OSError:
            return False
        if found.st_uid != 0 or (found.st_mode & (stat.S_IWOTH | stat.S_IWGRP) and not found.st_mode & stat.S_ISVTX):
            return False
        parent = os.path.dirname(path)
        if parent == path:
            return True
        path = parent
