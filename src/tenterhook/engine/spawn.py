"""Starts a process in its own process group, with three pipes and none of our other descriptors.

`os.posix_spawn` takes half the time of `subprocess.Popen`, but cannot set the working directory; it is used if the
process starts in ours. Neither is slower in a process that uses much memory.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Signals that Python ignores, but that programs expect to have their default action.
_SIGPIPE, _SIGXFSZ = 13, 25  # the same on Linux and macOS; `signal` imports `enum`
_RESTORED = [_SIGPIPE, _SIGXFSZ] if sys.platform in ("linux", "darwin") else [_SIGPIPE]
_DUP2 = os.POSIX_SPAWN_DUP2
_OPEN = "/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"


class Spawner:
    """Starts processes from the current working directory, which is determined once."""

    def __init__(self) -> None:
        self._here = _working_directory()
        if _LISTED[1] != os.getpid():
            _LISTED[:] = [-1e9, os.getpid(), []]

    def spawn(
        self, argv: tuple[str, ...], cwd: str, env: Mapping[bytes, bytes], stdin: int, stdout: int, stderr: int
    ) -> int:
        """Start a process; return its ID. Raises `OSError` or `ValueError` if it cannot be started."""
        if cwd != self._here:
            return _spawn_elsewhere(argv, cwd, env, stdin, stdout, stderr)
        now = time.monotonic()
        if now - _LISTED[0] > _LISTED_FOR:
            _LISTED[:] = [now, os.getpid(), [(os.POSIX_SPAWN_CLOSE, fd) for fd in _list_inheritable()]]
        actions = [(_DUP2, stdin, 0), (_DUP2, stdout, 1), (_DUP2, stderr, 2), *_LISTED[2]]
        return os.posix_spawn(argv[0], argv, env, file_actions=actions, setpgroup=0, setsigmask=(), setsigdef=_RESTORED)


# Descriptors beyond the standard ones that a child would inherit, listed again after a second: the time and process of
# the listing, and the file actions that close them. Python's own are never inherited; those that our caller left open,
# or that a C library opened, may be.
_LISTED: list[Any] = [-1e9, 0, []]
_LISTED_FOR = 1.0


def _list_inheritable() -> list[int]:
    found = []
    for name in os.listdir(_OPEN):
        fd = int(name)
        try:
            if fd > 2 and os.get_inheritable(fd):
                found.append(fd)
        except OSError:  # the one that listed the directory
            continue
    return found


def _spawn_elsewhere(
    argv: tuple[str, ...], cwd: str, env: Mapping[bytes, bytes], stdin: int, stdout: int, stderr: int
) -> int:
    import subprocess

    process = subprocess.Popen(argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, env=env, process_group=0)
    # The caller reaps it by its ID, not by Popen.
    process.returncode = 0
    return process.pid


def _working_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return None


def find_child(out: int) -> int:
    """Return the ID of the child whose stdout is this pipe; 0 if there is none, or no `/proc`.

    Needed if a signal handler raises after `spawn` has returned the ID and before it is stored.
    """
    try:
        pipe = os.readlink(f"/proc/self/fd/{out}")
        for child in _children():
            if _leads_and_writes_to(child, pipe):
                return child
    except OSError:
        pass
    return 0


def _children() -> list[int]:
    found: list[str] = []
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/children") as file:
                found += file.read().split()
        except OSError:  # it has ended
            continue
    return list(map(int, found))


def _leads_and_writes_to(child: int, pipe: str) -> bool:
    try:
        return os.readlink(f"/proc/{child}/fd/1") == pipe and os.getpgid(child) == child
    except OSError:  # it has ended
        return False


class SigpipeBlocked:
    """Blocks SIGPIPE while writing to a pipe that may be closed, for programs that do not ignore the signal."""

    def __enter__(self) -> None:
        import signal  # rarely needed, and slow to import

        self._before: set[int] | None = None
        if signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL:
            self._before = set(signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE}))

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            return
        import signal

        if signal.SIGPIPE in signal.sigpending():
            signal.sigwait({signal.SIGPIPE})
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
