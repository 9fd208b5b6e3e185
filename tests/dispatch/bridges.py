"""Agents that are installed, and their line or the bridge run as they run it, alone and with a daemon."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hosts.observed import DOES
from support import end_of_the_agent, tenterhook
from tenterhook import bridge, cli
from tenterhook.agents import AGENTS
from tenterhook.install import entries

if TYPE_CHECKING:
    from collections.abc import Iterator


HANG = 30  # seconds: an answer that takes this long is none
BRIDGE = bridge.__file__
BEFORE_TOOL = {**dict.fromkeys(AGENTS, "PreToolUse"), "gemini": "BeforeTool", "copilot": "preToolUse"}
BEFORE_TOOL |= {"vibe": "pre_tool", "openhands": "pre_tool_use"}
BEFORE_TOOL |= {"pi": "tool_call"}
BEFORE_TOOL |= {"cursor": "preToolUse"}
STOP = {**dict.fromkeys(AGENTS, "Stop"), "gemini": "AfterAgent", "copilot": "agentStop"}
STOP |= {"vibe": "post_agent", "openhands": "stop"}
STOP |= {"pi": "agent_before_settle"}
STOP |= {"cursor": "stop"}
SHELL = {**dict.fromkeys(AGENTS, "Bash"), "kimi-cli": "Shell", "copilot": "bash", "droid": "Execute"}
SHELL |= {"pi": "bash"}
SHELL |= {"cursor": "Shell", "goose": "shell"}
SHELL |= dict.fromkeys(("gemini", "qwen"), "run_shell_command")
SHELL |= {"vibe": "file_system.bash", "openhands": "terminal"}
BEFORE_TOOL["hermes"], STOP["hermes"], SHELL["hermes"] = "pre_tool_call", "pre_verify", "terminal"
SHELL |= {"cline": "run_commands"}
BEFORE_TOOL |= {"opencode": "tool.execute.before"}
STOP |= {"opencode": "session.idle"}
SHELL |= {"opencode": "bash"}


ASKS = """echo '{"decision": "ask", "reason": "look at it"}'"""
GUARD = 'if grep -q forbidden; then echo "not this" >&2; exit 2; fi'

each_host = pytest.mark.parametrize("host", AGENTS)
needs_perl = pytest.mark.skipif(not os.access("/usr/bin/perl", os.X_OK), reason="there is no Perl")
PYTHON = (sys.executable, "-I", "-S", BRIDGE)
PERL = ("/usr/bin/perl", "-C0", "-f", BRIDGE.removesuffix(".py") + ".pl", *PYTHON)
program: list[tuple[str, ...]] = [PYTHON]  # that `ask` runs


SERVE = """
import signal
from tenterhook.dispatch import daemon_server

class Counting(daemon_server.Server):
    def _answer(self, *given):
        answer = super()._answer(*given)
        if answer is not None:
            with open(self.path + ".answered", "a") as file:
                file.write("x")
        return answer

Counting().start()
print("on", flush=True)
signal.pause()
"""


@contextmanager
def serving(**options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that answers events, of this HOME."""
    if sys.platform != "linux":
        pytest.skip("the daemon needs Linux")
    with subprocess.Popen([sys.executable, "-c", SERVE], stdout=subprocess.PIPE, text=True, **options) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == "on\n"
            yield server
        finally:
            server.send_signal(signal.SIGCONT)
            server.kill()


def answered(home: Path) -> int:
    """How many events the daemon has answered; a bridge that waits for it in vain goes on alone."""
    told = home / ".local" / "state" / "tenterhook" / "daemon.sock.answered"
    return told.stat().st_size if told.exists() else 0


def payload(host: str, cwd: Path, command: str = "ls", **more: Any) -> dict[str, Any]:
    """A call of the agent's shell tool, in the agent's words."""
    if host == "copilot":
        said: dict[str, Any] = {
            "sessionId": "s-1",
            "cwd": str(cwd),
            "toolName": "bash",
            "toolArgs": {"command": command},
        }
    elif host == "cline":
        said = {"taskId": "t-1", "sessionContext": {"rootSessionId": "s-1"}, "workspaceRoots": [str(cwd)]}
        said["tool_call"] = {"id": "call_1", "name": SHELL[host], "input": {"commands": [command]}}
    else:
        said = {"hook_event_name": BEFORE_TOOL[host], "session_id": "s-1", "cwd": str(cwd)}
        said |= {"tool_name": SHELL[host], "tool_input": {"command": command}}
    if host == "cursor":
        said["conversation_id"] = said.pop("session_id")
    if host in ("openhands", "goose"):
        said["working_dir"] = said.pop("cwd")
    return {**said, **more}


def install(*names: str, config: Path | None = None, closed: bool = False) -> None:
    options = [*(["--config", str(config)] if config else []), *(["--closed"] if closed else [])]
    assert cli.run(["install", *names, *options]) == 0


def record(host: str) -> Path:
    return Path(os.environ["HOME"], ".local", "state", "tenterhook", "installed", f"{host}.json")


def line(host: str, native: str) -> str:
    """The command that `install` wrote for an event."""
    found = entries.found(AGENTS[host], Path(AGENTS[host].settings()).read_bytes())
    return entries.command_of(found[native][0])


def call(command: str, said: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a line as an agent would."""
    options.setdefault("timeout", HANG)
    given_ = said if isinstance(said, str) else json.dumps(said)
    return subprocess.run(["sh", "-c", command], input=given_, capture_output=True, text=True, **options)


def does(host: str, native: str, ended: subprocess.CompletedProcess[str]) -> Any:
    return DOES[host](native, ended.stdout, ended.stderr, ended.returncode)


def nothing(host: str) -> str:
    """What the agent reads before a tool call if there is nothing to say."""
    return AGENTS[host].no_decision.get(BEFORE_TOOL[host], "")


def reason(host: str, said: dict[str, Any], native: str | None = None, **options: Any) -> str | None:
    """Why the agent would not go on after an event, through the installed line."""
    native = native or BEFORE_TOOL[host]
    block: str | None = does(host, native, call(line(host, native), said, **options)).block
    return block


def bridged(host: str, native: str, said: bytes) -> subprocess.CompletedProcess[bytes]:
    """Run the bridge itself, as the line does."""
    arguments = ["--host", host, "--event", native, "--record", str(record(host))]
    command = [sys.executable, "-I", "-S", BRIDGE, *arguments]
    return subprocess.run(command, input=said, capture_output=True, timeout=HANG)


def socket_of(home: Path) -> Path:
    return home / ".local" / "state" / "tenterhook" / "daemon.sock"


def ask(
    host: str, said: dict[str, Any], event: str | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the bridge, in Python or in Perl, on an event with these variables besides our own."""
    record = Path(os.environ["HOME"]) / ".local" / "state" / "tenterhook" / "installed" / f"{host}.json"
    arguments = ["--host", host, "--event", event or BEFORE_TOOL[host], "--record", str(record)]
    return subprocess.run(
        [*program[0], *arguments],
        input=json.dumps(said).encode(),
        capture_output=True,
        timeout=HANG,
        env={**os.environ, **variables},
    )


def named(reason: str | None) -> str:
    """The id at the end of a refusal."""
    found = re.search(r"tenterhook allow (\w{8})$", reason or "")
    assert found is not None, reason
    return found[1]


def allow(name: str) -> None:
    end_of_the_agent()
    ended = tenterhook("allow", name, "--yes")
    assert (ended.returncode, ended.stderr) == (0, "")
