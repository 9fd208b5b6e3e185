"""A hook and an event to a command that can be run: entry point, environment, payload, placeholders."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from functools import lru_cache

from . import circles, jsonable, places, processes
from .formats import folder as folder_format
from .formats import payloads, placeholders
from .model import Event, Failure, Hook
from .running import Command, Ended
from .values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .sessions import Session


class Prepared(NamedTuple):
    """A command, or why there is none; notes belong to the run."""

    command: Command | None
    why: str | None = None
    notes: tuple[str, ...] = ()


class Environment:
    """The environment of every hook of one event: the caller's, the session's, ours."""

    def __init__(self, event: Event, session: Session) -> None:
        self.base = {
            **os.environ,
            **session.variables(),
            "KIMI_SESSION_ID": event.session_id,
            "KIMI_WORK_DIR": event.work_dir,
            "KIMI_PROJECT_DIR": event.work_dir,
            "KIMI_ENV_FILE": session.env_file,
            "TENTERHOOK_SESSION_ID": event.session_id,
            "TENTERHOOK_WORK_DIR": event.work_dir,
            "TENTERHOOK_PROJECT_DIR": event.work_dir,
            "TENTERHOOK_ENV_FILE": session.env_file,
        }
        # Byte code beside a script would change the folder that was trusted.
        if "PYTHONPYCACHEPREFIX" not in self.base:
            self.base["PYTHONPYCACHEPREFIX"] = f"{places.cache()}/pycache"
        self._state = places.state()

    def of(self, hook: Hook, starter: processes.Process) -> dict[str, str]:
        name = hook.name if hook.layer in ("managed", "user") else f"{hook.name}@{hook.source}"
        return {
            **self.base,
            "TENTERHOOK_STATE_DIR": _state_dir(self._state, name),
            circles.CHAIN: circles.chain(self.base.get(circles.CHAIN, ""), starter, circles.identity(hook)),
        }


@lru_cache(maxsize=4096)
def _state_dir(state: str, name: str) -> str:
    """A directory for a hook's own files, made when the hook first runs."""
    directory = os.path.join(state, "hooks", places.file_name(name))
    try:
        places.make_private(directory)
    except OSError:  # no place to write: the hook is told where it would be, and runs all the same
        pass
    return directory


def prepare(hook: Hook, event: Event, environment: Environment, starter: processes.Process) -> Prepared:
    """Everything needed to run a hook once."""
    sent = payloads.payload(hook, event)
    env = environment.of(hook, starter)
    notes: tuple[str, ...] = ()
    if hook.folder is not None:
        argv = _argv(hook.folder)
        if isinstance(argv, str):
            return Prepared(None, argv)
    else:
        line = hook.command or ""
        if hook.format == "table":
            filled = placeholders.fill(line, sent)
            line, notes = filled.line, filled.notes
            env.update(filled.variables)
        argv = ("/bin/sh", "-c", line)
    return Prepared(Command(argv, jsonable.encode(sent), event.work_dir, env, hook.timeout), None, notes)


def _argv(folder: str) -> tuple[str, ...] | str:
    """How a folder's script is started, or why it cannot be."""
    script, problem = folder_format.entry_point(folder)
    if script is None:
        return "cannot start: no script"
    try:
        with open(script, "rb") as file:
            first = file.readline(256)
    except OSError as error:
        return f"cannot start: {error.strerror}: {script}"
    has_exec_bit = problem is None
    if has_exec_bit and (first.startswith(b"#!") or b"\0" in first):  # the system knows how
        return (script,)
    if first.startswith(b"#!"):
        interpreter, _, argument = first[2:].decode("utf-8", "replace").strip().partition(" ")
        return (interpreter, *([argument.strip()] if argument.strip() else []), script)
    if script.endswith(".py"):
        return (sys.executable or "python3", script)
    if script.endswith(".sh") or has_exec_bit:
        return ("/bin/sh", script)
    return f"cannot start: no exec bit and no #! line: {script}"


def never_began(hook: Hook, event: Event, ended: Ended) -> str | None:
    """Why an exit with 2 was not the hook's word: the shell or an interpreter could not even begin.

    `sh` exits with 2 on a line it cannot parse, `python` and `perl` on a script that is not there. Neither is a block.
    """
    if ended.exit_code != 2 or hook.command is None:
        return None
    if not parses(hook.command):
        return "the shell refuses the command"
    missing = missing_script(hook.command, event.work_dir)
    return f"cannot start: no such script: {missing}" if missing else None


@lru_cache(maxsize=1024)
def parses(line: str) -> bool:
    """Whether `sh -n` takes a shell line."""
    checked = subprocess.run(
        ["/bin/sh", "-n", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=10
    )
    return checked.returncode == 0


_SCRIPT_RUNNERS = ("python", "python3", "sh", "bash", "dash", "zsh", "perl", "ruby", "node")


def missing_script(line: str, work_dir: str) -> str | None:
    """The script that a plain `interpreter script …` line names, if it does not exist."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if len(words) < 2 or os.path.basename(words[0]) not in _SCRIPT_RUNNERS or words[1].startswith("-"):
        return None
    if any(char in line for char in "$`;|&<>(){}*?\n"):
        return None
    path = os.path.join(work_dir, os.path.expanduser(words[1]))
    return None if os.path.exists(path) else path


def as_failure(ended: Ended, why: str) -> Ended:
    return ended._replace(failure=Failure.CANNOT_START if why.startswith("cannot") else Failure.EXIT, why=why)
