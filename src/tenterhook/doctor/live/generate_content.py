"""Gemini's generateContent, as Gemini CLI speaks it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...basics.model_script import CLOSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...basics.model_script import Turn

# Gemini CLI asks a small model for JSON beside the conversation: which model to use, who speaks next
_JUDGEMENT = {
    "reasoning": "scripted",
    "next_speaker": "user",
    "model_choice": "flash",
    "complexity_reasoning": "scripted",
    "complexity_score": 1,
}


def has_tools(body: dict[str, Any]) -> bool:
    return any(tool.get("functionDeclarations") for tool in body.get("tools", ()))


def whole(body: dict[str, Any], turn: Turn) -> dict[str, Any]:
    text = turn.text
    if turn in CLOSING.values() and _wants_json(body):
        text = json.dumps(_JUDGEMENT)
    parts: list[dict[str, Any]] = [] if text is None else [{"text": text}]
    for call in turn.calls:
        asked = {"id": call.id, "name": call.tool, "args": call.input}
        parts.append({"functionCall": asked, "thoughtSignature": "c2lnbmVk"})  # it sends back only signed calls
    return {
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {
            "promptTokenCount": turn.tokens,
            "candidatesTokenCount": turn.output_tokens,
            "totalTokenCount": turn.tokens + turn.output_tokens,
        },
        "modelVersion": "scripted",
        "responseId": "scripted",
    }


def _wants_json(body: dict[str, Any]) -> bool:
    config = body.get("generationConfig") or {}
    schema = "responseJsonSchema" in config or "responseSchema" in config
    return schema or config.get("responseMimeType") == "application/json"


def streamed(whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
    yield None, whole


def tool_results(body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for content in body.get("contents", ()):
        for part in content.get("parts", ()):
            if "functionResponse" in part:
                response = part["functionResponse"]
                yield str(response.get("id")), response.get("response")
