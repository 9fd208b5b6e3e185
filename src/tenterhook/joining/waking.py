"""Making sure that the journal's records are delivered: at most one process does it, and nobody waits for it.

An agent waits for what is done here, so that nothing is imported that is not needed.
"""

from __future__ import annotations

import os
import sys
import time

from ..approvals import presence
from ..basics import locks, places, processes

_AT_MOST_EVERY = 1.0  # seconds
_BOOT = "import sys; sys.path[:0] = {path!r}; from tenterhook.joining import delivering; delivering.main({places!r})"
_STARTED = processes.Outliving()


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
        lock = Lock()
        if lock.take():
            lock.let_go()
            _start()
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


class Lock:
    """Held by the process that delivers, for as long as it does."""

    def __init__(self) -> None:
        self._descriptor = -1

    def take(self) -> bool:
        """Whether nobody else holds it."""
        places.make_private(directory())
        self._descriptor = os.open(os.path.join(directory(), "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if locks.taken(self._descriptor):
            return True
        self.let_go()
        return False

    def let_go(self) -> None:
        os.close(self._descriptor)
