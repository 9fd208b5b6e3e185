"""Start the uploader of journal records, one process per account, unless it runs.

This is on the path of an event: heavy modules are imported only when a process is started.
"""

from __future__ import annotations

import os
import sys
import time

from ..approvals import presence
from ..basics import locks, places, processes

_AT_MOST_EVERY = 1.0  # seconds
_BOOT = "import sys; sys.path[:0] = {path!r}; from tenterhook.hub_client import uploader; uploader.main({places!r})"
_STARTED = processes.Outliving()


def directory() -> str:
    return os.path.join(places.state(), "hub-delivery")


def ensure_uploader_running() -> None:
    """Start the uploader if a hub was joined and no uploader runs."""
    if not presence.is_joined():
        return
    try:
        places.make_private(directory())
        if seconds_since_wake() < _AT_MOST_EVERY:
            return
        os.close(os.open(_wake_file(), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.utime(_wake_file())
        lock = UploaderLock()
        if lock.acquire():
            lock.release()
            _start()
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


def _start() -> None:
    import subprocess

    _STARTED.reap()
    path = [os.path.dirname(places.PACKAGE)]
    started = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _BOOT.format(path=path, places=places.FIXED)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )
    _STARTED.add(started)


class UploaderLock:
    """Held by the uploader for as long as it runs."""

    def __init__(self) -> None:
        self._descriptor = -1

    def acquire(self) -> bool:
        """Take the lock; False if another process holds it."""
        places.make_private(directory())
        self._descriptor = os.open(os.path.join(directory(), "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if locks.taken(self._descriptor):
            return True
        self.release()
        return False

    def release(self) -> None:
        os.close(self._descriptor)
