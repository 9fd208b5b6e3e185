"""Reads the segments of the journal line by line, and verifies the chain of their hashes."""

from __future__ import annotations

import json
import os
import stat
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .writer import START, Locked, digest, segment_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO

_HASH = b', "hash": "'
_REDACTED = b', "redacted": {"was": "'  # in a redacted line, before `prev`
_REDACTION = b'{"schema": 1, "type": "redaction", '
_MARK = b"[redacted"
ABOUT_JOURNAL = ("segment", "checkpoint", "redaction")  # types of records without payloads, which are never redacted
_WRITE_TIMEOUT = 1.0  # seconds that a line may be incomplete
_REDACTION_TIMEOUT = 30.0  # seconds that a redaction may take
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
    """Evidence that the journal was changed after it was written."""

    segment: str
    line: int
    what: str


class RedactionEntry(NamedTuple):
    """A redacted line, according to a redaction record of the journal."""

    segment: str
    line: int
    was: str  # the hash of the original line, which the line after it continues
    now: str
    time: float
    by: str
    record: tuple[str, int]  # the segment and the line of the redaction record


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
    """Yield the lines of a segment from a byte on; the last one may be incomplete, without a line break."""
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
    """Open a segment for reading. Raises `NoSegment` if it is not a regular file."""
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
    redacted: list[RedactionEntry]


def verify(place: str, anchor: Mapping[str, Head] | None = None) -> Verified:
    """Verify every line. Only with an anchor is it noticed if the end of the last segment was cut off."""
    chain = _verified(place, anchor or {})
    if chain.is_incomplete:  # interrupted, or under way
        try:
            with Locked(place, _REDACTION_TIMEOUT):
                pass
            chain = _verified(place, anchor or {})
        except OSError:  # as on a read-only file system
            pass
    return Verified(chain.records, len(chain.heads), chain.findings, chain.heads, chain.redacted)


def _verified(place: str, anchor: Mapping[str, Head]) -> _Chain:
    opened = _open_all(place)
    numbered = [(name, file) for name, file in opened if file is not None and name[:-6].isdecimal()]
    chain = _Chain(redactions_in(line for name, file in numbered for line in _read_lines(name, file, 0, 1)))
    for name, file in opened:
        if file is None:
            chain.find(name, 0, "not a segment: it is not a regular file")
            continue
        with file:
            chain.read(name, _complete_lines(name, file))
    chain.check_beginning()
    chain.check_redactions()
    for name, head in anchor.items():
        chain.check_anchor(name, head)
    return chain


def redactions(place: str) -> list[RedactionEntry]:
    """Return the lines that redaction records in the chain name, in the order of the records."""
    found = [name for name in names(place) if name[:-6].isdecimal()]
    return list(redactions_in(line for name in found for line in lines(place, name)))


def redactions_in(found: Iterable[Line]) -> Iterator[RedactionEntry]:
    """Yield the lines that the redaction records among these lines name."""
    for line in found:
        record = (line.record if is_redaction(line) else None) or {}
        for each in record.get("lines", ()):
            about = (str(each["segment"]), each["line"], str(each["was"]), str(each["now"]))
            yield RedactionEntry(*about, record["time"], str(record["by"]), (line.segment, line.number))


def is_redaction(line: Line) -> bool:
    """Whether a line is a valid redaction record that was not edited."""
    closing = Closing.of(line.raw) if line.raw.startswith(_REDACTION) else None
    if closing is None or not closing.is_true or closing.was:
        return False
    record = line.record or {}
    about = record.get("lines")
    return (
        isinstance(record.get("time"), (int, float))
        and isinstance(about, list)
        and all(isinstance(each, dict) and {"segment", "line", "was", "now"} <= each.keys() for each in about)
        and "by" in record
    )


