"""OpenAI chat completions, as Kimi CLI, Kimi Code, Qwen Code and Copilot speak it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...basics.model_script import ScriptedCall, Turn


def has_tools(body: dict[str, Any]) -> bool:
    return bool(body.get("tools"))


def whole(body: dict[str, Any], turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [_call(call) for call in turn.calls]
    finish = "tool_calls" if turn.calls else "stop"
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": turn.tokens,
            "completion_tokens": turn.output_tokens,
            "total_tokens": turn.tokens + turn.output_tokens,
        },
    }


def _call(call: ScriptedCall) -> dict[str, Any]:
    arguments = call.input if isinstance(call.input, str) else json.dumps(call.input)
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": arguments}}


def streamed(whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    choice, usage = whole["choices"][0], whole["usage"]
    message = choice["message"]
    base = {**whole, "object": "chat.completion.chunk", "usage": None}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[None, dict[str, Any]]:
        return None, {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": message["content"] or ""})
    calls = message.get("tool_calls", ())
    if calls:
        yield chunk({"tool_calls": [{"index": number, **call} for number, call in enumerate(calls)]})
    yield chunk({}, choice["finish_reason"])
    yield None, {**base, "choices": [], "usage": usage}
    yield None, "[DONE]"


def tool_results(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for message in body.get("messages", ()):
        if message.get("role") == "tool":
            yield str(message.get("tool_call_id")), message.get("content")
