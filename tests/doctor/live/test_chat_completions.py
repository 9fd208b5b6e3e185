"""OpenAI chat completions of the scripted model, as one object and as a stream."""

from __future__ import annotations

import json

from doctor.live.speaking import SHELL, TOOLS, chat, events
from tenterhook.doctor.live import chat_completions
from tenterhook.doctor.live.model import ScriptedModel, Turn


def test_a_text_and_calls_are_one_object() -> None:
    with ScriptedModel([Turn(calls=(SHELL,), tokens=7)]) as model:
        answer = json.loads(chat(model))
    choice = answer["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    function = choice["message"]["tool_calls"][0]["function"]
    assert (function["name"], json.loads(function["arguments"])) == ("shell", SHELL.input)
    assert answer["usage"]["prompt_tokens"] == 7


def test_a_text_and_calls_are_streamed() -> None:
    with ScriptedModel([Turn("so", (SHELL, SHELL))]) as model:
        chunks = events(chat(model, stream=True))
    assert chunks[-1] == (None, "[DONE]")
    deltas = [chunk["choices"][0]["delta"] for _, chunk in chunks[:-2]]
    assert deltas[0] == {"role": "assistant", "content": "so"}
    calls = deltas[1]["tool_calls"]
    assert [call["index"] for call in calls] == [0, 1]
    assert calls[0]["id"] != calls[1]["id"]
    assert chunks[-2][1]["usage"]["total_tokens"] == 110


def test_a_title_or_summary_is_asked_for_without_tools() -> None:
    assert not chat_completions.has_tools({"messages": []})
    assert not chat_completions.has_tools({"tools": []})
    assert chat_completions.has_tools({"tools": TOOLS})
