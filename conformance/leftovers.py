"""Finds and ends processes that an engine or a hook has left running."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

_PROC = Path("/proc")


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except (OSError, IndexError):
        return not _PROC.is_dir()  # without /proc, what answers to a signal counts as running


def end_group(pid: int) -> None:
    """Kill a process group, if it is still there."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def sweep(mark: str, root: Path | None = None, seconds: float = 5) -> None:
    """Kill every process with this mark in its environment, or at work below this folder; return when all are gone.

    Where there is no /proc, only the adapter's own process group is ended, by its caller.
    """
    end = time.monotonic() + seconds
    while found := _marked(mark.encode(), root):
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        if time.monotonic() > end:
            return
        time.sleep(0.02)


def _marked(mark: bytes, root: Path | None) -> list[int]:
    own = os.getpid()
    pids = [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()] if _PROC.is_dir() else []
    return [pid for pid in pids if pid != own and _is_marked(pid, mark, root) and alive(pid)]


def _is_marked(pid: int, mark: bytes, root: Path | None) -> bool:
    process = _PROC / str(pid)
    try:
        if b"CONFORMANCE_MARK=" + mark in (process / "environ").read_bytes():
            return True
        at = Path(os.readlink(process / "cwd"))
        return root is not None and (at == root or root in at.parents)
    except OSError:
        return False  # ended meanwhile, or of another account
