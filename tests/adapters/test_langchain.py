"""What is LangChain's own: tools that raise, threads that are kept, pauses, other middleware, loops that run."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Annotated, Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.runtime import Runtime
from langgraph.types import Command, interrupt
from pydantic import SecretStr

from adapters.stages import note, saying
from tenterhook import Answer, Engine, Event, Request, Verdict
from tenterhook.adapters import langchain
from tenterhook.adapters.langchain import HooksMiddleware
from tenterhook.doctor.live.model import MODEL, ScriptedCall, ScriptedModel, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NOTE = Turn(calls=(ScriptedCall("note", {"name": "made"}),))
THREAD: Any = {"configurable": {"thread_id": "t"}}


class Heard:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event, verdict: Verdict) -> None:
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        return [event.canonical for event in self.events]


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client() as client:
        yield client


def results(model: ScriptedModel) -> list[str]:
    model.settle()
    return model.tool_results()


def asked(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


def agent(model: ScriptedModel, client: httpx.Client, *middleware: Any, tool: Any = note, **more: Any) -> Any:
    chat = ChatOpenAI(model=MODEL, base_url=model.url, api_key=SecretStr("none"), http_client=client, max_retries=0)
    return create_agent(chat, [tool], middleware=middleware, **more)


@pytest.mark.parametrize(("status", "event"), [("error", "post-tool-call-failure"), ("success", "post-tool-call")])
def test_a_command_whose_message_is_an_error_is_a_failure(
    project: Path, client: httpx.Client, status: Any, event: str
) -> None:
    def moving(name: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Answer with a change of the state."""
        return Command(update={"messages": [ToolMessage("no such thing", tool_call_id=tool_call_id, status=status)]})

    heard = Heard()
    with ScriptedModel([Turn(calls=(ScriptedCall("moving", {"name": "x"}),)), Turn("done")]) as model:
        agent(model, client, HooksMiddleware(Engine(), told=heard), tool=moving).invoke(asked("go"))
    ended = [each for each in heard.events if each.canonical.startswith("post-tool-call")]
    assert [each.canonical for each in ended] == [event]
    assert ended[0].fields["error" if status == "error" else "tool_output"] == "no such thing"


