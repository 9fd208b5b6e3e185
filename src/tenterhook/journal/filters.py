"""Which records of the journal a reader asks for: one set of conditions, for the index and for a record at hand."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TYPES = ("verdict", "async", "approval")  # the others are about the journal itself


class Wanted(NamedTuple):
    """The filters a reader has given."""

    session: str | None = None
    event: str | None = None  # canonical
    hook: str | None = None
    decision: str | None = None
    since: float | None = None
    until: float | None = None
    by: str | None = None
    shadow: bool = False  # only runs in shadow mode


class Condition(NamedTuple):
    """A column, how it is compared, and with what."""

    column: str
    comparison: str  # as SQL writes it
    value: Any


class Conditions(NamedTuple):
    """What must be true of a record, and of at least one of its runs."""

    record: tuple[Condition, ...]
    run: tuple[Condition, ...]


class Columns(NamedTuple):
    """A record as it is compared."""

    time: float
    type: str | None
    by: str | None
    session: str | None
    event: str | None
    decision: str | None
    tool: str | None
    payload: str | None
    waited: float | None


class RunColumns(NamedTuple):
    """What one hook did, as it is compared."""

    hook: str
    source: str | None
    outcome: str | None
    meaning: str | None
    decision: str | None
    shadow: bool
    duration: float | None
    changes: bool  # it gave another input
    tells: bool  # it had something to say to the model or the person


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {"=": operator.eq, ">=": operator.ge, "<": operator.lt}


def conditions(wanted: Wanted) -> Conditions:
    """The conditions that the filters stand for."""
    words = {"session": wanted.session, "event": wanted.event, "decision": wanted.decision, "by": wanted.by}
    record = [Condition(column, "=", utf8(value)) for column, value in words.items() if value is not None]
    times = ((">=", wanted.since), ("<", wanted.until))
    record += [Condition("time", comparison, moment) for comparison, moment in times if moment is not None]
    run = [] if wanted.hook is None else [Condition("hook", "=", utf8(wanted.hook))]
    run += [Condition("shadow", "=", True)] if wanted.shadow else []
    return Conditions(tuple(record), tuple(run))


def fits(record: Mapping[str, Any], chosen: Conditions) -> bool:
    """Whether a record is one that a reader asks for."""
    columns = columns_of(record)
    if columns is None:
        return False
    of_record, of_run = chosen
    return _holds(of_record, columns) and (not of_run or any(_holds(of_run, run) for run in runs_of(record)))


def _holds(conditions: tuple[Condition, ...], columns: NamedTuple) -> bool:
    return all(_COMPARED[each.comparison](getattr(columns, each.column), each.value) for each in conditions)


def columns_of(record: Mapping[str, Any]) -> Columns | None:
    """A record's columns; None for the journal's own lines. One without a time that can be read is as old as can be."""
    get = record.get
    if get("type") not in TYPES:
        return None
    return Columns(
        time=moment_of(record),
        type=_word(get("type")),
        by=_word(get("by")),
        session=_word(get("session_id")),
        event=_word(get("event")),
        decision=_word(get("decision")),
        tool=_word(get("tool_name")),
        payload=_word(get("payload")),
        waited=_number(get("waited_ms")),
    )


def moment_of(record: Mapping[str, Any]) -> float:
    """When a record was written, in seconds since 1970; 0 if it does not say."""
    return _number(record.get("time")) or 0.0


def runs_of(record: Mapping[str, Any]) -> list[RunColumns]:
    """What each hook did; the end of an asynchronous one is a record of its own."""
    runs = [record] if record.get("type") == "async" else record.get("runs")
    return [_run(run) for run in (runs if isinstance(runs, list) else ()) if _names_hook(run)]


def _names_hook(run: Any) -> bool:
    return isinstance(run, dict) and isinstance(run.get("hook"), str)


def _run(run: Mapping[str, Any]) -> RunColumns:
    get = run.get
    return RunColumns(
        hook=utf8(run["hook"]),
        source=_word(get("source")),
        outcome=_word(get("outcome")),
        meaning=_word(get("meaning")),
        decision=_word(get("decision")),
        shadow=bool(get("shadow")),
        duration=_number(get("duration_ms")),
        changes=bool(get("modified_input")),
        tells=bool(get("additional_context") or get("message")),
    )


def utf8(text: str) -> str:
    """A text as SQLite can hold it: a lone surrogate, such as in an undecodable file name, it cannot."""
    return text.encode("utf-8", "replace").decode()


def _word(value: Any) -> str | None:
    return utf8(value) if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None
