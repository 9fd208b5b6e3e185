"""The command that runs a hook for an event: entry point, environment, payload, placeholders."""

from __future__ import annotations

import os
import sys

from ..basics import light_json, places, processes
from ..basics.named_tuples import NamedTuple, cached
from ..events import AGENT_FORMATS
from ..model import WITH_ONE_MATCHER, Event, Hook
from . import recursion

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..basics.callers import Caller
    from ..catalog.trust import Trust
    from .process_runner import Command
    from .sessions import Session


class Prepared(NamedTuple):
    """A command, or why there is none, and notes for the run."""

    command: Command | None
    why: str | None = None
    notes: tuple[str, ...] = ()


class _Shared:
    """The environment that the hooks of a session share; reused until something it was made from changes."""

    def __init__(self, event: Event, session: Session, caller: Caller) -> None:
        variables = dict(caller.environ())
        given = caller.given
        self._made_from = _made_from(event, session, caller, variables, dict(places.FIXED), given or {})
        session_id = light_json.printable(event.session_id).replace("\0", "\ufffd").encode()
        work_dir = os.fsencode(event.work_dir)
        env_file = os.fsencode(session.env_file)
        self._of_session = session.variables()
        self.base = {
            **variables,
            **{os.fsencode(name): os.fsencode(value) for name, value in session.variables().items()},
            b"KIMI_SESSION_ID": session_id,
            b"KIMI_WORK_DIR": work_dir,
            b"KIMI_PROJECT_DIR": work_dir,
            b"KIMI_ENV_FILE": env_file,
            b"TENTERHOOK_SESSION_ID": session_id,
            b"TENTERHOOK_WORK_DIR": work_dir,
            b"TENTERHOOK_PROJECT_DIR": work_dir,
            b"TENTERHOOK_ENV_FILE": env_file,
        }
        # Byte code written beside a script would change the trusted folder.
        if b"PYTHONPYCACHEPREFIX" not in self.base:
            self.base[b"PYTHONPYCACHEPREFIX"] = os.fsencode(f"{places.cache()}/pycache")
        self.chain = recursion.confirmed(os.fsdecode(self.base.pop(recursion.CHAIN, b"")), caller)
        for name in _OF_ONE_HOOK:  # set by us only
            self.base.pop(name, None)
        if given is not None:
            from ..basics.env_policy import changed

            differing = changed(given, {**self.base, **dict.fromkeys(_OF_ONE_HOOK, b"")})
            self.base[_CHANGED] = light_json.encode(differing)
        self._state = places.state()
        self._of: dict[int, tuple[Hook, processes.Process, dict[bytes, bytes]]] = {}

    def is_current(self, event: Event, session: Session, caller: Caller) -> bool:
        now = _made_from(event, session, caller, caller.environ(), places.FIXED, caller.given or {})
        return self._made_from == now

    def of(self, hook: Hook, starter: processes.Process) -> dict[bytes, bytes]:
        """Return the environment of one hook; not to be modified."""
        made = self._of.get(id(hook))
        if made is None or made[0] is not hook or made[1] is not starter:
            if len(self._of) >= _MOST_KEPT:
                self._of.clear()
            name = hook.name if hook.layer in ("managed", "user") else f"{hook.name}@{hook.source}"
            env = {
                **(self._of_root() if hook.layer == "managed" else self._of_pack() if hook.pack else self.base),
                _STATE_DIR: _state_dir(self._state, name),
                recursion.CHAIN: recursion.chain(self.chain, starter, recursion.identity(hook)).encode(),
            }
            made = self._of[id(hook)] = (hook, starter, env)
        return made[2]

    def _of_pack(self) -> dict[bytes, bytes]:
        """Return the variables of a pack's hook: no byte code counts that is outside of its locked folder."""
        kept = {name: value for name, value in self.base.items() if name != b"PYTHONPYCACHEPREFIX"}
        return {**kept, b"PYTHONDONTWRITEBYTECODE": b"1"}

    def _of_root(self) -> dict[bytes, bytes]:
        """Return the environment of a managed hook, without the account's variables that decide which code runs."""
        from ..basics.env_policy import is_from_record

        kept = {
            name: value
            for name, value in self.base.items()
            if name.startswith(_KEPT_FOR_ROOT) or not (is_from_record(name) or os.fsdecode(name) in self._of_session)
        }
        # no byte code is used from a cache that the account could write
        return {**kept, b"PATH": _SYSTEM_PATH, b"PYTHONNOUSERSITE": b"1", b"PYTHONDONTWRITEBYTECODE": b"1"}


