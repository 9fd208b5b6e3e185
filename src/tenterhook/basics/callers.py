"""Who runs us, and what they hand on: the agent's process, and its variables, which a repository may have set.

Mostly that is whoever started this process. The daemon answers for others, one at a time in each of its threads.

Nothing is imported here that costs a start.
"""

from __future__ import annotations

import os
from _thread import _local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping
    from typing import Any

    from ..runs.running import Cancel


class _Current(_local):
    """Whom this thread answers for, if not for its own process."""

    pid: int | None = None
    make_ready: Callable[[], None]  # called before hooks run for them
    given: Mapping[bytes, bytes] | None = None  # their variables
    environ: Mapping[bytes, bytes] | None = None  # what hooks inherit of them
    record: Mapping[str, Any] = {}  # of their installation
    cancel: Cancel | None = None  # set when there is no more time for them


CURRENT = _Current()
# The plain dict behind `os.environ`: each event copies it, and through the mapping that takes eighty times as long.
_VARIABLES: MutableMapping[bytes, bytes] = getattr(os.environb, "_data", os.environb)


def pid() -> int:
    """The process whose ancestors count."""
    return CURRENT.pid or os.getpid()


def environ() -> Mapping[bytes, bytes]:
    """The variables that hooks inherit."""
    if CURRENT.environ is not None:
        return CURRENT.environ
    if _AGENT is None:
        return _VARIABLES
    if _AGENT.inherited is None:
        from . import variables

        _AGENT.inherited = variables.inherited(_AGENT.given, _AGENT.record, _working_directory())
    return _AGENT.inherited


def given() -> Mapping[bytes, bytes] | None:
    """The variables as an agent has given them; None if a person started this process."""
    if CURRENT.given is not None:
        return CURRENT.given
    return _AGENT.given if _AGENT is not None else None


def interpreters() -> Mapping[str, str]:
    """Files of interpreters by their names, as `install` found them; none if a person started this process."""
    record = CURRENT.record if CURRENT.given is not None or _AGENT is None else _AGENT.record
    found: Mapping[str, str] = record.get("interpreters", {})
    return found


def is_agent() -> bool:
    """Whether an agent runs us, so that a repository may have set variables."""
    return CURRENT.given is not None or _AGENT is not None


class _Agent:
    """The agent that runs this process: its variables, and what hooks inherit of them once that is asked for."""

    def __init__(self) -> None:
        self.given = dict(_VARIABLES)
        self.record: Mapping[str, Any] = {}
        self.inherited: Mapping[bytes, bytes] | None = None


_AGENT: _Agent | None = None


# What our own processes take from an agent: how people write, and what time it is.
_KEPT = frozenset((b"LANG", b"LANGUAGE", b"LOGNAME", b"TZ", b"USER"))


def drop_variables() -> None:
    """Have none of an agent's variables from now on, but for a few that decide nothing."""
    global _AGENT  # noqa: PLW0603  # it is about the process
    _AGENT = _Agent()
    unset = os.unsetenv
    for name in _AGENT.given:
        if name not in _KEPT and not name.startswith(b"LC_"):
            unset(name)
            del _VARIABLES[name]


def use_record(record: Mapping[str, Any]) -> None:
    """Have the person's own variables in place of those that were dropped."""
    from . import variables

    assert _AGENT is not None
    _AGENT.record = record
    for name, value in variables.recorded(_AGENT.given, record).items():
        os.putenv(name, value)
        _VARIABLES[name] = value


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return "/"


SHELLS = frozenset(
    (
        *(b"sh", b"dash", b"bash", b"zsh", b"ash", b"ksh", b"mksh", b"yash", b"csh", b"tcsh", b"rbash", b"busybox"),
        *(b"fish", b"nu", b"pwsh", b"elvish", b"xonsh", b"osh", b"ysh"),
    )
)
# What is no agent: it runs the shell of a person who tries the entry by hand, or a schedule.
_NO_AGENTS = frozenset(
    (
        *(b"sshd", b"sshd-session", b"dropbear", b"login", b"su", b"sudo", b"doas", b"runuser", b"cron", b"crond"),
        *(b"atd", b"tmux: server", b"screen", b"mosh-server", b"xterm", b"konsole", b"kitty", b"alacritty", b"foot"),
        *(b"gnome-terminal-", b"wezterm-gui", b"ghostty", b"terminator", b"containerd-shim", b"systemd", b"init"),
        *(b"tini", b"docker-init", b"dumb-init", b"catatonit", b"s6-svscan", b"runit", b"supervisord"),
    )
)


def agent() -> str | None:
    """The agent's process as `guarded` names it; None if a person's shell runs us, or the system does not tell."""
    mine = process = pid()
    try:
        while process > 1 or (process == 1 and _is_in_container()):  # an agent may be all that a container runs
            with open(f"/proc/{process}/stat", "rb", buffering=0) as file:
                head, _, tail = file.read().rpartition(b")")
            fields = tail.split()
            name = head.partition(b"(")[2]
            if name in _NO_AGENTS or (name in SHELLS and fields[4] != b"0" and int(fields[3]) == process):
                return None  # a shell that leads the session of a terminal is a person's
            if process != mine and name not in SHELLS:
                return f"{process}.{fields[19].decode()}"
            process = int(fields[1])
    except (OSError, ValueError, IndexError):
        pass
    return None


def _is_in_container() -> bool:
    return os.readlink("/proc/self/ns/pid") != "pid:[4026531836]"  # the kernel's number of the first PID namespace


def is_attended() -> bool:
    """Whether somebody sits at the agent who can be asked; Claude Code says so, others are taken to be."""
    return environ().get(b"CLAUDE_CODE_SESSION_ATTENDED") != b"0"
