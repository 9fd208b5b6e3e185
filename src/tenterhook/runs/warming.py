"""Warm hooks: Python scripts that begin in a process made from a prepared interpreter, with everything as always.

The interpreter (prepared_python.py) is started when it is first needed, one for each kind of start there is. A process
made from it is our child like any other. Where it cannot be done, or not yet, the answer is None: start it as always.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
import time

from ..basics.values import NamedTuple
from .spawning import Spawner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

_AT_MOST = 4  # interpreters kept
_PATIENCE = 0.5  # seconds for an answer that takes a millisecond
_RETRIED_AFTER = 60.0  # seconds, when an interpreter cannot be prepared
_SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "prepared_python.py")
_SIGKILL = 9


class Python(NamedTuple):
    """An interpreter, and the command line it would be started with; the last word of it is the script."""

    interpreter: str
    argv: tuple[str, ...]


class _Prepared:
    """One prepared interpreter: first it is on its way, then it can be asked, and once it is gone it stays so."""

    def __init__(self, interpreter: str, options: Sequence[str], env: Mapping[bytes, bytes]) -> None:
        self._lock = threading.Lock()
        self._interpreter = interpreter
        self._depends_on: list[str] = []
        self._seen: list[object] = []
        self._has_told = False
        self._begun = time.monotonic()
        self._socket, theirs = socket.socketpair()
        self._socket.setblocking(False)
        try:  # all three: where its streams lead will be a script's pipes, and both are no files and no terminals
            self._pid = Spawner().spawn((interpreter, *options, _SCRIPT), "/", env, *[theirs.fileno()] * 3)
        except (OSError, ValueError):
            self._socket.close()
        finally:
            theirs.close()

    @property
    def is_to_be_replaced(self) -> bool:
        if self._socket.fileno() < 0:
            return self._has_told or time.monotonic() - self._begun > _RETRIED_AFTER
        return self._has_told and _stats(self._depends_on) != self._seen

    def start(self, request: bytes, pipes: Sequence[int]) -> int | None:
        """A process for a request; None if there is none, and then there never will be."""
        if not self._lock.acquire(timeout=_PATIENCE):
            return None
        try:
            return (self._ask(request, pipes) if self._is_ready() else 0) or None
        finally:
            self._lock.release()

    def end(self) -> None:
        with self._lock:
            self._end()

    def _is_ready(self) -> bool:
        if self._socket.fileno() < 0 or self._has_told:
            return self._socket.fileno() >= 0
        try:
            said = self._socket.recv(1 << 16)
            program = os.readlink(f"/proc/{self._pid}/exe")
        except BlockingIOError:
            return False
        except OSError:
            said, program = b"", ""
        first, *depends_on = os.fsdecode(said).split("\0")
        if first != "ready" or program != os.path.realpath(self._interpreter):  # no Python, or one behind a wrapper
            self._end()
            return False
        self._depends_on = depends_on
        self._seen = _stats(self._depends_on)
        self._socket.settimeout(_PATIENCE)
        self._has_told = True
        return True

    def _ask(self, request: bytes, pipes: Sequence[int]) -> int:
        """The process it has made; 0 if there is none."""
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("3i", *pipes))
        answer = b""
        try:
            sent = self._socket.sendmsg([request], [rights], socket.MSG_NOSIGNAL)
            if sent < len(request):
                self._socket.sendall(request[sent:], socket.MSG_NOSIGNAL)
            answer = self._socket.recv(64)
        except TimeoutError:
            answer = self._last_word()
        except OSError:  # gone
            pass
        except BaseException:  # interrupted: nothing may begin that nobody knows of
            pid = int(self._last_word() or 0)
            if pid:
                os.kill(pid, _SIGKILL)
                os.waitpid(pid, 0)
            self._end()
            raise
        if not answer.strip().isdigit():
            self._end()
            return 0
        return int(answer)

    def _last_word(self) -> bytes:
        """What it has said so far. It can say no more, and what cannot say that it begins does not begin."""
        self._socket.shutdown(socket.SHUT_RD)
        return self._socket.recv(64)

    def _end(self) -> None:
        if self._socket.fileno() < 0:
            return
        self._socket.close()
        try:
            if os.waitpid(self._pid, os.WNOHANG) == (0, 0):
                os.kill(self._pid, _SIGKILL)
                os.waitpid(self._pid, 0)
        except ChildProcessError:  # another part of the program has reaped it, or it is not a child of this process
            pass


class _Interpreters:
    """The prepared interpreters of this process; a fork of it has none."""

    def __init__(self) -> None:
        self.forget()
        os.register_at_fork(after_in_child=self.forget)

    def forget(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[object, _Prepared] = {}  # the one used last is last

    def get(self, interpreter: str, options: tuple[str, ...], env: Mapping[bytes, bytes]) -> _Prepared:
        key = (interpreter, options, *env.items(), os.getresuid(), os.getresgid(), *os.getgroups())
        with self._lock:
            found = self._kept.pop(key, None)
            replaced = [found] if found is not None and found.is_to_be_replaced else []
            if found is None or replaced:
                found = _Prepared(interpreter, options, env)
            self._kept[key] = found
            if len(self._kept) > _AT_MOST:
                replaced.append(self._kept.pop(next(iter(self._kept))))
        for each in replaced:
            each.end()
        return found

    def end(self) -> None:
        with self._lock:
            ended, self._kept = self._kept, {}
        for each in ended.values():
            each.end()


INTERPRETERS = _Interpreters()


def start(python: Python, cwd: str, env: Mapping[bytes, bytes], pipes: Sequence[int]) -> int | None:
    """Start a script with three descriptors, as a child of this process; None if it is to be started as always."""
    variables = _of_a_start(env)
    if variables is None:
        return None
    words = [os.fsencode(word) for word in (cwd, *python.argv)]
    said = b"\0".join((*words, b"", *(b"%b=%b" % each for each in env.items()), b""))
    if said.count(b"\0") != len(words) + 1 + len(env):  # one of them holds what ends them
        return None
    return INTERPRETERS.get(python.interpreter, python.argv[1:-1], variables).start(
        b"%d\n%b" % (len(said), said), pipes
    )


def _of_a_start(env: Mapping[bytes, bytes]) -> dict[bytes, bytes] | None:
    """The variables that a start depends on; None if a prepared interpreter cannot do justice to them."""
    found = {}
    for name, value in env.items():
        if name.startswith(_MATTERS):
            found[name] = value
        if b"=" in name or (name.startswith(b"PYTHON") and name != b"PYTHONPYCACHEPREFIX"):
            return None
    return found


_MATTERS = (b"PYTHON", b"LC_", b"LANG", b"HOME", b"LD_", b"MALLOC_", b"GLIBC_TUNABLES")


def _stats(paths: Iterable[str]) -> list[Any]:
    found: list[Any] = []
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_ino, status.st_mtime_ns, status.st_size))
    return found
