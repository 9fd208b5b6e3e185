"""The caller of an event: the process that waits for the answer, and its variables, which a repository may have set.

Without the daemon, that is this process; the daemon answers other processes, and makes a `Caller` for each.

Imports nothing that would slow down the start of the bridge.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping
    from typing import Any

    from ..engine.process_runner import Cancel

# The plain dict behind `os.environb`, which each event copies: copying the mapping takes eighty times as long.
_VARIABLES: MutableMapping[bytes, bytes] = getattr(os.environb, "_data", os.environb)


class Caller:
    """The process that an event is answered for; without arguments, this process, with trusted variables."""

    def __init__(
        self,
        *,
        pid: int | None = None,
        given: Mapping[bytes, bytes] | None = None,
        cancel: Cancel | None = None,
        make_ready: Callable[[Caller], None] | None = None,
    ) -> None:
        """`given`: the variables of the agent that runs us. `pid`: the process that waits for the daemon's answer.

        `make_ready` is called before hooks run for that process; `cancel` is set when it no longer waits.
        """
        self._pid = pid
        self.given = given
        self.cancel = cancel
        self.make_ready = make_ready
        self.record: Mapping[str, Any] = {}  # of the installation that it belongs to
        self._inherited: Mapping[bytes, bytes] | None = None

    @property
    def is_another(self) -> bool:
        """Whether the caller is a process other than this one."""
        return self._pid is not None

    @property
    def pid(self) -> int:
        """The ID of the process whose ancestors count."""
        return self._pid or os.getpid()

    def environ(self) -> Mapping[bytes, bytes]:
        """Return the variables that hooks inherit."""
        if self.given is None:
            return _VARIABLES
        if self._inherited is None:
            from . import env_policy

            self._inherited = env_policy.inherited(self.given, self.record, self.working_directory())
        return self._inherited

    def use(self, given: Mapping[bytes, bytes], record: Mapping[str, Any]) -> None:
        """Set its variables and the record of its installation."""
        self.given, self.record, self._inherited = given, record, None

    def interpreters(self) -> Mapping[str, str]:
        """Return the paths of interpreters by name, as `install` found them; empty without a record."""
        found: Mapping[str, str] = self.record.get("interpreters", {})
        return found

    def working_directory(self) -> str:
        """Return the directory that it runs in."""
        if self._pid is not None:
            return os.readlink(f"/proc/{self._pid}/cwd")
        try:
            return os.getcwd()
        except OSError:  # it was removed
            return "/"


THIS = Caller()  # this process, with its own variables


# The variables of an agent that our own processes keep: language, time zone, account.
_KEPT = frozenset((b"LANG", b"LANGUAGE", b"LOGNAME", b"TZ", b"USER"))


def drop_untrusted_env() -> Caller:
    """Unset an agent's variables, except language, time zone and account; return the agent as the caller."""
    caller = Caller(given=dict(_VARIABLES))
    unset = os.unsetenv
    for name in caller.given or ():
        if name not in _KEPT and not name.startswith(b"LC_"):
            unset(name)
            del _VARIABLES[name]
    return caller


def restore_trusted_env(caller: Caller, record: Mapping[str, Any]) -> None:
    """Set the user's own variables, as `install` recorded them, in place of those that were dropped."""
    from . import env_policy

    given = caller.given or {}
    caller.use(given, record)
    for name, value in env_policy.recorded(given, record).items():
        os.putenv(name, value)
        _VARIABLES[name] = value


SHELLS = frozenset(
    (
        *(b"sh", b"dash", b"bash", b"zsh", b"ash", b"ksh", b"mksh", b"yash", b"csh", b"tcsh", b"rbash", b"busybox"),
        *(b"fish", b"nu", b"pwsh", b"elvish", b"xonsh", b"osh", b"ysh"),
    )
)
# Programs that are not agents: they start a user's shell, in which an entry may be tried, or scheduled commands.
_NO_AGENTS = frozenset(
    (
        *(b"sshd", b"sshd-session", b"dropbear", b"login", b"su", b"sudo", b"doas", b"runuser", b"cron", b"crond"),
        *(b"atd", b"tmux: server", b"screen", b"mosh-server", b"xterm", b"konsole", b"kitty", b"alacritty", b"foot"),
        *(b"gnome-terminal-", b"wezterm-gui", b"ghostty", b"terminator", b"containerd-shim", b"systemd", b"init"),
        *(b"tini", b"docker-init", b"dumb-init", b"catatonit", b"s6-svscan", b"runit", b"supervisord"),
    )
)


def agent_above(pid: int) -> str | None:
    """Return the agent above a process, as named in its mark; None below a user's shell, or if there is none."""
    process, session = pid, b""
    try:
        while process > 1 or (process == 1 and _is_in_container()):  # an agent may be the first process of a container
            with open(f"/proc/{process}/stat", "rb", buffering=0) as file:
                head, _, tail = file.read().rpartition(b")")
            fields = tail.split()
            name = head.partition(b"(")[2]
            if session not in (b"", fields[3]):
                return None  # the process that started ours has ended, and ours was moved below this one
            if name in _NO_AGENTS or (name in SHELLS and fields[4] != b"0" and int(fields[3]) == process):
                return None  # a shell that leads the session of a terminal is a user's
            if process != pid and name not in SHELLS:
                return f"{process}.{fields[19].decode()}"
            session = fields[3] if int(fields[3]) != process else b""  # only its leader has left its parent's session
            process = int(fields[1])
    except (OSError, ValueError, IndexError):
        pass
    return None


def _is_in_container() -> bool:
    return os.readlink("/proc/self/ns/pid") != "pid:[4026531836]"  # the kernel's number of the first PID namespace
