"""What is the Claude Agent SDK's own: its subagents, its own questions, other people's callbacks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
)

from adapters.stages import claude_options
from adapters.test_frameworks import Played, saying
from tenterhook import Engine
from tenterhook.adapters.claude_agent import HooksCallbacks
from tenterhook.live.model import Call, ScriptedModel, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Event


def play(engine: Engine, *turns: Turn, **options: Any) -> Played:
    """One turn of the real program."""
    played = Played()
    hooks = HooksCallbacks(engine, told=played.hear)

    async def run() -> None:
        async with ClaudeSDKClient(hooks.options(claude_options(played.model.url, **options))) as client:
            await client.query("go")
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    played.answer = message.result or ""

    with ScriptedModel(turns) as played.model:
        asyncio.run(run())
        played.model.settle()
    return played


def test_options_keep_what_they_had(project: Path) -> None:
    async def mine(*_: Any) -> Any:
        return {}

    given = ClaudeAgentOptions(hooks={"PreToolUse": [HookMatcher("Bash", [mine])]}, model="some", resume="earlier")
    options = HooksCallbacks(Engine()).options(given)
    assert options.model == "some"
    assert options.session_id is None  # the earlier session has one
    assert options.hooks is not None
    assert [matcher.matcher for matcher in options.hooks["PreToolUse"]] == [None, "Bash"]
    assert given.hooks is not None
    assert len(given.hooks["PreToolUse"]) == 1


def test_an_input_that_hooks_cannot_be_sent_is_refused(project: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"deeper": deep}
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": ".", "tool_name": "Bash", "tool_input": deep}
    answer = asyncio.run(HooksCallbacks(Engine())._answer(payload, None, {}))
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.slow
def test_a_subagent_has_events_of_its_own_and_is_sent_back(project: Path) -> None:
    engine = Engine()
    seen: list[Event] = []

    @engine.on("post-subagent")
    def closer(event: Event) -> dict[str, str] | None:
        seen.append(event)
        return {"decision": "deny", "reason": "Look closer."} if len(seen) == 1 else None

    engine.on("pre-subagent")(saying(additional_context="FOR-THE-HELPER"))
    about = {"description": "helps", "subagent_type": "general-purpose", "run_in_background": False}
    turns = [
        Turn(calls=(Call("Agent", {**about, "prompt": "help me out"}),), unless="help me out"),
        Turn(calls=(Call("mcp__t__note", {"name": "made"}),), when="FOR-THE-HELPER"),
        Turn(text="helped", when="FOR-THE-HELPER"),
        Turn(text="helped closely", when="Look closer."),
        Turn(text="done", when="helped closely"),
    ]
    played = play(engine, *turns)
    assert played.answer == "done"
    assert (project / "made").exists()
    (call,) = (event for event in played.events("pre-tool-call") if event.tool_name == "mcp__t__note")
    assert call.fields["agent_type"] == "general-purpose"
    assert call.fields["agent_id"] == seen[0].fields["agent_id"]
    assert [event.fields["response"] for event in seen] == ["helped", "helped closely"]
    assert len({event.session_id for event, _ in played.told}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("by_hook", [True, False], ids=["a hook answers", "the caller answers"])
def test_claudes_own_question_goes_to_hooks_too(by_hook: bool, project: Path) -> None:
    engine = Engine()
    if by_hook:
        engine.on("permission-request")(saying(hookSpecificOutput={"permissionDecision": "allow"}))
    asked: list[str] = []

    async def can_use_tool(
        name: str, given: dict[str, Any], context: Any
    ) -> PermissionResultAllow | PermissionResultDeny:
        asked.append(name)
        if by_hook:
            await asyncio.Event().wait()  # the first answer counts, and this one never comes
        return PermissionResultDeny(message="not by me")

    target = project / "written.txt"
    turns = [Turn(calls=(Call("Write", {"file_path": str(target), "content": "x"}),)), Turn(text="done")]
    played = play(engine, *turns, can_use_tool=can_use_tool, allowed_tools=[])
    assert "permission-request" in played.names
    assert target.exists() == by_hook
    assert by_hook or asked == ["Write"]
