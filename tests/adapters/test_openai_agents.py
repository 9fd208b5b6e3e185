"""What is the OpenAI Agents SDK's own: handoffs, MCP servers, its ways to fail, to stop and to ask."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    MaxTurnsExceeded,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    RunState,
    SQLiteSession,
    function_tool,
    handoff,
)
from agents.mcp import MCPServerStdio

from adapters.stages import Person, note, openai_client, saying
from tenterhook import Engine, Event, Verdict
from tenterhook.adapters.openai_agents import HooksRunner
from tenterhook.doctor.live.model import MODEL, ScriptedCall, ScriptedModel, Turn
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

QUIET = RunConfig(tracing_disabled=True)
NOTE = Turn(calls=(ScriptedCall("note", {"name": "made"}),))


def guarded() -> Engine:
    engine = Engine()
    engine.on("pre-tool-call", tool="note")(saying(decision="deny", reason="Not that."))
    return engine


def scripted(turns: list[Turn], work: Callable[[Any], Awaitable[Any]]) -> tuple[Any, ScriptedModel]:
    """What comes of some work with a model that says this."""

    async def run(url: str) -> Any:
        async with openai_client(url) as client:
            return await work(OpenAIResponsesModel(MODEL, client))

    with ScriptedModel(turns) as model:
        came = asyncio.run(run(model.url))
        model.settle()
    return came, model


@pytest.mark.parametrize("plain", [True, False], ids=["agent", "handoff"])
def test_tools_of_an_agent_that_takes_over_are_guarded_too(plain: bool, project: Path) -> None:
    async def work(model: Any) -> Any:
        second: Agent[Any] = Agent("second", tools=[function_tool(note)], model=model)
        first: Agent[Any] = Agent("first", handoffs=[second if plain else handoff(second)], model=model)
        second.handoffs = [first]  # in a circle
        return await HooksRunner(guarded()).run(first, "go", run_config=QUIET)

    turns = [Turn(calls=(ScriptedCall("transfer_to_second", {}),)), NOTE, Turn(text="done")]
    result, model = scripted(turns, work)
    assert not (project / "made").exists()
    assert "Not that." in model.tool_results()
    assert (result.final_output, result.last_agent.name) == ("done", "second")


def test_an_agent_that_a_run_ended_with_is_asked_about_once(project: Path) -> None:
    seen: list[str] = []

    async def work(model: Any) -> Any:
        hooks = HooksRunner(Engine(), told=lambda event, verdict: seen.append(event.canonical))
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note)], model=model)
        first = await hooks.run(agent, "go", run_config=QUIET)
        return await hooks.run(first.last_agent, "again", run_config=QUIET)

    scripted([Turn(text="hello"), NOTE, Turn(text="done")], work)
    assert seen.count("pre-tool-call") == 1


def test_tools_of_an_mcp_server_are_guarded(project: Path) -> None:
    server = project / "server.py"
    server.write_text(
        "from mcp.server.mcpserver import MCPServer\n"
        "app = MCPServer('notes')\n"
        "@app.tool()\ndef note(name: str) -> str:\n    open(name, 'w').close(); return 'noted'\n"
        "@app.tool()\ndef other(name: str) -> str:\n    return f'other {name}'\n"
        "app.run()\n"
    )

    async def work(model: Any) -> Any:
        async with MCPServerStdio({"command": sys.executable, "args": [str(server)]}) as mcp:
            agent: Agent[Any] = Agent("noter", mcp_servers=[mcp], model=model)
            return await HooksRunner(guarded()).run(agent, "go", run_config=QUIET)

    turns = [NOTE, Turn(calls=(ScriptedCall("other", {"name": "thing"}),)), Turn(text="done")]
    _, model = scripted(turns, work)
    assert not (project / "made").exists()
    refused, ran = model.tool_results()
    assert refused == "Not that."
    assert "other thing" in ran


def test_a_streamed_run_of_a_guarded_agent_asks_about_its_tools(project: Path) -> None:
    async def work(model: Any) -> Any:
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note)], model=model)
        result = Runner.run_streamed(HooksRunner(guarded()).guard(agent), "go", run_config=QUIET)
        async for _ in result.stream_events():
            pass
        return result.final_output

    answer, model = scripted([NOTE, Turn(text="done")], work)
    assert (answer, model.tool_results()) == ("done", ["Not that."])
    assert not (project / "made").exists()


def test_a_tool_that_may_fail_a_run_still_does_and_hooks_hear_of_both(project: Path) -> None:
    seen: list[tuple[str, Any]] = []

    def hear(event: Event, verdict: Verdict) -> None:
        seen.append((event.canonical, event.fields.get("error") or event.fields.get("error_message")))

    async def broken(context: Any, arguments: str) -> str:
        raise ValueError("it broke")

    async def work(model: Any) -> Any:
        tool = FunctionTool("note", "", {"type": "object", "properties": {}}, broken, strict_json_schema=False)
        with pytest.raises(Exception, match="it broke"):
            await HooksRunner(Engine(), told=hear).run(
                Agent("noter", tools=[tool], model=model), "go", run_config=QUIET
            )

    scripted([NOTE], work)
    assert ("post-tool-call-failure", "it broke") in seen
    assert seen[-1][0] == "post-agent-turn-failure"


@pytest.mark.parametrize("surfaces", [[], [Person(True)]], ids=["alone", "with a person"])
@pytest.mark.parametrize(
    "behavior", ["stop_on_first_tool", {"stop_at_tool_names": ["note"]}, {"stop_at_tool_names": ["other"]}], ids=str
)
def test_an_agent_ends_with_its_tools_as_it_was_told_to(behavior: Any, surfaces: list[Any], project: Path) -> None:
    async def work(model: Any) -> Any:
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note)], model=model, tool_use_behavior=behavior)
        return (await HooksRunner(Engine(), surfaces=surfaces).run(agent, "go", run_config=QUIET)).final_output

    answer, _ = scripted([NOTE, Turn(text="done")], work)
    assert answer == ("done" if "other" in str(behavior) else "noted made")


def test_a_run_without_an_end_is_cut_off_and_nobody_sends_it_back(project: Path) -> None:
    stops: list[str] = []
    engine = Engine()
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Go on."))

    def hear(event: Event, verdict: Verdict) -> None:
        if event.canonical == "pre-agent-turn-stop":
            stops.append(event.fields["stop_reason"])

    async def work(model: Any) -> Any:
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note)], model=model)
        with pytest.raises(MaxTurnsExceeded):
            await HooksRunner(engine, max_steps=2, told=hear).run(agent, "go", run_config=QUIET)

    _, model = scripted([NOTE, NOTE, NOTE], work)
    assert stops == ["max_steps"]
    assert len(model.requests) == 2


def test_a_session_of_the_sdk_keeps_what_was_said_and_nothing_twice(project: Path) -> None:
    engine = Engine()
    sent_back: list[int] = []

    @engine.on("pre-agent-turn-stop")
    def once(event: Event) -> dict[str, str] | None:
        sent_back.append(1)
        return {"decision": "deny", "reason": "Look again."} if len(sent_back) == 1 else None

    async def work(model: Any) -> Any:
        session = SQLiteSession("s", ":memory:")
        agent: Agent[Any] = Agent("noter", model=model)
        await HooksRunner(engine).run(agent, "go", run_config=QUIET, session=session)
        kept = await session.get_items()
        session.close()
        return kept

    kept, _ = scripted([Turn(text="one"), Turn(text="two")], work)
    said = [item["content"] for item in kept if item.get("role") == "user"]
    assert said == ["go", "[Hook blocked stop: Look again.]"]


def test_a_question_of_the_sdk_interrupts_and_the_turn_goes_on_with_its_state(project: Path) -> None:
    seen: list[str] = []

    async def work(model: Any) -> Any:
        hooks = HooksRunner(Engine(), told=lambda event, verdict: seen.append(event.canonical))
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note, needs_approval=True)], model=model)
        result = await hooks.run(agent, "go", run_config=QUIET)
        assert "pre-agent-turn-stop" not in seen
        state = result.to_state()
        state.approve(result.interruptions[0])
        return (await hooks.run(agent, state, run_config=QUIET)).final_output

    answer, _ = scripted([NOTE, Turn(text="done")], work)
    assert answer == "done"
    assert (project / "made").exists()
    assert seen.count("pre-agent-turn") == seen.count("pre-tool-call") == 1
    assert seen[-1] == "post-agent-turn"


@pytest.mark.parametrize("way", ["agent", "handed over", "handoff"])
def test_a_state_that_was_read_from_elsewhere_goes_on_with_hooks(way: str, project: Path) -> None:
    async def work(model: Any) -> Any:
        second: Agent[Any] = Agent("second", tools=[function_tool(note, needs_approval=True)], model=model)
        first: Agent[Any] = Agent("first", handoffs=[handoff(second) if way == "handoff" else second], model=model)
        agent = second if way == "agent" else first
        result = await HooksRunner(Engine()).run(agent, "go", run_config=QUIET)
        state = result.to_state()
        state.approve(result.interruptions[0])
        kept = state.to_json()
        hooks = HooksRunner(guarded())
        with pytest.raises(HookError, match=r"not guarded \(read it with RunState.from_json\(hooks.guard"):
            await hooks.run(agent, await RunState.from_json(agent, kept), run_config=QUIET)
        read = await RunState.from_json(hooks.guard(agent), kept)
        return (await hooks.run(agent, read, run_config=QUIET)).final_output

    handing_over = [] if way == "agent" else [Turn(calls=(ScriptedCall("transfer_to_second", {}),))]
    answer, model = scripted([*handing_over, NOTE, Turn(text="done")], work)
    assert answer == "done"
    assert model.tool_results()[-1] == "Not that."
    assert not (project / "made").exists()


def test_a_turn_that_was_interrupted_is_the_one_that_a_person_ends(project: Path) -> None:
    engine = Engine()
    engine.on("pre-tool-call")(saying(decision="ask"))
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Go on."))

    async def work(model: Any) -> Any:
        hooks = HooksRunner(engine, surfaces=[Person(False, ends_turn=True)])
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note, needs_approval=True)], model=model)
        result = await hooks.run(agent, "go", run_config=QUIET)
        state = result.to_state()
        state.approve(result.interruptions[0])
        return (await hooks.run(agent, state, run_config=QUIET)).final_output

    answer, model = scripted([NOTE, Turn(text="never said")], work)
    assert answer == "I say no."
    assert len(model.requests) == 1


@pytest.mark.parametrize(("most", "requests"), [(4, 4), (2, 2)], ids=["some left", "none left"])
def test_an_agent_that_is_sent_back_has_the_steps_that_are_left(most: int, requests: int, project: Path) -> None:
    engine = Engine()
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Go on."))

    async def work(model: Any) -> Any:
        agent: Agent[Any] = Agent("noter", tools=[function_tool(note)], model=model)
        with pytest.raises(MaxTurnsExceeded):
            await HooksRunner(engine, max_steps=most).run(agent, "go", run_config=QUIET)

    _, model = scripted([NOTE, Turn(text="done"), *[NOTE] * 4], work)
    assert len(model.requests) == requests


@pytest.mark.parametrize("given_to", ["hooks", "framework"])
def test_hooks_that_object_after_the_last_step_are_asked_once(given_to: str, project: Path) -> None:
    engine, heard = Engine(), []
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Go on."))

    def hear(event: Event, verdict: Verdict) -> None:
        if "turn-stop" in event.canonical:
            heard.append((event.canonical, event.fields["stop_reason"], str(verdict.decision)))

    async def work(model: Any) -> Any:
        agent: Agent[Any] = Agent("noter", model=model)
        hooks = HooksRunner(engine, max_steps=1 if given_to == "hooks" else None, told=hear)
        how: dict[str, Any] = {"max_turns": 1} if given_to == "framework" else {}
        with pytest.raises(MaxTurnsExceeded):
            await hooks.run(agent, "go", run_config=QUIET, **how)

    _, model = scripted([Turn(text="done"), Turn(text="never said")], work)
    assert len(model.requests) == 1
    assert heard == [
        ("pre-agent-turn-stop", "no_tool_calls", "none"),
        ("post-agent-turn-stop", "max_steps", "none"),
    ]


@pytest.mark.parametrize("own", [None, "", "  Be brief.\n"], ids=["none", "empty", "some"])
def test_instructions_are_left_alone_where_there_is_nothing_to_add(own: str | None, project: Path) -> None:
    async def work(model: Any) -> Any:
        agent: Agent[Any] = Agent("noter", instructions=own, model=model)
        await Runner.run(agent, "go", run_config=QUIET)
        await HooksRunner(Engine()).run(agent, "go", run_config=QUIET)

    _, model = scripted([Turn(text="done"), Turn(text="done")], work)
    without, with_hooks = (request.body.get("instructions", "not sent") for request in model.requests)
    assert with_hooks == without


@pytest.mark.parametrize("is_guarded", [True, False], ids=["guarded", "plain"])
def test_calls_of_an_agent_that_is_a_tool_pass_the_hooks_if_it_is_guarded(is_guarded: bool, project: Path) -> None:
    async def work(model: Any) -> Any:
        hooks = HooksRunner(guarded())
        inner: Agent[Any] = Agent("inner", tools=[function_tool(note)], model=model)
        tool = (hooks.guard(inner) if is_guarded else inner).as_tool("ask_inner", "Asks.")
        return await hooks.run(Agent("outer", tools=[tool], model=model), "go", run_config=QUIET)

    turns = [
        Turn(calls=(ScriptedCall("ask_inner", {"input": "note it"}),)),
        NOTE,
        Turn(text="noted"),
        Turn(text="done"),
    ]
    result, _ = scripted(turns, work)
    assert result.final_output == "done"
    assert (project / "made").exists() == (not is_guarded)
