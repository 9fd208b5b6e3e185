"""Measures how long an event delays an agent: the bridge and the line that `install` wrote, run as the agent runs them.

This process starts all contenders, with the event on stdin, and reads both outputs to their end.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import chdir, suppress
from typing import TYPE_CHECKING, NamedTuple

from tenterhook.agents import AGENTS
from tenterhook.basics import places, processes
from tenterhook.install import entries, launcher

from . import homes
from .comparing import Block, compare, take_turns
from .requests import WorkerEnded
from .rows import Measure, Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from .measuring import Setting

HOST, EVENT = "claude-code", "PreToolUse"
SESSION = "0b8de1c0-6f2f-4a43-9f0a-55c1a4c8d0b5"
NO_MATCH = Target(2.0, measure=Measure.P95)
GUARDED = Target(20, measure=Measure.OVER)

_ROUNDS = 3
PASS = "`python -I -S -c pass`"
_LONGEST_WAIT = 10.0  # seconds for an index to be written

READ = {"tool_name": "Read", "tool_input": {"file_path": "src/main.py"}}
SHELL = {"tool_name": "Bash", "tool_input": {"command": "git status --short", "description": "Show what has changed"}}
FORBIDDEN = {"tool_name": "Bash", "tool_input": {"command": "echo forbidden"}}

SHELL_GUARD = """\
#!/bin/sh
if grep -q forbidden; then
    echo "the guard says no" >&2
    exit 2
fi
"""
GUARD = """\
---
name: guard
description: Refuses what must not be done
trigger: pre-tool-call
matcher:
  tool: Shell
---
"""
_ANY = "---\nname: any\ndescription: for every tool\ntrigger: pre-tool-call\n---\n"


class Case(NamedTuple):
    """An event that no hook of a home matches."""

    title: str
    hooks: int
    call: dict[str, Any]
    target: Target | None


NO_MATCHES = (
    Case("no hook left", 0, READ, None),
    Case("none of 30 hooks is for the tool", 30, READ, NO_MATCH),
    Case("none of 30 hooks finds its pattern", 30, SHELL, NO_MATCH),
    Case("none of 1,000 hooks is for the tool", 1000, READ, None),
)


def _forget_mark() -> None:
    """Remove this process's mark as an agent: nothing can be installed below an agent."""
    with suppress(FileNotFoundError):
        os.unlink(os.path.join(places.marks(), str(processes.this())))


