"""Runs a stage of commands: spawn, feed, read, time out, kill, reap. The only place that starts hooks.

One synchronous loop runs a whole stage. It returns when every command has ended, which is when its
process has exited, even if a child keeps its pipes open; at the latest 250 ms after its timeout.
"""

from __future__ import annotations

import errno
import os
import select
import time
from _collections import deque  # type: ignore[import-not-found]  # `collections` is imported nowhere else

from ..basics import processes
from ..basics.named_tuples import NamedTuple
from ..errors import Cancelled
from ..model import Failure
from .spawn import Spawner, find_child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


KEPT_STDOUT = 1024 * 1024
KEPT_STDERR = 64 * 1024
GRACE = 0.1  # between SIGTERM and SIGKILL
_AT_ONCE = 128  # processes of one stage; each needs four descriptors
_PIPE = 65536
_READABLE = select.POLLIN
_SURELY_FITS = 4096  # into an empty pipe, whatever the limits
_UNWATCHED = 0.005  # seconds until processes without a descriptor are checked: most have ended by then
_SIGTERM, _SIGKILL = 15, 9  # the same everywhere; `signal` imports `enum`
_NEVER = float("inf")
_LAST_WAIT = 0.1  # after SIGKILL


class Command(NamedTuple):
    """Everything one process needs."""

    argv: tuple[str, ...]
    payload: bytes
    cwd: str
    env: Mapping[bytes, bytes]
    timeout: float
    grace: float = GRACE


class ProcessEnd(NamedTuple):
    """How a command ended. `exit_code` is None unless it exited by itself."""

    failure: Failure | None
    why: str | None
    exit_code: int | None
    duration: float
    stdout: bytes = b""
    stderr: bytes = b""
    dropped_stdout: int = 0
    dropped_stderr: int = 0


