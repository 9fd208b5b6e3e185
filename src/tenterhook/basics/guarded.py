"""The agents that Tenterhook guards are marked; what runs below one of them may not weaken the protection.

The marks are in a directory that no variable moves: `/run/user/UID/tenterhook`, else `/tmp/tenterhook-UID`.
"""

from __future__ import annotations

import os
import stat

from . import light_json, places, processes
from .values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_FIRST = "first"  # the file that says when the first agent was marked


class Unsafe(OSError):
    """The directory of the marks is not this account's alone."""


def mark(process: processes.Process | str) -> None:
    """Remember a running agent, given as a process or as one is written, and where its hooks and trust are."""
    directory = places.marks()
    file = os.path.join(directory, str(process))
    if os.path.exists(file):
        return
    places.make_private(directory)
    _check(directory)
    kinds = {"home": places.home(), "config": places.config_home(), "state": places.state(), "cache": places.cache()}
    places.replace_file(file, light_json.dumps({**kinds, "namespace": _namespace()}).encode())
    first = os.path.join(directory, _FIRST)
    if _since_first(directory) is None:
        places.replace_file(first, f"{_boot()} {processes.now()}".encode())
    _forget_ended(directory)


def _check(directory: str) -> None:
    found = os.lstat(directory)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise Unsafe(1, "another account could have made or changed it", directory)


def _forget_ended(directory: str) -> None:
    """Remove the marks of processes that are gone, so that the directory does not grow."""
    if not os.path.isdir("/proc/self"):
        return
    for name in os.listdir(directory):
        pid = name.partition(".")[0]
        if pid.isdigit() and not os.path.isdir(f"/proc/{pid}") and _read(directory, name)["namespace"] == _namespace():
            try:
                os.unlink(os.path.join(directory, name))
            except OSError:
                continue


def _marks() -> dict[str, dict[str, Any]]:
    """What was written down about each agent, by its process."""
    directory = places.marks()
    try:
        _check(directory)
        names = os.listdir(directory)
    except FileNotFoundError:
        return {}
    return {name: _read(directory, name) for name in names if name.partition(".")[0].isdigit()}


def _read(directory: str, name: str) -> dict[str, Any]:
    try:
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            found = light_json.loads(file.read())
    except (OSError, ValueError):
        found = None
    return found if isinstance(found, dict) else {"namespace": _namespace()}


def stay_with_agent() -> None:
    """Below an agent that is guarded, hooks, trust and state are where the agent has them, whatever variables say."""
    try:
        marks = _marks()
    except OSError:
        return
    if not marks:
        return
    for process in processes.ancestors():
        found = marks.get(str(process))
        if found is not None:
            places.FIXED.update({kind: found[kind] for kind in ("home", "config", "state", "cache") if kind in found})
            return


class Refusal(NamedTuple):
    """Why this process may not weaken the protection, and what a person can do about it."""

    why: str
    remedy: str


def refusal() -> Refusal | None:
    """Whether this process runs below an agent that is guarded, or hides whether it does."""
    outside = "run it yourself, in a terminal outside the agent"
    try:
        marks = _marks()
    except OSError as error:
        return Refusal(f"cannot tell whether an agent called it: {error.strerror}: {error.filename}", "remove it")
    above = list(processes.lineage())
    agent = next((each.process.pid for each in above if str(each.process) in marks), None)
    if agent is not None:
        return Refusal(f"was called from an agent that Tenterhook guards (process {agent})", outside)
    own = _namespace()
    if any(each["namespace"] != own for each in marks.values()):
        return Refusal("runs in another PID namespace than an agent that Tenterhook guards", outside)
    if _is_alone_in_namespace():
        return Refusal("runs in a user namespace of its own, where its caller cannot be told", outside)
    if _is_orphan(above):
        return Refusal("was started by a process that has ended, and no login, cron job or service above it", outside)
    return None


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:  # macOS has none
        return ""


def _is_alone_in_namespace() -> bool:
    """Whether only one account exists for us, as in what `unshare -r` makes; containers have more."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            maps = [line.split() for line in file]
    except OSError:
        return False
    return len(maps) == 1 and maps[0][2] == "1"


# What begins a session for a person, or runs what a person has asked to be run.
_STARTERS = frozenset(
    ("sshd", "sshd-session", "login", "cron", "crond", "atd", "anacron", "tmux: server", "screen", "mosh-server")
)


def _is_orphan(above: Sequence[processes.Ancestor]) -> bool:
    """Whether the ancestors end at init, without a terminal, a login, a schedule, a service or a container's start.

    Only what began after an agent was guarded can be one that such an agent left behind.
    """
    since = _since_first(places.marks())
    if since is None or not above or above[-1].process.pid != 1:  # entered from outside, as `docker exec` does
        return False
    for number, each in enumerate(above):
        if each.name in _STARTERS or (each.terminal and each.session == each.process.pid):
            return False
        if each.name == "systemd" or each.process.pid == 1:
            top = above[number - 1] if number else None
            break
    if top is None or not top.session or int(top.process.started) < since:
        return False
    return not _is_service(top.process.pid)


def _is_service(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="replace") as file:
            return any(line.rstrip().endswith(".service") for line in file)
    except OSError:
        return False


def _since_first(directory: str) -> int | None:
    """When the first agent was marked, as processes count their starts; None if none was since the machine started."""
    try:
        with open(os.path.join(directory, _FIRST), encoding="ascii") as file:
            boot, ticks = file.read().split()
        return int(ticks) if boot == _boot() else None
    except (OSError, ValueError):
        return None


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return "-"
