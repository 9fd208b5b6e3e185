"""Filters of journal records: one set of conditions, for the index in SQL and for single records."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics.light_json import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TYPES = ("verdict", "async", "approval")  # the others are about the journal itself


class RecordFilter(NamedTuple):
    """The filters of a query; None matches everything."""

    session: str | None = None
    event: str | None = None  # canonical
    hook: str | None = None
    decision: str | None = None
    since: float | None = None
    until: float | None = None
    by: str | None = None
    shadow: bool = False  # only runs in shadow mode


class Condition(NamedTuple):
    """A comparison of a column with a value."""

    column: str
    comparison: str  # the operator in SQL
    value: Any


class Conditions(NamedTuple):
    """Conditions on a record, and on at least one of its runs."""

    record: tuple[Condition, ...]
    run: tuple[Condition, ...]


class Columns(NamedTuple):
    """The columns of a record."""

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
    """The columns of one run of a hook."""

    hook: str
    source: str | None
    outcome: str | None
    meaning: str | None
    decision: str | None
    shadow: bool
    duration: float | None
    changes: bool  # it modified the input or the output
    tells: bool  # it had a message for the model or the user


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {"=": operator.eq, ">=": operator.ge, "<": operator.lt}


def conditions(wanted: RecordFilter) -> Conditions:
    """Return the conditions of the filters."""
    words = {"session": wanted.session, "event": wanted.event, "decision": wanted.decision, "by": wanted.by}
    record = [Condition(column, "=", printable(value)) for column, value in words.items() if value is not None]
    times = ((">=", wanted.since), ("<", wanted.until))
    record += [Condition("time", comparison, moment) for comparison, moment in times if moment is not None]
    run = [] if wanted.hook is None else [Condition("hook", "=", printable(wanted.hook))]
    run += [Condition("shadow", "=", True)] if wanted.shadow else []
    return Conditions(tuple(record), tuple(run))


def fits(record: Mapping[str, Any], chosen: Conditions) -> bool:
    """Whether a record meets the conditions."""
    of_record, of_run = chosen
    if not is_entry(record) or not _meets(of_record, columns_of(record)):
        return False
    return not of_run or any(_meets(of_run, run) for run in runs_of(record))


def _meets(conditions: tuple[Condition, ...], columns: NamedTuple) -> bool:
    return all(_OPERATORS[each.comparison](getattr(columns, each.column), each.value) for each in conditions)


def is_entry(record: Mapping[str, Any]) -> bool:
    """Whether a record is about an event, and not about the journal itself."""
    return record.get("type") in _TYPES


def columns_of(record: Mapping[str, Any]) -> Columns:
    """Return the columns of a record; a value of another type than the column's is None."""
    get = record.get
    return Columns(
        time=moment_of(record),
        type=_word(get("type")),
        by=_word(get("by")),
        session=_word(get("session_id")),
        event=_word(get("event")),
        decision=_word(get("decision")),
        tool=_word(get("tool_name")),
        payload=_word(get("payload")),
        waited=number(get("waited_ms")),
    )


def moment_of(record: Mapping[str, Any]) -> float:
    """Return when a record was written, in seconds since 1970; 0 if that is unknown."""
    return number(record.get("time")) or 0.0


def runs_of(record: Mapping[str, Any]) -> list[RunColumns]:
    """Return the columns of a record's runs, except those without the name of a hook."""
    return [_run_columns(run) for run in runs_in(record) if isinstance(run.get("hook"), str)]


def runs_in(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the runs in a record; the record itself if it is the end of an asynchronous hook."""
    runs = [record] if record.get("type") == "async" else record.get("runs")
    return [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []


def _run_columns(run: Mapping[str, Any]) -> RunColumns:
    get = run.get
    return RunColumns(
        hook=printable(run["hook"]),
        source=_word(get("source")),
        outcome=_word(get("outcome")),
        meaning=_word(get("meaning")),
        decision=_word(get("decision")),
        shadow=bool(get("shadow")),
        duration=number(get("duration_ms")),
        changes=bool(get("modified_input")) or get("modified_output") is not None,
        tells=bool(get("additional_context") or get("message")),
    )


def _word(value: Any) -> str | None:
    return printable(value) if isinstance(value, str) else None


def number(value: Any) -> float | None:
    """Return a number as a float; None for anything else, and for one that no time or duration has."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None
