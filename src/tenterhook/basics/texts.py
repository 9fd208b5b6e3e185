"""The strings that matchers are searched in."""

from __future__ import annotations

from . import light_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def text(value: Any) -> str:
    """A string as it is, any other plain value in its JSON form."""
    return value if isinstance(value, str) else light_json.dumps(value, ascii_only=False)


def prompt_text(prompt: Any) -> str:
    """A prompt's text, given as a string or as a list of content parts."""
    if isinstance(prompt, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in prompt]
        return "\n".join(part for part in parts if isinstance(part, str))
    return text(prompt)


def input_texts(value: Any) -> list[str]:
    """Each string value of a tool's input, nested ones too; numbers and booleans in their JSON form."""
    if value is None:
        return []
    if not isinstance(value, dict):
        return [text(value)]
    found: list[str] = []
    left: list[Any] = [value]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            left.extend(reversed(item.values()))
        elif isinstance(item, list):
            left.extend(reversed(item))
        elif item is not None:
            found.append(text(item))
    return found
