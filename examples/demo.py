"""A session of the bundled agent, offline, with the hooks that come with Tenterhook: see what each of them does.

The model's answers are in demo/session.yaml. Nothing leaves this machine, and nothing is written outside a temporary
directory. The exit status is 0 only if everything happened that the headings say; `--break HOOK` has a hook do
nothing but crash, to see that this is noticed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import pydantic_ai

import tenterhook
from tenterhook import Engine
from tenterhook.approvals.requests import Answer, Request
from tenterhook.basics.model_script import ModelScript
from tenterhook.bundled_agent import session_files
from tenterhook.bundled_agent.conversation import Conversation
from tenterhook.bundled_agent.overview import overview
from tenterhook.bundled_agent.screen import Screen
from tenterhook.bundled_agent.scripted import PydanticScriptedModel
from tenterhook.bundled_agent.settings import AgentSettings

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent / "demo"
BUILT_IN = Path(tenterhook.__file__).parent / "hooks"
SCENES = {
    "A dangerous command is refused, and the model finds another way": "Get the project ready.",
    "An input is modified, and a hook answers the approval": "Do the tests pass?",
    "A person approves, a file is formatted, and only passing tests let it stop": "Add a median, with a test.",
    "A subagent works in the background under the same hooks, and cannot switch them off": "Have it reviewed.",
    "The context is compacted": "What is left to do?",
}
AGENTS_MD = "Write short sentences."
SETTINGS = """\
[[hooks.override]]
name = "enforce-tests"
metadata = { run = true, command = "python3 -m unittest -q" }
"""
STATS = '''\
"""Figures of lists of numbers."""


def mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)
'''
TESTS = """\
import unittest

import stats


class Figures(unittest.TestCase):
    def test_the_mean_lies_in_the_middle(self) -> None:
        self.assertEqual(stats.mean([1, 2, 6]), 3)
"""
TINY_FORMATTER = """\
#!/usr/bin/env python3
import ast, pathlib, sys
for file in map(pathlib.Path, sys.argv[1:]):
    if file.suffix == ".py":
        file.write_text(ast.unparse(ast.parse(file.read_text())) + "\\n")
"""
_A_WHILE = 20.0  # seconds for hooks in the background


class Stage(NamedTuple):
    """The directory that everything happens in."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def hooks(self) -> Path:
        return self.home / ".config" / "agents" / "hooks"

    @property
    def project_hooks(self) -> Path:
        return self.project / ".agents" / "hooks"

    @property
    def requests(self) -> list[dict[str, Any]]:
        """What the model was sent, request by request."""
        log = self.root / "requests.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def set_up(self, broken: list[str]) -> None:
        """Make a home with hooks and a project, and an environment that leads nowhere else."""
        for name in list(os.environ):
            if name.startswith(("TENTERHOOK_", "KIMI_", "XDG_")):
                del os.environ[name]
        tools = self.root / "bin"
        os.environ.update(HOME=str(self.home), PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}:{tools}")
        shutil.copytree(HERE / "project", self.project)
        self._tenterhook("add", *(folder.name for folder in BUILT_IN.iterdir() if (folder / "HOOK.md").exists()))
        shutil.copytree(HERE / "hooks", self.hooks, dirs_exist_ok=True)
        for name in broken:
            _break(self.hooks / name if (self.hooks / name).exists() else self.project_hooks / name)
        (self.hooks / "hooks.toml").write_text(SETTINGS)
        (self.hooks.parent / "AGENTS.md").write_text(f"{AGENTS_MD}\n")
        (self.project / "stats.py").write_text(STATS)
        (self.project / "test_stats.py").write_text(TESTS)
        tools.mkdir()
        if not shutil.which("ruff") and not shutil.which("black"):
            click.echo("Neither ruff nor black is here: a few lines of Python format in their place.")
            _script(tools / "black", TINY_FORMATTER)
        shutil.copy(HERE / "session.yaml", self.root)
        self._tenterhook("trust", "--all", "--yes")  # the project's own hook runs only then,
        self._tenterhook("trust", "--code", "--yes")  # and its tests are run by hooks only then

    def _tenterhook(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "tenterhook", *arguments]
        subprocess.run(command, cwd=self.project, check=True, stdout=subprocess.DEVNULL)


