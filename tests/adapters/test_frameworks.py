"""Hooks in each framework's agent, with the real package and a model over HTTP: what they decide is done, alike."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from adapters import stages
from adapters.stages import Person, Played, saying
from support import alive, folder_hook, until, user_hooks
from tenterhook import Engine, Event
from tenterhook.adapters.own_tools import UnnamedToolWarning
from tenterhook.doctor.live.model import ScriptedCall, ScriptedModel, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from adapters.stages import Stage
    from tenterhook.adapters.agent_session import AgentSession

QUICK = [stages.PYDANTIC_AI, stages.OPENAI_AGENTS, stages.LANGCHAIN, stages.LANGCHAIN_SYNC]
EVERY = [*QUICK, pytest.param(stages.CLAUDE_AGENT, marks=pytest.mark.slow)]  # which starts a program of 200 MB
everywhere = pytest.mark.parametrize("stage", EVERY, ids=lambda stage: stage.name)


def play(
    stage: Stage, engine: Engine, *turns: Turn, prompt: str = "go", with_session: bool = False, **life: Any
) -> Played:
    """Run the stage's agent once, to its end."""
    played = Played()
    hooks = stage.hooks(engine, told=played.hear, **life)

    async def run() -> None:
        if with_session:
            await hooks.begin()
        played.answer = await stage.run(hooks, played.model.url, prompt)
        if with_session:
            await hooks.end()

    with ScriptedModel(turns) as played.model:
        asyncio.run(run())
        played.model.settle()
        played.results = played.model.tool_results()
        played.requests = sum(request.protocol is not None for request in played.model.requests)
    return played


