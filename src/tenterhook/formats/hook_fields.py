"""The fields of the three formats as tables, against which definitions are checked."""

from __future__ import annotations

from ..basics.named_tuples import NamedTuple
from ..errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


class Field(NamedTuple):
    """One key of a format: its type, its default and its range (of a number, or of a text's length)."""

    key: str
    kind: type
    default: Any = None
    low: int | None = None
    high: int | None = None
    required: bool = False
    choices: tuple[str, ...] = ()
    meaning: str = ""


_MATCHER = Field("matcher", dict, meaning="`tool` and `pattern`: regular expressions; both must be found")
_TIMEOUT_MS = Field("timeout", int, 30000, 100, 600000, meaning="milliseconds")

FOLDER = (
    Field("name", str, None, 1, 64, required=True, meaning="lower-case letters, digits and hyphens"),
    Field("description", str, "", 0, 1024, meaning="what the hook does"),
    Field("trigger", str, None, required=True, meaning="any name of an event"),
    _MATCHER,
    _TIMEOUT_MS,
    Field("async", bool, False, meaning="do not wait, decide nothing"),
    Field("priority", int, 100, 0, 1000, meaning="higher runs first"),
    Field("metadata", dict, {}, meaning="for the hook's own use; `on_failure: block` makes it fail closed"),
)
TABLE = (
    Field("name", str, None, 1, 64, meaning="unnamed: `<event>[n]`"),
    Field("type", str, "command", choices=("command",), meaning="the only type there is"),
    Field("command", str, None, 1, required=True, meaning="a shell line; `{{field}}` is a placeholder"),
    _MATCHER,
    _TIMEOUT_MS,
    Field("async_", bool, False, meaning="do not wait, decide nothing"),
    Field("description", str, "", 0, 1024, meaning="what the hook does"),
)
ARRAY = (
    Field("event", str, None, 1, required=True, meaning="any name of an event"),
    Field("matcher", str, "", meaning="a regular expression searched in the event's target"),
    Field("command", str, None, 1, required=True, meaning="a shell line"),
    Field("timeout", int, 30, 1, 600, meaning="seconds"),
    Field("fail_mode", str, "open", choices=("open", "closed"), meaning="what a failure of the hook means"),
)
MATCHER = (
    Field("tool", str, None, meaning="searched in the tool's names"),
    Field("pattern", str, None, meaning="searched in each string value of the tool's input"),
)

_KINDS: dict[type, str] = {
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: "a table",
    list: "an array",
}


def check(
    fields: Sequence[Field],
    raw: Mapping[str, Any],
    file: str,
    line_of: Callable[[str], int | None],
    *,
    extra: str = "ignored-key",
) -> tuple[dict[str, Any], list[Problem]]:
    """Return the values of a definition, with defaults, and their problems.

    `extra` is the code of the problem for an unknown key.
    """
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    left = len(raw)
    for field in fields:
        key, kind, default, low, high, required, choices, meaning = field
        value = raw.get(key)
        if value is None:
            left -= key in raw
            if required:
                remedy = f"add {key}: {meaning or _KINDS[kind]}"
                problems.append(Problem("missing-key", file, line_of(""), key, f"'{key}' is missing", remedy))
            values[key] = default
            continue
        left -= 1
        values[key] = value
        if type(value) is kind and low is None and high is None and not choices:
            continue  # nothing more to check
        wrong = _wrong(field, value)
        if wrong:
            problems.append(Problem("bad-value", file, line_of(key), key, *wrong))
    if left:
        problems[:0] = _unknown(fields, raw, file, line_of, extra)
    return values, problems


def _unknown(
    fields: Sequence[Field], raw: Mapping[str, Any], file: str, line_of: Callable[[str], int | None], code: str
) -> list[Problem]:
    from difflib import get_close_matches

    known = [field.key for field in fields]
    problems = []
    for key in raw:
        if key not in known:
            close = get_close_matches(str(key), known, n=1)
            remedy = f"did you mean '{close[0]}'?" if close else f"remove it; the keys are {', '.join(known)}"
            problems.append(Problem(code, file, line_of(str(key)), str(key), f"unknown key '{key}'", remedy))
    return problems


def _wrong(field: Field, value: Any) -> tuple[str, str] | None:
    """Return what is wrong with a value, and the remedy; None if nothing is."""
    if not isinstance(value, field.kind) or (field.kind is int and isinstance(value, bool)):
        return f"'{field.key}' is {value!r}", f"make it {_KINDS[field.kind]} ({field.meaning})"
    if field.choices and value not in field.choices:
        return f"'{field.key}' is {value!r}", f"use {' or '.join(field.choices)}"
    size: int = len(value.strip()) if isinstance(value, str) else value if isinstance(value, int) else 0
    what = " characters" if field.kind is str else ""
    if field.low is not None and size < field.low:
        if field.kind is not str:
            return f"'{field.key}' is {size}", f"use {field.low} to {field.high} ({field.meaning})"
        return f"'{field.key}' is empty", f"give it {field.low} to {field.high}{what}" if field.high else "fill it in"
    if field.high is not None and size > field.high:
        return f"'{field.key}' is {size}{what}", f"use {field.low} to {field.high}{what} ({field.meaning})"
    return None