class Person:
    """Answers like a person at the terminal: approves edits of the project and reviewers, nothing else."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    async def ask(self, request: Request) -> Answer:
        self._screen.question(request)
        call = request.call
        if call.tool == "Task" or (call.path or "").startswith(f"{call.work_dir}/"):
            return Answer(True, "a person")
        return Answer(False, "a person", reason="I do not want that.")


async def play(stage: Stage) -> Conversation:
    """The session, from its first event to its last."""
    pydantic_ai.BANNER_ENABLED = False  # this is Tenterhook's terminal
    screen = Screen(_out, _out, colour=sys.stdout.isatty())
    model = PydanticScriptedModel(ModelScript.load(str(stage.root / "session.yaml")))
    people = [Person(screen)]
    conversation = Conversation(
        Engine.load(stage.project), model, AgentSettings(), screen, work_dir=str(stage.project), surfaces=people
    )
    _heading("The session begins: it is logged, and your AGENTS.md goes with the instructions")
    await conversation.begin()
    _show_runs(conversation, "pre-session")
    for heading, prompt in SCENES.items():
        _heading(heading)
        if "compacted" in heading:
            await conversation.compact()
            click.echo("".join(f"  {entry['summary']}\n" for entry in _entries(conversation, "compaction")), nl=False)
        click.secho(f"› {prompt}", bold=True)
        ended = await conversation.turn(prompt)
        while conversation.tasks.running or conversation.notifications:
            await conversation.tasks.wait()
            heard = "\n".join(conversation.notifications)
            conversation.notifications.clear()
            ended = await conversation.turn(heard, origin="notification") if heard else ended
        if ended.outcome != "success":
            screen.error(f"The turn {ended.outcome}: {str(ended.reason).partition(chr(10))[0]}")
            break
    _heading("The session ends, and that is logged too")
    await conversation.finish()
    _show_runs(conversation, "post-session")
    _heading("/hooks: what they were and what they did")
    for line in overview(conversation.engine, conversation.tally, conversation.places):
        screen.plain(line)
    return conversation


class Aftermath:
    """What really happened, from the session's file, the model's requests and the files that are left."""

    def __init__(self, stage: Stage, conversation: Conversation) -> None:
        self._stage = stage
        self._conversation = conversation
        self._requests = stage.requests

    def points(self) -> Iterator[tuple[str, bool]]:
        """Each thing that should have happened, and whether it has."""
        mine = [request for request in self._requests if request["who"] == "agent"]
        instructed = bool(mine) and all(AGENTS_MD in request["instructions"] for request in mine)
        yield "your AGENTS.md was in the instructions", instructed
        yield "a dangerous command was refused, and did not run", self._refused("block-dangerous-commands", "Shell")
        yield "the model found another way", any("test_stats.py" in text for text in self._results("Glob"))
        yield "an input was modified", self._modified("python3 -m unittest -q")
        yield "a hook answered an approval", self._approved("hook", "Shell")
        yield "a person answered an approval", self._approved("a person", "StrReplaceFile")
        yield "a file was formatted", self._formatted()
        yield "the agent was sent back until the tests passed", self._sent_back() and self._tests_pass()
        yield "a subagent reported", [entry["status"] for entry in self._of("task")] == ["started", "completed"]
        yield "it could not switch the hooks off", self._refused("protect-hooks", "WriteFile")
        yield "the context was compacted", bool(self._of("compaction")) and len(mine[-1]["messages"]) == 2
        yield "the session ended", len(self._of("end")) == 1
        yield "its begin and end were logged", self._logged()
        yield "every hook has its figures, and none failed", self._figures()
        yield "nothing is running any more", self._background_is_done()

    def _of(self, kind: str) -> list[dict[str, Any]]:
        return _entries(self._conversation, kind)

    def _sent_back(self) -> bool:
        """Once, in the turn in which the tests failed."""
        stops = [entry for entry in self._of("hooks") if entry["event"] == "pre-agent-turn-stop"]
        blocks = [run["hook"] for stop in stops for run in stop["runs"] if run["outcome"] == "blocked"]
        return blocks == ["enforce-tests"] and stops[-1]["decision"] != "deny"

    def _results(self, tool: str, *, failed: bool = False) -> list[str]:
        """What the model was told of its calls of a tool that went well, or did not."""
        told = [message for request in self._requests for message in request["messages"] if message["role"] == "tool"]
        return [each["content"] for each in told if each["tool"] == tool and each.get("failed", False) == failed]

    def _refused(self, hook: str, tool: str) -> bool:
        """Whether a hook has blocked a call, and the model was told its reason in the place of a result."""
        runs = [run for entry in self._of("hooks") if entry["event"] == "pre-tool-call" for run in entry["runs"]]
        reasons = [run["reason"] for run in runs if run["hook"] == hook and run["outcome"] == "blocked"]
        return bool(reasons) and all(reason in self._results(tool, failed=True) for reason in reasons)

    def _modified(self, command: str) -> bool:
        """Whether hooks have made this of a command, and it ran so."""
        made = [entry["modified_input"] for entry in self._of("hooks") if entry["modified_input"]]
        return made == [{"command": command}] and any("Ran 1 test" in text for text in self._results("Shell"))

    def _approved(self, by: str, tool: str) -> bool:
        answers = [entry for entry in self._of("permission") if entry["tool_name"] == tool]
        return bool(answers) and all((each["answered_by"], each["decision"]) == (by, "approved") for each in answers)

    def _formatted(self) -> bool:
        return "def median(numbers: list[float]) -> float:\n" in (self._stage.project / "stats.py").read_text()

    def _tests_pass(self) -> bool:
        command = [sys.executable, "-m", "unittest", "-q"]
        ended = subprocess.run(command, cwd=self._stage.project, capture_output=True, text=True, check=False)
        return ended.returncode == 0 and "Ran 2 tests" in ended.stderr

    def _logged(self) -> bool:
        """Whether each logger has written its one line about this session."""
        state = self._stage.home / ".local" / "state" / "tenterhook" / "hooks"
        logs = [state / name / "sessions.jsonl" for name in ("session-logger", "session-logger-end")]
        lines = [json.loads(log.read_text()) for log in logs if log.exists()]
        session = self._conversation.id
        return [(line["event"], line["session_id"]) for line in lines] == [("start", session), ("end", session)]

    def _figures(self) -> bool:
        counts = [self._conversation.tally.of(hook) for hook in self._conversation.engine.hooks]
        return all(count.runs and not count.failures for count in counts)

    def _background_is_done(self) -> bool:
        """Wait until the journal has the end of every asynchronous hook."""
        runs = [run for entry in self._of("hooks") for run in entry["runs"]]
        started = sum(run["outcome"] == "started" for run in runs)
        log = self._stage.home / ".local" / "state" / "tenterhook" / "async.jsonl"
        end = time.monotonic() + _A_WHILE
        while (log.read_text().count("\n") if log.exists() else 0) < started:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True


def _break(hook: Path) -> None:
    """Have a hook crash; a guard that Tenterhook runs itself becomes a script that does, and refuses nothing for it."""
    definition = hook / "HOOK.md"
    kept = [line for line in definition.read_text().splitlines() if not line.startswith(("  guard:", "  on_failure:"))]
    definition.write_text("\n".join(kept) + "\n")
    for entry in (hook / "scripts").glob("run*"):
        entry.unlink()
    _script(hook / "scripts" / "run", "#!/bin/sh\nexit 1\n")


def _script(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o755)


def _entries(conversation: Conversation, kind: str) -> list[dict[str, Any]]:
    """The lines of one type in the session's file."""
    return [entry for entry in session_files.read(conversation.id) if entry["type"] == kind]


