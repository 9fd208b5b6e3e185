"""One headless run of an agent in a home of its own, and what came of it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
import uuid
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ...agents.headless import search_path
from ...agents.protocol import PROMPT, RESUMED
from ...basics import processes
from ...basics.named_tuples import NamedTuple
from .model import ModelRequest, ScriptedModel, Turn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...agents.protocol import Agent

_MARK = "TRIAL_OF_TENTERHOOK"  # not TENTERHOOK_…, which hooks do not inherit
_PATIENCE = 3.0  # seconds between asking a process to end and ending it
_LOOKS = 5  # looks at the machine, a little apart, that must find nothing left
_BEFORE = "Please say that you are ready."


class Trial(NamedTuple):
    """What came of a run. Of a resumed session, the second process, unless the first one failed."""

    exit_code: int
    stdout: str
    stderr: str
    seconds: float  # of all processes
    timed_out: bool
    requests: tuple[ModelRequest, ...]
    tool_results: tuple[str, ...]


class _Ended(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str
    timed_out: bool


def run(
    agent: Agent,
    executable: Path,
    *,
    home: Path,
    project: Path,
    script: Iterable[Turn] = (),
    model: ScriptedModel | None = None,
    prompt: str = PROMPT,
    mode: str = "auto-approve",
    timeout: float = 120,
    extra_env: Mapping[str, str] | None = None,
    grace: float = 0,
) -> Trial:
    """Run an agent once, or twice to resume, and return when every process it started is gone.

    Its home is made ready first. `script` is answered by a model of its own unless a `model` is given. What the agent
    leaves running has `grace` seconds to end by itself. The caller's environment does not reach it.
    """
    with ExitStack() as stack:
        model = model or stack.enter_context(ScriptedModel(script))
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tenterhook-trial-")))
        agent.prepare(home, model.url)
        environment = {
            "PATH": search_path(str(executable)),
            "HOME": str(home),
            "TERM": "dumb",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
            "TMPDIR": str(scratch),
            "NO_COLOR": "1",
            _MARK: uuid.uuid4().hex,
            **agent.environment(home, model.url),
            **(extra_env or {}),
        }
        commands = [agent.command(executable, prompt, project, mode, resume=mode == RESUMED)]
        if mode == RESUMED:
            commands.insert(0, agent.command(executable, _BEFORE, project, mode))
        begun = time.monotonic()
        for command in commands:
            ended = _run(command, environment, project, scratch, begun + timeout - time.monotonic(), grace)
            if ended.exit_code or ended.timed_out:
                break
        seconds = time.monotonic() - begun
        model.settle()
        return Trial(
            ended.exit_code,
            ended.stdout,
            ended.stderr,
            seconds,
            ended.timed_out,
            tuple(model.requests),
            tuple(model.tool_results()),
        )


def _run(
    command: list[str], environment: dict[str, str], project: Path, scratch: Path, timeout: float, grace: float
) -> _Ended:
    """One process to its end. Output goes to files: whatever a child of it keeps open, nobody waits for it."""
    files = scratch / "stdout", scratch / "stderr"
    timed_out = False
    with files[0].open("wb") as stdout, files[1].open("wb") as stderr:
        process = subprocess.Popen(
            command,
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
    leader = processes.child(process.pid)
    try:
        process.wait(max(timeout, 0))
    except subprocess.TimeoutExpired:
        timed_out = True
    finally:
        _end(process, leader, environment[_MARK], 0 if timed_out else grace)
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return _Ended(process.returncode, texts[0], texts[1], timed_out)


def _end(process: subprocess.Popen[bytes], leader: processes.Process, mark: str, grace: float) -> None:
    """End the process group and the marked processes that left it; return when all of them are gone."""
    if not _wait_for_none(process, mark, grace):
        for number, patience in ((signal.SIGTERM, _PATIENCE), (signal.SIGKILL, 0)):
            for pid in _marked(mark):
                _signal(pid, number)
            processes.end_group(leader, patience, process.poll)
            if _wait_for_none(process, mark, _PATIENCE):
                break
    processes.end_group(leader, 0, process.poll)  # a child may have cleared its environment
    process.wait()


def _wait_for_none(process: subprocess.Popen[bytes], mark: str, seconds: float) -> bool:
    """Whether all are gone in time; asked several times, as a process has no environment while it becomes a program."""
    deadline = time.monotonic() + seconds
    looks = 0
    while looks < _LOOKS:
        looks = 0 if process.poll() is None or _marked(mark) else looks + 1
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def _marked(mark: str) -> list[int]:
    """The processes with our mark in their environment: those too that made a session of their own."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if entry.isdigit():
            try:
                environment = Path("/proc", entry, "environ").read_bytes()
            except OSError:
                continue  # gone, or not ours
            if wanted in environment.split(b"\0"):
                found.append(int(entry))
    return found


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass  # it went by itself
