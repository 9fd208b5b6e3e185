"""What tests write hooks and fire events with."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook import Engine, Event, Verdict
from tenterhook.basics import places, processes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path


def write_config(path: Path, text: str) -> Path:
    """A TOML file with hooks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def array_hook(command: str, event: str = "PreToolUse", **keys: Any) -> str:
    """One `[[hooks]]` table."""
    lines = ["[[hooks]]", f"event = {json.dumps(event)}", f"command = {json.dumps(command)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def table_hook(command: str, event: str = "before_tool", **keys: Any) -> str:
    """One `[[hooks.<event>]]` table; `matcher` is a dict."""
    lines = [f"[[hooks.{event}]]", f"command = {json.dumps(command)}"]
    for key, value in keys.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{name} = {json.dumps(each)}" for name, each in value.items())
            lines.append(f"{key} = {{ {inner} }}")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    return "\n".join(lines) + "\n"


def folder_hook(
    hooks: Path, name: str, /, script: str = "", trigger: str = "pre-tool-call", *, file: str = "run.sh", **front: Any
) -> Path:
    """A hook folder below a hooks directory; front-matter values are written as JSON, which is YAML."""
    folder = hooks / name
    (folder / "scripts").mkdir(parents=True)
    fields = {"name": name, "description": "for a test", "trigger": trigger, **front}
    head = "\n".join(f"{key}: {json.dumps(value)}" for key, value in fields.items())
    (folder / "HOOK.md").write_text(f"---\n{head}\n---\n\n# {name}\n")
    entry = folder / "scripts" / file
    entry.write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
    entry.chmod(0o755)
    return folder


def user_hooks(home: Path) -> Path:
    return home / ".config" / "agents" / "hooks"


def project_hooks(project: Path) -> Path:
    return project / ".agents" / "hooks"


def shell_call(command: str = "ls", **fields: Any) -> Event:
    """A pre-tool-call of the Shell tool."""
    given = {"tool_name": "Shell", "tool_input": {"command": command}, **fields}
    return Event(given.pop("event", "pre-tool-call"), **given)


def decide(config: Path, event: Event | None = None, **load: Any) -> Verdict:
    """Put one event to the hooks of one file."""
    return Engine.load(configs=[config], **load).decide(event or shell_call())


def fire(project: Path, hooks: str, event: Event | None = None) -> Verdict:
    """Put one event to hooks that are written to a file of the project."""
    return decide(write_config(project / "hooks.toml", hooks), event)


# The agents that `.ci/run` drives. What takes long and is much the same in all of them is tried with the others by
# `make test-thorough`.
FEW = ("claude-code", "codex", "kimi-code")


def few_first(agents: Iterable[str], few: Sequence[str] = FEW) -> list[Any]:
    """Agents for `parametrize`: a few of them, and the others where there is time."""
    return [pytest.param(name, marks=() if name in few else pytest.mark.thorough) for name in agents]


def tenterhook(*arguments: str | os.PathLike[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the real command line."""
    options.setdefault("timeout", 60)
    return subprocess.run(
        [sys.executable, "-m", "tenterhook", *map(str, arguments)], capture_output=True, text=True, **options
    )


def trigger(*arguments: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """`tenterhook trigger … --json`, as the object it printed."""
    ended = tenterhook("trigger", *arguments, "--json", **options)
    verdict: dict[str, Any] = json.loads(ended.stdout)
    return verdict


def end_of_the_agent() -> None:
    """What was run by this process as by an agent is over: what follows is done by a person."""
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(os.path.join(places.marks(), str(processes.this())))


def forget_marks(below: Path) -> None:
    """Remove the marks of all agents that had their home below a directory: nothing in the product moves the marks."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in os.listdir(places.marks()):
            file = os.path.join(places.marks(), name)
            with suppress(FileNotFoundError, ValueError), open(file) as stream:
                found = json.loads(stream.read()) if "." in name else {}
                if str(found.get("home", "")).startswith(f"{below}/"):
                    os.unlink(file)


def unmark_this_process() -> None:
    """Undo what a process did that an earlier test left running: it took this one, or one above it, for its agent."""
    for process in processes.ancestors(os.getpid()):
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(os.path.join(places.marks(), str(process)))


_AGENT = """
import json, subprocess, sys
payload, line, commands = json.load(sys.stdin)
ended = [subprocess.run(line, shell=True, input=payload, capture_output=True, text=True)]
for command in commands:
    line_again = command == "EVENT"
    ended.append(subprocess.run(
        line if line_again else command, shell=True, input=payload if line_again else "", capture_output=True, text=True
    ))
print(json.dumps([[each.returncode, each.stdout, each.stderr] for each in ended]))
"""


def below_agent(
    line: str, *commands: str, start: tuple[str, ...] = (), **options: Any
) -> list[subprocess.CompletedProcess[str]]:
    """Run shell commands below a process that has sent a payload of Claude Code to an installed line.

    The command `EVENT` is another event of the agent. `start` is what the agent itself is started with.
    """
    event = {"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "cwd": os.getcwd()}
    asked = json.dumps([json.dumps(event), line, commands])
    told = subprocess.run(
        [*start, sys.executable, "-c", _AGENT], input=asked, stdout=subprocess.PIPE, text=True, check=True, **options
    )
    first, *others = (subprocess.CompletedProcess("", *each) for each in json.loads(told.stdout))
    assert first.returncode == 0, first.stderr
    return others


def change_launcher(home: Path, *changes: tuple[str, str]) -> None:
    """Have the launcher that `install` wrote say something else."""
    launcher = home / ".local/state/tenterhook/launcher.sh"
    text = launcher.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    launcher.write_text(text)


def lose_tenterhook(home: Path, python: str = "/gone/bin/python") -> None:
    """Have the launcher name an interpreter that is no Tenterhook, and no other one."""
    launcher = home / ".local/state/tenterhook/launcher.sh"
    text = re.sub(r"(?m)^python=.*", f"python={python}", launcher.read_text())
    launcher.write_text(re.sub(r"(?ms)^for other in .*?; do$", 'for other in "$python"; do', text))


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait for something that happens in another process; fail if it does not."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
    return value


def takes_less_than(seconds: float, act: Callable[[], object]) -> bool:
    """Say whether an act takes less than so many seconds of CPU time, three times which are granted on a shared core.

    The least of five tries counts. What these tests look for, work that grows faster than its input, takes far longer.
    """
    for _ in range(5):
        start = time.process_time()
        act()
        if time.process_time() - start < 3 * seconds:
            return True
    return False


def free_port() -> str:
    """A port of this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


HAS_PROC = os.path.exists("/proc/self/stat")  # tests/portable.py takes it away
needs_proc = pytest.mark.skipif(not HAS_PROC, reason="it is looked up in /proc")


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    if not HAS_PROC:
        asked = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        return asked.stdout.strip()[:1] not in ("", "Z")
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def console_steps(text: str) -> list[tuple[str, str]]:
    """Each command of a console example with the output it shows; `> ` goes on with a command."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", "")
        else:
            found[-1] = (found[-1][0], f"{found[-1][1]}{line}\n")
    return found


def on_a_terminal(arguments: list[str], answers: dict[bytes, bytes]) -> tuple[int, bytes]:
    """Run the command line on a terminal, give each question its answer; exit status and all that was seen."""
    main, other = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "tenterhook", *arguments], stdin=other, stdout=other, stderr=other, close_fds=True
    )
    os.close(other)
    seen = b""
    try:
        deadline = time.monotonic() + 60
        for question, answer in answers.items():
            while question not in seen:
                assert time.monotonic() < deadline, seen
                if select.select([main], [], [], 1)[0]:
                    seen += os.read(main, 65536)
            os.write(main, answer)
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            seen += piece
        return running.wait(60), seen
    finally:
        running.kill()
        running.wait()
        os.close(main)
