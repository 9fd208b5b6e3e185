"""A secret that a tool prints is in no request to the model: every agent, every channel where that is claimed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from hooks.lines import added
from hosts import agents, mcp_server
from hosts.mcp import tool_call, with_server
from hosts.real import shown, told
from tenterhook.agents import AGENTS
from tenterhook.basics.model_script import ScriptedCall

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]

STDOUT, STDERR, FILE, SEARCH, MCP, ERROR = CHANNELS = ("stdout", "stderr", "file", "search", "mcp", "error")
# Droid replaces passwords by asterisks itself: the canary is a secret that only the person knows to be one.
SECRET, EXPRESSION, MARK = "orchid-4711-lantern", r"orchid-\d+-lantern", "[redacted: own expression]"

# What an agent's own tools are called, and the keys of their arguments. Others read and search with their shell;
# opencode too, which would download the program that its own search needs.
READ = {
    "claude-code": ("Read", "file_path"),
    "gemini": ("read_file", "file_path"),
    "qwen": ("read_file", "file_path"),
    "copilot": ("view", "path"),
    "droid": ("Read", "file_path"),
    "kimi-cli": ("ReadFile", "path"),
    "kimi-code": ("Read", "path"),
    "opencode": ("read", "filePath"),
    "pi": ("read", "path"),
    "hermes": ("read_file", "path"),
    "vibe": ("read_file", "path"),
    "openhands": ("file_editor", "path"),
    "cline": ("read_files", "files"),
}
READ_MORE = {"openhands": {"command": "view", "security_risk": "LOW"}}
GREP: dict[str, tuple[str, dict[str, Any]]] = {
    "gemini": ("grep_search", {}),
    "qwen": ("grep_search", {}),
    "copilot": ("grep", {"output_mode": "content"}),
    "droid": ("Grep", {"output_mode": "content"}),
    "hermes": ("search_files", {}),
}


# Where an agent differs from what its module says of outputs and errors in general.
OTHERWISE = {("copilot", ERROR): True}  # a command that fails is a result to it


def claimed(name: str, channel: str) -> bool:
    """Whether the secret is kept from the model."""
    agent = AGENTS[name]
    is_failure = channel == ERROR and "post-tool-call-failure" in agent.events.values()
    claim = agent.capabilities.replaces_error if is_failure else agent.capabilities.replaces_output
    return OTHERWISE.get((name, channel), claim)


def missing(name: str, channel: str) -> str | None:
    """Why an agent has no such channel, or None."""
    if channel == FILE and name not in READ:
        return f"{name} reads files with its shell"
    return None


def call(guarded: Guarded, channel: str, file: Path) -> ScriptedCall:
    """A call whose result has the content of the file, and whose input has not."""
    name = guarded.live.name
    if channel == FILE:
        tool, key = READ[name]
        return ScriptedCall(
            tool, {key: [{"path": str(file)}] if key == "files" else str(file), **READ_MORE.get(name, {})}
        )
    if channel == SEARCH and name == "cline":
        return ScriptedCall("search_codebase", {"queries": ["name"]})
    if channel == SEARCH and name in GREP:
        tool, more = GREP[name]
        return ScriptedCall(tool, {"pattern": "name", "path": str(file.parent), **more})
    if channel == MCP:
        return tool_call(guarded.live, "read")
    line = {STDERR: f"cat {file} >&2", SEARCH: f"grep -rn name: {file.parent}"}.get(channel, f"cat {file}")
    # some lose what ends at once, and OpenHands its shell if the command ends it
    return guarded.shell(f"({line}; sleep 0.2; exit {3 if channel == ERROR else 0})")


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize("name", agents.PACKAGES)
def test_a_planted_secret_is_in_no_request_where_that_is_claimed(name: str, channel: str, guarded: Guarded) -> None:
    if why := missing(name, channel):
        pytest.skip(why)
    for hook in ("redact-secrets", "redact-secrets-in-errors"):
        definition = added(guarded.home, hook) / "HOOK.md"
        own = f"metadata:\n  expressions: ['{EXPRESSION}']\n"
        definition.write_text(definition.read_text().replace("metadata:\n", own))
    file = guarded.project / "notes.txt"
    file.write_text(f"The canary sings.\nIts name: {SECRET}\n")
    if channel == MCP:
        guarded = guarded._replace(live=with_server(guarded.live, file))
    guarded.install()
    came = guarded.calls(call(guarded, channel, file))
    assert told(came, "Its name: "), f"the tool was not run\n{shown(came)}"
    kept = not told(came, SECRET)
    assert kept == claimed(name, channel), shown(came)
    if kept:
        assert told(came, MARK), shown(came)


def test_the_server_answers(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("content")
    result = mcp_server.answer("tools/call", {"name": "read"}, str(file))
    assert json.dumps(result) == '{"content": [{"type": "text", "text": "content"}], "isError": false}'
    assert mcp_server.answer("tools/unknown", {}, str(file)) is None
