"""Finds the JSON in a hook's output."""

from __future__ import annotations

from ..basics import light_json
from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Parsed(NamedTuple):
    """A hook's output: the JSON value in it, a note about it, why it is not valid. All are None for plain text."""

    answer: Any = None
    note: str | None = None
    error: str | None = None


def parse(stdout: str) -> Parsed:
    """Return the JSON in a hook's output. Output that begins with `[` is text unless it is valid JSON."""
    stdout = stdout.removeprefix("\ufeff").strip()
    if stdout[:1] in ("{", "["):
        try:
            return Parsed(light_json.loads(stdout))
        except (ValueError, RecursionError):
            pass
    before, newline, last = stdout.rpartition("\n")
    if not (newline and last.lstrip().startswith("{")):
        # an object on several lines, after other text
        before, newline, last = stdout.partition("\n{")
        last = "{" + last
    if newline:
        try:
            answer = light_json.loads(last)
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict):
            note = f"stdout held {len(before.strip())} characters of text before the JSON object"
            return Parsed(answer, note)
    if stdout.startswith("{"):
        return Parsed(error=f"unreadable answer: stdout is not valid JSON ({_place_of_error(stdout)})")
    return Parsed()


def _place_of_error(text: str) -> str:
    import json  # slow to import, and only needed for errors

    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}, column {error.colno}"
    except (ValueError, RecursionError):  # a number that is too long, or too many brackets
        pass
    return "too large or nested too deeply"
