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

from adapters.stages import Played, claude_options, saying
from tenterhook import Answer, Engine, Request
from tenterhook.adapters import claude_agent
from tenterhook.adapters.claude_agent import HooksCallbacks
from tenterhook.approvals.requests import LASTS
from tenterhook.doctor.live.model import ScriptedCall, ScriptedModel, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Event, Verdict


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


def told(hooks: HooksCallbacks, *payloads: dict[str, Any]) -> list[dict[str, Any]]:
    """What Claude Code is answered when it tells of this."""

    async def answers() -> list[dict[str, Any]]:
        return [await hooks._answer({"session_id": "s", "cwd": ".", **payload}, None, {}) for payload in payloads]

    return asyncio.run(answers())


CALL = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "make"}}


def test_an_input_that_hooks_cannot_be_sent_is_refused(project: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"deeper": deep}
    (answer,) = told(HooksCallbacks(Engine()), {**CALL, "tool_input": deep})
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_what_breaks_where_a_call_is_asked_about_refuses_it(project: Path) -> None:
    def broken(event: Event, verdict: Verdict) -> None:
        raise ValueError("it broke")

    hooks = HooksCallbacks(Engine(), told=broken)
    before, asked = told(hooks, CALL, {**CALL, "hook_event_name": "PermissionRequest"})
    assert before["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert before["hookSpecificOutput"]["permissionDecisionReason"] == "it broke"
    assert asked["hookSpecificOutput"]["decision"] == {"behavior": "deny", "message": "it broke"}
    with pytest.raises(ValueError, match="it broke"):
        told(hooks, {"hook_event_name": "Stop"})


class Nobody:
    """A surface where nobody answers."""

    async def ask(self, request: Request) -> Answer | None:
        await asyncio.Event().wait()
        return None


def test_a_question_that_nobody_answers_is_a_no_before_the_program_gives_up(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine()
    engine.on("pre-tool-call")(saying(decision="ask"))
    seen: list[str] = []
    hooks = HooksCallbacks(engine, surfaces=[Nobody()], told=lambda event, verdict: seen.append(event.canonical))
    (matcher,) = (hooks.options().hooks or {})["PreToolUse"]
    assert matcher.timeout is not None
    assert matcher.timeout > claude_agent._TIMEOUT > LASTS
    monkeypatch.setattr(claude_agent, "_TIMEOUT", 1.0)
    (answer,) = told(hooks, CALL)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "Nobody answered in time" in answer["hookSpecificOutput"]["permissionDecisionReason"]
    assert seen == ["pre-tool-call", "permission-request", "permission-result", "post-tool-call-failure"]


def prompt(session: str) -> dict[str, Any]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "go"}


def context(answer: dict[str, Any]) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def test_each_session_hears_its_own(project: Path) -> None:
    engine = Engine()
    engine.on("pre-session")(saying(additional_context="HOUSE-RULE"))

    @engine.on("pre-agent-turn-stop")
    def later(event: Event) -> dict[str, str]:
        return {"additional_context": f"LEFT-BY-{event.session_id}"}

    hooks = HooksCallbacks(engine)
    asyncio.run(hooks.begin())
    stop = {"hook_event_name": "Stop", "session_id": "a"}
    a, _, b, again, third = map(context, told(hooks, prompt("a"), stop, prompt("b"), prompt("a"), prompt("a")))
    assert "HOUSE-RULE" in a
    assert "HOUSE-RULE" in b
    assert "LEFT-BY" not in b
    assert "LEFT-BY-a" in again
    assert "HOUSE-RULE" not in again
    assert not third
    hooks.waiting.append("FROM-THE-CALLER")
    assert list(map(context, told(hooks, prompt("a"), prompt("a")))) == ["FROM-THE-CALLER", ""]


def test_a_subagent_is_forgotten_when_it_may_stop_and_its_session_hears_what_is_left(project: Path) -> None:
    engine = Engine()
    stops: list[str] = []

    @engine.on("post-subagent")
    def once(event: Event) -> dict[str, str]:
        stops.append(event.fields["agent_id"])
        return {"decision": "deny", "reason": "Closer."} if len(stops) == 1 else {"additional_context": "LEFT-BY-IT"}

    hooks = HooksCallbacks(engine)
    whose = {"agent_id": "a1", "agent_type": "helper"}
    stop = {"hook_event_name": "SubagentStop", **whose}
    _, first = told(hooks, {"hook_event_name": "SubagentStart", **whose}, stop)
    assert first["decision"] == "block"
    assert set(hooks._sessions) == {("s", ""), ("s", "a1")}
    told(hooks, stop)
    assert stops == ["a1", "a1"]
    assert set(hooks._sessions) == {("s", "")}
    assert "LEFT-BY-IT" in context(told(hooks, prompt("s"))[0])


def test_what_cannot_be_told_is_said(project: Path) -> None:
    engine = Engine()
    engine.on("pre-subagent")(saying(decision="deny", reason="No helpers."))
    said: list[str] = []
    told(
        HooksCallbacks(engine, say=said.append),
        {"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": "x"},
    )
    assert said == ["tenterhook: Claude Code could not be sent at SubagentStart: block: it has no effect"]


@pytest.mark.parametrize(("own", "most"), [(None, 7), (3, 3)], ids=["ours", "its own"])
def test_the_most_steps_of_a_turn_are_the_programs_limit(own: int | None, most: int, project: Path) -> None:
    options = HooksCallbacks(Engine(), max_steps=7).options(ClaudeAgentOptions(max_turns=own))
    assert options.max_turns == most


@pytest.mark.slow
def test_each_turn_of_the_program_has_its_steps(project: Path) -> None:
    played = Played()
    ended: list[str] = []
    note = Turn(calls=(ScriptedCall("mcp__t__note", {"name": "made"}),))

    async def run() -> None:
        hooks = HooksCallbacks(Engine(), max_steps=2, told=played.hear)
        async with ClaudeSDKClient(hooks.options(claude_options(played.model.url))) as client:
            for text in ("go", "on"):
                await client.query(text)
                async for message in client.receive_response():
                    if isinstance(message, ResultMessage):
                        ended.append(message.subtype)

    with ScriptedModel([note, note, note, Turn(text="done")]) as played.model:
        asyncio.run(run())
    assert ended == ["error_max_turns", "success"]
    assert played.names.count("pre-tool-call") == 3


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
        Turn(calls=(ScriptedCall("Agent", {**about, "prompt": "help me out"}),), unless="help me out"),
        Turn(calls=(ScriptedCall("mcp__t__note", {"name": "made"}),), when="FOR-THE-HELPER"),
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
    turns = [Turn(calls=(ScriptedCall("Write", {"file_path": str(target), "content": "x"}),)), Turn(text="done")]
    played = play(engine, *turns, can_use_tool=can_use_tool, allowed_tools=[])
    assert "permission-request" in played.names
    assert target.exists() == by_hook
    assert by_hook or asked == ["Write"]