class Installed:
    """A home with hooks in which Tenterhook is installed, and a session that has begun."""

    def __init__(self, home: Path, project: Path, host: str = HOST) -> None:
        self.host = host
        self.home = home
        self.project = project
        self.environment = homes.clean_environment(home)
        _forget_mark()
        install = [sys.executable, "-m", "tenterhook", "install", host]
        done = subprocess.run(install, cwd=project, env=self.environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise WorkerEnded(f"tenterhook install: {done.stderr.strip() or done.stdout.strip()}")
        agent = AGENTS[host]
        found = entries.found(agent, (home / agent.directory / agent.file).read_bytes())
        self.line = entries.command_of(found[EVENT][0])
        self.record = home / ".local" / "state" / "tenterhook" / "installed" / f"{host}.json"
        self.python = json.loads(self.record.read_text())["python"]

    @property
    def bridge(self) -> list[str]:
        """Return the command that the line runs."""
        names = {"--host": self.host, "--event": EVENT, "--record": str(self.record)}
        return [self.python, "-I", "-S", launcher.BRIDGE, *(word for pair in names.items() for word in pair)]

    def payload(self, call: dict[str, Any]) -> bytes:
        """Return an event as the agent sends it."""
        event = {
            "session_id": SESSION,
            "transcript_path": str(self.home / ".claude" / "projects" / "bench" / "transcript.jsonl"),
            "cwd": str(self.project),
            "permission_mode": "default",
            "hook_event_name": EVENT,
            "tool_use_id": "toolu_01",
            **call,
        }
        return json.dumps(event).encode()

    def begin(self, call: dict[str, Any]) -> None:
        """Send events until the index is written; from then on all events take the same path."""
        index = self.home / ".cache" / "tenterhook" / "index"
        until = time.monotonic() + _LONGEST_WAIT
        while True:
            self.run(["/bin/sh", "-c", self.line], self.payload(call))
            if index.is_dir() and any(index.iterdir()):
                return
            if time.monotonic() > until:
                raise WorkerEnded("no index was written")
            time.sleep(0.1)  # no index is written while files have just changed

    def refuses(self, argv: list[str], call: dict[str, Any]) -> bool:
        """Return whether an event is answered with the guard's reason, in any form."""
        with chdir(self.project):
            return b"the guard says no" in run(argv, self.environment, self.payload(call))[2]

    def run(self, argv: list[str], payload: bytes) -> float:
        """Return the microseconds until a process and its outputs have ended; it must succeed and print nothing."""
        with chdir(self.project):
            took, status, said = run(argv, self.environment, payload)
        if status or said:
            raise WorkerEnded(f"{argv[0]} ended with {status} and said: {said.decode(errors='replace').strip()}")
        return took

    def block(self, argv: list[str], payload: bytes) -> Block:
        return lambda: [self.run(argv, payload) for _ in range(_ROUNDS)]


def run(argv: list[str], environment: Mapping[str, str], payload: bytes) -> tuple[float, int, bytes]:
    """Return the microseconds that a process took with an event on stdin, its exit status and what it printed."""
    begun = time.perf_counter()
    stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
    os.write(stdin[1], payload)  # it fits into the pipe
    ends = (stdin[0], stdout[1], stderr[1])
    places = [(os.POSIX_SPAWN_DUP2, end, place) for place, end in enumerate(ends)]
    pid = os.posix_spawn(argv[0], argv, environment, file_actions=places)
    for end in (*ends, stdin[1]):
        os.close(end)
    said = _rest(stdout[0]) + _rest(stderr[0])  # each fits into its pipe
    _, ended = os.waitpid(pid, 0)
    return (time.perf_counter() - begun) * 1e6, os.waitstatus_to_exitcode(ended), said


def _rest(descriptor: int) -> bytes:
    with open(descriptor, "rb", buffering=0) as file:
        return file.read()


def reaching_none(setting: Setting, cases: Sequence[Case] = NO_MATCHES) -> Iterator[Row]:
    """Measure events that no hook matches: the bridge alone and the whole line, against a bare interpreter."""
    installed = {count: with_hooks(setting, count) for count in dict.fromkeys(case.hooks for case in cases)}
    for title, hooks, call, target in cases:
        here = installed[hooks]
        here.begin(call)
        payload = here.payload(call)
        nothing = [here.python, "-I", "-S", "-c", "pass"]
        turns = {
            "pass": here.block(nothing, payload),
            "bridge": here.block(here.bridge, payload),
            "line": here.block(["/bin/sh", "-c", here.line], payload),
        }
        found = take_turns(turns, setting.effort.blocks)
        yield Row(f"dispatch, {title}: bridge", PASS, compare(found["bridge"], found["pass"]), target)
        yield Row(f"dispatch, {title}: line", PASS, compare(found["line"], found["pass"]), target)


def guarding(setting: Setting) -> Iterator[Row]:
    """Measure a call that a guard allows: the line, against the guard as an agent runs it without Tenterhook."""
    here = with_guard(setting)
    native = homes.write_script(here.home / "guard.sh", SHELL_GUARD)
    argv = {"native": ["/bin/sh", "-c", str(native)], "line": ["/bin/sh", "-c", here.line]}
    here.begin(SHELL)
    for name, each in argv.items():  # a figure counts only if the guard refuses one call and allows the other
        if not here.refuses(each, FORBIDDEN) or here.refuses(each, SHELL):
            raise WorkerEnded(f"the guard is not in force: {name}")
    turns = {name: here.block(each, here.payload(SHELL)) for name, each in argv.items()}
    found = take_turns(turns, setting.effort.blocks)
    yield Row("dispatch, one guard in sh: line", "the guard alone", compare(found["line"], found["native"]), GUARDED)


def with_hooks(setting: Setting, count: int, name: str | None = None) -> Installed:
    """Return a home with `count` hooks for various events."""
    home = setting.directory / (name or f"{count}-various")
    homes.write_various(home, count)
    if count:
        return Installed(home, setting.work_dir)
    # `install` adds no entries where there are no hooks: install with one, then remove it
    homes.write_folder(home, "any", _ANY)
    installed = Installed(home, setting.work_dir)
    shutil.rmtree(homes.hooks_directory(home) / "any")
    return installed


def with_guard(setting: Setting, name: str = "guard") -> Installed:
    """Return a home with one guard in sh."""
    home = setting.directory / name
    homes.write_folder(home, "guard", GUARD, SHELL_GUARD)
    return Installed(home, setting.work_dir)
