"""Locks between processes."""

from __future__ import annotations

import os
import time

_FIRST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.01  # seconds between two tries


class Lock:
    """An exclusive lock on a file, held from entry to exit or until the process ends. The file stays.

    Entry waits at most `wait` seconds, with None as long as it takes, and returns whether the lock is held. It counts
    as held on a file system without locks. Raises `OSError` if the file cannot be opened.
    """

    def __init__(self, file: str, wait: float | None = None) -> None:
        self._file = file
        self._wait = wait
        self._descriptor = -1

    def __enter__(self) -> bool:
        self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if acquire(self._descriptor, self._wait):
            return True
        self.__exit__()
        return False

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def acquire(descriptor: int, wait: float | None, *, posix: bool = False) -> bool:
    """Lock an open file within `wait` seconds; return whether it is locked, or cannot be on this file system.

    The lock is released when the descriptor is closed. `posix`: a record lock (`lockf`), as journals have them; it does
    not exclude `flock`.
    """
    pause, until = _FIRST_PAUSE, None
    while True:
        try:
            if posix:
                os.lockf(descriptor, os.F_LOCK if wait is None else os.F_TLOCK, 0)
            else:
                import fcntl

                fcntl.flock(descriptor, fcntl.LOCK_EX if wait is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            until = until or time.monotonic() + (wait or 0)
            if time.monotonic() >= until:
                return False
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
        except OSError:  # a file system without locks
            return True
        else:
            return True
