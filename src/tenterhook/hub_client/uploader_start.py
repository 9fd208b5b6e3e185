"""Start the uploader of journal records, one process per account, unless it is running.

This is on the path of an event: heavy modules are imported only when a process is started.
"""

from __future__ import annotations

import os
import time

from ..approvals import configured
from ..basics import places, processes

_AT_MOST_EVERY = 1.0  # seconds


def directory() -> str:
    return os.path.join(places.state(), "hub-delivery")


def ensure_uploader_running() -> None:
    """Start the uploader if a hub was joined and no uploader runs."""
    if not configured.is_joined():
        return
    try:
        places.make_private(directory())
        if seconds_since_wake() < _AT_MOST_EVERY:
            return
        os.close(os.open(_wake_file(), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.utime(_wake_file())
        with uploader_lock() as is_free:
            pass
        if is_free:
            processes.start_detached("tenterhook.hub_client.uploader:main", places.FIXED)
    except OSError:  # the next event tries again
        pass


def seconds_since_wake() -> float:
    """Return the seconds since `ensure_uploader_running` was last called, or infinity."""
    try:
        age = time.time() - os.stat(_wake_file()).st_mtime
    except OSError:
        return float("inf")
    return age if age >= 0 else float("inf")


def _wake_file() -> str:
    return os.path.join(directory(), "kicked")


def uploader_lock() -> processes.Lock:
    """Return the lock that the uploader holds while it runs; taking it does not wait."""
    places.make_private(directory())
    return processes.Lock(os.path.join(directory(), "lock"), wait=0)
