"""Appending to the journal: one write for each verdict, before the answer is given.

The lines stand in segments, `000001.jsonl` and on. Each ends with its own hash, which covers the hash of the line
before it; a segment's first line goes on from the last of the segment before. Whoever has the lock may append; it is
never waited for long, and no trouble here changes a verdict.
"""

from __future__ import annotations

import os
import time

from .. import light_json, places
from . import records, settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..model import Event, Verdict

_LARGEST_SEGMENT = 4 * 1024 * 1024
_LONGEST_WAIT = 1.0  # seconds for the lock
START = "0" * 32
_END_OF_LINE = len(', "hash": "') + 32 + len('"}\n')


def directory() -> str:
    return os.path.join(places.state(), "journal")


def digest(line: bytes) -> str:
    """The hash that closes a line: of everything in it before."""
    try:
        from _blake2 import blake2b  # `hashlib` imports more than this needs
    except ImportError:
        from hashlib import blake2b
    return blake2b(line, digest_size=16).hexdigest()


class Journal:
    """Where one process writes. `by` says on whose behalf: trigger, library, agent, or the host's name."""

    def __init__(self, by: str) -> None:
        self.by = by
        self._directory = directory()
        self._told = False

    def add(self, event: Event, verdict: Verdict, waited_ms: float) -> None:
        """Write a verdict down."""
        payloads = settings.payloads()
        self.write(records.of_verdict(event, verdict, by=self.by, waited_ms=waited_ms, payloads=payloads))

    def write(self, record: Mapping[str, Any]) -> None:
        """Append a record. Never raises: what was decided stands, whatever becomes of its record."""
        try:
            append(self._directory, record)
        except Exception as error:  # noqa: BLE001  # a full disk, a file in the way, no permission: said once
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._told:
            self._told = True
            import logging

            logging.getLogger("tenterhook").warning("tenterhook: the journal is not written: %s", error)


def append(place: str, record: Mapping[str, Any]) -> None:
    """Append a record to the last segment, or begin the next one."""
    body = light_json.dumps(record, default=str).encode("utf-8", "replace")
    places.make_private(place)
    with _IN_THIS_PROCESS:
        lock = os.open(os.path.join(place, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if _locked(lock):
                _append(place, body)
            else:  # somebody does not let go of it: a segment of our own, so that nothing is lost
                name = f"aside-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
                _write_line(os.path.join(place, name), _header(0, START), START)
                _write_line(os.path.join(place, name), body, head_of(os.path.join(place, name)) or START)
        finally:
            os.close(lock)  # which lets go of it


def _locked(descriptor: int) -> bool:
    until = time.monotonic() + _LONGEST_WAIT
    pause = 0.0002
    while True:
        try:
            os.lockf(descriptor, os.F_TLOCK, 0)
        except (BlockingIOError, PermissionError):
            if time.monotonic() >= until:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.01)
        except OSError:  # a file system without locks: as good as it gets there
            return True
        else:
            return True


def _append(place: str, body: bytes) -> None:
    number = last_number(place)
    segment = os.path.join(place, segment_name(number))
    head = head_of(segment) if number else START
    if not number or head is None or os.path.getsize(segment) > _LARGEST_SEGMENT:
        begin_segment(place, number + 1, head or START)
        segment = os.path.join(place, segment_name(number + 1))
        head = head_of(segment) or START
    _write_line(segment, body, head)


def append_locked(place: str, record: Mapping[str, Any]) -> None:
    """Append to the newest segment; the caller holds the lock."""
    segment = os.path.join(place, segment_name(last_number(place)))
    _write_line(segment, light_json.dumps(record).encode(), head_of(segment) or START)


def begin_segment(place: str, number: int, head: str) -> None:
    """Begin a segment after the one that ends with this hash."""
    _write_line(os.path.join(place, segment_name(number)), _header(number, head), head)
    if number > 1:
        from . import retention

        retention.forget_old(place)


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


def last_number(place: str) -> int:
    """The number of the newest segment; 0 if there is none."""
    names = [name[:-6] for name in os.listdir(place) if name.endswith(".jsonl")]
    return max((int(name) for name in names if name.isdecimal()), default=0)


def head_of(segment: str) -> str | None:
    """The hash that a segment ends with; None if it does not end with a whole line of ours."""
    try:
        descriptor = os.open(segment, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, _END_OF_LINE, max(size - _END_OF_LINE, 0))
    finally:
        os.close(descriptor)
    if not (end.startswith(b', "hash": "') and end.endswith(b'"}\n')):
        return None
    head = end[len(', "hash": "') : -3].decode("ascii", "replace")
    return head if len(head) == 32 and head.isalnum() else None


def _write_line(segment: str, body: bytes, head: str) -> None:
    open_line = b'%b, "prev": "%b"' % (body[:-1], head.encode())
    line = b'%b, "hash": "%b"}\n' % (open_line, digest(open_line).encode())
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    descriptor = os.open(segment, flags, 0o600)
    try:
        before = os.fstat(descriptor).st_size
        if os.write(descriptor, line) != len(line):
            os.ftruncate(descriptor, before)  # a full disk: no half line stays
            raise OSError(28, "No space left on device", segment)
    finally:
        os.close(descriptor)


class _Threads:
    """Keeps the threads of this process apart; the file's lock does not. A fork begins with a free one."""

    def __init__(self) -> None:
        self._lock: Any = None
        self._pid = 0

    def __enter__(self) -> None:
        if self._pid != os.getpid():
            from _thread import allocate_lock

            self._lock, self._pid = allocate_lock(), os.getpid()
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


_IN_THIS_PROCESS = _Threads()
