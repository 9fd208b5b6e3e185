"""Whether another account could have written a file: then its owner did not, as far as we know."""

from __future__ import annotations

import os
import stat


def writable_by_others(path: str) -> str | None:
    """The file or parent directory that another account could change, if there is one: as it is named, and really."""
    named, real = os.path.abspath(path), os.path.realpath(path)
    return _writable_on_the_way(real) or (_writable_on_the_way(named) if named != real else None)


def _writable_on_the_way(path: str) -> str | None:
    is_parent = False
    while True:
        try:
            found = os.stat(path)
        except OSError:
            return None  # not there: whoever reads it will say so
        # In a sticky directory such as /tmp only an entry's owner can replace it, and that was looked at.
        sticky = is_parent and found.st_mode & stat.S_ISVTX and found.st_uid in (os.getuid(), 0)
        if not sticky and others_can_write(found):
            return path
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path, is_parent = parent, True


def others_can_write(found: os.stat_result, owners: tuple[int, ...] | None = None) -> bool:
    """The same for one file or directory alone. `owners`: who may own it; without, we or root."""
    if found.st_uid not in (owners or (os.getuid(), 0)):
        return True
    mode = found.st_mode
    if not mode & (stat.S_IWOTH | stat.S_IWGRP):
        return False
    return bool(mode & stat.S_IWOTH) or not _only_ours(found.st_gid)


def _only_ours(gid: int) -> bool:
    """Whether a group is this account's private one, as many systems give everybody."""
    import grp
    import pwd

    if gid == 0:
        return True  # root's group can write what it likes anyway
    try:
        mine = pwd.getpwuid(os.getuid())
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == mine.pw_gid and group.gr_name == mine.pw_name and set(group.gr_mem) <= {mine.pw_name}


def owned_by_root(path: str) -> bool:
    """Whether root owns the file and every directory above it, and nobody else may write there."""
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
