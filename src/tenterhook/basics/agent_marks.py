"""Marks the processes of agents that Tenterhook guards: processes below them may not weaken the protection.

The marks are in a directory that no variable can move: `/run/user/UID/tenterhook`, else `/tmp/tenterhook-UID`.
"""

from __future__ import annotations

import os
import stat
import sys

from . import light_json, places, processes
from .named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

_FIRST = "first"  # the file with the time at which the first agent was marked
_INITIAL = "pid:[4026531836]"  # the initial PID namespace, in which all processes are visible


class Unsafe(OSError):
    """The directory of marks could have been changed by another account."""


def mark(process: processes.Process | str) -> None:
    """Mark a running agent, given as a process or its name in marks, and record its directories of hooks and trust."""
    directory = places.marks()
    file = os.path.join(directory, str(process))
    if os.path.exists(file):
        return
    places.make_private(directory)
    _check(directory)
    about = {**places.directories(), "namespace": _namespace(), "start": _start()}
    places.replace_file(file, light_json.dumps(about).encode())
    first = os.path.join(directory, _FIRST)
    if _since_first(directory) is None:
        places.replace_file(first, f"{_boot()} {processes.now()}".encode())
    _forget_ended(directory)


def _check(directory: str) -> None:
    found = os.lstat(directory)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Unsafe(1, "another account could have made or changed it", directory)


def _forget_ended(directory: str) -> None:
    """Remove the marks of processes that have ended, so that the directory does not grow."""
    if not os.path.isdir("/proc/self"):
        return
    own = _namespace()
    for name, found in _marks_in(directory).items():
        if found["namespace"] == own:
            is_gone = not os.path.isdir(f"/proc/{_pid(name)}")
        else:
            is_gone = own != _INITIAL and _is_of_earlier_start(found, directory)
        if is_gone:
            try:
                os.unlink(os.path.join(directory, name))
            except OSError:
                continue


def _pid(name: str) -> str:
    return name.partition(".")[0]


class _Marks(NamedTuple):
    """The marks of agents that may be our ancestors."""

    here: dict[str, dict[str, Any]]  # in our PID namespace
    is_one_elsewhere: bool  # there is one in another namespace, from which we may have been started


def _marks(above: Iterable[processes.Ancestor]) -> _Marks:
    own = _namespace()
    here: dict[str, dict[str, Any]] = {}
    is_one_elsewhere = False
    for directory in (f"{root}{each}" for root in _roots(above) for each in _directories()):
        try:
            _check(directory)
            found = _marks_in(directory)
        except FileNotFoundError:
            continue
        for name, each in found.items():
            if each["namespace"] == own:
                here[name] = each
            elif own != _INITIAL and not _is_of_earlier_start(each, directory):
                is_one_elsewhere = True
    return _Marks(here, is_one_elsewhere)


def _roots(above: Iterable[processes.Ancestor]) -> list[str]:
    """Return our root directory, and those of ancestors in other mount namespaces, since ours may hide the marks."""
    own = _link("/proc/self/ns/mnt")
    others = {_link(f"/proc/{each.process.pid}/ns/mnt"): f"/proc/{each.process.pid}/root" for each in above}
    return ["", *(root for namespace, root in others.items() if namespace and namespace != own)]


def _directories() -> list[str]:
    """Return the directories of this account's marks, including the one used while `/run/user/UID` did not exist.

    In a user namespace, the account's number differs: only the owner of a directory tells whose it is.
    """
    own, user = places.marks(), os.getuid()
    if not _has_all_accounts():
        return [each for each in _all_directories() if _owner(each) == user]
    before = f"/tmp/tenterhook-{user}"  # noqa: S108
    return [own, before] if before != own and _owner(before) == user else [own]


def _all_directories() -> Iterator[str]:
    """Yield the directories of all accounts' marks."""
    for name in _listed("/tmp"):  # noqa: S108
        if name.startswith("tenterhook-"):
            yield f"/tmp/{name}"  # noqa: S108
    for name in _listed("/run/user"):
        yield f"/run/user/{name}/tenterhook"


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _owner(path: str) -> int | None:
    try:
        return os.lstat(path).st_uid
    except OSError:
        return None


