"""Appends to the journal: one write for each verdict, before the answer is given.

The lines are in segments, `000001.jsonl` and on. Each ends with its own hash, which covers the hash of the line before
it; a segment's first line continues from the last line of the segment before. A process appends while holding a lock,
for which it does not wait long. No error here changes a verdict.
"""

from __future__ import annotations

import errno
import os
import time
from _thread import allocate_lock

from ..basics import light_json, places, processes
from ..basics.digests import blake2b
from . import records

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LARGEST_SEGMENT = 4 * 1024 * 1024
_LOCK_TIMEOUT = 1.0  # seconds
_MAX_OPEN = 4  # journals in one process; most have one
_FLAGS = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
START = "0" * 32
_END_OF_LINE = len(', "hash": "') + 32 + len('"}\n')


def digest(line: bytes) -> str:
    """Return the hash that a line ends with; it covers everything before it in the line."""
    return blake2b(line, digest_size=16).hexdigest()


def append(place: str, record: Mapping[str, Any]) -> None:
    """Append a record to the last segment, or begin the next one."""
    body = records.encoded(record).encode()
    with _THREADS.lock:
        try:
            _append_to(_opened(place), body)
        except _Gone:
            _OPENED.pop(place).close()
            _append_to(_opened(place), body)


class _Gone(Exception):
    """The open journal was removed."""


def _append_to(opened: _Opened, body: bytes) -> None:
    if not processes.acquire(opened.lock, _LOCK_TIMEOUT, posix=True):  # write the line to a segment of its own
        name = os.path.join(opened.place, f"aside-{os.getpid()}-{os.urandom(4).hex()}.jsonl")
        _write_line(name, _header(0, START), START)
        _write_line(name, body, head_of(name) or START)
        return
    try:
        opened.append(body)
    finally:
        opened.unlock()


class Locked:
    """The journal's lock, held from entry to exit: no other process appends, and segments may be replaced.

    Entry raises `TimeoutError` if another process holds the lock for longer than `wait` seconds.
    """

    def __init__(self, place: str, wait: float) -> None:
        self._place = place
        self._wait = wait

    def __enter__(self) -> Locked:
        _THREADS.lock.acquire()
        try:
            known = _OPENED.get(self._place)
            if known is not None and not os.fstat(known.lock).st_nlink:
                _OPENED.pop(self._place).close()
            self._opened = _opened(self._place)
            if not processes.acquire(self._opened.lock, self._wait, posix=True):
                raise TimeoutError(errno.ETIMEDOUT, "another process holds the journal's lock")
        except BaseException:
            _THREADS.lock.release()
            raise
        return self

    def append(self, record: Mapping[str, Any]) -> None:
        """Append a record and wait until it is on the disk."""
        self._opened.append(records.encoded(record).encode())
        self._opened.sync()

    def __exit__(self, *_: object) -> None:
        self._opened.unlock()
        _THREADS.lock.release()


def check_writable(place: str) -> None:
    """Raise the `OSError` that appending a record would raise, without appending one."""
    _Opened(place).close()
    newest = os.path.join(place, segment_name(max(last_number(place), 1)))
    probe = os.path.join(place, f"probe-{os.getpid()}")
    if os.path.lexists(newest):
        os.close(os.open(newest, _FLAGS & ~os.O_CREAT))
    try:
        _write_line(probe, b'{"probe": "disk space"}' * 256, START)
    finally:
        if os.path.lexists(probe):
            os.unlink(probe)