def test_a_replaced_output_is_in_a_command_and_in_an_error_that_other_middleware_shows(
    project: Path, client: httpx.Client
) -> None:
    class Catching(AgentMiddleware[Any, Any]):
        """Shows errors to the model."""

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            try:
                return handler(request)
            except ValueError as error:
                return ToolMessage(str(error), tool_call_id=request.tool_call["id"], status="error")

    def moving(name: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        """Answer with a change of the state, or not at all."""
        if name == "broken":
            raise ValueError("a secret")
        return Command(update={"messages": [ToolMessage("a secret", tool_call_id=tool_call_id)]})

    engine = Engine()
    engine.on("post-tool-call")(saying(modified_output="a result"))
    engine.on("post-tool-call-failure")(saying(modified_output="an error"))
    calls = tuple(ScriptedCall("moving", {"name": name}) for name in ("moved", "broken"))
    with ScriptedModel([Turn(calls=calls), Turn("done")]) as model:
        agent(model, client, Catching(), HooksMiddleware(engine), tool=moving).invoke(asked("go"))
        assert sorted(results(model)) == ["a result", "an error"]
        assert not model.was_sent("a secret")


def test_a_tool_that_raises_ends_the_run_and_hooks_hear_of_it(project: Path, client: httpx.Client) -> None:
    def broken(name: str) -> str:
        """Break."""
        raise ValueError("it broke")

    heard = Heard()
    hooks = HooksMiddleware(Engine(), told=heard)
    with ScriptedModel([Turn(calls=(ScriptedCall("broken", {"name": "x"}),))]) as model:
        try:
            agent(model, client, hooks, tool=broken).invoke(asked("go"))
        except ValueError as error:
            asyncio.run(hooks.fail_turn(error))
    failure, turn = heard.events[-2:]
    assert (failure.canonical, failure.fields["error"]) == ("post-tool-call-failure", "it broke")
    assert (turn.canonical, turn.fields["error_type"]) == ("post-agent-turn-failure", "ValueError")


def test_a_call_of_a_tool_that_does_not_exist_is_a_failure(project: Path, client: httpx.Client) -> None:
    heard = Heard()
    with ScriptedModel([Turn(calls=(ScriptedCall("missing", {}),)), Turn(text="done")]) as model:
        agent(model, client, HooksMiddleware(Engine(), told=heard)).invoke(asked("go"))
    assert "post-tool-call-failure" in heard.names
    assert "post-tool-call" not in heard.names


def test_a_refused_prompt_is_not_kept_in_its_thread(project: Path, client: httpx.Client) -> None:
    engine = Engine()

    @engine.on("pre-agent-turn")
    def no_secrets(event: Event) -> dict[str, str] | None:
        return {"decision": "deny", "reason": "No secrets."} if "password" in event.prompt else None

    with ScriptedModel([Turn(text="hello")]) as model:
        thread = agent(model, client, HooksMiddleware(engine), checkpointer=InMemorySaver())
        assert thread.invoke(asked("my password is x"), THREAD)["messages"][-1].text == "No secrets."
        assert thread.invoke(asked("hi"), THREAD)["messages"][-1].text == "hello"
        model.settle()
        assert model.was_sent("hi")
        assert not model.was_sent("password")


def test_a_pause_is_no_failure_and_the_call_is_asked_about_again(project: Path, client: httpx.Client) -> None:
    def confirmed(name: str) -> str:
        """Ask first."""
        return f"{interrupt('sure?')} {name}"

    heard = Heard()
    turns = [Turn(calls=(ScriptedCall("confirmed", {"name": "x"}),)), Turn(text="done")]
    with ScriptedModel(turns) as model:
        hooks = HooksMiddleware(Engine(), told=heard)
        thread = agent(model, client, hooks, tool=confirmed, checkpointer=InMemorySaver())
        thread.invoke(asked("go"), THREAD)
        assert heard.names[-1] == "pre-tool-call"
        thread.invoke(Command(resume="yes"), THREAD)
        assert results(model) == ["yes x"]
    assert heard.names[-5:] == [
        *("pre-tool-call", "post-tool-call", "pre-agent-turn-stop", "post-agent-turn-stop", "post-agent-turn")
    ]


class Renaming(AgentMiddleware[Any, Any]):
    """Another middleware that changes calls."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call = request.tool_call
        return handler(request.override(tool_call={**call, "args": {"name": "renamed"}}))


def test_hooks_that_come_last_see_a_call_as_others_have_left_it(project: Path, client: httpx.Client) -> None:
    engine = Engine()
    engine.on("pre-tool-call", pattern="^renamed$")(saying(decision="deny", reason="Not that."))
    with ScriptedModel([NOTE, Turn(text="done")]) as model:
        agent(model, client, Renaming(), HooksMiddleware(engine)).invoke(asked("go"))
        assert results(model) == ["Not that."]


def test_a_run_is_cut_off_after_its_steps_and_nobody_sends_it_back(project: Path, client: httpx.Client) -> None:
    engine = Engine()
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Go on."))
    heard = Heard()
    with ScriptedModel([NOTE, NOTE, NOTE]) as model:
        hooks = HooksMiddleware(engine, max_steps=2, told=heard)
        result = agent(model, client, hooks).invoke(asked("go"))
        model.settle()
        assert len(model.requests) == 2
    assert result["messages"][-1].text == "Stopped after 2 steps"
    (stop,) = (event for event in heard.events if event.canonical == "pre-agent-turn-stop")
    assert stop.fields["stop_reason"] == "max_steps"
    assert stop.fields.get("final_message") is None


def test_invoke_works_where_a_loop_runs_already(project: Path, client: httpx.Client) -> None:
    engine = Engine()
    engine.on("pre-tool-call")(saying(decision="deny", reason="Not that."))

    async def main(model: ScriptedModel) -> Any:
        return agent(model, client, HooksMiddleware(engine)).invoke(asked("go"))

    with ScriptedModel([NOTE, Turn(text="done")]) as model:
        assert asyncio.run(main(model))["messages"][-1].text == "done"
        assert results(model) == ["Not that."]


def test_a_tool_may_run_a_loop_of_its_own(project: Path, client: httpx.Client) -> None:
    async def later() -> str:
        return "later"

    def waits(name: str) -> str:
        """Wait."""
        return asyncio.run(later())

    with ScriptedModel([Turn(calls=(ScriptedCall("waits", {"name": "x"}),)), Turn(text="done")]) as model:
        agent(model, client, HooksMiddleware(Engine()), tool=waits).invoke(asked("go"))
        assert results(model) == ["later"]


def test_streamed_runs_end_after_hooks_have_sent_them_back(project: Path, client: httpx.Client) -> None:
    engine = Engine()
    engine.on("pre-agent-turn-stop")(saying(decision="deny", reason="Look again."))
    with ScriptedModel([Turn(text=text) for text in ("one", "two", "three", "four")]) as model:
        states = list(agent(model, client, HooksMiddleware(engine)).stream(asked("go"), stream_mode="values"))
    assert states[-1]["messages"][-1].text == "four"


class Torn:
    """A surface that says no to one call once another is asked about too, and about that one nothing."""

    def __init__(self) -> None:
        self.both = threading.Barrier(2)
        self.waited = 0.0

    async def ask(self, request: Request) -> Answer | None:
        if request.call.tool_input["name"] == "refused":
            await asyncio.to_thread(self.both.wait, 20)
            return Answer(False, "person", reason="I say no.", ends_turn=True)
        begun = time.monotonic()
        try:  # it may be withdrawn before this goes on
            await asyncio.to_thread(self.both.wait, 20)
            await asyncio.sleep(30)
        finally:
            self.waited = time.monotonic() - begun
        return None


def test_a_plain_no_in_one_thread_withdraws_the_question_in_another(project: Path, client: httpx.Client) -> None:
    engine = Engine()
    engine.on("pre-tool-call")(saying(decision="ask"))
    surface = Torn()
    both = Turn(calls=(ScriptedCall("note", {"name": "refused"}), ScriptedCall("note", {"name": "waiting"})))
    with ScriptedModel([both, Turn(text="never said")]) as model:
        result = agent(model, client, HooksMiddleware(engine, surfaces=[surface])).invoke(asked("go"))
        model.settle()
        assert len(model.requests) == 1
    assert 0 < surface.waited < 20
    said = [message.text for message in result["messages"][-3:]]
    assert said == ["I say no.", "Not run: the user refused another call and ended the turn", "I say no."]
    assert not list(project.glob("*"))


def test_a_run_keeps_its_turn_however_many_others_have_begun(project: Path, client: httpx.Client) -> None:
    heard = Heard()
    hooks = HooksMiddleware(Engine(), max_steps=2, told=heard)

    def others(name: str) -> str:
        """Begin many runs that never say that they have ended."""
        for number in range(100):
            hooks.before_agent({"messages": [HumanMessage(f"other {number}")]}, Runtime())
        return "begun"

    turn = Turn(calls=(ScriptedCall("others", {"name": "x"}),))
    with ScriptedModel([turn, turn, Turn(text="never said")]) as model:
        result = agent(model, client, hooks, tool=others).invoke(asked("the first"))
    assert result["messages"][-1].text == "Stopped after 2 steps"
    assert heard.events[-1].canonical == "post-agent-turn"
    assert heard.events[-1].fields["prompt"] == "the first"


def test_a_run_that_goes_on_in_another_process_begins_a_turn_of_its_own(project: Path, client: httpx.Client) -> None:
    def confirmed(name: str) -> str:
        """Ask first."""
        return f"{interrupt('sure?')} {name}"

    kept = InMemorySaver()
    turns = [Turn(calls=(ScriptedCall("confirmed", {"name": "x"}),)), Turn(text="another"), Turn(text="done")]
    with ScriptedModel(turns) as model:
        agent(model, client, HooksMiddleware(Engine()), tool=confirmed, checkpointer=kept).invoke(asked("go"), THREAD)
        hooks = HooksMiddleware(Engine())
        later = agent(model, client, hooks, tool=confirmed, checkpointer=kept)
        later.invoke(asked("hi"), {"configurable": {"thread_id": "another"}})
        hooks.turn.reject("No more of that.")  # which is over, and not the turn that goes on
        assert later.invoke(Command(resume="yes"), THREAD)["messages"][-1].text == "done"
        assert results(model) == ["yes x"]
    assert not hooks._turns


def test_turns_of_runs_that_never_said_that_they_ended_are_forgotten(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks = HooksMiddleware(Engine())
    state: Any = {"messages": [HumanMessage("go")]}
    first = hooks.before_agent(state, Runtime())["tenterhook_turn"]
    second = hooks.before_agent(state, Runtime())["tenterhook_turn"]
    assert list(hooks._turns) == [first, second]
    monkeypatch.setattr(langchain, "_KEPT", -1.0)
    third = hooks.before_agent(state, Runtime())["tenterhook_turn"]
    assert list(hooks._turns) == [third]


def test_instructions_in_blocks_stay_blocks(project: Path, client: httpx.Client) -> None:
    engine = Engine()
    engine.on("pre-session")(saying(additional_context="HOUSE-RULE"))
    hooks = HooksMiddleware(engine)
    asyncio.run(hooks.begin())
    own = {"type": "text", "text": "Be brief."}
    with ScriptedModel([Turn(text="done")]) as model:
        agent(model, client, hooks, system_prompt=SystemMessage([own])).invoke(asked("go"))
        model.settle()
        first, second = model.requests[0].body["messages"][0]["content"]
    assert first == own
    assert "HOUSE-RULE" in second["text"]