def _agent_of_another(above: Iterable[processes.Ancestor]) -> str | None:
    """For root, return the mark of an ancestor that is another account's agent, as below `sudo`; else None."""
    others = [each for each in _all_directories() if _owner(each)] if os.getuid() == 0 else []
    for each in above if others else ():
        name, user = str(each.process), _owner(f"/proc/{each.process.pid}")
        if any(_owner(other) == user and os.path.exists(f"{other}/{name}") for other in others):
            return name  # only that account can mark its processes
    return None


def _marks_in(directory: str) -> dict[str, dict[str, Any]]:
    return {name: _read(directory, name) for name in os.listdir(directory) if _pid(name).isdigit()}


def _read(directory: str, name: str) -> dict[str, Any]:
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            found = light_json.loads(file.read())
    except (OSError, ValueError):
        found = None
    return found if isinstance(found, dict) and "namespace" in found else {"namespace": _namespace()}


def _is_of_earlier_start(mark: dict[str, Any], directory: str) -> bool:
    """Whether a mark was left in a container's own file system before the container was started again."""
    return mark.get("start") != _start() and _is_on_root(directory)


def _is_on_root(directory: str) -> bool:
    return os.stat(directory).st_dev == os.stat("/").st_dev


def _start() -> str:
    """Return an ID of this boot of the machine or start of the container, each of which creates its devices anew."""
    try:
        found = os.stat("/dev/null")
    except OSError:
        return ""
    return f"{_boot()} {found.st_dev}.{found.st_ino}.{found.st_ctime_ns}"


def stay_with_agent() -> None:
    """Below a guarded agent, use the agent's directories of hooks, trust and state instead of those of variables."""
    above = processes.lineage(os.getpid())
    try:
        marks = _marks(above).here
    except OSError:
        return
    found = _nearest(above, marks) if marks else None
    if found is not None:
        record = marks[found]
        places.FIXED.update({kind: record[kind] for kind in places.directories() if kind in record})


def _nearest(above: Iterable[processes.Ancestor], marks: dict[str, dict[str, Any]]) -> str | None:
    """Return the name of the nearest marked ancestor's mark, or None.

    In another time namespace, start times differ from the recorded ones, so only process IDs are compared.
    """
    by_number = {_pid(name): name for name in marks} if _has_other_times() else {}
    for each in above:
        name = str(each.process)
        if name in marks:
            return name
        if str(each.process.pid) in by_number:
            return by_number[str(each.process.pid)]
    return None


def _has_other_times() -> bool:
    return any(word not in ("monotonic", "boottime", "0") for word in _content("/proc/self/timens_offsets").split())


class Refusal(NamedTuple):
    """Why this process may not weaken the protection, and the remedy."""

    why: str
    remedy: str
    is_below: bool = False  # it is certainly below an agent; else it may be


def refusal() -> Refusal | None:
    """Return a refusal if this process runs below a guarded agent, or that cannot be excluded; else None."""
    outside = "run it yourself, in a terminal outside the agent"
    if sys.platform == "linux" and not os.path.exists("/proc/self/stat"):
        return Refusal("cannot tell whether an agent called it: /proc is missing", "mount /proc, or " + outside)
    above = processes.lineage(os.getpid())
    try:
        marks = _marks(above)
    except OSError as error:
        remedy = "have it removed by the account that owns it, or by root"
        return Refusal(f"cannot tell whether an agent called it: {error.strerror}: {error.filename}", remedy)
    if above and not processes.is_whole(above):
        return Refusal("cannot tell whether an agent called it: a process above it is hidden", outside)
    agent = _nearest(above, marks.here) or _agent_of_another(above)
    if agent is not None:
        return Refusal(
            f"was called from an agent that Tenterhook guards (process {_pid(agent)})", outside, is_below=True
        )
    if marks.is_one_elsewhere:
        return Refusal("runs in another PID namespace than an agent that Tenterhook guards", outside)
    if _is_alone_in_namespace() or _has_caller_in_other_namespace(above):
        return Refusal("runs in a user namespace of its own, where its caller cannot be told", outside)
    if _is_orphan(above, marks.here):
        return Refusal("was started by a process that has ended, and no login, cron job or service above it", outside)
    return None


