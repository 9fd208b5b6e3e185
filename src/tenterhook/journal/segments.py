"""Reading the segments of the journal line by line, and verifying the chain of their hashes."""

from __future__ import annotations

import json
import os
import stat
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .writer import START, digest, segment_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import BinaryIO

_HASH = b', "hash": "'
_WRITE_TIMEOUT = 1.0  # seconds that a line may be incomplete
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Line(NamedTuple):
    """One line of a segment."""

    segment: str
    number: int  # from 1
    start: int  # byte
    raw: bytes

    @property
    def record(self) -> dict[str, Any] | None:
        try:
            record = json.loads(self.raw)
        except (ValueError, RecursionError):
            return None
        return record if isinstance(record, dict) else None


class IntegrityFinding(NamedTuple):
    """A change of the journal after it was written."""

    segment: str
    line: int
    what: str


class Head(NamedTuple):
    """The end of a segment: how many lines it has, and the hash of the last."""

    lines: int
    hash: str


def names(place: str) -> list[str]:
    """Return the names of the segments in the order of the chain, then those that were written aside."""
    try:
        found = [name for name in os.listdir(place) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda name: (not name[:-6].isdecimal(), name))


def lines(place: str, segment: str, start: int = 0, number: int = 1) -> Iterator[Line]:
    """Yield the lines of a segment from a byte on; the last may be incomplete, without its line break."""
    with open_segment(place, segment) as file:
        yield from _read_lines(segment, file, start, number)


def _read_lines(segment: str, file: BinaryIO, start: int, number: int) -> Iterator[Line]:
    file.seek(start)
    for raw in file:
        yield Line(segment, number, start, raw)
        start += len(raw)
        number += 1


class NoSegment(OSError):
    """A segment that is not a regular file."""


