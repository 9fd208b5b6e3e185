"""Reading the journal: its lines, one by one, and whether each is the one that was written."""

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
_HALF_A_LINE = 1.0  # seconds that a writer may take for the other half
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
    """Something that is not as it was written."""

    segment: str
    line: int
    what: str


class Head(NamedTuple):
    """Where a segment stood: how many lines, and the hash of the last."""

    lines: int
    hash: str


def names(place: str) -> list[str]:
    """The segments in the order of the chain, and those that were written aside."""
    try:
        found = [name for name in os.listdir(place) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda name: (not name[:-6].isdecimal(), name))


def lines(place: str, segment: str, start: int = 0, number: int = 1) -> Iterator[Line]:
    """The whole lines of a segment from a byte on; a last one that is cut off is given too, without its line break."""
    with open_segment(place, segment) as file:
        file.seek(start)
        for raw in file:
            yield Line(segment, number, start, raw)
            start += len(raw)
            number += 1


class NoSegment(OSError):
    """Something else stands where a segment would."""


def open_segment(place: str, segment: str) -> BinaryIO:
    """A segment for reading. A pipe, a folder or a link in its place raises `NoSegment`."""
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
    """What a look at the whole journal has found."""

    records: int
    segments: int
    findings: list[IntegrityFinding]
    heads: dict[str, Head]


def verify(place: str, anchor: Mapping[str, Head] | None = None) -> Verified:
    """Look at every line. With an anchor, a tail that was cut off shows too."""
    chain = _Chain()
    for name, file in _opened(place):
        if file is None:
            chain.findings.append(IntegrityFinding(name, 0, "not a segment: something else stands in its place"))
            continue
        with file:
            chain.read(name, _settled_lines(name, file))
    chain.check_beginning()
    for name, head in (anchor or {}).items():
        chain.check_anchor(name, head)
    return Verified(chain.records, len(chain.heads), chain.findings, chain.heads)


def _opened(place: str) -> list[tuple[str, BinaryIO | None]]:
    """Every segment, open at once: what others remove in the meantime can still be read."""
    while True:
        found: list[tuple[str, BinaryIO | None]] = []
        try:
            for name in names(place):
                try:
                    found.append((name, open_segment(place, name)))
                except NoSegment:
                    found.append((name, None))
        except FileNotFoundError:  # removed between a look and the other: look again
            for _, file in found:
                if file is not None:
                    file.close()
        else:
            return found


def _settled_lines(name: str, file: BinaryIO) -> list[Line]:
    """The lines of a segment; a last one that is being written is waited for."""
    until = time.monotonic() + _HALF_A_LINE
    while True:
        file.seek(0)
        found: list[Line] = []
        start = 0
        for number, raw in enumerate(file, start=1):
            found.append(Line(name, number, start, raw))
            start += len(raw)
        if not found or found[-1].raw.endswith(b"\n") or time.monotonic() > until:
            return found
        time.sleep(0.01)


