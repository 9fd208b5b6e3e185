"""The journal, record by record, to the hub: later if it is away, each once, in order.

A process of its own does it, that nobody waits for; how far it came is written down after each batch the hub has taken.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import light_json, places
from ..journal import segments
from . import membership as membership_
from .calling_hub import HubAway, Line, Refused
from .waking import directory as own_directory
from .waking import last_kick, lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .membership import Membership

_IDLE = 10.0  # seconds without news after which it ends
_LOOK = 0.2  # seconds
_FIRST_PAUSE, _LAST_PAUSE = 1.0, 300.0  # seconds between tries
_SHORTEST_PAUSE = 5.0  # seconds, when something happens meanwhile
_WITHIN = 30.0  # seconds for one batch
_LARGEST_BATCH = 2 * 1024 * 1024  # bytes
_LONGEST_BATCH = 500  # records
_LARGEST_FIELD = 2000  # characters, of a record that is too large for any batch
_NO_TOKEN = (401, 403)
_FOR_LATER = (408, 425, 429)


def main(fixed: dict[str, str]) -> None:
    """Deliver until there is nothing new for a while; end if somebody else does it already."""
    places.FIXED.update(fixed)
    while True:
        with lock() as is_held:
            if not is_held:
                return
            _deliver_for_a_while()
        joined = membership_.read()
        # whoever wrote after our last look saw the lock held, and relies on us
        if joined is None or not _has_news(joined):
            return


def _deliver_for_a_while() -> None:
    pause, idle_since = _FIRST_PAUSE, time.monotonic()
    while (joined := membership_.read()) is not None:
        try:
            if deliver(joined):
                pause, idle_since = _FIRST_PAUSE, time.monotonic()
            elif time.monotonic() - idle_since > _IDLE:
                return
            else:
                time.sleep(_LOOK)
        except Refused as error:
            if error.status in _NO_TOKEN:
                return  # `hub status` says so
            pause = _pause(pause)
        except HubAway:
            pause = _pause(pause)
        if pause > _LAST_PAUSE:
            return


def _pause(seconds: float) -> float:
    """Wait until it is time for the next try, or until something happens; return how long to wait after that one."""
    begun = time.time()
    while (waited := time.time() - begun) < seconds:
        if waited > _SHORTEST_PAUSE and last_kick() < waited:
            return seconds
        time.sleep(_LOOK)
    return seconds * 2


class Place(NamedTuple):
    """How far a segment was delivered."""

    start: int = 0  # byte
    lines: int = 0


class Cursor:
    """How far the journal was delivered to one hub."""

    def __init__(self, joined: Membership) -> None:
        self._file = os.path.join(own_directory(), places.file_name(joined.url) + ".json")
        self.places: dict[str, Place] = {}
        try:
            with open(self._file, encoding="utf-8") as stream:
                kept = light_json.loads(stream.read())["places"]
            self.places = {str(name): Place(int(start), int(lines)) for name, (start, lines) in kept.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass

    @property
    def exists(self) -> bool:
        return os.path.exists(self._file)

    def keep(self) -> None:
        places.make_private(own_directory())
        kept = {name: list(place) for name, place in self.places.items()}
        places.replace_file(self._file, light_json.dumps({"schema": 1, "places": kept}).encode())

    def forget(self) -> None:
        if self.exists:
            os.unlink(self._file)


def begin_here(joined: Membership) -> None:
    """What the journal holds so far is not for this hub; unless it was joined before, and is only named anew."""
    cursor = Cursor(joined)
    if cursor.exists:
        return
    for line in _undelivered(cursor):
        cursor.places[line.segment] = _after(line)
    cursor.keep()


def undelivered(joined: Membership) -> int:
    """How many records wait to be delivered."""
    return sum(1 for _ in _undelivered(Cursor(joined)))


def _has_news(joined: Membership) -> bool:
    return next(_undelivered(Cursor(joined)), None) is not None


def deliver(joined: Membership) -> bool:
    """Send what is new, batch by batch; False if there was nothing."""
    cursor = Cursor(joined)
    batch: list[segments.Line] = []
    size = 0
    is_any = False
    for line in _undelivered(cursor):
        if batch and (size + len(line.raw) > _LARGEST_BATCH or len(batch) == _LONGEST_BATCH):
            _send(joined, cursor, batch)
            batch, size = [], 0
        batch.append(line)
        size += len(line.raw)
        is_any = True
    if batch:
        _send(joined, cursor, batch)
    return is_any


def _undelivered(cursor: Cursor) -> Iterator[segments.Line]:
    """The whole lines of the journal that the hub has not taken, segment by segment."""
    place = places.journal()
    names = segments.names(place)
    cursor.places = {name: known for name, known in cursor.places.items() if name in names}
    for name in names:
        start, lines = cursor.places.get(name, Place())
        try:
            for line in segments.lines(place, name, start, lines + 1):
                if line.raw.endswith(b"\n"):
                    yield line
        except OSError:  # old enough to have been removed just now, or something else stands in its place
            continue


def _send(joined: Membership, cursor: Cursor, batch: list[segments.Line]) -> None:
    """Have the hub take a batch. A record that it refuses does not keep those behind it."""
    records = [
        {"segment": line.segment, "line": line.number, "record": _fitting(line, record)}
        for line in batch
        if (record := line.record) is not None and segments.is_ours(line)
    ]
    try:
        if records:
            Line(joined).call("POST", "/records", {"machine": joined.name, "records": records}, within=_WITHIN)
    except Refused as error:
        if error.status in (*_NO_TOKEN, *_FOR_LATER):
            raise
        if len(batch) > 1:
            for line in batch:
                _send(joined, cursor, [line])
            return
    for line in batch:
        cursor.places[line.segment] = _after(line)
    cursor.keep()


def _fitting(line: segments.Line, record: dict[str, Any]) -> dict[str, Any]:
    """A record as it is, or without what makes it too large for any batch."""
    if len(line.raw) <= _LARGEST_BATCH:
        return record
    small = {key: value for key, value in record.items() if len(light_json.dumps(value)) <= _LARGEST_FIELD}
    return {**small, "payload": "cut"}


def _after(line: segments.Line) -> Place:
    return Place(line.start + len(line.raw), line.number)