def open_segment(place: str, segment: str) -> BinaryIO:
    """Open a segment for reading. Raise `NoSegment` if it is a pipe, a directory or a link."""
    try:
        descriptor = os.open(os.path.join(place, segment), _FLAGS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NoSegment(error.strerror) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NoSegment("not a file")
    return open(descriptor, "rb")


class Verified(NamedTuple):
    """The result of `verify`."""

    records: int
    segments: int
    findings: list[IntegrityFinding]
    heads: dict[str, Head]


def verify(place: str, anchor: Mapping[str, Head] | None = None) -> Verified:
    """Verify every line. Only an anchor shows that the end of the last segment was cut off."""
    chain = _Chain()
    for name, file in _open_all(place):
        if file is None:
            chain.find(name, 0, "not a segment: it is not a regular file")
            continue
        with file:
            chain.read(name, _complete_lines(name, file))
    chain.check_beginning()
    for name, head in (anchor or {}).items():
        chain.check_anchor(name, head)
    return Verified(chain.records, len(chain.heads), chain.findings, chain.heads)


def _open_all(place: str) -> list[tuple[str, BinaryIO | None]]:
    """Open every segment at once: one that is removed in the meantime can still be read."""
    while True:
        found: list[tuple[str, BinaryIO | None]] = []
        try:
            for name in names(place):
                try:
                    found.append((name, open_segment(place, name)))
                except NoSegment:
                    found.append((name, None))
        except FileNotFoundError:  # removed since it was listed: list again
            for _, file in found:
                if file is not None:
                    file.close()
        else:
            return found


def _complete_lines(name: str, file: BinaryIO) -> list[Line]:
    """Return the lines of a segment; waits for a last one that is being written."""
    until = time.monotonic() + _WRITE_TIMEOUT
    while True:
        found = list(_read_lines(name, file, 0, 1))
        if not found or found[-1].raw.endswith(b"\n") or time.monotonic() > until:
            return found
        time.sleep(0.01)


class _Chain:
    """Verifies the segments in order."""

    def __init__(self) -> None:
        self.records = 0
        self.findings: list[IntegrityFinding] = []
        self.heads: dict[str, Head] = {}
        self._hashes: dict[str, list[str]] = {}
        self._first: tuple[str, int, str] | None = None  # segment, number, hash that it continues
        self._last_number = 0
        self._last: frozenset[str] = frozenset((START,))
        self._checkpoints: dict[int, str] = {}
        self._removed_asides: set[str] = set()  # segments written aside that a checkpoint names

    def read(self, name: str, found: list[Line]) -> None:
        """Verify one segment, which continues the one before; an empty one is ignored."""
        number = int(name[:-6]) if name[:-6].isdecimal() else 0
        closings = [_Closing.of(line.raw) for line in found]
        known = {each.claimed: place for place, each in enumerate(closings) if each.claimed is not None}
        expected = self._expected(name, number, found[0].record, closings[0].prev) if found else self._last
        for place, (line, each) in enumerate(zip(found, closings, strict=True)):
            self.records += 1
            if each.claimed is None:
                if line.raw.endswith(b"\n"):
                    self.find(name, line.number, "not a line of the journal")
                    expected = frozenset()  # its hash is unknown
                elif _HASH in line.raw:
                    self.find(name, line.number, "cut off: its end is missing")
                # else its writer was killed while it wrote, before the verdict was given
                continue
            if not each.is_true:
                self.find(name, line.number, "edited: its hash is not that of its text")
            elif expected and each.prev not in expected:
                self.find(name, line.number, _out_of_order(place, known.get(each.prev)))
            expected = frozenset((each.claimed, each.true))  # of an edited line, one is the original hash
            if each.is_true and number:
                self._note(line.record)
        self._hashes[name] = [each.claimed or "" for each in closings]
        self.heads[name] = Head(len(found), self._hashes[name][-1] if found else "")
        if number and found:
            self._last, self._last_number = expected, number

    def _expected(self, name: str, number: int, header: dict[str, Any] | None, prev: str) -> frozenset[str]:
        """Return the hashes of which a segment's first line must name one; an empty set if any is valid."""
        has_header = header is not None and header.get("type") == "segment" and header.get("number") == number
        if not has_header:
            self.find(name, 1, "removed or edited: the header of the segment is missing")
        if not number:
            return frozenset((START,)) if has_header else frozenset()
        if self._first is None:
            self._first = (name, number, prev if has_header else "")
            return frozenset()
        if number != self._last_number + 1:
            if has_header:
                missing = ", ".join(segment_name(each) for each in range(self._last_number + 1, number))
                self.find(name, 1, f"removed: {missing} is missing before it")
            return frozenset()
        return self._last

    def _note(self, record: dict[str, Any] | None) -> None:
        if record is None or record.get("type") != "checkpoint":
            return
        through, aside = record.get("through"), record.get("aside")
        if isinstance(through, int) and through > 0:
            self._checkpoints[through] = str(record.get("head"))
        if isinstance(aside, list):
            self._removed_asides.update(map(str, aside))

    def check_beginning(self) -> None:
        """Check that the first segment is number 1, or that a checkpoint accounts for those before it."""
        if self._first is None:
            return
        name, number, after = self._first
        if not after or (number == 1 and after == START):  # without `after`, its header was already found missing
            return
        # a checkpoint beyond this segment: the retention that removed those before it was interrupted
        if self._checkpoints.get(number - 1) != after and not any(through >= number for through in self._checkpoints):
            self.find(name, 1, "removed: segments before it are missing, and no checkpoint accounts for them")

    def check_anchor(self, name: str, head: Head) -> None:
        """Check that what the anchor recorded still exists, unless a checkpoint accounts for it."""
        number = int(name[:-6]) if name[:-6].isdecimal() else 0
        if name not in self._hashes:
            is_old = any(number <= through for through in self._checkpoints) if number else name in self._removed_asides
            if not is_old:
                self.find(name, 0, "removed: the anchor has this segment")
            return
        hashes = self._hashes[name]
        if len(hashes) < head.lines:
            self.find(name, len(hashes), f"cut off: the anchor has {head.lines} lines")
        elif head.lines > 0 and hashes[head.lines - 1] != head.hash:
            self.find(name, head.lines, "rewritten: the anchor has another line here")

    def find(self, segment: str, line: int, what: str) -> None:
        self.findings.append(IntegrityFinding(segment, line, what))


def _out_of_order(place: int, follows: int | None) -> str:
    if follows is None:
        return "removed: a line before it is missing"
    where = "before" if follows < place else "after"
    return f"reordered: it belongs right after line {follows + 1}, which is {where} it"


class _Closing(NamedTuple):
    """The end of a line: the hash in it, the hash of its text, and the hash of the line before."""

    claimed: str | None  # None: it is not a line of the journal
    true: str = ""
    prev: str = ""

    @property
    def is_true(self) -> bool:
        return self.claimed == self.true

    @classmethod
    def of(cls, raw: bytes) -> _Closing:
        body, found, end = raw.rpartition(_HASH)
        if not found or not end.endswith(b'"}\n'):
            return cls(None)
        prev = body.rpartition(b', "prev": "')[2].removesuffix(b'"').decode("ascii", "replace")
        return cls(end[:-3].decode("ascii", "replace"), digest(body), prev)


def is_ours(line: Line) -> bool:
    """Return whether a line ends with a hash, as all of the journal's do."""
    return _Closing.of(line.raw).claimed is not None
