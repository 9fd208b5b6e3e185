"""What is pydantic-ai's own: calls that never run, results with an exit code, inputs that it validates."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai import Agent, ModelRetry, ToolReturn
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from adapters.stages import Played, openai_client, saying
from tenterhook import Engine
from tenterhook.adapters.pydantic_ai import HooksCapability
from tenterhook.doctor.live.model import MODEL, ScriptedCall, ScriptedModel, Turn

if TYPE_CHECKING:
    from pathlib import Path


def count(number: int, unit: str = "items") -> Any:
    """Count."""
    return ToolReturn(f"{number} {unit}", metadata={"exit_code": number})


def show(what: str) -> Any:
    """Show a secret in a result, beside it, or as a reason to try again."""
    if what == "retry":
        raise ModelRetry("a secret")
    return ToolReturn("a secret", content="a secret beside it")


def play(engine: Engine, *calls: ScriptedCall) -> Played:
    """A run whose model makes these calls, one after the other."""
    played = Played()
    hooks = HooksCapability(engine, told=played.hear)

    async def run() -> None:
        async with openai_client(played.model.url) as client:
            model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
            agent = Agent(model, capabilities=[hooks], tools=[count, show], retries=3)
            played.answer = (await agent.run("go")).output

    with ScriptedModel([*(Turn(calls=(call,)) for call in calls), Turn(text="done")]) as played.model:
        asyncio.run(run())
        played.results = played.model.tool_results()
    return played


@pytest.mark.parametrize(("number", "event"), [(0, "post-tool-call"), (3, "post-tool-call-failure")])
def test_an_exit_code_makes_a_failure_and_the_model_gets_the_output(number: int, event: str, project: Path) -> None:
    played = play(Engine(), ScriptedCall("count", {"number": number}))
    assert [name for name in played.names if name.startswith("post-tool")] == [event]
    assert played.results == [f"{number} items"]


@pytest.mark.parametrize(
    "call", [ScriptedCall("missing", {"x": 1}), ScriptedCall("count", {"number": "many"})], ids=["tool", "input"]
)
def test_a_call_that_never_ran_is_a_failure_for_hooks(call: ScriptedCall, project: Path) -> None:
    played = play(Engine(), call)
    assert "pre-tool-call" not in played.names
    (failed,) = played.events("post-tool-call-failure")
    assert (failed.tool_name, failed.tool_input) == (call.tool, call.input)
    assert played.answer == "done"


@pytest.mark.parametrize(
    "call",
    [
        ScriptedCall("show", {"what": "result"}),
        ScriptedCall("show", {"what": "retry"}),
        ScriptedCall("show", {"what": ["a secret"]}),
        ScriptedCall("missing", {"x": 1}),
    ],
    ids=["with content", "retry", "input", "tool"],
)
def test_a_replaced_output_is_all_that_the_model_gets(call: ScriptedCall, project: Path) -> None:
    engine = Engine()
    for event in ("post-tool-call", "post-tool-call-failure"):
        engine.on(event)(saying(modified_output="replaced"))
    played = play(engine, call)
    (result,) = played.results
    assert "replaced" in result
    assert "secret" not in result
    assert not played.model.was_sent("a secret beside it")
    assert played.answer == "done"


def test_hooks_see_the_input_without_the_tools_defaults(project: Path) -> None:
    played = play(Engine(), ScriptedCall("count", {"number": 0}))
    (before,) = played.events("pre-tool-call")
    assert before.tool_input == {"number": 0}


def test_an_input_that_a_hook_made_is_validated(project: Path) -> None:
    engine = Engine()
    engine.on("pre-tool-call")(saying(modified_input={"number": "many"}))
    played = play(engine, ScriptedCall("count", {"number": 0}))
    assert "post-tool-call" not in played.names
    (result,) = played.results
    assert "one that the tool does not accept: number" in result
