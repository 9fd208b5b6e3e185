"""Reading the journal: its lines, one by one, and whether each is the one that was written."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from .writing import START, digest, segment_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HASH = b', "hash": "'


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


class Finding(NamedTuple):
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
    with open(os.path.join(place, segment), "rb") as file:
        file.seek(start)
        for raw in file:
            yield Line(segment, number, start, raw)
            start += len(raw)
            number += 1


class Verified(NamedTuple):
    """What a look at the whole journal has found."""

    records: int
    segments: int
    findings: list[Finding]
    heads: dict[str, Head]


def verify(place: str, anchor: Mapping[str, Head] | None = None) -> Verified:
    """Look at every line. With an anchor, a tail that was cut off shows too."""
    chain = _Chain(place)
    for name in names(place):
        chain.read(name)
    chain.check_beginning()
    for name, head in (anchor or {}).items():
        chain.check_anchor(name, head)
    return Verified(chain.records, len(chain.heads), chain.findings, chain.heads)


class _Chain:
    def __init__(self, place: str) -> None:
        self._place = place
        self.records = 0
        self.findings: list[Finding] = []
        self.heads: dict[str, Head] = {}
        self._hashes: dict[str, list[str]] = {}
        self._first: tuple[str, int, str] | None = None  # segment, number, what it goes on from
        self._last_number = 0
        self._last = START
        self._checkpoints: dict[int, str] = {}

    def read(self, name: str) -> None:
        """One segment, which goes on from the one before."""
        number = int(name[:-6]) if name[:-6].isdecimal() else 0
        found = list(lines(self._place, name))
        closings = [_closing(line.raw) for line in found]
        known = {hash_: place for place, (hash_, _, _) in enumerate(closings) if hash_ is not None}
        expected = self._expected(name, number, found[0].record if found else None)
        for place, (line, (hash_, prev, is_true)) in enumerate(zip(found, closings, strict=True)):
            self.records += 1
            if hash_ is None:
                what = "cut off: its end is missing" if not line.raw.endswith(b"\n") else "not a line of the journal"
                self._find(line, what)
                continue
            if not is_true:
                self._find(line, "edited: its hash is not that of its text")
            elif prev != expected:
                self._find(line, _out_of_line(place, known.get(prev or "")))
            expected = hash_
            self._note(line.record)
        self._hashes[name] = [hash_ or "" for hash_, _, _ in closings]
        self.heads[name] = Head(len(found), expected)
        if number:
            self._last, self._last_number = expected, number

    def _expected(self, name: str, number: int, header: dict[str, Any] | None) -> str:
        """The hash that a segment's first line must name."""
        if header is None or header.get("type") != "segment" or header.get("number") != number:
            self.findings.append(
                Finding(name, 1, "removed or edited: a segment begins with a line that says which it is")
            )
            return str((header or {}).get("prev", START))
        if not number:
            return START
        if self._first is None:
            self._first = (name, number, str(header.get("after")))
            return str(header.get("prev"))
        if number != self._last_number + 1:
            missing = ", ".join(segment_name(each) for each in range(self._last_number + 1, number))
            self.findings.append(Finding(name, 1, f"removed: {missing} is missing before it"))
            return str(header.get("prev"))
        return self._last

    def _note(self, record: dict[str, Any] | None) -> None:
        if record is not None and record.get("type") == "checkpoint":
            self._checkpoints[int(record.get("through", 0))] = str(record.get("head"))

    def check_beginning(self) -> None:
        """The first segment that is left is the first there was, or a checkpoint says what was before."""
        if self._first is None:
            return
        name, number, after = self._first
        if number == 1 and after == START:
            return
        if self._checkpoints.get(number - 1) != after:
            self.findings.append(Finding(name, 1, "removed: what was before it is gone, and no checkpoint says so"))

    def check_anchor(self, name: str, head: Head) -> None:
        """What an anchor has seen must still be there, unless it was old and a checkpoint says so."""
        number = int(name[:-6]) if name[:-6].isdecimal() else 0
        if name not in self._hashes:
            if not number or all(number > through for through in self._checkpoints):
                self.findings.append(Finding(name, 0, "removed: the anchor has seen this segment"))
            return
        hashes = self._hashes[name]
        if len(hashes) < head.lines:
            self.findings.append(Finding(name, len(hashes), f"cut off: the anchor has seen {head.lines} lines"))
        elif hashes[head.lines - 1] != head.hash:
            self.findings.append(Finding(name, head.lines, "rewritten: the anchor has seen another line here"))

    def _find(self, line: Line, what: str) -> None:
        self.findings.append(Finding(line.segment, line.number, what))


def _out_of_line(place: int, follows: int | None) -> str:
    if follows is None:
        return "removed: a line that stood before it is missing"
    where = "before" if follows < place else "after"
    return f"reordered: it belongs right after line {follows + 1}, which stands {where} it"


def _closing(raw: bytes) -> tuple[str | None, str | None, bool]:
    """A line's own hash, the hash it names, and whether its own is that of its text."""
    body, found, end = raw.rpartition(_HASH)
    if not found or not end.endswith(b'"}\n'):
        return None, None, False
    hash_ = end[:-3].decode("ascii", "replace")
    prev = body.rpartition(b', "prev": "')[2].removesuffix(b'"').decode("ascii", "replace")
    return hash_, prev, digest(body) == hash_