class _Opened:
    """A journal that this process has open: the lock, and the newest segment with the hash that it ends with."""

    def __init__(self, place: str) -> None:
        places.make_private(place)
        self.place = place
        self.lock = os.open(os.path.join(place, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._segment = -1
        self._size = -1
        self._head = START

    def append(self, body: bytes) -> None:
        """Write a line; the lock is held."""
        size = self._current()
        if size is None:
            self._check()
            self._find_segment()
            size = self._current()
            assert size is not None
        line, head = closed(body, self._head)
        _write(self._segment, line, size)
        self._head, self._size = head, size + len(line)  # not before the line is written

    def _current(self) -> int | None:
        """Return the size of the open segment; None if another is to be appended to, or it ends in a partial line."""
        if self._segment < 0:
            return None
        found = os.fstat(self._segment)
        if not found.st_nlink or found.st_size > _LARGEST_SEGMENT:
            return None
        if found.st_size != self._size:  # another process has written
            self._check()
            head = _head(self._segment, found.st_size)
            if head is None:
                return None
            self._size, self._head = found.st_size, head
        return found.st_size

    def _check(self) -> None:
        """Raise `_Gone` if the lock's file was removed, as it no longer excludes other processes."""
        if not os.fstat(self.lock).st_nlink:
            raise _Gone

    def _find_segment(self) -> None:
        """Open the newest segment; begin a new one if it is full, ends in a partial line, or there is none."""
        if self._segment >= 0:
            os.close(self._segment)
            self._segment = -1
        number = last_number(self.place)
        segment = os.path.join(self.place, segment_name(number))
        while number and _is_empty(segment):  # the disk was full, or the writer was killed: begin it again
            number -= 1
            segment = os.path.join(self.place, segment_name(number))
        head = head_of(segment) if number else None
        if head is None or os.path.getsize(segment) > _LARGEST_SEGMENT:
            begin_segment(self.place, number + 1, (end_of(segment) if number else None) or START)
            segment = os.path.join(self.place, segment_name(last_number(self.place)))
        self._segment = os.open(segment, _FLAGS, 0o600)
        self._size = -1

    def sync(self) -> None:
        """Wait until the segment is on the disk."""
        os.fsync(self._segment)

    def unlock(self) -> None:
        try:
            os.lockf(self.lock, os.F_ULOCK, 0)
        except OSError:  # a file system without locks
            pass

    def close(self) -> None:
        os.close(self.lock)
        if self._segment >= 0:
            os.close(self._segment)


_OPENED: dict[str, _Opened] = {}


def _opened(place: str) -> _Opened:
    known = _OPENED.get(place)
    if known is not None:
        return known
    while len(_OPENED) >= _MAX_OPEN:
        _OPENED.pop(next(iter(_OPENED))).close()
    _OPENED[place] = _Opened(place)
    return _OPENED[place]


def append_locked(place: str, record: Mapping[str, Any]) -> None:
    """Append to the newest segment; the caller holds the lock."""
    segment = os.path.join(place, segment_name(last_number(place)))
    _write_line(segment, light_json.dumps(record).encode(), head_of(segment) or START)


def begin_segment(place: str, number: int, head: str) -> None:
    """Write the header of the segment after the one that ends with the hash `head`, and remove old segments."""
    _write_line(os.path.join(place, segment_name(number)), _header(number, head), head)
    if number > 1:
        from . import retention

        try:
            retention.delete_old(place)
        except Exception:  # noqa: BLE001, S110  # retention must not prevent the record from being written
            pass


def _header(number: int, head: str) -> bytes:
    about = {
        "schema": records.SCHEMA,
        "type": "segment",
        "number": number,
        "time": round(time.time(), 6),
        "after": head,
    }
    return light_json.dumps(about).encode()


def segment_name(number: int) -> str:
    return f"{number:06}.jsonl"


def segment_numbers(place: str) -> list[int]:
    """Return the numbers of the segments, in order."""
    names = [name[:-6] for name in os.listdir(place) if name.endswith(".jsonl")]
    return sorted(int(name) for name in names if name.isdecimal())


def last_number(place: str) -> int:
    """Return the number of the newest segment; 0 if there is none."""
    return max(segment_numbers(place), default=0)


def head_of(segment: str) -> str | None:
    """Return the hash that a segment ends with; None if it does not end with a complete line."""
    try:
        descriptor = os.open(segment, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        return _head(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def _is_empty(segment: str) -> bool:
    try:
        return os.path.getsize(segment) == 0
    except FileNotFoundError:
        return False


def end_of(segment: str) -> str | None:
    """Return the hash of a segment's last complete line; None if there is no such line."""
    head = head_of(segment)
    if head is not None:
        return head
    from .segments import open_segment

    try:
        with open_segment(*os.path.split(segment)) as file:
            data = file.read()
    except FileNotFoundError:
        return None
    return _ending(data[: data.rfind(b"\n") + 1][-_END_OF_LINE:])


def _head(descriptor: int, size: int) -> str | None:
    return _ending(os.pread(descriptor, _END_OF_LINE, max(size - _END_OF_LINE, 0)))


def _ending(end: bytes) -> str | None:
    """Return the hash in the end of a line; None if there is none."""
    if not (end.startswith(b', "hash": "') and end.endswith(b'"}\n')):
        return None
    head = end[len(', "hash": "') : -3].decode("ascii", "replace")
    return head if len(head) == 32 and head.isalnum() else None


def closed(body: bytes, head: str) -> tuple[bytes, str]:
    """Return a record as the line after the one with the hash `head`, and the line's own hash."""
    open_line = b'%b, "prev": "%b"' % (body[:-1], head.encode())
    own = digest(open_line)
    return b'%b, "hash": "%b"}\n' % (open_line, own.encode()), own


def _write_line(segment: str, body: bytes, head: str) -> None:
    descriptor = os.open(segment, _FLAGS, 0o600)
    try:
        _write(descriptor, closed(body, head)[0], os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)


def _write(descriptor: int, line: bytes, size: int) -> None:
    try:
        written = os.write(descriptor, line)
    except OSError:
        os.ftruncate(descriptor, size)
        raise
    if written != len(line):
        os.ftruncate(descriptor, size)  # a full disk: leave no partial line
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _Threads:
    """The lock between the threads of this process; the lock file only excludes other processes."""

    def __init__(self) -> None:
        self.lock = allocate_lock()

    def reset(self) -> None:
        """Start anew after a fork: another thread may have held this lock, and the file's is not inherited."""
        self.lock = allocate_lock()
        for opened in _OPENED.values():
            opened.close()
        _OPENED.clear()


_THREADS = _Threads()
os.register_at_fork(after_in_child=_THREADS.reset)
