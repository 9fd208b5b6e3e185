"""What hooks in agents' own settings answer: it means here what it means to the agent, and approves nothing more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from formats.agent_settings import says, write
from support import decide, shell_call
from tenterhook import Engine, Event
from tenterhook.agents import dialect
from tenterhook.events import AGENT_FORMATS
from tenterhook.formats import agent_answers

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("agent", AGENT_FORMATS)
def test_exit_two_blocks(project: Path, agent: str) -> None:
    tool, stop = ("BeforeTool", "AfterAgent") if agent == "gemini" else ("PreToolUse", "Stop")
    line = "echo no >&2; exit 2"
    engine = Engine.load(configs=[write(project, agent, {tool: line, stop: line, "SessionStart": line})])
    for event in (shell_call(), Event("pre-agent-turn-stop")):
        verdict = engine.decide(event)
        assert (verdict.decision, verdict.reason) == ("deny", "no")
    assert engine.decide(Event("pre-session")).decision == "none"


@pytest.mark.parametrize("agent", AGENT_FORMATS)
@pytest.mark.parametrize("word", ["block", "deny"])
def test_decision_block_and_deny_block(project: Path, agent: str, word: str) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    verdict = decide(write(project, agent, {event: says({"decision": word, "reason": "no"})}))
    assert (verdict.decision, verdict.reason) == ("deny", "no")


def claude(event: str, said: dict[str, Any], **more: Any) -> dict[str, Any]:
    return agent_answers.answer(dialect("claude"), event, said, **more)


@pytest.mark.parametrize(
    ("agent", "said", "action"),
    [
        ("claude", {"hookSpecificOutput": {"permissionDecision": "allow"}}, "approve"),
        ("claude", {"decision": "approve"}, "approve"),
        ("claude", {"decision": "allow"}, "allow"),
        ("codex", {"hookSpecificOutput": {"permissionDecision": "allow"}}, "allow"),
        ("codex", {"decision": "approve"}, "allow"),
        ("gemini", {"decision": "allow"}, "allow"),
        ("qwen", {"hookSpecificOutput": {"permissionDecision": "allow"}}, "allow"),
        ("claude", {"hookSpecificOutput": {"permissionDecision": "ask"}}, "ask"),
        ("qwen", {"hookSpecificOutput": {"permissionDecision": "deny"}}, "deny"),
        ("gemini", {"continue": False, "stopReason": "stop"}, "deny"),
        ("claude", {"continue": True}, "none"),
    ],
)
def test_only_what_skips_the_question_for_the_agent_does_so_here(
    project: Path, agent: str, said: dict[str, Any], action: str
) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    verdict = decide(write(project, agent, {event: says(said)}))
    assert verdict.decision == action
    assert not verdict.runs[0].decision.unreadable


@pytest.mark.parametrize(
    ("agent", "said", "becomes"),
    [
        ("claude", {"updatedInput": {"command": "ls -l"}}, {"command": "ls -l"}),
        ("codex", {"updatedInput": {"command": "x"}, "permissionDecision": "allow"}, {"command": "x"}),
        ("codex", {"updatedInput": {"command": "x"}}, None),
        ("gemini", {"tool_input": {"command": "x"}}, {"command": "x", "dir": "."}),
    ],
)
def test_the_input_is_modified_in_the_agents_way(project: Path, agent: str, said: Any, becomes: Any) -> None:
    event = "BeforeTool" if agent == "gemini" else "PreToolUse"
    file = write(project, agent, {event: says({"hookSpecificOutput": said})})
    verdict = decide(file, shell_call(tool_input={"command": "ls", "dir": "."}))
    assert verdict.modified_input == becomes


def test_context_and_messages_of_every_event_reach_the_verdict(project: Path) -> None:
    said = {"systemMessage": "for you", "hookSpecificOutput": {"additionalContext": "for the model"}}
    for agent, names in {
        "claude": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"),
        "gemini": ("SessionStart", "BeforeAgent", "AfterTool"),
    }.items():
        engine = Engine.load(configs=[write(project, agent, dict.fromkeys(names, says(said)))])
        for name in names:
            verdict = engine.decide(Event(dialect(agent).events[name], tool_name="Bash", prompt="p"))
            assert (verdict.additional_context, verdict.messages) == (("for the model",), ("for you",)), name
            assert verdict.decision == "none"


@pytest.mark.parametrize(
    ("agent", "declared", "contexts", "messages"),
    [
        ("claude", "UserPromptSubmit", ("text",), ()),
        ("codex", "SessionStart", ("text",), ()),
        ("qwen", "UserPromptSubmit", ("text",), ()),
        ("gemini", "BeforeAgent", (), ("text",)),
        ("claude", "PreToolUse", (), ()),
    ],
)
def test_plain_text_goes_where_the_agent_puts_it(
    project: Path, agent: str, declared: str, contexts: tuple[str, ...], messages: tuple[str, ...]
) -> None:
    event = Event(dialect(agent).events[declared], tool_name="Bash", prompt="p")
    verdict = decide(write(project, agent, {declared: "echo text"}), event)
    assert (verdict.additional_context, verdict.messages) == (contexts, messages)


def test_a_start_cannot_be_blocked_but_the_reason_is_shown(project: Path) -> None:
    file = write(project, "claude", {"SessionStart": "echo no >&2; exit 2"})
    verdict = decide(file, Event("pre-session"))
    assert (verdict.decision, verdict.messages) == ("none", ("no",))


def test_a_hook_that_wants_the_agent_to_stop_does_not_keep_it_going(project: Path) -> None:
    said = {"decision": "block", "reason": "go on", "continue": False, "stopReason": "enough"}
    verdict = decide(write(project, "claude", {"Stop": says(said)}), Event("pre-agent-turn-stop"))
    assert (verdict.decision, verdict.messages) == ("none", ("enough",))


@pytest.mark.parametrize(
    ("decision", "action"),
    [
        ({"behavior": "allow"}, "approve"),
        ({"behavior": "deny", "message": "no"}, "deny"),
        ({"behavior": "allow", "updatedInput": {"command": "ls"}}, "approve"),
        ({"behavior": "allow", "updatedInput": {"command": "rm"}}, "none"),
        ({"behavior": "maybe"}, "none"),
    ],
)
def test_a_permission_is_given_by_its_behavior(project: Path, decision: dict[str, Any], action: str) -> None:
    said = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    verdict = decide(
        write(project, "claude", {"PermissionRequest": says(said)}), shell_call(event="permission-request")
    )
    assert verdict.decision == action
    assert verdict.reason == decision.get("message")
    assert verdict.runs[0].failed == (decision["behavior"] == "maybe")


@pytest.mark.parametrize("said", [{"decision": "allow"}, {"decision": "approve"}])
def test_no_other_word_gives_a_permission(said: dict[str, Any]) -> None:
    assert claude("permission-request", said) == {}


def test_what_cannot_be_done_here_is_logged() -> None:
    said: dict[str, Any] = {"hookSpecificOutput": {"tailToolCallRequest": {}}}
    assert claude("post-tool-call", said)["log"] == "not done here: hookSpecificOutput tailToolCallRequest"


def test_our_own_words_are_understood_too() -> None:
    said = {"decision": "deny", "reason": "r", "modified_input": {"a": 1}, "additional_context": "c"}
    assert claude("pre-tool-call", said) == said


def test_a_call_that_is_left_to_the_program_around_the_agent_is_logged_and_decides_nothing() -> None:
    deferred = claude("pre-tool-call", {"hookSpecificOutput": {"permissionDecision": "defer"}})
    assert deferred == {"log": "not done here: hookSpecificOutput permissionDecision defer"}
