"""Helpers with which tests write hooks, fire events and run commands."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import socket
import subprocess
import sys
import tarfile
import textwrap
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook import Engine, Event, Verdict
from tenterhook.basics import places, processes
from tenterhook.hub_client import membership, uploader_start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pexpect


def write_config(path: Path, text: str) -> Path:
    """Write a TOML file with hooks, and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def array_hook(command: str, event: str = "PreToolUse", **keys: Any) -> str:
    """Return a `[[hooks]]` table."""
    lines = ["[[hooks]]", f"event = {json.dumps(event)}", f"command = {json.dumps(command)}"]
    lines += [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


def table_hook(command: str, event: str = "before_tool", **keys: Any) -> str:
    """Return a `[[hooks.<event>]]` table; `matcher` is a dict."""
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
    """Write a hook folder to a hooks directory, and return it; front-matter values are JSON, which is valid YAML."""
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
    """Return a pre-tool-call of the Shell tool."""
    given = {"tool_name": "Shell", "tool_input": {"command": command}, **fields}
    return Event(given.pop("event", "pre-tool-call"), **given)


def decide(config: Path, event: Event | None = None, **load: Any) -> Verdict:
    """Return the verdict of a file's hooks on an event."""
    return Engine.load(configs=[config], **load).decide(event or shell_call())


def fire(project: Path, hooks: str, event: Event | None = None) -> Verdict:
    """Write hooks to a file of the project, and return their verdict on an event."""
    return decide(write_config(project / "hooks.toml", hooks), event)


# The agents that `.ci/run` tests. Slow tests that hardly differ between agents run with the others in `make
# test-thorough`.
FEW = ("claude-code", "codex", "kimi-code")


def few_first(agents: Iterable[str], few: Sequence[str] = FEW) -> list[Any]:
    """Return agents for `parametrize`; all but a few are marked as `thorough`."""
    return [pytest.param(name, marks=() if name in few else pytest.mark.thorough) for name in agents]


# Arguments of `TarFile.extractall` for archives of ours; Python before 3.11.4 knows no filters.
UNPACKED: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def tenterhook(*arguments: str | os.PathLike[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the real command line, and return the ended process."""
    options.setdefault("timeout", 60)
    return subprocess.run(
        [sys.executable, "-m", "tenterhook", *map(str, arguments)], capture_output=True, text=True, **options
    )


def trigger(*arguments: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Run `tenterhook trigger … --json`, and return the object that it printed."""
    ended = tenterhook("trigger", *arguments, "--json", **options)
    verdict: dict[str, Any] = json.loads(ended.stdout)
    return verdict


def end_of_the_agent() -> None:
    """Remove this process's mark as an agent, so that what follows counts as done by the user."""
    with suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(os.path.join(places.marks(), str(processes.this())))


def forget_marks(below: Path) -> None:
    """Remove the marks of all agents with a home below a directory, since no variable can move the marks."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in os.listdir(places.marks()):
            file = os.path.join(places.marks(), name)
            with suppress(FileNotFoundError, ValueError), open(file) as stream:
                found = json.loads(stream.read()) if "." in name else {}
                if str(found.get("home", "")).startswith(f"{below}/"):
                    os.unlink(file)


def unmark_this_process() -> None:
    """Remove marks of this process and its ancestors, which a process left running by an earlier test may have made."""
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

    The command `EVENT` is another event of the agent. `start` is a command that starts the agent itself.
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
    """Replace texts in the launcher that `install` wrote."""
    launcher = home / ".local/state/tenterhook/launcher.sh"
    text = launcher.read_text()
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    launcher.write_text(text)


def lose_tenterhook(home: Path, python: str = "/gone/bin/python") -> None:
    """Make the launcher name only an interpreter that does not have Tenterhook."""
    launcher = home / ".local/state/tenterhook/launcher.sh"
    text = re.sub(r"(?m)^python=.*", f"python={python}", launcher.read_text())
    launcher.write_text(re.sub(r"(?ms)^for other in .*?; do$", 'for other in "$python"; do', text))


def until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """Wait until a condition is true, and return its value; fail after `seconds`."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
    return value


def leave_hub() -> None:
    """Leave the hub that was joined, and wait until no process uploads records to it."""
    membership.delete()
    until(is_without_uploader)


def is_asleep(pid: int | None) -> bool:
    """Whether a process waits, for example for a terminal's next line."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"


def is_without_uploader() -> bool:
    with uploader_start.uploader_lock() as is_free:
        return is_free


def takes_less_than(seconds: float, act: Callable[[], object]) -> bool:
    """Whether a function takes less than this CPU time, with a factor of three for a shared core.

    The fastest of five runs counts. Work that grows faster than its input, which such tests detect, takes far longer.
    """
    for _ in range(5):
        start = time.process_time()
        act()
        if time.process_time() - start < 3 * seconds:
            return True
    return False


def free_port() -> str:
    """Return a port of this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


HAS_PROC = os.path.exists("/proc/self/stat")  # tests/portable.py hides it
needs_proc = pytest.mark.skipif(not HAS_PROC, reason="it is looked up in /proc")


def alive(pid: int) -> bool:
    """Whether a process is running; a zombie is not."""
    if not HAS_PROC:
        asked = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
        return asked.stdout.strip()[:1] not in ("", "Z")
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False


def console_steps(text: str) -> list[tuple[str, str]]:
    """Return each command of a console example with the output shown; `> ` continues a command."""
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
    """Run the command line on a terminal and answer its questions; return the exit status and everything it printed."""
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


def close_terminal(child: pexpect.spawn[Any]) -> None:
    """Close the terminal of a program, and end the program if it goes on."""
    from pexpect import ExceptionPexpect

    try:
        child.close(force=True)
    except ExceptionPexpect:  # it was killed, and takes its time on a busy machine
        child.wait()
