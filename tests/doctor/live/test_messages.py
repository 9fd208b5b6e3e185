"""Anthropic messages of the scripted model, as one object and as a stream."""

from __future__ import annotations

import json

from doctor.live.speaking import SHELL, TOOLS, events, post
from tenterhook.doctor.live import messages
from tenterhook.doctor.live.model import ScriptedModel, Turn


def test_a_text_and_calls_are_one_object() -> None:
    with ScriptedModel([Turn("so", (SHELL,))]) as model:
        answer = json.loads(post(model, "/v1/messages?beta=true", {"messages": [], "tools": TOOLS}))
    text, use = answer["content"]
    assert text == {"type": "text", "text": "so"}
    assert (use["type"], use["name"], use["input"]) == ("tool_use", "shell", SHELL.input)
    assert answer["stop_reason"] == "tool_use"


def test_a_text_and_calls_are_streamed() -> None:
    with ScriptedModel([Turn("so", (SHELL,))]) as model:
        found = events(post(model, "/v1/messages", {"messages": [], "tools": TOOLS, "stream": True}))
    assert all(name == data["type"] for name, data in found)
    assert (found[0][0], found[-1][0]) == ("message_start", "message_stop")
    deltas = [data["delta"] for name, data in found if name == "content_block_delta"]
    assert deltas[0]["text"] == "so"
    assert json.loads(deltas[1]["partial_json"]) == SHELL.input
    assert [data["delta"]["stop_reason"] for name, data in found if name == "message_delta"] == ["tool_use"]


def test_each_answer_has_an_id_of_its_own() -> None:
    ids = {messages.whole({}, Turn("same"))["id"] for _ in range(2)}
    assert len(ids) == 2


def test_only_tool_results_are_tool_results() -> None:
    content = ["text", {"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "1", "content": "done"}]
    body = {"messages": [{"role": "user", "content": "go"}, {"role": "user", "content": content}]}
    assert list(messages.tool_results(body)) == [("1", "done")]
