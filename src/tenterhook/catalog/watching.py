"""Whether anything has happened to files since they were looked at, as the kernel tells: one read, however many files.

What is told is a reason to look, never what to believe. Where the kernel could miss something, nothing is quiet.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# <sys/inotify.h>
_MODIFIED, _ATTRIBUTES, _MOVED_FROM, _MOVED_TO, _CREATED, _DELETED = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
_ITSELF_DELETED, _ITSELF_MOVED, _ONLY_DIRECTORIES = 0x400, 0x800, 0x01000000
_CHANGES = _MODIFIED | _ATTRIBUTES | _MOVED_FROM | _MOVED_TO | _CREATED | _DELETED | _ITSELF_DELETED | _ITSELF_MOVED
_HEAD = struct.Struct("iIII")  # which watch, what, a cookie, the length of the name
_AT_ONCE = 1 << 16
# Disks that nobody changes behind the kernel's back, unlike those of a network.
_LOCAL = frozenset((b"ext2", b"ext3", b"ext4", b"xfs", b"btrfs", b"f2fs", b"zfs", b"tmpfs", b"overlay"))


class Watch:
    """Watches files and directories, there or not yet, until it is dropped."""

    def __init__(self, directories: Iterable[str], paths: Iterable[str], devices: Iterable[int]) -> None:
        """All that `directories` hold, and `paths` themselves; `devices` are where they are."""
        self._pid = os.getpid()
        self._watched: dict[str, int] = {}
        self._names: dict[int, set[bytes]] = {}  # in each directory; none: all of them
        self._descriptor = -1
        self._told = bytearray(4)  # how much there is to read, as an int of C
        if not _are_local(set(devices)):
            return
        libc = ctypes.CDLL(None, use_errno=True)
        self._add_watch = libc.inotify_add_watch
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            for directory in directories:
                if (watch := self._directory(directory)) is not None:
                    self._names[watch] = set()
            for path in _passed(paths):
                self._name(path)
        except OSError:  # too many of them, or a directory that may not be read
            self._close()

    def is_quiet(self) -> bool:
        """Whether surely nothing has happened. To be asked before looking: what is told is told once."""
        if self._descriptor < 0 or self._pid != os.getpid():  # whoever was forked would take it from its parent
            return False
        fcntl.ioctl(self._descriptor, termios.FIONREAD, self._told)  # a read that finds nothing takes longer
        return not any(self._told) or not self._concerns_us(os.read(self._descriptor, _AT_ONCE))

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _name(self, path: str) -> None:
        """Watch for what is, or comes to be, at a path; nothing can where its directory is not."""
        directory, _, name = path.rpartition("/")
        watch = self._directory(directory or "/")
        if watch is not None and self._names.setdefault(watch, {os.fsencode(name)}):
            self._names[watch].add(os.fsencode(name))

    def _directory(self, path: str) -> int | None:
        if path not in self._watched:
            watch: int = self._add_watch(self._descriptor, os.fsencode(path), _CHANGES | _ONLY_DIRECTORIES)
            if watch < 0 and (number := ctypes.get_errno()) not in (errno.ENOENT, errno.ENOTDIR):
                raise OSError(number, os.strerror(number), path)
            self._watched[path] = watch
        found = self._watched[path]
        return found if found >= 0 else None

    def _concerns_us(self, told: bytes) -> bool:
        """Whether any of it is about a watched path. Other things happen beside them: what nobody asked for is left."""
        at = 0
        while at < len(told):
            watch, _, _, length = _HEAD.unpack_from(told, at)
            name = told[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
            names = self._names.get(watch)
            if not name or not names or name in names:  # without a name: the directory itself, or too much to tell
                return True
            at += _HEAD.size + length
        return len(told) > _AT_ONCE // 2  # there may be more


def _passed(paths: Iterable[str]) -> set[str]:
    """Everything on the way to these paths, them included: directories, links, and the ways on which links lead."""
    found = {"/"}
    left = list(paths)
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        parent = os.path.dirname(path)
        left.append(parent)
        try:
            left.append(os.path.join(parent, os.readlink(path)))
        except OSError:  # no link
            continue
    return found - {"/"}


def _are_local(devices: set[int]) -> bool:
    try:
        with open("/proc/self/mountinfo", "rb") as file:
            mounts = [line.partition(b" - ") for line in file]
    except OSError:
        return False
    kinds = {head.split()[2]: tail.split()[0] for head, _, tail in mounts}
    numbers = [b"%d:%d" % (os.major(device), os.minor(device)) for device in devices]
    return all(kinds.get(number) in _LOCAL for number in numbers)