def _namespace() -> str:
    return _link("/proc/self/ns/pid") or ""  # macOS has no namespaces


def _link(path: str) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None


def _has_caller_in_other_namespace(above: Iterable[processes.Ancestor]) -> bool:
    """Whether an ancestor is in another user namespace, whose number the kernel hides if it contains ours.

    In a new user namespace, a process can hide files, such as the marks, from itself.
    """
    if _has_all_accounts():
        return False
    own, user = _link("/proc/self/ns/user"), os.getuid()
    for each in above:
        if each.process.pid == 1:  # of a container: it may have more rights than we, which hides its namespace
            continue
        found = _link(f"/proc/{each.process.pid}/ns/user")
        if found != own and (found is not None or _owner(f"/proc/{each.process.pid}") == user):
            return True
    return False


def _is_alone_in_namespace() -> bool:
    """Whether our user namespace maps at most one account, as after `unshare -r`; containers map more."""
    found = _uid_map()
    return found is not None and sum(int(line[2]) for line in found) <= 1


def _has_all_accounts() -> bool:
    """Whether we are in the initial user namespace, where the numbers of accounts are not mapped."""
    return _uid_map() in (None, [["0", "0", "4294967295"]])


def _uid_map() -> list[list[str]] | None:
    """Return the ranges of our user namespace (first number inside, first outside, length); None if unknown."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            return [line.split() for line in file]
    except OSError:
        return None


# Programs that start sessions or scheduled commands; those of the first kind run as root.
_STARTERS_OF_ROOT = frozenset(("sshd", "sshd-session", "login", "cron", "crond", "atd", "anacron"))
_STARTERS = frozenset(("tmux: server", "screen", "mosh-server"))
_INITS = frozenset(
    ("init", "systemd", "launchd", "runit", "s6-svscan", "tini", "docker-init", "dumb-init", "catatonit")
)


def _is_orphan(above: Sequence[processes.Ancestor], marks: Iterable[str]) -> bool:
    """Whether our ancestors end at init, without a terminal, login, scheduler, service or container entry point.

    Such a process may be a child of an agent's process that has ended, if it started after an agent was marked.
    """
    since = _since_first(places.marks())
    if since is None or not above or above[-1].process.pid != 1:  # entered from outside, as `docker exec` does
        return False
    for number, each in enumerate(above):
        if each.name in _STARTERS or (each.terminal and each.session == each.process.pid):
            return False
        if each.name in _STARTERS_OF_ROOT and _owner(f"/proc/{each.process.pid}") == 0:
            return False
        if each.name == "systemd" or each.process.pid == 1:
            top = above[number - 1] if number else None
            break
    if top is None or not top.session or int(top.process.started) < since:
        return False
    if above[-1].name not in _INITS and not any(_is_alive(name) for name in marks):
        return False  # below a container's entry-point script or job runner
    return not _is_service(top.process.pid)


def _is_alive(name: str) -> bool:
    found = processes.find_process(int(_pid(name)))
    return found is not None and str(found.process) == name


def _is_service(pid: int) -> bool:
    return any(line.rstrip().endswith(".service") for line in _content(f"/proc/{pid}/cgroup").split("\n"))


def _since_first(directory: str) -> int | None:
    """Return when the first agent since boot was marked, in clock ticks; None if there was none."""
    try:
        with open(os.path.join(directory, _FIRST), encoding="ascii") as file:
            boot, ticks = file.read().split()
        return int(ticks) if boot == _boot() else None
    except (OSError, ValueError):
        return None


def _boot() -> str:
    return _content("/proc/sys/kernel/random/boot_id").strip() or "-"


def _content(path: str) -> str:
    """Return the text of a file in `/proc`; an empty string if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
