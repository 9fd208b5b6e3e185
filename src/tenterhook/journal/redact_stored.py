"""Redacts lines that are already in the journal, so that the chain can still be verified.

A redaction record is appended first: which lines, their hashes before and after, when and by whom. Then each segment
with such lines is replaced. The line after a redacted one still contains its original hash, which the redacted line
keeps in `redacted`. If this is interrupted, `log verify` reports it, and running it again completes it.

A redacted line is longer than the original, so that a stored `Position` no longer fits and readers notice the change.
"""

from __future__ import annotations

import os
import pwd
import time
from typing import TYPE_CHECKING, NamedTuple

from ..basics import places
from . import index, records, segments, writer
from .redacted_records import redacted_record

if TYPE_CHECKING:
    from .redacted_records import StoredRedactor

_LOCK_TIMEOUT = 30.0  # seconds
_PADDED_TO = 256  # bytes, so that a line's length reveals little about the length of a secret


class Redacted(NamedTuple):
    """A line of the journal, and the line that replaces it."""

    line: segments.Line
    new: bytes
    texts: int  # the number of texts that were redacted
    was: str = ""  # the hashes for the redaction record; empty if the line was edited or is incomplete
    now: str = ""


class Redaction:
    """One redaction of a journal: finds the lines, then replaces them."""

    def __init__(self, place: str, redactor: StoredRedactor) -> None:
        self._place = place
        self._redactor = redactor
        self._known: dict[str, tuple[tuple[int, int, int], list[Redacted]]] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a journal."""
        return os.path.isdir(self._place)

    def lines(self) -> list[Redacted]:
        """Return the lines to redact. Segments that have not changed since the last call are not read again."""
        found: list[Redacted] = []
        for name in segments.names(self._place):
            try:
                with segments.open_segment(self._place, name) as file:
                    about = os.fstat(file.fileno())
            except OSError:  # removed in the meantime, or not a file
                continue
            state = (about.st_ino, about.st_size, about.st_mtime_ns)
            if self._known.get(name, (None,))[0] != state:
                self._known[name] = (state, self._lines_of(name))
            found += self._known[name][1]
        return found

    def _lines_of(self, name: str) -> list[Redacted]:
        redacted = (redacted_line(line, self._redactor) for line in segments.lines(self._place, name))
        return [each for each in redacted if each is not None]

    def run(self) -> list[Redacted]:
        """Redact the lines, and return them. Raises `OSError` if interrupted; the next run completes it."""
        self.lines()  # read before taking the lock, which agents wait for
        with writer.Locked(self._place, _LOCK_TIMEOUT) as journal:
            self._remove_leftovers()
            found = self.lines()
            recorded = {(each.segment, each.was): each.now for each in segments.redactions(self._place)}
            new = [each for each in found if each.was and recorded.get((each.line.segment, each.was)) != each.now]
            if new:
                journal.append(_record(new))
            index.delete()
            for name in dict.fromkeys(each.line.segment for each in found):
                self._replace(name, {each.line.number: each.new for each in found if each.line.segment == name})
        index.delete()  # a reader may have rebuilt it meanwhile
        return found

    def _replace(self, name: str, new: dict[int, bytes]) -> None:
        path = os.path.join(self._place, name)
        try:
            with segments.open_segment(self._place, name) as file:
                about = os.fstat(file.fileno())
                lines = file.readlines()
        except FileNotFoundError:  # removed by retention, when the redaction record began a new segment
            return
        content = b"".join(new.get(number, line) for number, line in enumerate(lines, start=1))
        places.replace_file(path, content, sync=True)
        os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))  # retention uses the file's time

    def _remove_leftovers(self) -> None:
        """Remove what an interrupted redaction has left."""
        for name in os.listdir(self._place):
            if ".jsonl." in name and name.endswith(".new"):
                os.unlink(os.path.join(self._place, name))


def account() -> str:
    """Return the name of the account that this process runs as."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _record(found: list[Redacted]) -> dict[str, object]:
    about = [
        {"segment": each.line.segment, "line": each.line.number, "was": each.was, "now": each.now} for each in found
    ]
    head = {"schema": records.SCHEMA, "type": "redaction", "time": round(time.time(), 6), "by": account()}
    return {**head, "lines": about}


def redacted_line(line: segments.Line, redactor: StoredRedactor) -> Redacted | None:
    """Return a line with its secrets redacted, or None if it has none.

    An edited or incomplete line remains so: `log verify` reports it as before.
    """
    before = redactor.count
    closing = segments.Closing.of(line.raw)
    if closing.claimed is None:  # not ours, or incomplete
        kept = _redacted_text(line.raw.rstrip(b"\n"), redactor)
        if kept is None:
            return None
        end = b"\n" if line.raw.endswith(b"\n") else b""
        return Redacted(line, kept + _padding(len(line.raw), len(kept + end)) + end, redactor.count - before)
    body = _redacted_body(line, closing, redactor)
    if body is None:
        return None
    original = closing.was or (closing.claimed if closing.is_true else None)
    mark = segments.redacted_mark(original) if original else b""
    new, now = writer.closed(body + mark + b"}", closing.prev)
    if padding := _padding(len(line.raw), len(new)):
        new, now = writer.closed(body + padding + mark + b"}", closing.prev)
    if not closing.is_true:
        return Redacted(line, new.replace(now.encode(), closing.claimed.encode()), redactor.count - before)
    return Redacted(line, new, redactor.count - before, original or "", now)


def _redacted_body(line: segments.Line, closing: segments.Closing, redactor: StoredRedactor) -> bytes | None:
    """Return the line up to `redacted` or `prev` with its secrets redacted, or None if it has none."""
    record = line.record
    if record is None:  # nested too deeply
        body = line.raw[: line.raw.rindex(b', "prev": "')]
        return _redacted_text(body.removesuffix(segments.redacted_mark(closing.was or "")), redactor)
    kept = redacted_record(record, redactor)
    if kept is record:
        return None
    fields = {key: value for key, value in kept.items() if key not in ("redacted", "prev", "hash")}
    return records.encoded(fields).encode()[:-1]


def _redacted_text(raw: bytes, redactor: StoredRedactor) -> bytes | None:
    text = raw.decode("utf-8", "surrogateescape")
    kept = redactor.redacted(text)
    return None if kept is text else str(kept).encode("utf-8", "surrogateescape")


def _padding(old: int, new: int) -> bytes:
    """Return the blanks that make a redacted line longer than the original; none if it already is."""
    return b"" if new > old else b" " * ((old // _PADDED_TO + 1) * _PADDED_TO - new)
