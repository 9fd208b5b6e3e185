"""The agents that Tenterhook guards: what runs below one of them may not widen what may run."""

from __future__ import annotations

import os

from . import places, processes


def _directory() -> str:
    return os.path.join(places.state(), "guarded")


def mark(process: processes.Process | str) -> None:
    """Remember a running agent, given as a process or as one is written."""
    file = os.path.join(_directory(), str(process))
    if os.path.exists(file):
        return
    places.make_private(_directory())
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    _forget_ended()


def _forget_ended() -> None:
    """Remove the marks of processes that are gone, so that the directory does not grow."""
    if not os.path.isdir("/proc/self"):
        return
    for name in os.listdir(_directory()):
        if not os.path.isdir(f"/proc/{name.partition('.')[0]}"):
            try:
                os.unlink(os.path.join(_directory(), name))
            except OSError:
                continue


def ancestor() -> processes.Process | None:
    """The agent this process runs below, if one of its ancestors is guarded."""
    try:
        marked = set(os.listdir(_directory()))
    except OSError:
        return None
    return next((process for process in processes.ancestors() if str(process) in marked), None)