def _show_runs(conversation: Conversation, event: str) -> None:
    """Which hooks ran at an event at which they have nothing to say to the person."""
    for entry in _entries(conversation, "hooks"):
        for run in entry["runs"] if entry["event"] == event else ():
            click.echo(f"  {run['hook']} ({event}): {run['outcome']}, {run['duration_ms']:.0f} ms")


def _heading(text: str) -> None:
    click.secho(f"\n── {text}", fg="blue", bold=True)


def _out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(broken: list[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="tenterhook-demo-") as temporary:
        stage = Stage(Path(temporary).resolve())
        stage.set_up(broken)
        aftermath = Aftermath(stage, asyncio.run(play(stage)))
        _heading("What happened")
        points = list(aftermath.points())
    for what, has in points:
        click.secho(f"{'✓' if has else '✗'} {what}", fg=None if has else "red")
    missing = sum(not has for _, has in points)
    click.echo("\neverything happened as it should" if not missing else f"\n{missing} of it did not happen")
    return 1 if missing else 0


if __name__ == "__main__":
    names = sorted(file.parent.name for place in (BUILT_IN, HERE) for file in place.glob("**/HOOK.md"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    crash = "have this hook crash"
    parser.add_argument(
        "--break", dest="broken", choices=names, action="append", default=[], metavar="HOOK", help=crash
    )
    sys.exit(main(parser.parse_args().broken))
