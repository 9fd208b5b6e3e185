"""Retention: old segments are removed, and a checkpoint records which, so that the chain can still be verified."""

from __future__ import annotations

import os
import time

from ..basics import places
from . import settings, writer


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
        about = {"schema": 1, "type": "checkpoint", "time": round(time.time(), 6), "through": gone, "aside": asides}
        writer.append_locked(place, {**about, "head": writer.end_of(_path(place, gone)) if gone else None})
        for name in (*(writer.segment_name(number) for number in numbers if number <= gone), *asides):
            os.unlink(os.path.join(place, name))


def _old_asides(place: str, oldest_kept: float) -> list[str]:
    """Return the old ones of the segments that were written aside, which are in no chain."""
    found = [name for name in os.listdir(place) if name.startswith("aside-") and name.endswith(".jsonl")]
    return [name for name in found if os.lstat(os.path.join(place, name)).st_mtime < oldest_kept]


def _path(place: str, number: int) -> str:
    return os.path.join(place, writer.segment_name(number))
