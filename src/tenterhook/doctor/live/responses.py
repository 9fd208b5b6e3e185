"""OpenAI responses, as Codex speaks it."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...basics.model_script import ScriptedCall, Turn


def has_tools(body: dict[str, Any]) -> bool:
    # Codex may also declare them as an item of the input
    return bool(body.get("tools")) or any(item.get("type") == "additional_tools" for item in _items(body))


def _items(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    given = body.get("input")
    return (item for item in given if isinstance(item, dict)) if isinstance(given, list) else iter(())


def whole(body: dict[str, Any], turn: Turn) -> dict[str, Any]:
    output: list[dict[str, Any]] = []
    if turn.text is not None:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        output.append(
            {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": content}
        )
    output += [_call(call) for call in turn.calls]
    return {
        "id": f"resp_{uuid4().hex}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": body.get("model", "scripted"),
        "output": output,
        "usage": {
            "input_tokens": turn.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": turn.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.tokens + turn.output_tokens,
        },
    }


def _call(call: ScriptedCall) -> dict[str, Any]:
    given = call.input if isinstance(call.input, str) else json.dumps(call.input)
    item = {"id": f"item_{call.id}", "call_id": call.id, "name": call.tool, "status": "completed"}
    if call.custom:
        return {"type": "custom_tool_call", "input": given, **item}
    if call.namespace:
        item["namespace"] = call.namespace
    return {"type": "function_call", "arguments": given, **item}


def streamed(whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    numbers = count()

    def event(kind: str, **data: Any) -> tuple[str, dict[str, Any]]:
        return kind, {"type": kind, "sequence_number": next(numbers), **data}

    yield event("response.created", response={**whole, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(whole["output"]):
        place = {"item_id": item["id"], "output_index": index}
        begun = {key: [] if key == "content" else "" for key in ("content", "arguments", "input") if key in item}
        yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", **begun})
        if item["type"] == "message":
            text = item["content"][0]["text"]
            yield event("response.output_text.delta", **place, content_index=0, delta=text)
        elif item["type"] == "function_call":
            yield event("response.function_call_arguments.delta", **place, delta=item["arguments"])
            yield event("response.function_call_arguments.done", **place, arguments=item["arguments"])
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response=whole)


def tool_results(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for item in _items(body):
        if str(item.get("type")).endswith("_call_output"):
            yield str(item.get("call_id")), item.get("output")