class _Chain:
    def __init__(self) -> None:
        self.records = 0
        self.findings: list[IntegrityFinding] = []
        self.heads: dict[str, Head] = {}
        self._hashes: dict[str, list[str]] = {}
        self._first: tuple[str, int, str] | None = None  # segment, number, what it goes on from
        self._last_number = 0
        self._last: frozenset[str] = frozenset((START,))
        self._checkpoints: dict[int, str] = {}
        self._forgotten: set[str] = set()  # segments written aside that a checkpoint names

    def read(self, name: str, found: list[Line]) -> None:
        """One segment, which goes on from the one before. One that was begun without a line says nothing."""
        number = int(name[:-6]) if name[:-6].isdecimal() else 0
        closings = [_Closing.of(line.raw) for line in found]
        known = {each.claimed: place for place, each in enumerate(closings) if each.claimed is not None}
        expected = self._expected(name, number, found[0].record, closings[0].prev) if found else self._last
        for place, (line, each) in enumerate(zip(found, closings, strict=True)):
            self.records += 1
            if each.claimed is None:
                if line.raw.endswith(b"\n"):
                    self._find(line, "not a line of the journal")
                    expected = frozenset()  # whatever it was, what follows it cannot be told from it
                elif b', "hash": "' in line.raw:
                    self._find(line, "cut off: its end is missing")
                # else its writer was killed in the middle of it: it was told to nobody, and says as much as no line
                continue
            if not each.is_true:
                self._find(line, "edited: its hash is not that of its text")
            elif expected and each.prev not in expected:
                self._find(line, _out_of_line(place, known.get(each.prev)))
            expected = frozenset((each.claimed, each.true))  # one of them is what it was
            if each.is_true and number:
                self._note(line.record)
        self._hashes[name] = [each.claimed or "" for each in closings]
        self.heads[name] = Head(len(found), self._hashes[name][-1] if found else "")
        if number and found:
            self._last, self._last_number = expected, number

    def _expected(self, name: str, number: int, header: dict[str, Any] | None, prev: str) -> frozenset[str]:
        """The hashes of which a segment's first line must name one; none if any will do."""
        says_which = header is not None and header.get("type") == "segment" and header.get("number") == number
        if not says_which:
            self.findings.append(
                IntegrityFinding(name, 1, "removed or edited: a segment begins with a line that says which it is")
            )
        if not number:
            return frozenset((START,)) if says_which else frozenset()
        if self._first is None:
            self._first = (name, number, prev if says_which else "")
            return frozenset()
        if number != self._last_number + 1:
            if says_which:
                missing = ", ".join(segment_name(each) for each in range(self._last_number + 1, number))
                self.findings.append(IntegrityFinding(name, 1, f"removed: {missing} is missing before it"))
            return frozenset()
        return self._last

    def _note(self, record: dict[str, Any] | None) -> None:
        if record is None or record.get("type") != "checkpoint":
            return
        through, aside = record.get("through"), record.get("aside")
        if isinstance(through, int) and through > 0:
            self._checkpoints[through] = str(record.get("head"))
        if isinstance(aside, list):
            self._forgotten.update(map(str, aside))

    def check_beginning(self) -> None:
        """The first segment that is left is the first there was, or a checkpoint says what was before."""
        if self._first is None:
            return
        name, number, after = self._first
        if not after:  # its first line is not what it was, which was said
            return
        if number == 1 and after == START:
            return
        # those beyond were about to go too: whoever removed them did not come to an end
        if self._checkpoints.get(number - 1) != after and not any(through >= number for through in self._checkpoints):
            self.findings.append(
                IntegrityFinding(name, 1, "removed: what was before it is gone, and no checkpoint says so")
            )

    def check_anchor(self, name: str, head: Head) -> None:
        """What an anchor has seen must still be there, unless it was old and a checkpoint says so."""
        number = int(name[:-6]) if name[:-6].isdecimal() else 0
        if name not in self._hashes:
            is_old = any(number <= through for through in self._checkpoints) if number else name in self._forgotten
            if not is_old:
                self.findings.append(IntegrityFinding(name, 0, "removed: the anchor has seen this segment"))
            return
        hashes = self._hashes[name]
        if len(hashes) < head.lines:
            self.findings.append(
                IntegrityFinding(name, len(hashes), f"cut off: the anchor has seen {head.lines} lines")
            )
        elif head.lines > 0 and hashes[head.lines - 1] != head.hash:
            self.findings.append(IntegrityFinding(name, head.lines, "rewritten: the anchor has seen another line here"))

    def _find(self, line: Line, what: str) -> None:
        self.findings.append(IntegrityFinding(line.segment, line.number, what))


def _out_of_line(place: int, follows: int | None) -> str:
    if follows is None:
        return "removed: a line that stood before it is missing"
    where = "before" if follows < place else "after"
    return f"reordered: it belongs right after line {follows + 1}, which stands {where} it"


class _Closing(NamedTuple):
    """How a line ends: the hash it claims, the one its text has, and the one it names as that of the line before."""

    claimed: str | None  # None: it is no line of ours
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
    """Whether a line ends as each of the journal's does."""
    return _Closing.of(line.raw).claimed is not None