class Cancel:
    """Ends running stages from another thread or a signal handler; may be set before, during or after."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self.is_set = False
        self._open = True

    def set(self) -> None:
        self.is_set = True
        if self._open:
            try:
                os.write(self._write, b"x")
            except OSError:  # full: the reader has been woken
                pass

    def fileno(self) -> int:
        return self._read

    def close(self) -> None:
        self._open = False
        os.close(self._read)
        os.close(self._write)


class _Kept:
    """The beginning and the end of a stream, up to a limit: an answer may be at either end."""

    __slots__ = ("_half", "_head", "_passed", "_tail", "_tail_size")

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = b""
        self._tail: deque[bytes] | None = None  # few hooks print that much
        self._tail_size = 0
        self._passed = 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._add_to_tail(data)

    def _add_to_tail(self, data: bytes) -> None:
        tail = self._tail = self._tail or deque()
        tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(tail[0]) >= self._half:
            dropped = len(tail.popleft())
            self._tail_size -= dropped
            self._passed += dropped

    def take(self) -> tuple[bytes, int]:
        """Return what was kept, and how many bytes were dropped."""
        if self._tail is None:
            return self._head, 0
        tail = b"".join(self._tail)
        over = max(0, len(tail) - self._half)
        dropped = self._passed + over
        if not dropped:
            return self._head + tail, 0
        return self._head + b"\n[%d bytes dropped]\n" % dropped + tail[over:], dropped


_NOTHING = (b"", 0)


class _Live:
    """One command with its process and descriptors, from before its start until after its end."""

    pid = 0  # not known
    stdin = out = err = exit = -1
    unsent = memoryview(b"")
    deadline = _NEVER
    code: int | None = None
    code_is_lost = timed_out = killed = False
    stdout: _Kept | None = None  # most print nothing
    stderr: _Kept | None = None

    def __init__(self, number: int, command: Command) -> None:
        self.number = number
        self.grace = command.grace
        self.timeout = command.timeout
        self.begun = time.monotonic()

    def start(self, command: Command, spawner: Spawner) -> None:
        """Start the process, with as much of its payload in the pipe as fits."""
        payload = command.payload
        stdin = stdout = stderr = -1
        try:
            stdin, self.stdin = os.pipe()
            self.out, stdout = os.pipe()
            self.err, stderr = os.pipe()
            if len(payload) > _SURELY_FITS:
                os.set_blocking(self.stdin, False)
            # Most payloads fit into the pipe, and are written before the process starts, without waiting for it.
            taken = os.write(self.stdin, payload)
            if taken == len(payload):
                written, self.stdin = self.stdin, -1
                os.close(written)
            else:
                self.unsent = memoryview(payload)[taken:]
            self.pid = spawner.spawn(command.argv, command.cwd, command.env, stdin, stdout, stderr)
        except BaseException:  # the start failed: no descriptor stays open
            _close((stdin, stdout, stderr))
            raise
        os.close(stdin)
        os.close(stdout)
        os.close(stderr)
        self.deadline = self.begun + self.timeout

    def feed(self) -> bool:
        """Write as much as the pipe takes; return False when all is written or the reader has closed it."""
        from .spawn import SigpipeBlocked

        try:
            with SigpipeBlocked():
                self.unsent = self.unsent[os.write(self.stdin, self.unsent[:_PIPE]) :]
        except BlockingIOError:
            return True
        except OSError:  # closed by a hook that does not read it
            return False
        return len(self.unsent) > 0

    def read(self, fd: int) -> bool:
        """Read output from a readable descriptor; return False at its end."""
        data = os.read(fd, _PIPE)
        if data:
            self._keep(fd, data)
        return bool(data)

    def read_rest(self) -> None:
        """Read what is in the pipes now: the exit code outranks end-of-file, a child may hold the other ends."""
        for fd in (self.out, self.err):
            if fd >= 0:
                os.set_blocking(fd, False)
                try:
                    self._keep(fd, os.read(fd, _PIPE))  # a pipe holds no more, and one read takes all of it
                except BlockingIOError:
                    continue

    def _keep(self, fd: int, data: bytes) -> None:
        if fd == self.out:
            kept = self.stdout = self.stdout or _Kept(KEPT_STDOUT)
        else:
            kept = self.stderr = self.stderr or _Kept(KEPT_STDERR)
        kept.add(data)

    def signal_group(self, number: int) -> None:
        # The leader is not reaped yet, so its process group cannot be another one.
        if self.pid and self.code is None and not self.code_is_lost:
            processes.signal_group(self.pid, number)

    def has_exited(self) -> bool:
        """Reap the process if it has exited; only then may the ID of its group be used again."""
        if self.code is None and not self.code_is_lost:
            try:
                ended, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # SIGCHLD is ignored, or a reaper of every child was quicker
                self.code_is_lost = True
                return True
            if not ended:
                return False
            self.code = os.waitstatus_to_exitcode(status)
        return True

    def forget_output(self, fd: int) -> bool:
        """Note that an output has ended; return whether both have."""
        if fd == self.out:
            self.out = -1
            return self.err < 0
        self.err = -1
        return self.out < 0

    def close(self) -> None:
        """Close all descriptors, once."""
        descriptors = (self.stdin, self.out, self.err, self.exit)
        self.stdin = self.out = self.err = self.exit = -1
        _close(descriptors)

    def ended(self) -> ProcessEnd:
        """Return how it ended. To be called when the process has exited or cannot be killed."""
        if self.code is None:
            self.has_exited()
        duration = time.monotonic() - self.begun
        stdout, dropped_stdout = self.stdout.take() if self.stdout else _NOTHING
        stderr, dropped_stderr = self.stderr.take() if self.stderr else _NOTHING
        failure, why = (None, None) if self.code in (0, 2) and not self.timed_out else self._failure()
        shown = self.code if failure in (None, Failure.EXIT) else None
        return ProcessEnd(failure, why, shown, duration, stdout, stderr, dropped_stdout, dropped_stderr)

    def _failure(self) -> tuple[Failure, str]:
        code = self.code
        if self.timed_out:
            beyond = "; it cannot be killed" if code is None and not self.code_is_lost else ""
            return Failure.TIMED_OUT, f"no end within {self.timeout:g} s{beyond}"
        if code is None:
            return Failure.EXIT, "another part of the program took its exit code"
        return (Failure.SIGNAL, f"signal {-code}") if code < 0 else (Failure.EXIT, f"exit {code}")


def run_stage(
    commands: Iterable[Command], cancel: Cancel | None = None, tell: Callable[[int, ProcessEnd], object] | None = None
) -> list[ProcessEnd]:
    """Run the commands in parallel; return how each ended, in their order.

    `commands` may be a generator: commands already started run while it prepares the next. `tell` is called when a
    command ends, with its number; if it returns True, the others are ended.

    Raises `Cancelled` when `cancel` is set. Whether it returns or raises, every command has exited or was killed
    with its process group.
    """
    stage = _Stage(commands, cancel, tell)
    try:
        return stage.run()
    except BaseException:  # cancelled, interrupted: no process group outlives us
        _end_all(stage.running)
        raise


class _Stage:
    """The state of `run_stage`: the commands to start, the running ones, and the results of the others."""

    def __init__(
        self, commands: Iterable[Command], cancel: Cancel | None, tell: Callable[[int, ProcessEnd], object] | None
    ) -> None:
        self._coming = enumerate(commands)
        self._postponed: list[tuple[int, Command]] = []
        self.running: set[_Live] = set()
        self._results: dict[int, ProcessEnd] = {}
        self._tell = tell
        self._spawner = Spawner()
        self._poll = select.poll()
        self._live: dict[int, _Live] = {}  # by each descriptor being watched
        self._unwatched: set[_Live] = set()  # no descriptor reports their exit
        self._check = _NEVER  # when to check those
        self._due = _NEVER  # no deadline is earlier
        self._wake = -1
        if cancel is not None:
            self._wake = cancel.fileno()
            self._poll.register(self._wake, _READABLE)

    def run(self) -> list[ProcessEnd]:
        while True:
            self._start()
            if not self.running:
                return [self._results[number] for number in range(len(self._results))]
            for one in self._wait():
                if self._end(one):
                    _end_all(self.running)
                    left = len(self.running) + len(self._postponed) + len(list(self._coming))
                    return [self._results.get(number, _NOT_NEEDED) for number in range(len(self._results) + left)]

    def _start(self) -> None:
        """Start commands until as many run as may run at once."""
        running, live, register = self.running, self._live, self._poll.register
        while len(running) < _AT_ONCE:
            number, command = self._postponed.pop() if self._postponed else next(self._coming, _NO_MORE)
            if command is None:
                break
            one = _Live(number, command)
            running.add(one)  # from here on, its process is ended whatever happens
            try:
                one.start(command, self._spawner)
            except (OSError, ValueError) as error:
                running.remove(one)
                _end_all({one})
                if running and getattr(error, "errno", None) in (errno.EMFILE, errno.ENFILE, errno.EAGAIN):
                    self._postponed.append((number, command))  # until another one has ended
                    break
                ended = self._results[number] = _not_started(error, time.monotonic() - one.begun)
                if self._tell is not None:
                    self._tell(number, ended)
                continue
            self._unwatched.add(one)
            self._check = _NEVER
            self._due = min(self._due, one.deadline)
            live[one.out] = live[one.err] = one
            register(one.out, _READABLE)
            register(one.err, _READABLE)
            if one.stdin >= 0:
                live[one.stdin] = one
                register(one.stdin, select.POLLOUT)

    def _wait(self) -> list[_Live]:
        """Wait until something happens; return the commands that have ended."""
        live, unwatched = self._live, self._unwatched
        if self._check == _NEVER and unwatched:
            self._check = time.monotonic() + _UNWATCHED
        over: list[_Live] = []
        for fd, mask in self._poll.poll(_milliseconds(min(self._due, self._check) if unwatched else self._due)):
            if fd == self._wake:
                raise Cancelled("cancelled while hooks were running")
            one = live[fd]
            if fd == one.exit:
                self._forget(fd)
                if one.killed or not one.timed_out:
                    over.append(one)
            elif fd == one.stdin:
                if not one.feed():
                    self._forget(fd)
                    one.stdin = -1
                    os.close(fd)
            elif not (mask & _READABLE and one.read(fd)):
                self._forget(fd)
                both = one.forget_output(fd)
                os.close(fd)
                if both and one in unwatched and self._is_over(one):
                    over.append(one)
        now = time.monotonic()
        if now >= self._check or now >= self._due:  # first, so that a process that ended in time has not timed out
            self._check = now + _UNWATCHED
            over += [one for one in tuple(unwatched) if self._is_over(one)]
        if now >= self._due:
            over += [one for one in self.running if one not in over and now >= one.deadline and _escalate(one)]
            self._due = min((one.deadline for one in self.running if one not in over), default=_NEVER)
        return over

    def _is_over(self, one: _Live) -> bool:
        """Whether an unwatched process has ended; if not, its exit is watched from now on, if the system can."""
        if one.killed or not one.timed_out:
            has_exited = one.has_exited()
            if not has_exited and one.out < 0 and one.err < 0:
                os.sched_yield()  # a process that closed both is most likely about to exit
                has_exited = one.has_exited()
            if has_exited:
                self._unwatched.remove(one)
                return True
        one.exit = _exit_descriptor(one.pid)
        if one.exit >= 0:
            self._unwatched.remove(one)
            self._live[one.exit] = one
            self._poll.register(one.exit, _READABLE)
        return False

    def _end(self, one: _Live) -> bool:
        """Store how a command ended; return True if the others are not needed."""
        self.running.remove(one)
        self._unwatched.discard(one)
        if not one.stdin == one.out == one.err == one.exit == -1:
            one.read_rest()
            for fd in (one.stdin, one.out, one.err, one.exit):
                if fd in self._live:
                    self._forget(fd)
            one.close()
        ended = self._results[one.number] = one.ended()
        return self._tell is not None and self._tell(one.number, ended) is True

    def _forget(self, fd: int) -> None:
        self._poll.unregister(fd)
        del self._live[fd]


_NO_MORE = (-1, None)


def _exit_descriptor(pid: int) -> int:
    """Return a descriptor that is readable when a process exits; -1 if the system has none, or no more of them."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return -1


