"""The shape of payloads, which is their keys and the types of their values; and how two shapes differ.

What a model writes into a tool's input says nothing about the agent: of it, only the type counts. What a tool returns
is compared with what the same tool returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Payloads = Sequence[Mapping[str, Any]]
    Path = tuple[str, ...]

OPAQUE = ("tool_input", "toolArgs", "toolInput", "args", "input", "parameters", "llm_request", "llm_response")
RESULTS = ("tool_response", "toolResult", "tool_output", "tool_result", "output", "result")
NAMES = ("tool_name", "toolName", "tool")
_ELEMENT, _GONE = "[]", "is gone"


class Difference(NamedTuple):
    """One key of an event's payload that is not as it was recorded."""

    event: str
    key: str
    what: str

    @property
    def is_more(self) -> bool:
        """Whether something is there that was not recorded, rather than missing."""
        return self.what != _GONE

    def __str__(self) -> str:
        return f"`{self.event}`: `{self.key}` {self.what}"


class _Value:
    """What stands at one path of several payloads."""

    def __init__(self) -> None:
        self.types: set[str] = set()
        self.times = 0
        self.objects = 0  # how many of them are objects


def differences(recorded: Mapping[str, Payloads], seen: Mapping[str, Payloads]) -> list[Difference]:
    """How payloads differ from the recorded ones, by event. What was not seen, or not recorded, is not compared."""
    found: list[Difference] = []
    for event in recorded.keys() & seen.keys():
        before, now = recorded[event], seen[event]
        found += _named(event, [_without_results(each) for each in before], [_without_results(each) for each in now])
        for name in {tool(each) for each in before} & {tool(each) for each in now} - {""}:
            results = [
                [*filter(None, (_results(each) for each in side if tool(each) == name))] for side in (before, now)
            ]
            found += _named(f"{event} of {name}", *results) if all(results) else []
    return sorted(found)


def tool(payload: Mapping[str, Any]) -> str:
    """The tool of a call; empty if the payload is about none."""
    return next((str(payload[key]) for key in NAMES if key in payload), "")


def _without_results(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: None if key in RESULTS else value for key, value in payload.items()}


def _results(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in payload.items() if key in RESULTS}


def _named(event: str, recorded: Payloads, seen: Payloads) -> list[Difference]:
    known, now = _shape(recorded), _shape(seen)
    found = _differences(known, now)
    return [Difference(event, ".".join(path).replace(f".{_ELEMENT}", _ELEMENT), what) for path, what in found]


def _shape(payloads: Payloads) -> dict[Path, _Value]:
    shape: dict[Path, _Value] = {}
    for each in payloads:
        _add(shape, (), each)
    return shape


def _add(shape: dict[Path, _Value], path: Path, value: Any) -> None:
    known = shape.setdefault(path, _Value())
    known.types.add(_type(value))
    known.times += 1
    if isinstance(value, dict) and path[-1:] not in [(key,) for key in OPAQUE]:
        known.objects += 1
        for key, each in value.items():
            _add(shape, (*path, str(key)), each)
    elif isinstance(value, list):
        for each in value:
            _add(shape, (*path, _ELEMENT), each)


def _type(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "true or false", str: "text", dict: "an object", list: "a list"}
    return names.get(type(value), "a number")


def _differences(known: dict[Path, _Value], now: dict[Path, _Value]) -> Iterator[tuple[Path, str]]:
    said: set[Path] = set()
    for path in sorted({*known, *now}):
        if any(path[:length] in said for length in range(len(path))):
            continue  # it is part of what has been said
        what = _change(path, known, now)
        if what:
            said.add(path)
            yield path, what


def _change(path: Path, known: dict[Path, _Value], now: dict[Path, _Value]) -> str | None:
    around, around_now = known.get(path[:-1]), now.get(path[:-1])
    if path not in known:  # a list may have been empty, an object null
        return "is new" if around is not None and around.objects else None
    if path not in now:
        was_always_there = around is not None and known[path].times == around.objects
        return _GONE if was_always_there and around_now is not None and around_now.objects else None
    more = now[path].types - known[path].types - {"null"}
    if not more or known[path].types == {"null"}:
        return None
    return f"was {' or '.join(sorted(known[path].types))}, is {' or '.join(sorted(more))}"
