"""Processes: finds ancestors, starts detached processes, ends process groups, and locks between processes."""

from __future__ import annotations

import os
import sys
import time

from . import callers, env_policy, places
from .named_tuples import NamedTuple

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


class Process(NamedTuple):
    """A process, identified by its ID and start time, since IDs are reused."""

    pid: int
    started: str

    def __str__(self) -> str:
        return f"{self.pid}.{self.started}"


class Ancestor(NamedTuple):
    """A process with its parent, name, session, terminal and group."""

    process: Process
    parent: int
    name: str = ""
    session: int = 0  # the ID of its session's leader; 0 if that is in another namespace
    terminal: int = 0  # the number of its terminal; 0 if it has none
    group: int = 0


def this() -> Process:
    """Return this process; another one after a fork."""
    pid = os.getpid()
    known = _THIS.get(pid)
    if known is None:
        _THIS.clear()
        known = _THIS[pid] = child(pid)
    return known


_THIS: dict[int, Process] = {}


def child(pid: int) -> Process:
    """Return a child of ours, or this process, by its ID. A child must not have been reaped."""
    found = find_process(pid, has_ended=True)
    return found.process if found else Process(pid, "")


def is_ours(process: Process) -> bool:
    """Whether a process runs our command, according to its command line."""
    program, *words = _command_line(process.pid)
    if program.endswith(b"/tenterhook") or program == b"tenterhook":
        return True
    while words and words[0].startswith(b"-") and words[0] not in (b"-c", b"-m"):
        del words[0]
    match words:  # only what the interpreter runs, since later words may contain our name
        case [b"-c", *code]:
            text = b" ".join(code)
            return text.startswith(b"import sys; sys.path") and b"; from tenterhook." in text
        case [b"-m", module, *_]:
            return module in (b"tenterhook", b"tenterhook.bridge")
        case [script, *_]:
            return script.endswith(_OURS) or script == b"tenterhook"
    return False


_OURS = (b"/tenterhook", b"/tenterhook/__main__.py", b"/tenterhook/bridge.py")


