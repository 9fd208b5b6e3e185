"""What hooks in agents' own settings are sent: the agent's words, and what it sent itself comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from formats.agent_settings import command, group, sent, write
from support import decide, shell_call, until
from tenterhook import Engine, Event
from tenterhook.agents import dialect
from tenterhook.errors import UnknownEvent
from tenterhook.events import AGENT_FORMATS
from tenterhook.formats import agent_payloads
from tenterhook.model import Hook

CAPTURES = sorted((Path(__file__).parent / "data" / "captures").rglob("*.json"))


def test_a_claude_hook_is_sent_claudes_words(project: Path) -> None:
    event = shell_call("ls", session_id="s", tool_use_id="t", transcript_path="/t.jsonl")
    assert sent(project, "claude", "PreToolUse", event) == {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": str(project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_use_id": "t",
    }


@pytest.mark.parametrize(
    ("agent", "response"),
    [
        ("claude", {"stdout": "out", "stderr": "", "interrupted": False, "isImage": False}),
        ("codex", "out"),
        ("gemini", {"llmContent": "out", "returnDisplay": "out"}),
        ("qwen", {"llmContent": "out", "returnDisplay": "out"}),
    ],
)
def test_a_result_has_the_agents_shape(project: Path, agent: str, response: Any) -> None:
    declared = "AfterTool" if agent == "gemini" else "PostToolUse"
    for output in ("out", {"stdout": "out", "stderr": "", "interrupted": False, "isImage": False}):
        got = sent(project, agent, declared, shell_call(event="post-tool-call", tool_output=output))
        assert got["tool_response"] == response
        assert got["tool_name"] == ("Bash" if agent in ("claude", "codex") else "run_shell_command")


@pytest.mark.parametrize("agent", AGENT_FORMATS)
def test_a_prompt_is_one_string(project: Path, agent: str) -> None:
    declared = "BeforeAgent" if agent == "gemini" else "UserPromptSubmit"
    got = sent(project, agent, declared, Event("pre-agent-turn", prompt=[{"type": "text", "text": "do it"}]))
    assert (got["prompt"], got["hook_event_name"]) == ("do it", declared)
    assert ("timestamp" in got) is (agent in ("gemini", "qwen"))


@pytest.mark.parametrize("agent", AGENT_FORMATS)
def test_a_stop_says_whether_it_was_stopped_before(project: Path, agent: str) -> None:
    declared, name = ("AfterAgent", "prompt_response") if agent == "gemini" else ("Stop", "last_assistant_message")
    event = Event("pre-agent-turn-stop", final_message={"role": "assistant", "content": "Done."}, step_count=3)
    got = sent(project, agent, declared, event)
    assert (got["stop_hook_active"], got[name]) == (False, "Done.")
    assert "step_count" not in got


def test_a_subagents_name_is_its_type(project: Path) -> None:
    got = sent(project, "claude", "SubagentStop", Event("post-subagent", subagent_name="coder", response="ok"))
    assert (got["agent_type"], got["last_assistant_message"], got["stop_hook_active"]) == ("coder", "ok", False)


def test_an_event_of_the_same_agent_is_sent_as_it_came_but_for_the_input(project: Path) -> None:
    native = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "a"}, "new": [1]}
    context = {"agent": {"name": "claude", "payload": native}}
    event = Event("pre-tool-call", tool_name="Bash", tool_input={"command": "b"}, context=context)
    assert sent(project, "claude", "PreToolUse", event) == {**native, "tool_input": {"command": "b"}}
    assert "new" not in sent(project, "qwen", "PreToolUse", event)


def test_what_only_the_agent_knows_is_added_where_no_more_was_kept(project: Path) -> None:
    context = {"agent": {"name": "claude", "payload": {"effort": None, "tool_use_id": "t"}}}
    got = sent(project, "claude", "PreToolUse", shell_call("b", context=context))
    assert (got["effort"], got["tool_use_id"], got["tool_name"], got["tool_input"]) == (
        None,
        "t",
        "Bash",
        {"command": "b"},
    )


@pytest.mark.parametrize("file", CAPTURES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_an_agent_sent_comes_back_as_it_was(file: Path) -> None:
    payload = json.loads(file.read_text())
    agent = file.parent.name
    event = agent_payloads.read(dialect(agent), payload)
    assert agent_payloads.write(dialect(agent), payload["hook_event_name"], event) == payload


@pytest.mark.parametrize(
    ("agent", "event", "name"),
    [("claude", "PreToolUse", "mcp__echo__say"), ("gemini", "BeforeTool", "mcp_echo_say")],
)
def test_another_agents_mcp_tool_is_called_as_the_hooks_own_agent_calls_it(
    project: Path, agent: str, event: str, name: str
) -> None:
    call = Event("pre-tool-call", tool_name="echo___say", tool_input={}, mcp_names=["mcp:echo/say"])
    got = sent(project, agent, event, call)
    assert got["tool_name"] == name
    assert "mcp_names" not in got


def test_an_event_nobody_knows_is_no_event() -> None:
    for payload in ({"hook_event_name": "PostToolBatch"}, {"hook_event_name": ["x"]}, {}):
        with pytest.raises(UnknownEvent):
            agent_payloads.read(dialect("claude"), payload)


def test_hooks_find_the_agents_variables(project: Path) -> None:
    show = 'printf "%s %s %s" "$CLAUDE_PROJECT_DIR" "$GEMINI_PROJECT_DIR" "$OWN"'
    for agent, event, known in (("claude", "PreToolUse", 1), ("gemini", "BeforeTool", 2)):
        verdict = decide(write(project, agent, {event: group(command(show, env={"OWN": "mine"}))}))
        assert verdict.runs[0].stdout.split() == [str(project)] * known + ["mine"]


def test_what_a_claude_hook_exports_at_the_start_is_in_the_session(project: Path) -> None:
    line = 'echo "export FOUND=it" >> "$CLAUDE_ENV_FILE"'
    engine = Engine.load(configs=[write(project, "claude", {"SessionStart": line})])
    engine.decide(Event("pre-session", session_id="s"))
    assert engine.session_variables("s") == {"FOUND": "it"}


@pytest.mark.parametrize("key", ["session_id", "sessionId", "conversation_id"])
def test_the_session_is_found_by_the_keys_of_other_programs_that_run_claude_codes_hooks(key: str) -> None:
    """VS Code and Cursor; Cursor may send its roots instead of a directory."""
    payload = {"hook_event_name": "Stop", key: "s-1", "cwd": "", "workspace_roots": ["/work"]}
    event = agent_payloads.read(dialect("claude"), payload)
    assert (event.session_id, event.work_dir) == ("s-1", "/work")


def test_a_plugins_hooks_know_its_folder() -> None:
    hook = Hook("n", "pre-session", "SessionStart", "claude", source="/plugins/it/hooks/hooks.json")
    assert (
        agent_payloads.variables(dialect("claude"), hook, Event("pre-session"))["CLAUDE_PLUGIN_ROOT"] == "/plugins/it"
    )


def test_two_agents_hooks_of_one_name_are_each_sent_their_own(project: Path) -> None:
    files = [
        write(project, agent, {"Notification": f"cat > {agent}.part; mv {agent}.part {agent}.sent"})
        for agent in AGENT_FORMATS
    ]
    Engine.load(configs=files).decide(Event("notification", notification_type="x", body="b"))
    for agent in ("claude", "gemini", "qwen"):
        until((project / f"{agent}.sent").exists)
        assert ("timestamp" in json.loads((project / f"{agent}.sent").read_text())) is (agent != "claude")
