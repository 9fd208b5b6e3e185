"""Reads new lines of the journal from a cursor that can be stored.

A cursor is a `Position` for each segment. It survives rotation and retention: removed segments are dropped from it, and
one that was replaced by another of the same name is read from its beginning. A segment in which lines were redacted is
continued after the same line. A last line without a line break is left for the next read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import segments
from .writer import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Position(NamedTuple):
    """How far a segment was read: the last line that was read."""

    start: int  # bytes
    end: int
    digest: str  # of the bytes between them
    lines: int = 0

    @classmethod
    def after(cls, line: segments.Line) -> Position:
        """Return the position after a line."""
        return cls(line.start, line.start + len(line.raw), digest(line.raw), line.number)


_BEGINNING = Position(0, 0, digest(b""))


class Follower:
    """Yields the journal's lines after a cursor, and moves the cursor."""

    def __init__(self, place: str, cursor: Mapping[str, Position] | None = None, *, resumes: bool = True) -> None:
        """Read the journal at `place`, after `cursor` or from the beginning.

        Unless it `resumes`, a segment in which lines were redacted is read from its beginning again.
        """
        self.place = place
        self._resumes = resumes
        current = {name: self._current(name, position) for name, position in (cursor or {}).items()}
        self.cursor = {name: position for name, position in current.items() if position is not None}

    @classmethod
    def from_now(cls, place: str) -> Follower:
        """Return a follower that yields only lines appended from now on."""
        sizes = {name: _size(place, name) for name in segments.names(place)}
        return cls(place, {name: Position(size, size, digest(b"")) for name, size in sizes.items()})

    def lines(self) -> Iterator[segments.Line]:
        """Yield the complete lines after the cursor, segment by segment; moves the cursor after each line."""
        present = segments.names(self.place)
        self.cursor = {name: position for name, position in self.cursor.items() if name in present}
        for name in present:
            known = self.cursor.get(name, _BEGINNING)
            if _size(self.place, name) == known.end:
                continue
            known = self._current(name, known) or _BEGINNING
            try:
                for line in segments.lines(self.place, name, known.end, known.lines + 1):
                    if not line.raw.endswith(b"\n"):
                        break
                    self.cursor[name] = Position.after(line)
                    yield line
            except OSError:  # removed by retention in the meantime, or not a file: `log verify` reports that
                continue

    def unread(self) -> int:
        """Return the number of bytes after the cursor."""
        sizes = {name: _size(self.place, name) for name in segments.names(self.place)}
        return sum(size - self.cursor[name].end if name in self.cursor else size for name, size in sizes.items())

    def _current(self, name: str, position: Position) -> Position | None:
        """Return the position in the current state of a segment; None if the segment is another one."""
        if self._is_current(name, position):
            return position
        return self._after_redaction(name, position) if self._resumes else None

    def _after_redaction(self, name: str, position: Position) -> Position | None:
        """Return the position of the same line in a segment with redacted lines, which are longer than before."""
        try:
            for line in segments.lines(self.place, name):
                is_redacted = line.number == position.lines and segments.Closing.of(line.raw).was is not None
                if is_redacted or (line.start > position.start and digest(line.raw) == position.digest):
                    return Position.after(line)
        except OSError:
            pass
        return None

    def _is_current(self, name: str, position: Position) -> bool:
        """Whether a segment still has the line that a position was taken from."""
        try:
            with segments.open_segment(self.place, name) as file:
                file.seek(position.start)
                is_long_enough = os.fstat(file.fileno()).st_size >= position.end
                return is_long_enough and digest(file.read(position.end - position.start)) == position.digest
        except OSError:
            return False


def load_cursor(stored: Any) -> dict[str, Position]:
    """Return a cursor from its JSON. Raises `ValueError` or `TypeError` if it is not valid.

    Version 0.1 wrote `[end, lines]` in the uploader's file and `[start, end, digest]` in those of exports.
    """
    if not isinstance(stored, dict):
        raise TypeError("not a cursor")
    return {str(name): _position(*values) for name, values in stored.items()}


def _position(first: int, second: int, digest_: str | None = None, lines: int = 0) -> Position:
    if digest_ is None:
        return Position(int(first), int(first), digest(b""), int(second))
    return Position(int(first), int(second), str(digest_), int(lines))


def _size(place: str, name: str) -> int:
    try:
        return os.path.getsize(os.path.join(place, name))
    except FileNotFoundError:
        return 0
