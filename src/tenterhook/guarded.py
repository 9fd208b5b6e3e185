"""The agents that Tenterhook guards: what runs below one of them may not widen what may run."""

from __future__ import annotations

import os

from . import places, processes


def _directory() -> str:
    return os.path.join(places.state(), "guarded")


def mark(process: processes.Process) -> None:
    """Remember a running agent."""
    places.make_private(_directory())
    descriptor = os.open(os.path.join(_directory(), str(process)), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.close(descriptor)


def ancestor() -> processes.Process | None:
    """The agent this process runs below, if one of its ancestors is guarded."""
    try:
        marked = set(os.listdir(_directory()))
    except OSError:
        return None
    return next((process for process in processes.ancestors() if str(process) in marked), None)
