"""OpenAI responses of the scripted model, as one object and as a stream."""

from __future__ import annotations

import json

import pytest

from doctor.live.speaking import SHELL, TOOLS, events, post
from tenterhook.doctor.live import responses
from tenterhook.doctor.live.model import ScriptedCall, ScriptedModel, Turn


def test_a_text_and_calls_are_one_object() -> None:
    spawn = ScriptedCall("spawn", {"task": "x"}, namespace="agents")
    patch = ScriptedCall("apply_patch", "*** Begin Patch", custom=True)
    with ScriptedModel([Turn("so", (spawn, patch))]) as model:
        answer = json.loads(post(model, "/v1/responses", {"input": "go", "tools": TOOLS}))
    message, function, custom = answer["output"]
    assert message["content"][0]["text"] == "so"
    assert (function["type"], function["namespace"], function["name"]) == ("function_call", "agents", "spawn")
    assert json.loads(function["arguments"]) == {"task": "x"}
    assert (custom["type"], custom["input"]) == ("custom_tool_call", "*** Begin Patch")


def test_a_text_and_calls_are_streamed() -> None:
    with ScriptedModel([Turn("so", (SHELL,))]) as model:
        found = events(post(model, "/v1/responses", {"input": [], "tools": TOOLS, "stream": True}))
    names = [name for name, _ in found]
    assert names[0] == "response.created"
    assert names[-1] == "response.completed"
    assert [data["sequence_number"] for _, data in found] == list(range(len(found)))
    begun = [data["item"] for name, data in found if name == "response.output_item.added"]
    done = [data["item"] for name, data in found if name == "response.output_item.done"]
    assert [item["type"] for item in done] == ["message", "function_call"]
    assert begun[1]["arguments"] == ""
    assert json.loads(done[1]["arguments"]) == SHELL.input
    assert found[-1][1]["response"]["output"] == done


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"input": "go"}, False),
        ({"input": [{"type": "message"}, "text"]}, False),
        ({"input": [{"type": "additional_tools"}]}, True),
        ({"input": "go", "tools": TOOLS}, True),
    ],
)
def test_tools_may_be_declared_beside_the_input_or_in_it(body: dict[str, object], expected: bool) -> None:
    assert responses.has_tools(body) is expected


def test_outputs_of_every_kind_of_call_are_tool_results() -> None:
    kinds = ("function_call_output", "custom_tool_call_output", "function_call")
    items = [{"type": kind, "call_id": kind, "output": "done"} for kind in kinds]
    assert [call for call, _ in responses.tool_results({"input": items})] == list(kinds[:2])
