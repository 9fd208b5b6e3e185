"""Anthropic messages, as Claude Code speaks it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...basics.model_script import Turn


def has_tools(body: dict[str, Any]) -> bool:
    return bool(body.get("tools"))


def whole(body: dict[str, Any], turn: Turn) -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
    for call in turn.calls:
        name, given = call.tool, call.input
        blocks.append({"type": "tool_use", "id": f"toolu_{call.id}", "name": name, "input": given})
    return {
        "id": f"msg_{uuid4().hex}",  # Claude Code treats equal ids as one message
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "scripted"),
        "content": blocks,
        "stop_reason": "tool_use" if turn.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": turn.tokens,
            "output_tokens": turn.output_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def streamed(whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    def event(kind: str, **data: Any) -> tuple[str, dict[str, Any]]:
        return kind, {"type": kind, **data}

    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield event("message_start", message=begun)
    for index, block in enumerate(whole["content"]):
        delta: dict[str, Any]
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield event("content_block_start", index=index, content_block=empty)
        yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event("message_delta", delta=ended, usage={"output_tokens": whole["usage"]["output_tokens"]})
    yield event("message_stop")


def tool_results(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for message in body.get("messages", ()):
        content = message.get("content")
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                yield str(block.get("tool_use_id")), block.get("content")