def _made_from(event: Event, session: Session, caller: Caller, *inherited: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return what an environment depends on, for comparison; with the caller's ID if a hook may have called us."""
    pid = caller.pid if recursion.CHAIN in inherited[0] else None
    return (*inherited, pid, session.variables(), session.env_file, event.session_id, event.work_dir)


_MOST_KEPT = 256
_SYSTEM_PATH = b"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_KEPT_FOR_ROOT = (b"HOME", b"XDG_", b"KIMI_", b"TENTERHOOK_")
_STATE_DIR = b"TENTERHOOK_STATE_DIR"
_CHANGED = b"TENTERHOOK_CHANGED_VARIABLES"
_OF_ONE_HOOK = (b"TENTERHOOK_PROJECT_TRUSTED", b"TENTERHOOK_METADATA", _STATE_DIR, _CHANGED, recursion.CHAIN)
_LATEST: list[_Shared] = []


class Environment:
    """The environment of each hook of one event, as bytes: the caller's variables, the session's and ours."""

    def __init__(self, event: Event, session: Session, trust: Trust | None, caller: Caller) -> None:
        shared = _LATEST[0] if _LATEST else None
        if shared is None or not shared.is_current(event, session, caller):
            shared = _Shared(event, session, caller)
            _LATEST[:] = [shared]
        self._shared = shared
        self.base, self.chain = shared.base, shared.chain
        self._trust = trust
        self.caller = caller
        self._event = event
        self._env_file = session.env_file

    def of(self, hook: Hook, starter: processes.Process) -> dict[bytes, bytes]:
        """Return the environment of a hook; not to be modified."""
        env = self._shared.of(hook, starter)
        if hook.format in AGENT_FORMATS:
            from .. import agents
            from ..formats import agent_payloads

            theirs = agent_payloads.variables(agents.dialect(hook.format), hook, self._event, self._env_file)
            env = {
                **env,
                **{os.fsencode(key): os.fsencode(value) for key, value in theirs.items()},
                **{name: env[name] for name in (_STATE_DIR, recursion.CHAIN)},  # set by us only
            }
        return {**env, **self._about(hook)} if hook.metadata else env

    def _about(self, hook: Hook) -> dict[bytes, bytes]:
        """Return variables with a hook's metadata and, if it runs the project's code, whether that is trusted."""
        about = {b"TENTERHOOK_METADATA": light_json.encode(light_json.plain(dict(hook.metadata)))}
        if hook.metadata.get("runs_project_code") is True and self._trust is not None and self._trust.trusts_code():
            about[b"TENTERHOOK_PROJECT_TRUSTED"] = b"1"
            # the project's own programs, also through shims
            if path := (self.caller.given or {}).get(b"PATH"):
                about[b"PATH"] = path
        return about


@cached(maxsize=4096)
def _state_dir(state: str, name: str) -> bytes:
    """Return the directory for a hook's own files, and create it."""
    directory = os.path.join(state, "hooks", places.file_name(name))
    try:
        places.make_private(directory)
    except OSError:  # not writable: the hook still runs, and gets the path
        pass
    return os.fsencode(directory)


class Payloads:
    """An event's payloads, each encoded once for all hooks of the same format and event name."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self._written: dict[tuple[str, str], tuple[dict[str, Any], bytes]] = {}

    def of(self, hook: Hook) -> tuple[dict[str, Any], bytes]:
        key = (hook.format if hook.format in WITH_ONE_MATCHER else "", hook.declared)
        written = self._written.get(key)
        if written is None:
            from ..formats import payloads

            sent = payloads.payload(hook, self.event)
            written = self._written[key] = (sent, light_json.encode(sent))
        return written


_LONGEST_SCRIPT = 256 * 1024  # bytes in which a call of Python is searched for


def prepare(hook: Hook, written: Payloads, environment: Environment, starter: processes.Process) -> Prepared:
    """Return the command that runs a hook once, or why it cannot be run."""
    from . import start_check  # a guard needs neither this nor the runner
    from .process_runner import Command

    sent, encoded = written.of(hook)
    env = environment.of(hook, starter)
    notes: tuple[str, ...] = ()
    if hook.folder is not None:
        # hooks that run a trusted project's code use the project's interpreters
        is_known = b"TENTERHOOK_PROJECT_TRUSTED" not in env and hook.layer != "managed"
        known = environment.caller.interpreters() if is_known else {}
        argv = _argv(hook.folder, env.get(b"PATH", b""), known)
        if isinstance(argv, str):
            return Prepared(None, argv)
        with open(argv[-1], "rb") as file:
            text = file.read(_LONGEST_SCRIPT)
        if b"python" in text:  # imported only if needed
            from . import safe_path

            env = {**env, **safe_path.for_script(argv[-1], text)}
    else:
        line = hook.command or ""
        if "python" in line:
            from . import safe_path

            env = {**env, **safe_path.for_line(line)}
        if hook.format == "table":
            from ..formats import placeholders

            filled = placeholders.fill(line, sent)
            line, notes = filled.line, filled.notes
            for wrong in filled.misplaced:
                return Prepared(None, f"cannot start: {wrong.text} would be run as code ({wrong.where})", notes)
            env = {**env, **{name.encode(): value.encode() for name, value in filled.variables.items()}}
        argv = ("/bin/sh", "-c", line)
        if why := start_check.missing_script(line, written.event.work_dir, env):
            return Prepared(None, why, notes)
    return Prepared(Command(argv, encoded, written.event.work_dir, env, hook.timeout), None, notes)


def _argv(folder: str, path: bytes, known: Mapping[str, str] = {}) -> tuple[str, ...] | str:
    """Return the arguments that start a folder's script, or why it cannot be started.

    `known`: interpreters by name, as recorded by `install`. `path`: the PATH on which others are searched.
    """
    from ..formats import entry_points

    script, problem = entry_points.entry_point(folder)
    if script is None:
        return "cannot start: no script"
    try:
        with open(script, "rb") as file:
            first = file.readline(256)
    except OSError as error:
        return f"cannot start: {error.strerror}: {script}"
    has_exec_bit = problem is None
    interpreter = entry_points.interpreter(first)
    if interpreter and os.path.isabs(interpreter) and not os.path.exists(interpreter):
        return f"cannot start: its #! line names {interpreter!r}, which does not exist: {script}"
    name, *options = entry_points.named_interpreter(first) or [""]
    found: str | None = known.get(name, "")
    if name and not entry_points.can_run(found or ""):
        # without a path the system would search the working directory, the project's; not every `env` has `-S`
        is_for_env = interpreter in ("/usr/bin/env", "/bin/env") and not options
        found = None if is_for_env else entry_points.on_path(name, os.fsdecode(path))
    if found:
        return (found, *options, script)
    if interpreter and not os.path.isabs(interpreter):
        return f"cannot start: its #! line names {interpreter!r}, which is not on PATH: {script}"
    if has_exec_bit and (first.startswith(b"#!") or b"\0" in first):  # the system can run it
        return (script,)
    if interpreter:
        argument = " ".join(first[2:].decode("utf-8", "replace").split()[1:])
        return (interpreter, *([argument] if argument else []), script)
    if script.endswith(".py"):
        return (sys.executable or "python3", script)
    if script.endswith(".sh") or has_exec_bit:
        return ("/bin/sh", script)
    return f"cannot start: no exec bit and no #! line: {script}"
