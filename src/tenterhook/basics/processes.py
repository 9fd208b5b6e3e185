"""Processes as the system tells of them, not the environment: who called us, and whom we have left running."""

from __future__ import annotations

import os
import time

from . import callers
from .values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from subprocess import Popen


class Process(NamedTuple):
    """A process as it can be recognised: a number comes again, a number and a start time do not."""

    pid: int
    started: str

    def __str__(self) -> str:
        return f"{self.pid}.{self.started}"


class Ancestor(NamedTuple):
    """A process as its descendants see it."""

    process: Process
    parent: int
    name: str = ""
    session: int = 0  # the process that leads its session; 0 if that is in another namespace
    terminal: int = 0  # the number of its terminal; 0 if it has none


def this() -> Process:
    """This process; a fork is another one."""
    pid = os.getpid()
    known = _THIS.get(pid)
    if known is None:
        found = look_up(pid)
        _THIS.clear()
        known = _THIS[pid] = found.process if found else Process(pid, "")
    return known


_THIS: dict[int, Process] = {}


def is_ours(process: Process) -> bool:
    """Whether a process runs our command, as its command line says."""
    program, *words = _command_line(process.pid)
    if program.endswith(b"/tenterhook") or program == b"tenterhook":
        return True
    while words and words[0].startswith(b"-") and words[0] not in (b"-c", b"-m"):
        del words[0]
    match words:  # what an interpreter runs; words behind that may be a project's name
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


def ancestors() -> Iterator[Process]:
    """This process, or the one that it answers for; its parent, and so on."""
    return (each.process for each in lineage())


def lineage() -> list[Ancestor]:
    """The same, with what is known about each.

    One that ends while we look has its children given to another; then we look again.
    """
    found: list[Ancestor] = []
    for _ in range(_MOST_LOOKS):
        found = _look_up_all(callers.pid())
        if not found or is_whole(found):
            break
    return found


def is_whole(found: list[Ancestor]) -> bool:
    """Whether a lineage leads to the first process, or to one that another account may hide from us (`hidepid`)."""
    last = found[-1]
    if last.parent == 0:
        return True
    again = look_up(last.process.pid, has_ended=True)
    return again is not None and again.parent == last.parent and not os.path.exists(f"/proc/{last.parent}")


_MOST_LOOKS = 20


def _look_up_all(pid: int) -> list[Ancestor]:
    found: list[Ancestor] = []
    seen: set[int] = set()
    while pid > 0 and pid not in seen:
        seen.add(pid)
        each = look_up(pid, has_ended=True)  # a process whose first thread has ended is shown as one that has
        if each is None:
            break
        found.append(each)
        pid = each.parent
    return found


def now() -> int:
    """The time as the system counts the starts of processes."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK")) if _HAS_BOOT_TIME else 0


_HAS_BOOT_TIME = hasattr(time, "CLOCK_BOOTTIME")


def shells_above(pid: int) -> list[int]:
    """The numbers of the shells that a process is started by, the next first, and of what has started them."""
    found = []
    while each := look_up(pid):
        found.append(each.parent)
        pid = each.parent
        if (above := look_up(pid)) is None or above.name.encode() not in callers.SHELLS:
            break
    return found


def look_up(pid: int, *, has_ended: bool = False) -> Ancestor | None:
    """A process that has not ended; with `has_ended`, also one that has and was not waited for."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            # the name in parentheses may hold anything, so count from its end
            head, _, tail = file.read().rpartition(b")")
        fields = tail.split()
        if fields[0] == b"Z" and not has_ended:
            return None
        name = head.partition(b"(")[2].decode("utf-8", "replace")
        return Ancestor(Process(pid, fields[19].decode()), int(fields[1]), name, int(fields[3]), int(fields[4]))
    except FileNotFoundError:
        return _found_by_ps(pid) if not os.path.exists("/proc/self/stat") else None
    except (OSError, IndexError, ValueError):
        return None


def _found_by_ps(pid: int) -> Ancestor | None:
    """The same where there is no /proc."""
    parent, _, started = _ask_ps(pid, "ppid=", "lstart=").partition(" ")
    return Ancestor(Process(pid, "-".join(started.split())), int(parent)) if parent.isdigit() else None


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


class Outliving:
    """Processes that this one has started and that may outlive it; none stays a zombie for long."""

    def __init__(self) -> None:
        self._children: list[int] = []

    def add(self, started: Popen[bytes]) -> None:
        started.returncode = 0  # we reap it by its number; what Popen thinks of it does not matter any more
        self._children.append(started.pid)

    def reap(self) -> None:
        """Let go of those that have ended."""
        self._children = [pid for pid in self._children if not _reaped(pid)]


def _reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:  # somebody else did, or it belongs to the process that we were forked from
        return True
