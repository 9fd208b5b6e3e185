"""What a record of the journal is about, in a few words of its own: the command, the file, the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import texts

if TYPE_CHECKING:
    from collections.abc import Mapping

PATHS = ("file_path", "path")
_TOLD = ("prompt", "command", *PATHS, "pattern", "url", "error", "message")  # the first that is there


class Subject(NamedTuple):
    """The field that tells most, and its value."""

    key: str
    value: Any

    @property
    def text(self) -> str:
        """The value as one text."""
        return texts.prompt_text(self.value) if self.key == "prompt" else texts.text(self.value)


def subject(record: Mapping[str, Any]) -> Subject | None:
    """What an event was about; None if its payload was not kept or says nothing of it."""
    fields = record.get("fields")
    if not isinstance(fields, dict):
        return None
    given = fields.get("tool_input")
    places = [given, fields] if isinstance(given, dict) else [fields]
    found = next((Subject(key, place[key]) for place in places for key in _TOLD if place.get(key)), None)
    return found or (Subject("tool_input", given) if given else None)