@pytest.mark.parametrize("stage", [*QUICK, stages.CLAUDE_AGENT], ids=lambda stage: stage.name)
def test_a_refused_call_does_not_run_and_the_model_gets_the_reason(stage: Stage, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo 'Not that one.' >&2; exit 2", matcher={"pattern": "secret"})
    played = play(stage, Engine.load("."), Turn(calls=(stage.note("secret"),)), Turn(text="I see."))
    assert not (project / "secret").exists()
    assert len(played.results) == 1
    assert "Not that one." in played.results[0]
    assert played.answer == "I see."
    failure = played.events("post-tool-call-failure")
    assert [event.fields["error"] for event in failure] == ["Not that one."]
    assert not played.events("post-tool-call")


@everywhere
def test_a_tool_gets_the_input_that_folders_and_functions_have_made_of_it(
    stage: Stage, home: Path, project: Path
) -> None:
    script = """sed -n 's/.*"name": "\\([^"]*\\)".*/{"modified_input": {"name": "\\1-folder"}}/p'"""
    folder_hook(user_hooks(home), "rename", script, matcher={"tool": "note", "pattern": "^old$"})
    engine = Engine.load(".")

    @engine.on("pre-tool-call", tool="note", pattern="^old-folder$", priority=1)
    def also(event: Event) -> dict[str, Any]:
        return {"modified_input": {"name": event.tool_input["name"] + "-function"}}

    played = play(stage, engine, Turn(calls=(stage.note("old"),)), Turn(text="done"))
    assert [path.name for path in project.iterdir() if path.is_file()] == ["old-folder-function"]
    assert [event.tool_input["name"] for event in played.events("post-tool-call")] == ["old-folder-function"]


@everywhere
def test_what_hooks_say_about_a_call_that_is_over_reaches_the_model(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-tool-call")(saying(additional_context="BEFORE-IT"))
    engine.on("post-tool-call")(saying(decision="deny", reason="AFTER-IT"))
    engine.on("post-tool-call-failure")(saying(additional_context="WHAT-A-PITY"))
    played = play(stage, engine, Turn(calls=(stage.note("made"), stage.broken())), Turn(text="done"))
    assert (project / "made").exists()
    assert [event.fields["error"] for event in played.events("post-tool-call-failure")] == [stages.BROKE]
    assert "noted made" in json.dumps(played.events("post-tool-call")[0].fields["tool_output"])
    for text in ("BEFORE-IT", "AFTER-IT", "WHAT-A-PITY"):
        assert played.model.was_sent(text)


@everywhere
def test_the_model_sees_the_output_that_hooks_put_in_the_place_of_a_tools_own(
    stage: Stage, home: Path, project: Path
) -> None:
    folder_hook(user_hooks(home), "first", """echo '{"modified_output": "by the folder"}'""", "post-tool-call")
    engine = Engine.load(".")

    @engine.on("post-tool-call", priority=1)
    def also(event: Event) -> dict[str, Any]:
        return {"modified_output": event.tool_output + ", then the function", "additional_context": "BESIDE-IT"}

    played = play(stage, engine, Turn(calls=(stage.note("made"),)), Turn(text="done"))
    assert (project / "made").exists()
    assert "by the folder, then the function" in played.results[0]
    assert not played.model.was_sent("noted made")
    assert played.model.was_sent("BESIDE-IT")


@pytest.mark.parametrize("stage", QUICK, ids=lambda stage: stage.name)
def test_the_model_sees_the_error_that_hooks_put_in_the_place_of_a_tools_own(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("post-tool-call-failure")(saying(modified_output="another error"))
    played = play(stage, engine, Turn(calls=(stage.broken(),)), Turn(text="done"))
    assert "another error" in played.results[0]
    assert not played.model.was_sent(stages.BROKE)


@everywhere
@pytest.mark.parametrize("approved", [True, False], ids=["yes", "no"])
def test_a_person_answers_what_a_hook_wants_asked(stage: Stage, approved: bool, project: Path) -> None:
    engine = Engine()
    engine.on("pre-tool-call", tool="note")(saying(decision="ask", reason="Sure?"))
    person = Person(approved)
    played = play(stage, engine, Turn(calls=(stage.note("made"),)), Turn(text="done"), surfaces=[person])
    assert [request.why for request in person.asked] == ["Sure?"]
    assert (project / "made").exists() == approved
    assert ("I say no." in played.results[0]) == (not approved)
    (result,) = played.events("permission-result")
    assert result.fields["decision"] == ("approved" if approved else "rejected")
    assert result.fields["answered_by"] == "person"


@everywhere
def test_nobody_there_to_ask_is_a_no(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-tool-call", tool="note")(saying(decision="ask", reason="Sure?"))
    played = play(stage, engine, Turn(calls=(stage.note("made"),)), Turn(text="done"))
    assert not (project / "made").exists()
    assert "There is nobody to ask" in played.results[0]


@everywhere
def test_a_plain_no_ends_the_turn(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-tool-call", tool="note")(saying(decision="ask"))
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Go on."))
    person = Person(False, ends_turn=True)
    turns = [Turn(calls=(stage.note("made"),)), Turn(text="never said")]
    played = play(stage, engine, *turns, surfaces=[person])
    assert not (project / "made").exists()
    assert "never said" not in played.answer
    assert played.requests == 1


@everywhere
def test_a_refused_prompt_is_no_request_and_the_reason_is_the_answer(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-agent-turn")(saying(decision="deny", reason="Not today."))
    played = play(stage, engine, Turn(text="never said"), prompt="do harm")
    assert "Not today." in played.answer
    assert not played.model.was_sent("do harm")
    assert [event.prompt for event in played.events("pre-agent-turn")] == ["do harm"]
    assert not played.events("pre-agent-turn-stop")


@everywhere
def test_hooks_send_an_agent_back_three_times_and_not_once_more(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Look again."))
    said: list[str] = []
    turns = [Turn(text=text) for text in ("one", "two", "three", "four", "five")]
    played = play(stage, engine, *turns, say=said.append)
    assert played.answer == "four"
    assert played.model.was_sent("[Hook blocked stop: Look again.]")
    stops = [verdict.decision for event, verdict in played.told if event.canonical == "pre-agent-turn-stop"]
    assert stops == ["deny", "deny", "deny", "none"]
    assert said == ["tenterhook: stop-hook limit reached (3 per turn); letting the agent stop"]
    assert played.names[-2:] == ["post-agent-turn-stop", "post-agent-turn"]


@pytest.mark.parametrize(
    "stage", [each for each in QUICK if each is not stages.OPENAI_AGENTS], ids=lambda each: each.name
)
def test_an_agent_that_has_taken_its_steps_is_not_sent_back(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Look again."))
    played = play(stage, engine, *(Turn(text=text) for text in ("one", "two", "three", "four")), max_steps=2)
    assert played.answer == "Stopped after 2 steps"
    assert played.requests == 2
    reasons = [event.fields["stop_reason"] for event in played.events("pre-agent-turn-stop")]
    assert reasons == ["no_tool_calls", "no_tool_calls"]
    assert played.events("pre-agent-turn-stop")[-1].fields["final_message"]["content"] == "two"
    stops = [verdict.decision for event, verdict in played.told if event.canonical == "pre-agent-turn-stop"]
    assert stops == ["deny", "none"]  # there is no step left after the second
    (over,) = played.events("post-agent-turn-stop")
    assert over.fields["stop_reason"] == "max_steps"
    assert played.events("post-agent-turn")[0].fields["response"] == "two"


@everywhere
def test_events_are_complete_and_in_order(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-session")(saying(additional_context="HOUSE-RULE"))
    engine.on("pre-agent-turn")(saying(additional_context="TODAYS-RULE"))
    engine.on("pre-agent-turn-stop")(saying(additional_context="FOR-LATER"))
    turns = [Turn(calls=(stage.note("made"),)), Turn(text="done")]
    played = play(stage, engine, *turns, prompt="make it", with_session=True)
    assert played.names == [
        *("pre-session", "turn-started", "pre-agent-turn", "pre-tool-call", "post-tool-call"),
        *("pre-agent-turn-stop", "post-agent-turn-stop", "post-agent-turn", "post-session"),
    ]
    assert len({event.session_id for event, _ in played.told}) == 1
    assert played.told[0][0].session_id
    assert {event.work_dir for event, _ in played.told} == {str(project)}
    ids = {event.fields["tool_use_id"] for event, _ in played.told if event.spec.has_tool}
    assert len(ids) == 1
    assert "call_1" in ids.pop()
    (end,) = played.events("post-agent-turn")
    assert (end.fields["prompt"], end.fields["response"]) == ("make it", "done")
    assert played.events("pre-agent-turn-stop")[0].fields["final_message"]["content"] == "done"
    assert played.model.was_sent("HOUSE-RULE")
    assert played.model.was_sent("TODAYS-RULE")


CANCELLED = [stage for stage in QUICK if stage is not stages.LANGCHAIN_SYNC]  # a thread cannot be


@pytest.mark.parametrize(
    "stage", [*CANCELLED, pytest.param(stages.CLAUDE_AGENT, marks=pytest.mark.slow)], ids=lambda stage: stage.name
)
def test_a_cancelled_run_leaves_no_hook_behind(stage: Stage, home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "waits", f"echo $$ > {project}/pid.new; mv {project}/pid.new {project}/pid; sleep 60")
    hooks = stage.hooks(Engine.load("."))

    async def run(url: str) -> None:
        task = asyncio.create_task(stage.run(hooks, url, "go"))
        await asyncio.to_thread(until, (project / "pid").exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    with ScriptedModel([Turn(calls=(stage.note("made"),))]) as model:
        asyncio.run(run(model.url))
    pid = int((project / "pid").read_text())
    until(lambda: not alive(pid), 10)
    assert not (project / "made").exists()


@everywhere
def test_two_sessions_at_once_do_not_mix(stage: Stage, project: Path) -> None:
    async def one(name: str) -> Played:
        played = Played()
        engine = Engine()
        engine.on("pre-tool-call", pattern="left-no")(saying(decision="deny", reason=f"{name} says no"))
        hooks = stage.hooks(engine, told=played.hear)
        turns = [Turn(calls=(stage.note(f"{name}-yes"),)), Turn(calls=(stage.note(f"{name}-no"),)), Turn(text=name)]
        with ScriptedModel(turns) as played.model:
            played.answer = await stage.run(hooks, played.model.url, f"{name} prompt")
        return played

    async def both() -> tuple[Played, Played]:
        return await asyncio.gather(one("left"), one("right"))

    left, right = asyncio.run(both())
    assert {path.name for path in project.iterdir() if path.is_file()} == {"left-yes", "right-yes", "right-no"}
    for played, name, other in ((left, "left", "right"), (right, "right", "left")):
        assert played.answer == name
        assert other not in json.dumps([event.fields for event, _ in played.told])
    assert not {event.session_id for event, _ in left.told} & {event.session_id for event, _ in right.told}


@pytest.mark.parametrize("stage", QUICK, ids=lambda stage: stage.name)
def test_two_runs_of_one_session_count_for_themselves(stage: Stage, project: Path) -> None:
    engine = Engine()
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Look again."))
    played = Played()
    hooks = stage.hooks(engine, told=played.hear)

    async def both() -> list[Any]:
        return await asyncio.gather(*(stage.run(hooks, played.model.url, "go") for _ in range(2)))

    with ScriptedModel([Turn(text="done", sticky=True)]) as played.model:
        assert asyncio.run(both()) == ["done", "done"]
    assert len({event.session_id for event, _ in played.told}) == 1
    decisions = [verdict.decision for event, verdict in played.told if event.canonical == "pre-agent-turn-stop"]
    assert sorted(decisions) == ["deny"] * 6 + ["none"] * 2


@pytest.mark.parametrize("stage", [stages.PYDANTIC_AI, stages.OPENAI_AGENTS], ids=lambda stage: stage.name)
def test_a_model_that_fails_is_told_of_and_raised(stage: Stage, project: Path) -> None:
    played = Played()
    hooks = stage.hooks(Engine(), told=played.hear)
    with (
        ScriptedModel([Turn(status=400, text="no such model", sticky=True)]) as model,
        pytest.raises(Exception, match="no such model"),
    ):
        asyncio.run(stage.run(hooks, model.url, "go"))
    assert played.names == ["turn-started", "pre-agent-turn", "post-agent-turn-failure"]
    assert "no such model" in played.told[-1][0].fields["error_message"]


@pytest.mark.parametrize("stage", QUICK, ids=lambda stage: stage.name)
@pytest.mark.parametrize("refused", [False, True], ids=["works", "refused"])
def test_a_subagent_has_events_of_its_own(stage: Stage, refused: bool, project: Path) -> None:
    engine = Engine()
    if refused:
        engine.on("pre-subagent")(saying(decision="deny", reason="No helpers."))
    engine.on("post-subagent")(saying(decision="deny", reason="Closer."))
    played = Played()
    hooks: AgentSession = stage.hooks(engine, told=played.hear)
    own = hooks.for_subagent("helper", "helps", number="task_1")
    turns = [Turn(calls=(stage.note("made"),)), *(Turn(text="helped") for _ in range(4))]
    with ScriptedModel(turns) as played.model:
        try:
            answer = asyncio.run(stage.run(own, played.model.url, "help"))
        except Exception as error:  # noqa: BLE001  # pydantic-ai's way to tell the calling agent
            answer = str(error)
    if refused:
        assert "No helpers." in answer
        assert played.names == ["pre-subagent"]
        return
    assert answer == "helped"
    assert played.names == ["pre-subagent", "pre-tool-call", "post-tool-call", *["post-subagent"] * 4]
    assert {event.fields["agent_id"] for event, _ in played.told} == {"task_1"}
    assert (project / "made").exists()


def run_shell(command: str) -> str:
    """Run a command."""
    return f"ran {command}"


@pytest.mark.parametrize("stage", QUICK, ids=lambda stage: stage.name)
def test_a_tool_that_looks_like_a_shell_is_reported_once(
    stage: Stage, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "note", run_shell)
    call = Turn(calls=(ScriptedCall("run_shell", {"command": "ls"}),))
    with pytest.warns(UnnamedToolWarning) as warned:
        played = play(stage, Engine(), call, call, Turn(text="done"))
    assert [str(each.message).partition(",")[0] for each in warned] == ["the tool 'run_shell' looks like a shell"]
    assert played.results == ["ran ls", "ran ls"]


@pytest.mark.parametrize("stage", QUICK, ids=lambda stage: stage.name)
@pytest.mark.parametrize("place", ["engine", "adapter"])
def test_a_named_tool_is_guarded_as_the_shell_it_is(
    stage: Stage, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(stages, "note", run_shell)
    folder_hook(user_hooks(home), "guard", "exit 2", metadata={"guard": "block-dangerous-commands"})
    tools = {"run_shell": "Shell"}
    engine = Engine.load(".", tools=tools if place == "engine" else None)
    call = Turn(calls=(ScriptedCall("run_shell", {"command": "sudo rm -rf /"}),))
    played = play(stage, engine, call, Turn(text="I see."), tools=None if place == "engine" else tools)
    assert "delete-system" in played.results[0]
    (event,) = played.events("pre-tool-call")
    assert (event.tool_name, event.tool_kind) == ("run_shell", "Shell")


def test_a_named_tool_of_the_claude_agent_sdk_is_guarded(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", metadata={"guard": "block-dangerous-commands"})
    stage = stages.CLAUDE_AGENT
    call = Turn(calls=(stage.note("sudo rm -rf /"),))
    played = play(stage, Engine.load("."), call, Turn(text="I see."), tools={"mcp__t__note": "Shell"})
    assert "delete-system" in played.results[0]
