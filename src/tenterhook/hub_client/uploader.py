"""Upload journal records to the hub, in order and each once, in a process of its own.

While the hub is unavailable it retries; the position is saved after each batch that the hub has accepted.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from ..basics import light_json, places
from ..journal import segments
from ..journal.follower import Follower, Position, load_cursor
from . import membership as membership_
from .connection import HubConnection, HubRefused, HubUnavailable
from .uploader_start import directory as own_directory
from .uploader_start import seconds_since_wake, uploader_lock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .membership import Membership

_IDLE = 10.0  # seconds without new records after which it ends
_INTERVAL = 0.2  # seconds
_FIRST_PAUSE, _LAST_PAUSE = 1.0, 300.0  # seconds between retries
_SHORTEST_PAUSE = 5.0  # seconds, when there is a new record meanwhile
_BATCH_TIMEOUT = 30.0  # seconds
_BATCH_BYTES = 2 * 1024 * 1024
_BATCH_RECORDS = 500
_BATCH_REDACTED = 20  # of any size up to 256 KiB and more
_FIELD_CHARACTERS = 2000  # of a record that is too large for any batch
_UNAUTHORIZED = (401, 403)
_RETRY_LATER = (408, 425, 429)


def main(fixed: dict[str, str]) -> None:
    """Upload until there is nothing new for a while; return at once if another process does."""
    places.FIXED.update(fixed)
    while True:
        with uploader_lock() as is_held:
            if not is_held:
                return
            _upload_until_idle()
        joined = membership_.read()
        # a process that wrote a record since our last check saw the lock held and relies on us
        if joined is None or not _has_new(joined):
            return


def _upload_until_idle() -> None:
    pause, idle_since = _FIRST_PAUSE, time.monotonic()
    while (joined := membership_.read()) is not None:
        try:
            if upload(joined):
                pause, idle_since = _FIRST_PAUSE, time.monotonic()
            elif time.monotonic() - idle_since > _IDLE:
                return
            else:
                time.sleep(_INTERVAL)
        except HubRefused as error:
            if error.status in _UNAUTHORIZED:
                return  # `hub status` says so
            pause = _pause(pause)
        except HubUnavailable:
            pause = _pause(pause)
        if pause > _LAST_PAUSE:
            return


def _pause(seconds: float) -> float:
    """Wait that long, or less if there is a new record; return how long to wait the next time."""
    begun = time.time()
    while (waited := time.time() - begun) < seconds:
        if waited > _SHORTEST_PAUSE and seconds_since_wake() < waited:
            return seconds
        time.sleep(_INTERVAL)
    return seconds * 2


class UploadCursor:
    """The position up to which the journal was uploaded to one hub."""

    def __init__(self, joined: Membership) -> None:
        self._file = os.path.join(own_directory(), places.file_name(joined.url) + ".json")
        self.positions: dict[str, Position] = {}
        try:
            with open(self._file, encoding="utf-8") as stream:
                self.positions = load_cursor(light_json.loads(stream.read())["places"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            pass

    @property
    def exists(self) -> bool:
        return os.path.exists(self._file)

    def save(self) -> None:
        places.make_private(own_directory())
        places.replace_file(self._file, light_json.dumps({"schema": 1, "places": self.positions}).encode())

    def delete(self) -> None:
        if self.exists:
            os.unlink(self._file)


def skip_existing(joined: Membership) -> None:
    """Exclude existing records from the upload, unless this hub was joined before."""
    cursor = UploadCursor(joined)
    if cursor.exists:
        return
    for line in _not_uploaded(cursor):
        cursor.positions[line.segment] = Position.after(line)
    cursor.save()


def pending(joined: Membership) -> int:
    """Return how many records are not uploaded yet."""
    return sum(1 for _ in _not_uploaded(UploadCursor(joined)))


def _has_new(joined: Membership) -> bool:
    return next(_not_uploaded(UploadCursor(joined)), None) is not None


def upload(joined: Membership) -> bool:
    """Upload the new records in batches; False if there were none."""
    cursor = UploadCursor(joined)
    batch: list[segments.Line] = []
    size = 0
    is_any = False
    for line in _not_uploaded(cursor):
        if batch and (size + len(line.raw) > _BATCH_BYTES or len(batch) == _BATCH_RECORDS):
            _send(joined, cursor, batch)
            batch, size = [], 0
        batch.append(line)
        size += len(line.raw)
        is_any = True
    if batch:
        _send(joined, cursor, batch)
    return is_any


def _not_uploaded(cursor: UploadCursor) -> Iterator[segments.Line]:
    """Return the complete lines of the journal that the hub has not accepted, segment by segment."""
    follower = Follower(places.journal(), cursor.positions)
    cursor.positions = dict(follower.cursor)
    return follower.lines()


def _send(joined: Membership, cursor: UploadCursor, batch: list[segments.Line]) -> None:
    """Upload a batch, and again the lines that a redaction in it names."""
    _post(joined, [(line, {}) for line in batch])
    redacted = [(line, {"replaces": True}) for line in _redacted_lines(batch)]
    for start in range(0, len(redacted), _BATCH_REDACTED):
        _post(joined, redacted[start : start + _BATCH_REDACTED])
    for line in batch:
        cursor.positions[line.segment] = Position.after(line)
    cursor.save()


def _post(joined: Membership, lines: list[tuple[segments.Line, dict[str, Any]]]) -> None:
    """Upload lines with additional fields. A line that the hub rejects does not hold back those after it."""
    records = [
        {"segment": line.segment, "line": line.number, "record": _shortened(line, record), **more}
        for line, more in lines
        if (record := line.record) is not None and segments.is_ours(line)
    ]
    try:
        if records:
            body = {"machine": joined.name, "records": records}
            HubConnection(joined).call("POST", "/records", body, timeout=_BATCH_TIMEOUT)
    except HubRefused as error:
        if error.status in (*_UNAUTHORIZED, *_RETRY_LATER):
            raise
        for line in lines if len(lines) > 1 else ():
            _post(joined, [line])


def _redacted_lines(batch: list[segments.Line]) -> Iterator[segments.Line]:
    """Yield the lines of the journal that redaction records name, as they are now."""
    named: dict[str, set[int]] = {}
    for each in segments.redactions_in(batch):
        named.setdefault(each.segment, set()).add(each.line)
    for name, numbers in named.items():
        try:
            yield from (line for line in segments.lines(places.journal(), name) if line.number in numbers)
        except OSError:  # removed by retention
            continue


def _shortened(line: segments.Line, record: dict[str, Any]) -> dict[str, Any]:
    """Return the record, without its large fields if it is too large for any batch."""
    if len(line.raw) <= _BATCH_BYTES:
        return record
    small = {key: value for key, value in record.items() if len(light_json.dumps(value)) <= _FIELD_CHARACTERS}
    return {**small, "payload": "cut"}
