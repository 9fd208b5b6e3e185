"""What the tests of the agent play sessions with: a scripted model, hooks that keep what they are sent, a person.

A hook is named as `"array PreToolUse"`: its format, and the event by a name of that format. Of a model's answers, a
text is what it says, a list is the calls it makes, a dict is an answer as the script has it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import pexpect
import yaml

from support import array_hook, close_terminal, folder_hook, table_hook, until, user_hooks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Answer: TypeAlias = str | list[dict[str, Any]] | dict[str, Any]

# Root reads and writes everything; without this capability it is as everybody else.
AS_ANYBODY = """
import ctypes, os, sys
for capability in (1, 2):  # to write, and to read, whatever the modes say
    ctypes.CDLL(None).prctl(24, capability)
os.execv(sys.argv[1], sys.argv[1:])
"""
SECONDS = 60  # the longest a session may take
_NOT_OURS = ("TENTERHOOK_", "KIMI_", "XDG_")
ASKED = r"y\b.*\bs\b.*\bn\b.*\bf\b"  # the question's keys, once it is open


# ------------------------------------------------------------------ what the model says

OVERLOADED: dict[str, Any] = {"error": {"status": 503, "message": "overloaded"}}


def tool(name: str, /, **given: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"tool": name, "input": given}


def shell(command: str) -> dict[str, Any]:
    return tool("Shell", command=command)


def task(name: str, prompt: str = "look at it", *, background: bool = False) -> dict[str, Any]:
    """A call that starts a subagent."""
    return tool("Task", name=name, description=f"{name} looks", prompt=prompt, background=background)


def answers(given: Iterable[Answer]) -> list[dict[str, Any]]:
    """Answers as the script has them."""
    written: list[dict[str, Any]] = []
    for each in given:
        if isinstance(each, str):
            written.append({"text": each})
        else:
            written.append({"calls": each} if isinstance(each, list) else each)
    return written


# ------------------------------------------------------------------ what hooks do


def block(reason: str) -> str:
    """The script of a hook that blocks."""
    return f"printf '%s' {shlex.quote(reason)} >&2; exit 2"


def answer(**said: Any) -> str:
    """The script of a hook that prints an object."""
    return f"printf '%s\\n' {shlex.quote(json.dumps(said))}"


def permission(decision: str, **more: Any) -> str:
    """The script of a hook that answers a question."""
    return answer(hookSpecificOutput={"permissionDecision": decision, **more})


def when(text: str, script: str) -> str:
    """The script of a hook that does something only if what it was sent holds a text."""
    return f"case $sent in *{shlex.quote(text)}*) {script};; esac"


class Heard(NamedTuple):
    """What one hook was sent, one object for each time it ran."""

    file: Path

    @property
    def all(self) -> list[dict[str, Any]]:
        """So far; what it is just writing does not count."""
        text = self.file.read_text() if self.file.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def times(self, number: int) -> list[dict[str, Any]]:
        """Wait until it has run so often; nobody else waits for hooks in the background."""
        until(lambda: len(self.all) >= number)
        return self.all

    @property
    def once(self) -> dict[str, Any]:
        """Wait for it, and hold it to having run once."""
        (sent,) = self.times(1)
        return sent


# ------------------------------------------------------------------ what came of it


class Request(NamedTuple):
    """One request as the model got it."""

    who: str
    instructions: str
    messages: list[dict[str, Any]]

    @property
    def contents(self) -> list[str]:
        return [message["content"] for message in self.messages]

    @property
    def users(self) -> list[str]:
        """What it was told as by the user."""
        return [message["content"] for message in self.messages if message["role"] == "user"]

    @property
    def results(self) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["role"] == "tool"]

    @property
    def failed(self) -> list[str]:
        """The results of the calls that failed."""
        return [message["content"] for message in self.results if message.get("failed")]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join([self.instructions, *self.contents])


@dataclass
class Session:
    """A session that was played, or is being played."""

    home: Path
    log: Path

    @property
    def requests(self) -> list[Request]:
        """Every request any model got, in order."""
        text = self.log.read_text() if self.log.exists() else ""
        read = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return [Request(each["who"], each["instructions"], each["messages"]) for each in read]

    def by(self, who: str = "agent") -> list[Request]:
        return [request for request in self.requests if request.who == who]

    @property
    def last(self) -> Request:
        """The last request of the agent itself: everything the model knows."""
        return self.by()[-1]

    @property
    def file(self) -> Path:
        """Where the session is kept; the newest, if there are several."""
        kept = (self.home / ".local/state/tenterhook/agent").glob("*.jsonl")
        return max(kept, key=lambda path: path.stat().st_mtime_ns)

    def kept(self, kind: str) -> list[dict[str, Any]]:
        """The lines of one type that were kept of it; the agent may be writing another one."""
        lines = [json.loads(line) for line in self.file.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in lines if line["type"] == kind]

    def verdicts(self, event: str) -> list[dict[str, Any]]:
        """What was kept of the hooks of an event, by its canonical name."""
        return [line for line in self.kept("hooks") if line["event"] == event]


@dataclass
class Ended(Session):
    """A session of one turn that is over."""

    status: int
    report: dict[str, Any]
    shown: str  # what a person saw beside the answer

    @property
    def id(self) -> str:
        return str(self.report["session_id"])

    @property
    def answer(self) -> str:
        return str(self.report["answer"])


@dataclass
class Running(Session):
    """A session of one turn in its process."""

    process: subprocess.Popen[str]

    def end(self, exits: int | None = 0) -> Ended:
        """Wait for its end, and hold it to its exit status, if one is given."""
        stdout, stderr = self.process.communicate(timeout=SECONDS)
        assert exits in (None, self.process.returncode), f"exit status {self.process.returncode}\n{stdout}\n{stderr}"
        return Ended(self.home, self.log, self.process.returncode, json.loads(stdout), stderr)


@dataclass
class Terminal(Session):
    """A session with a person at a terminal."""

    child: pexpect.spawn[str]
    screen: StringIO  # everything that was written

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        close_terminal(self.child)

    def say(self, text: str) -> None:
        """Type a line."""
        self.child.send(text + "\r")

    def sees(self, expression: str, seconds: float = 60) -> str:
        """Wait until it is on the screen; return what was written up to then, and it."""
        self.child.expect(expression, timeout=seconds)
        return _plain(f"{self.child.before}{self.child.after}")

    def is_asked(self, seconds: float = 60) -> str:
        """Wait for a question to be open; return what was written up to then."""
        return self.sees(ASKED, seconds)

    def leave(self) -> str:
        """End the session as a person does; return all that was written in it."""
        self.child.sendeof()
        self.child.expect(pexpect.EOF, timeout=60)
        self.child.wait()
        return _plain(self.screen.getvalue())


_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[=>()][0-9A-Z]?")


def _plain(text: str) -> str:
    """What was written without what moves the cursor and sets colours."""
    return _SEQUENCE.sub("", text)


# ------------------------------------------------------------------ the stage


@dataclass
class Play:
    """A home, a project, the hooks in force there, and the sessions played in it."""

    root: Path
    home: Path
    project: Path
    hooks: int = 0
    sessions: int = 0
    settings: dict[str, Any] = field(default_factory=dict)  # [agent]
    journal: dict[str, Any] = field(default_factory=dict)  # [journal]
    rules: list[dict[str, Any]] = field(default_factory=list)  # [[approvals.rules]]
    env: dict[str, str] = field(default_factory=dict)
    program: tuple[str, ...] = (sys.executable, "-m", "tenterhook")

    def hook(self, declared: str, script: str = "", **keys: Any) -> Heard:
        """A hook that keeps what it is sent and then runs a script, in which that is `$sent`."""
        family, event = declared.split()
        self.hooks += 1
        heard = Heard(self.root / "heard" / f"{self.hooks:02}-{family}-{event}.jsonl")
        heard.file.parent.mkdir(exist_ok=True)
        script = f'sent=$(cat); printf "%s\\n" "$sent" >> {shlex.quote(str(heard.file))}\n{script}'
        if family == "folder":
            folder_hook(user_hooks(self.home), f"h{self.hooks:02}-{event}", script, event, **keys)
        else:
            write = table_hook if family == "table" else array_hook
            with (self.root / f"{family}.toml").open("a") as file:
                file.write(write(script, event, **keys))
        return heard

    def start(
        self, *said: Answer, prompt: str = "go", mode: str = "yolo", options: Sequence[str] = (), **more: Any
    ) -> Running:
        """Begin a session of one turn in which the model says this; `more` is the rest of the script."""
        arguments, log = self._arguments(said, mode, options, more)
        process = subprocess.Popen(
            [*arguments, "--json", prompt],
            cwd=self.project,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        return Running(self.home, log, process)

    def run(self, *said: Answer, exits: int | None = 0, **how: Any) -> Ended:
        """Play a session of one turn to its end."""
        running = self.start(*said, **how)
        try:
            return running.end(exits)
        finally:
            running.process.kill()  # has ended, unless the test failed

    def terminal(self, *said: Answer, mode: str = "ask", options: Sequence[str] = (), **more: Any) -> Terminal:
        """Begin a session with a person, who has not typed anything yet."""
        arguments, log = self._arguments(said, mode, options, more)
        environment = {name: value for name, value in self._environment().items() if name != "COLUMNS"}  # pytest's
        child: pexpect.spawn[str] = pexpect.spawn(
            arguments[0],
            arguments[1:],
            cwd=str(self.project),
            env={**environment, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},  # nobody tells it the cursor
            encoding="utf-8",
            codec_errors="replace",
            dimensions=(50, 160),
            timeout=60,
            use_poll=True,
        )
        child.delaybeforesend = None
        child.logfile_read = StringIO()
        return Terminal(self.home, log, child, child.logfile_read)

    def _arguments(
        self, said: Sequence[Answer], mode: str, options: Sequence[str], more: dict[str, Any]
    ) -> tuple[list[str], Path]:
        self.sessions += 1
        self._write_settings()
        script = self.root / f"script{self.sessions}.yaml"
        log = self.root / f"requests{self.sessions}.jsonl"
        tasks = {name: answers(each) for name, each in more.pop("tasks", {}).items()}
        summaries = answers(more.pop("summaries", ()))
        assert not more, f"no part of a script: {', '.join(more)}"
        parts = {"answers": answers(said), "tasks": tasks, "summaries": summaries, "log": log.name}
        script.write_text(yaml.safe_dump(parts))
        configs = [self.root / f"{family}.toml" for family in ("table", "array")]
        named = [part for config in configs if config.exists() for part in ("--config", str(config))]
        command = [*self.program, "agent", "--model", f"scripted:{script}", "--mode", mode]
        return [*command, *named, *options], log

    def _environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_OURS)}
        return {**kept, "HOME": str(self.home), **self.env}

    def _write_settings(self) -> None:
        lines: list[str] = []
        for name, table in (("agent", self.settings), ("journal", self.journal)):
            lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
        for rule in self.rules:
            lines += ["[[approvals.rules]]", *(f"{key} = {json.dumps(value)}" for key, value in rule.items())]
        file = self.home / ".config/tenterhook/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")

    def ran(self, name: str) -> bool:
        """Whether a tool has left a file of this name in the project."""
        return (self.project / name).exists()
