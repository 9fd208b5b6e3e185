"""One headless run of an agent in a home directory of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
import uuid
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...agents.headless import search_path
from ...agents.protocol import PROMPT, RESUMED
from ...basics import processes
from ...basics.named_tuples import NamedTuple
from .model import ModelRequest, ScriptedModel, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ...agents.protocol import Agent

_MARK = "TRIAL_OF_TENTERHOOK"  # not TENTERHOOK_…, which hooks do not inherit
_GRACE = 3.0  # seconds between SIGTERM and SIGKILL
_CHECKS = 5  # consecutive checks that must find no process
_FIRST_PROMPT = "Please say that you are ready."


class Trial(NamedTuple):
    """The result of a run. For a resumed session, of the second process, unless the first one failed."""

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
    stop: Callable[[], bool] = lambda: False,
) -> Trial:
    """Run an agent once, or twice to resume, and return when every process it started has ended.

    Its home is prepared first. `script` is for a model of its own unless a `model` is given. Processes that the agent
    leaves running have `grace` seconds to exit. The agent does not inherit the caller's environment. It is stopped
    early if `stop` returns true.
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
            commands.insert(0, agent.command(executable, _FIRST_PROMPT, project, mode))
        begun = time.monotonic()
        for command in commands:
            ended = _run(command, environment, project, scratch, begun + timeout, grace, stop)
            if ended.exit_code or ended.timed_out or stop():
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
    command: list[str],
    environment: dict[str, str],
    project: Path,
    scratch: Path,
    deadline: float,
    grace: float,
    stop: Callable[[], bool],
) -> _Ended:
    """Run one process to its end. Output goes to files: a child that keeps a pipe open would block the caller."""
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
        while process.poll() is None and not timed_out and not stop():
            time.sleep(0.02)
            timed_out = time.monotonic() >= deadline and process.poll() is None
    finally:
        _end(process, leader, environment[_MARK], 0 if timed_out or stop() else grace)
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files]
    return _Ended(process.returncode, texts[0], texts[1], timed_out)


def _end(process: subprocess.Popen[bytes], leader: processes.Process, mark: str, grace: float) -> None:
    """End the process group and the marked processes that left it; return when all have ended."""
    if not _wait_for_none(process, mark, grace):
        for number, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, 0)):
            for pid in _marked(mark):
                with suppress(ProcessLookupError, PermissionError):  # it has ended
                    os.kill(pid, number)
            processes.end_group(leader, patience, process.poll)
            if _wait_for_none(process, mark, _GRACE):
                break
    processes.end_group(leader, 0, process.poll)  # a child may have cleared its environment
    process.wait()


def _wait_for_none(process: subprocess.Popen[bytes], mark: str, seconds: float) -> bool:
    """Return whether all end in time. Checked several times: during exec a process has no environment."""
    deadline = time.monotonic() + seconds
    checks = 0
    while checks < _CHECKS:
        checks = 0 if process.poll() is None or _marked(mark) else checks + 1
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.02)
    return True


def _marked(mark: str) -> list[int]:
    """Return the processes with our mark in their environment, also those in other sessions."""
    wanted = f"{_MARK}={mark}".encode()
    found = []
    for entry in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if entry.isdigit():
            try:
                environment = Path("/proc", entry, "environ").read_bytes()
            except OSError:
                continue  # ended, or not ours
            if wanted in environment.split(b"\0"):
                found.append(int(entry))
    return found
