"""Which protocol a request is in, and tool results as text in each."""

from __future__ import annotations

from typing import Any

import pytest

from doctor.live.speaking import post
from tenterhook.doctor.live import protocols
from tenterhook.doctor.live.model import ScriptedModel


@pytest.mark.parametrize(
    ("path", "protocol"),
    [
        ("/v1/chat/completions", "chat-completions"),
        ("/v1/responses", "responses"),
        ("/v1/messages", "messages"),
        ("/v1beta/models/m:streamGenerateContent", "generate-content"),
        ("/v1/messages/count_tokens", None),
        ("/v1/models", None),
    ],
)
def test_a_protocol_is_known_by_the_end_of_the_path(path: str, protocol: str | None) -> None:
    assert protocols.of_path(path) == protocol


def test_a_stream_is_asked_for_in_the_path_or_in_the_body() -> None:
    assert protocols.is_streamed("/m:streamGenerateContent", {})
    assert protocols.is_streamed("/v1/messages", {"stream": True})
    assert not protocols.is_streamed("/v1/messages", {"stream": "no"})


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("as it is", "as it is"),
        ([{"type": "text", "text": "one"}, "two"], "one\ntwo"),
        ({"error": "not found", "output": None}, "not found"),
        ({"content": [{"text": "inside"}]}, "inside"),
        ({"größe": 1}, '{"größe": 1}'),
        (None, "null"),
    ],
)
def test_a_result_of_any_shape_becomes_text(result: Any, text: str) -> None:
    assert protocols.as_text(result) == text


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [{"role": "tool", "tool_call_id": "1", "content": "done"}]}),
        ("/v1/responses", {"input": [{"type": "function_call_output", "call_id": "1", "output": "done"}]}),
        (
            "/v1/messages",
            {
                "messages": [
                    {"role": "user", "content": "go"},
                    {"content": [{"type": "tool_result", "content": [{"type": "text", "text": "done"}]}]},
                ]
            },
        ),
        (
            "/v1beta/models/m:generateContent",
            {"contents": [{"parts": [{"functionResponse": {"id": "1", "response": {"output": "done"}}}]}]},
        ),
    ],
    ids=["chat-completions", "responses", "messages", "generate-content"],
)
def test_a_tool_result_is_read_as_text_in_each_protocol(path: str, body: dict[str, Any]) -> None:
    with ScriptedModel() as model:
        post(model, path, body)
        model.settle()
        assert model.tool_results() == ["done"]