def _command_line(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb", buffering=0) as file:
            return file.read().split(b"\0")
    except OSError:
        return [b""] if os.path.exists("/proc/self/stat") else _ask_ps(pid, "command=").encode().split(b" ") or [b""]


def ancestors(pid: int) -> Iterator[Process]:
    """Return an iterator over a process, its parent, and so on."""
    return (each.process for each in lineage(pid))


def lineage(pid: int) -> list[Ancestor]:
    """Return a process and its ancestors, with what is known about each.

    If one of them ends meanwhile, its children get another parent, so the list is read again.
    """
    found: list[Ancestor] = []
    for _ in range(_MOST_READS):
        found = _look_up_all(pid)
        if not found or is_whole(found):
            break
    return found


def is_whole(found: list[Ancestor]) -> bool:
    """Whether a lineage leads to the first process, or to one that `hidepid` hides from us."""
    last = found[-1]
    if last.parent == 0:
        return True
    again = find_process(last.process.pid, has_ended=True)
    return again is not None and again.parent == last.parent and not os.path.exists(f"/proc/{last.parent}")


_MOST_READS = 20


def _look_up_all(pid: int) -> list[Ancestor]:
    found: list[Ancestor] = []
    seen: set[int] = set()
    while pid > 0 and pid not in seen:
        seen.add(pid)
        each = find_process(pid, has_ended=True)  # a process whose first thread has ended looks like a zombie
        if each is None:
            break
        found.append(each)
        pid = each.parent
    return found


def now() -> int:
    """Return the time in clock ticks since boot, the unit of start times; 0 if it is not available."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) if _HAS_BOOT_TIME else 0


_HAS_BOOT_TIME = hasattr(time, "CLOCK_BOOTTIME")


def shells_above(pid: int) -> list[int]:
    """Return the IDs of a process's parent, of the shells directly above, and of the process that started those."""
    found = []
    while each := find_process(pid):
        found.append(each.parent)
        pid = each.parent
        if (above := find_process(pid)) is None or above.name.encode() not in callers.SHELLS:
            break
    return found


def find_process(pid: int, *, has_ended: bool = False) -> Ancestor | None:
    """Return a running process by its ID, or None; with `has_ended`, also one that was not reaped yet."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            # the name in parentheses may contain anything, so fields are counted from its end
            head, _, tail = file.read().rpartition(b")")
        fields = tail.split()
        if fields[0] == b"Z" and not has_ended:
            return None
        name = head.partition(b"(")[2].decode("utf-8", "replace")
        parent, group, session, terminal = map(int, fields[1:5])
        return Ancestor(Process(pid, fields[19].decode()), parent, name, session, terminal, group)
    except FileNotFoundError:
        return _found_by_ps(pid, has_ended) if not os.path.exists("/proc/self/stat") else None
    except (OSError, IndexError, ValueError):
        return None


def _found_by_ps(pid: int, has_ended: bool) -> Ancestor | None:
    """Return what `find_process` does, on systems without `/proc`."""
    parent, state, *started = (_ask_ps(pid, "ppid=", "stat=", "lstart=") or "- Z").replace(":", " ").split()
    if not parent.isdigit() or (state.startswith("Z") and not has_ended):
        return None
    return Ancestor(Process(pid, "-".join(started)), int(parent))  # without colons, which separate the parts of a chain


def _ask_ps(pid: int, *columns: str) -> str:
    import subprocess

    asked = subprocess.run(
        ["/bin/ps", "-ww", *(word for column in columns for word in ("-o", column)), "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        env={"LC_ALL": "C", "TZ": "UTC"},
    )
    return asked.stdout.strip()


_SIGTERM, _SIGKILL = 15, 9  # the same everywhere; `signal` imports `enum`
_LAST_WAIT = 1.0  # seconds after SIGKILL
_DETACHED: list[int] = []  # children that may outlive this process


def start_detached(
    function: str,
    *arguments: object,
    python: str | None = None,
    path: Sequence[str] | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | None = None,
    output: int | None = None,
) -> int:
    """Start a Python process of ours that may outlive this one, and return its ID.

    It calls `function`, given as `module:name`, with arguments whose `repr` is Python. It has its own session, `/` as
    its directory, `stdin` and `output` or the null device, no other descriptor of ours, and the environment `env`, by
    default `env_policy.for_own_process`. Raises `OSError` if it cannot be started.
    """
    import subprocess

    _DETACHED[:] = [pid for pid in _DETACHED if not _reaped(pid)]
    module, name = function.split(":")
    code = f"import sys; sys.path += {list(path or module_path())!r}; "
    code += f"from {module} import {name}; {name}(*{arguments!r})"
    process = subprocess.Popen(
        [python or sys.executable, "-I", "-S", "-c", code],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.DEVNULL if output is None else output,
        stderr=subprocess.DEVNULL if output is None else output,
        cwd="/",
        env=env_policy.for_own_process(os.environ) if env is None else env,
        start_new_session=True,
    )
    process.returncode = 0  # it is reaped by its ID, not by Popen
    _DETACHED.append(process.pid)
    return process.pid


def module_path() -> list[str]:
    """Return the directories in which a Python process started with `-I -S` finds our modules and dependencies."""
    package = os.path.dirname(places.PACKAGE)
    return list(dict.fromkeys([package, *(entry for entry in sys.path if entry.endswith("-packages"))]))


def _reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # it was reaped elsewhere, or belongs to the process that we were forked from
        return True


def signal_group(leader: int, number: int) -> bool:
    """Send a signal to a process group; return whether the group exists.

    Its leader must be a child that was not reaped, so that the ID cannot belong to another group.
    """
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def end_group(leader: Process, grace: float, reap: Callable[[], object] = bool) -> None:
    """End the process group that a child of ours leads, or led until it was reaped.

    Send SIGTERM, and SIGKILL after `grace` seconds, or at once if that is 0; return when the group is gone, at the
    latest a second later. `reap` is called meanwhile, to reap the leader without blocking. If the ID now belongs to
    another process, nothing is sent.
    """

    def exists(number: int = 0) -> bool:
        reap()
        found = find_process(leader.pid, has_ended=True)
        return (found is None or found.process == leader) and signal_group(leader.pid, number)

    for number, seconds in ((_SIGTERM, grace), (_SIGKILL, _LAST_WAIT)):
        if not seconds or not exists(number):
            continue
        until = time.monotonic() + seconds
        while exists() and _has_members(leader.pid) and time.monotonic() < until:
            time.sleep(0.005)
    reap()


def _has_members(group: int) -> bool:
    """Whether a process group has a member that has not ended; zombies do not count, as they may never be reaped."""
    if not os.path.exists("/proc/self/stat"):
        return True
    return any(each.group == group for each in running())


def running() -> Iterator[Ancestor]:
    """Yield every process that has not ended; none on systems without `/proc`."""
    names = os.listdir("/proc") if os.path.exists("/proc/self/stat") else ()
    found = (find_process(int(name)) for name in names if name.isdigit())
    return (each for each in found if each is not None)


_FIRST_PAUSE, _LONGEST_PAUSE = 0.0002, 0.01  # seconds between two tries


class Lock:
    """An exclusive lock on a file, held from entry to exit or until the process ends. The file is not removed.

    Entry waits at most `wait` seconds, or without limit if that is None, and returns whether the lock is held. On a
    file system without locks, it counts as held. Raises `OSError` if the file cannot be opened.
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
    """Lock an open file within `wait` seconds. Return whether it is locked; True on a file system without locks.

    The lock is released when the descriptor is closed. With `posix`, it is a record lock (`lockf`), as for journals,
    which does not exclude `flock`.
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
