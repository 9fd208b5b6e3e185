"""Making sure that the journal's records are delivered: at most one process does it, and nobody waits for it.

An agent waits for what is done here, so that nothing is imported that is not needed.
"""

from __future__ import annotations

import os
import time

from ..approvals import presence
from ..basics import locks, places, processes

_AT_MOST_EVERY = 1.0  # seconds


def directory() -> str:
    return os.path.join(places.state(), "hub-delivery")


def kick() -> None:
    """See to it that somebody delivers, if there is a hub."""
    if not presence.is_joined():
        return
    try:
        places.make_private(directory())
        if last_kick() < _AT_MOST_EVERY:
            return
        os.close(os.open(_mark(), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.utime(_mark())
        with lock() as nobody_delivers:
            pass
        if nobody_delivers:
            processes.start_detached("tenterhook.joining.delivering:main", places.FIXED)
    except OSError:  # no place, or no process to be had: the next event tries again
        pass


def last_kick() -> float:
    """Seconds since somebody wanted to have records delivered; long, if that never was or will be."""
    try:
        age = time.time() - os.stat(_mark()).st_mtime
    except OSError:
        return float("inf")
    return age if age >= 0 else float("inf")


def _mark() -> str:
    return os.path.join(directory(), "kicked")


def lock() -> locks.Lock:
    """The lock of the process that delivers; another one does not wait for it."""
    places.make_private(directory())
    return locks.Lock(os.path.join(directory(), "lock"), wait=0)