def _open_all(place: str) -> list[tuple[str, BinaryIO | None]]:
    """Open all segments at once, so that one that is removed meanwhile can still be read."""
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

    def __init__(self, redactions: Iterable[RedactionEntry] = ()) -> None:
        self.records = 0
        self.redacted: list[RedactionEntry] = []
        self.is_incomplete = False
        # by segment and original hash, the latest last
        self._redactions: dict[tuple[str, str], list[RedactionEntry]] = {}
        for each in redactions:
            self._redactions.setdefault((each.segment, each.was), []).append(each)
        self._unseen = dict(self._redactions)
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
        closings = [Closing.of(line.raw) for line in found]
        known = {each.was or each.claimed: place for place, each in enumerate(closings) if each.claimed is not None}
        expected = self._expected(name, number, found[0].record, closings[0].prev) if found else self._last
        for place, (line, each) in enumerate(zip(found, closings, strict=True)):
            self.records += 1
            if each.claimed is None:
                if line.raw.endswith(b"\n"):
                    self.find(name, line.number, "not a line of the journal")
                    expected = frozenset()  # its hash is unknown
                elif _HASH in line.raw:
                    self.find(name, line.number, "cut off: its end is missing")
                # otherwise its writer was killed while writing, before it gave the verdict
                continue
            if not each.is_true:
                self.find(name, line.number, "edited: its hash is not that of its text")
            elif expected and each.prev not in expected:
                self.find(name, line.number, _out_of_order(place, known.get(each.prev)))
            expected = frozenset((each.claimed, each.true))  # of an edited line, one is the original hash
            if each.is_true:
                expected = self._check_redacted(line, each)
            if each.is_true and number and each.was is None:
                self._note(line.record)
        self._hashes[name] = [each.was or each.claimed or "" for each in closings]
        self.heads[name] = Head(len(found), closings[-1].claimed or "" if found else "")
        if number and found:
            self._last, self._last_number = expected, number

    def _check_redacted(self, line: Line, closing: Closing) -> frozenset[str]:
        """Check that a redaction record accounts for a redacted line; return the hashes that the next may continue."""
        original = closing.was or closing.claimed or ""
        known = self._redactions.get((line.segment, original), [])
        self._unseen.pop((line.segment, original), None)
        if known and closing.claimed == known[-1].now and closing.was:
            self.redacted.append(known[-1]._replace(line=line.number))
            if what := _not_a_redaction(line):
                self.find(line.segment, line.number, what)
        elif known and (closing.was is None or any(closing.claimed == each.now for each in known)):
            self.is_incomplete = True
            self.find(line.segment, line.number, "its redaction is incomplete: run the same `log redact` again")
        elif closing.was:
            self.find(line.segment, line.number, "redacted: no redaction record accounts for it")
            return frozenset((original, closing.claimed or ""))
        return frozenset((original,))

    def check_redactions(self) -> None:
        """Check that the redacted lines exist, unless a checkpoint accounts for them."""
        is_there = {(each.segment, each.line) for each in self.findings}
        for *_, last in self._unseen.values():
            if not self._is_old(last.segment) and (last.segment, last.line) not in is_there:
                self.find(*last.record, f"redaction of {last.segment}:{last.line}: that line is missing")

    def _is_old(self, name: str) -> bool:
        """Whether a segment is missing because retention has removed it."""
        number = int(name[:-6]) if name[:-6].isdecimal() else 0
        if name in self._hashes:
            return False
        return any(number <= through for through in self._checkpoints) if number else name in self._removed_asides

    def _expected(self, name: str, number: int, header: dict[str, Any] | None, prev: str) -> frozenset[str]:
        """Return the hashes of which a segment's first line must continue one; an empty set if any is valid."""
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
        if name not in self._hashes:
            if not self._is_old(name):
                self.find(name, 0, "removed: the anchor has this segment")
            return
        hashes = self._hashes[name]
        if len(hashes) < head.lines:
            self.find(name, len(hashes), f"cut off: the anchor has {head.lines} lines")
        elif head.lines > 0 and head.hash not in self._hashes_over_time(name, hashes[head.lines - 1]):
            self.find(name, head.lines, "rewritten: the anchor has another line here")

    def _hashes_over_time(self, name: str, original: str) -> set[str]:
        return {original, *(each.now for each in self._redactions.get((name, original), ()))}

    def find(self, segment: str, line: int, what: str) -> None:
        self.findings.append(IntegrityFinding(segment, line, what))


def _not_a_redaction(line: Line) -> str | None:
    """Return why a line that is marked as redacted cannot be from `log redact`, or None."""
    if _MARK not in line.raw:
        return "rewritten: it is said to be redacted, and nothing in it is marked"
    if (line.record or {}).get("type") in ABOUT_JOURNAL:
        return "rewritten: lines about the journal itself are never redacted"
    return None


def _out_of_order(place: int, follows: int | None) -> str:
    if follows is None:
        return "removed: a line before it is missing"
    where = "before" if follows < place else "after"
    return f"reordered: it belongs right after line {follows + 1}, which is {where} it"


def redacted_mark(was: str) -> bytes:
    """Return the field before `prev` in a redacted line, whose original had this hash."""
    return _REDACTED + was.encode() + b'"}'


class Closing(NamedTuple):
    """The end of a line: the hash in it, the hash of its text, and the hash of the line before."""

    claimed: str | None  # None: it is not a line of the journal
    true: str = ""
    prev: str = ""
    was: str | None = None  # the hash of the line before it was redacted

    @property
    def is_true(self) -> bool:
        return self.claimed == self.true

    @classmethod
    def of(cls, raw: bytes) -> Closing:
        body, found, end = raw.rpartition(_HASH)
        if not found or not end.endswith(b'"}\n'):
            return cls(None)
        before, _, prev = body.rpartition(b', "prev": "')
        rest, found, was = before[-len(_REDACTED) - 34 :].partition(_REDACTED)
        return cls(
            end[:-3].decode("ascii", "replace"),
            digest(body),
            prev.removesuffix(b'"').decode("ascii", "replace"),
            was[:-2].decode("ascii", "replace") if found and not rest and was.endswith(b'"}') else None,
        )


def is_ours(line: Line) -> bool:
    """Whether a line ends with a hash, as all lines of the journal do."""
    return Closing.of(line.raw).claimed is not None
