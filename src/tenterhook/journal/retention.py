"""How long the journal reaches back: old segments go, and a record says which and where the chain went on."""

from __future__ import annotations

import os
import time

from . import settings, writing


def forget_old(place: str) -> None:
    """Remove the oldest segments beyond what is to be kept; the caller holds the lock.

    The record of it stands in the newest segment, so that what is left still verifies.
    """
    chosen = settings.read()
    oldest_kept = time.time() - chosen["keep_days"] * 86400
    last = writing.last_number(place)
    numbers = sorted(number for number in numbers_in(place) if number < last)
    sizes = {number: os.path.getsize(_path(place, number)) for number in (*numbers, last)}
    over = sum(sizes.values()) - chosen["keep_mb"] * 1024 * 1024
    gone = 0
    for number in numbers:
        if over <= 0 and os.path.getmtime(_path(place, number)) >= oldest_kept:
            break
        over -= sizes[number]
        gone = number
    if gone:
        about = {"schema": 1, "type": "checkpoint", "time": round(time.time(), 6), "through": gone}
        writing.append_locked(place, {**about, "head": writing.head_of(_path(place, gone))})
        for number in numbers:
            if number <= gone:
                os.unlink(_path(place, number))


def numbers_in(place: str) -> list[int]:
    return [int(name[:-6]) for name in os.listdir(place) if name.endswith(".jsonl") and name[:-6].isdecimal()]


def _path(place: str, number: int) -> str:
    return os.path.join(place, writing.segment_name(number))