def _close(descriptors: Iterable[int]) -> None:
    for fd in descriptors:
        if fd >= 0:
            os.close(fd)


def _milliseconds(due: float) -> int:
    """Return the timeout for `poll` until a time of `time.monotonic`."""
    return max(0, int((due - time.monotonic()) * 1000) + 1)


def _escalate(one: _Live) -> bool:
    """Send the next signal to a command past its deadline; return True when it has ended."""
    if one.killed:
        return True  # nothing more can be done
    if not one.timed_out:
        one.timed_out = True
        if one.grace:
            one.signal_group(_SIGTERM)
            one.deadline = time.monotonic() + one.grace
            return False
    one.signal_group(_SIGKILL)
    one.killed = True
    one.deadline = time.monotonic() + _LAST_WAIT
    return one.has_exited()


def _end_all(running: set[_Live]) -> None:
    """Send SIGTERM to every group, SIGKILL after `GRACE`, and reap all. A second Ctrl-C skips the wait."""
    for one in running:
        one.pid = one.pid or find_child(one.out)
        one.signal_group(_SIGTERM)
    try:
        time.sleep(max((one.grace for one in running if one.pid), default=0.0))
    finally:
        for one in running:
            one.signal_group(_SIGKILL)
        last = time.monotonic() + _LAST_WAIT
        for one in running:
            while one.pid and not one.has_exited() and time.monotonic() < last:
                time.sleep(0.001)
            one.close()


_NOT_NEEDED = ProcessEnd(Failure.SIGNAL, "ended: another hook has decided", None, 0.0)


def _not_started(error: Exception, duration: float) -> ProcessEnd:
    name = getattr(error, "filename", None)
    text = getattr(error, "strerror", None) or str(error)
    why = f"cannot start: {text}" + (f": {name}" if name else "")
    return ProcessEnd(Failure.CANNOT_START, why, None, duration)
