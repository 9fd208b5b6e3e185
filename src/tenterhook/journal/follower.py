"""Reading what is new in the journal, from a cursor that can be stored.

A cursor is one `Position` for each segment. It survives rotation and retention: segments that are gone are dropped from
it, and one that was replaced by another of the same name is read from its beginning. A last line without its line break
is left for the next read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import segments
from .writer import digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Position(NamedTuple):
    """How far a segment was read: its last line that was."""

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

    def __init__(self, place: str, cursor: Mapping[str, Position] | None = None) -> None:
        """Read the journal at `place`, after `cursor` or from the beginning."""
        self.place = place
        self.cursor = {name: position for name, position in (cursor or {}).items() if self._holds(name, position)}

    @classmethod
    def from_now(cls, place: str) -> Follower:
        """Return one that yields only what is appended from now on."""
        sizes = {name: _size(place, name) for name in segments.names(place)}
        return cls(place, {name: Position(size, size, digest(b"")) for name, size in sizes.items()})

    def lines(self) -> Iterator[segments.Line]:
        """Yield the complete lines after the cursor, segment by segment; the cursor is behind each line it yields."""
        present = segments.names(self.place)
        self.cursor = {name: position for name, position in self.cursor.items() if name in present}
        for name in present:
            known = self.cursor.get(name, _BEGINNING)
            if _size(self.place, name) == known.end:
                continue
            if not self._holds(name, known):
                known = _BEGINNING
            try:
                for line in segments.lines(self.place, name, known.end, known.lines + 1):
                    if not line.raw.endswith(b"\n"):
                        break
                    self.cursor[name] = Position.after(line)
                    yield line
            except OSError:  # removed by retention in the meantime, or not a file: `log verify` reports that
                continue

    def unread(self) -> int:
        """Return how many bytes there are after the cursor."""
        sizes = {name: _size(self.place, name) for name in segments.names(self.place)}
        return sum(size - self.cursor[name].end if name in self.cursor else size for name, size in sizes.items())

    def _holds(self, name: str, position: Position) -> bool:
        """Whether a segment still has the line that a position was taken from."""
        try:
            with segments.open_segment(self.place, name) as file:
                file.seek(position.start)
                is_long_enough = os.fstat(file.fileno()).st_size >= position.end
                return is_long_enough and digest(file.read(position.end - position.start)) == position.digest
        except OSError:
            return False


def load_cursor(stored: Any) -> dict[str, Position]:
    """Return a cursor from its JSON; raise ValueError or TypeError for what is none.

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
