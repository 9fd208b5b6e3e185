"""The model APIs that agents use, as one table. Each is a module with the functions of `Protocol`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from typing import Protocol as Structure

from . import chat_completions, generate_content, messages, responses

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...basics.model_script import Turn


class Protocol(Structure):
    """A model API."""

    def has_tools(self, body: dict[str, Any]) -> bool:
        """Return whether the request has tools; those for titles and summaries have none."""

    def whole(self, body: dict[str, Any], turn: Turn) -> dict[str, Any]:
        """Return the answer as one object."""

    def streamed(self, whole: dict[str, Any]) -> Iterator[tuple[str | None, Any]]:
        """Yield the same answer as events: name, if they have one, and data. Text is sent as it is."""

    def tool_results(self, body: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the id of each tool call so far and its result, as the agent sent it."""


PROTOCOLS: dict[str, Protocol] = {
    "chat-completions": chat_completions,
    "responses": responses,
    "messages": messages,
    "generate-content": generate_content,
}

_ENDINGS = {
    "/chat/completions": "chat-completions",
    "/responses": "responses",
    "/messages": "messages",
    ":generateContent": "generate-content",
    ":streamGenerateContent": "generate-content",
}


def of_path(path: str) -> str | None:
    """Return the protocol of a path, or None."""
    return next((name for ending, name in _ENDINGS.items() if path.endswith(ending)), None)


def is_streamed(path: str, body: dict[str, Any]) -> bool:
    return path.endswith(":streamGenerateContent") or body.get("stream") is True


def as_text(result: Any) -> str:
    """Return a tool's result, of any shape, as text."""
    if isinstance(result, str):
        return result
    if isinstance(result, list):
        return "\n".join(map(as_text, result))
    if isinstance(result, dict):
        for key in ("text", "output", "error", "content"):
            if isinstance(result.get(key), str | list):
                return as_text(result[key])
    return json.dumps(result, ensure_ascii=False)
