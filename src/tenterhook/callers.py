"""The agent that runs us: the nearest ancestor that is no shell. Nothing is imported here that costs a start."""

from __future__ import annotations

import os

_SHELLS = frozenset((b"sh", b"dash", b"bash", b"zsh", b"ash", b"ksh", b"fish", b"busybox"))


def agent() -> str | None:
    """The agent's process as `guarded` names it; None where the system does not tell."""
    pid = os.getppid()
    try:
        while pid > 1:
            with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
                head, _, tail = file.read().rpartition(b")")
            fields = tail.split()
            if head.partition(b"(")[2] not in _SHELLS:
                return f"{pid}.{fields[19].decode()}"
            pid = int(fields[1])
    except (OSError, ValueError, IndexError):
        pass
    return None
