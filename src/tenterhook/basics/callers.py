"""Who runs us, and what they hand on: the agent's process, and variables that a repository may have put there.

Mostly that is whoever started this process. A hub answers for others, one at a time in each of its threads.

Nothing is imported here that costs a start.
"""

from __future__ import annotations

import os
from _thread import _local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from ..runs.running import Cancel


class _Current(_local):
    """Whom this thread answers for, if not for its own process."""

    pid: int | None = None
    make_ready: Callable[[], None]  # called before hooks run for them
    environ: Mapping[bytes, bytes] | None = None
    cancel: Cancel | None = None  # set when there is no more time for them


CURRENT = _Current()
# The plain dict behind `os.environ`: each event copies it, and through the mapping that takes eighty times as long.
_VARIABLES: Mapping[bytes, bytes] = getattr(os.environb, "_data", os.environb)


def pid() -> int:
    """The process whose ancestors count."""
    return CURRENT.pid or os.getpid()


def environ() -> Mapping[bytes, bytes]:
    """The variables that hooks inherit."""
    return _VARIABLES if CURRENT.environ is None else CURRENT.environ


_SHELLS = frozenset(
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
            if name in _NO_AGENTS or (name in _SHELLS and fields[4] != b"0" and int(fields[3]) == process):
                return None  # a shell that leads the session of a terminal is a person's
            if process != mine and name not in _SHELLS:
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


# What decides which code a program runs, before the program does.
_STEERING = frozenset((b"BASH_ENV", b"ENV", b"NODE_OPTIONS", b"RUBYOPT", b"RUBYLIB"))
_STEERING_KINDS = (b"LD_", b"DYLD_", b"PYTHON", b"PERL", b"BASH_FUNC_", b"GIT_")


def is_steering(name: bytes) -> bool:
    return name in _STEERING or name.startswith(_STEERING_KINDS)


def steady(environ: MutableMapping[bytes, bytes], recorded: Mapping[str, str]) -> None:
    """Take what steers programs from the record: agents let a repository set variables, and hooks inherit them."""
    for name in [name for name in environ if is_steering(name)]:
        del environ[name]
    given, own = environ.get(b"PATH"), os.fsencode(recorded.get("PATH", ""))
    for known, value in recorded.items():
        environ[os.fsencode(known)] = os.fsencode(value)
    if given and given != own:
        environ[b"PATH"] = b"%b:%b" % (own, given) if own else given
