"""Removes old segments; a checkpoint records which, so that the chain can still be verified."""

from __future__ import annotations

import os
import time
from typing import Any

from ..basics import places
from . import segments, settings, writer


def delete_old(place: str) -> None:
    """Remove the oldest segments beyond `keep_days` and `keep_mb`; the caller holds the lock."""
    chosen = settings.read(places.settings_file())
    oldest_kept = time.time() - chosen["keep_days"] * 86400
    *found, last = writer.segment_numbers(place)
    numbers = [number for number in found if os.path.isfile(_path(place, number))]
    sizes = {number: os.path.getsize(_path(place, number)) for number in (*numbers, last)}
    over = sum(sizes.values()) - chosen["keep_mb"] * 1024 * 1024
    gone = 0
    for number in numbers:
        if over <= 0 and os.path.getmtime(_path(place, number)) >= oldest_kept:
            break
        over -= sizes[number]
        gone = number
    asides = _old_asides(place, oldest_kept)
    if gone or asides:
        names = [writer.segment_name(number) for number in numbers if number <= gone]
        for record in _redactions_of_asides(place, names, asides):
            writer.append_locked(place, record)
        about = {"schema": 1, "type": "checkpoint", "time": round(time.time(), 6), "through": gone, "aside": asides}
        writer.append_locked(place, {**about, "head": _head(place, writer.segment_name(gone)) if gone else None})
        for name in (*names, *asides):
            os.unlink(os.path.join(place, name))


def _head(place: str, name: str) -> str | None:
    """Return the hash of a segment's last line, which the next segment continues; the one before any redaction."""
    closings = [segments.Closing.of(line.raw) for line in segments.lines(place, name)]
    return next((each.was or each.claimed for each in reversed(closings) if each.claimed), None)


def _redactions_of_asides(place: str, names: list[str], asides: list[str]) -> list[dict[str, Any]]:
    """Return redaction records of the segments to remove that concern remaining segments written aside."""
    staying = [name for name in segments.names(place) if name.startswith("aside-") and name not in asides]
    found: list[dict[str, Any]] = []
    for line in (line for name in names for line in segments.lines(place, name)) if staying else ():
        if segments.is_redaction(line) and (record := line.record) is not None:
            about = [each for each in record["lines"] if each["segment"] in staying]
            found += [{**_without_chain(record), "lines": about}] if about else []
    return found


def _without_chain(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in ("prev", "hash")}


def _old_asides(place: str, oldest_kept: float) -> list[str]:
    """Return the old segments among those written aside, which are not in the chain."""
    found = [name for name in os.listdir(place) if name.startswith("aside-") and name.endswith(".jsonl")]
    return [name for name in found if os.lstat(os.path.join(place, name)).st_mtime < oldest_kept]


def _path(place: str, number: int) -> str:
    return os.path.join(place, writer.segment_name(number))
