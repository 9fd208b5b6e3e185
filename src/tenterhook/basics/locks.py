"""Files that one process at a time holds."""

from __future__ import annotations

import os


def taken(descriptor: int) -> bool:
    """Take the lock of an open file, if nobody has it; held until the descriptor is closed."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Lock:
    """Waits on entry until nobody else holds it; let go on exit, or when the process ends. The file stays."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._descriptor = -1

    def __enter__(self) -> None:
        import fcntl

        self._descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        except OSError:  # a file system without locks: as good as it gets there
            pass

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
