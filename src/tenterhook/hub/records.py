"""Journal records from agents: each once, in order; the figures of sessions and hooks; and how long they are kept."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from urllib.parse import quote

from ..journal import statistics
from ..journal.filters import Wanted
from . import change_feed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..journal.index import Index
    from .database import Connection, Row

_COLUMNS = 48  # points of a plot
_MOST_RUNS = 200_000  # the newest of them, for figures


class Delivered(NamedTuple):
    """One line of an agent's journal."""

    segment: str
    line: int
    record: Mapping[str, Any]


def take_in(connection: Connection, token: int, machine: str, delivered: Iterable[Delivered]) -> tuple[int, int]:
    """Keep records; how many were new, and how many known."""
    taken = known = 0
    sessions: dict[str, list[Mapping[str, Any]]] = {}
    for each in delivered:
        number = _keep(connection, token, machine, each)
        if number is None:
            known += 1
            continue
        taken += 1
        sessions.setdefault(_word(each.record.get("session_id")) or "", []).append(each.record)
        _keep_runs(connection, number, each.record)
    for session, records in sorted(sessions.items()):
        if session:
            _count(connection, machine, session, records)
        change_feed.add(connection, change_feed.RECORD, path_of(machine, session), "added")
    return taken, known


def _count(connection: Connection, machine: str, session: str, records: list[Mapping[str, Any]]) -> None:
    """Keep what is shown of a session in a list of them."""
    times = [_number(record.get("time")) or 0.0 for record in records]
    by = next((_word(record.get("by")) for record in records), None)
    denied = sum(record.get("decision") == "deny" for record in records)
    connection.run(
        "insert into sessions (machine, session, by, records, denied, first, last) values (?, ?, ?, ?, ?, ?, ?)"
        " on conflict (machine, session) do update set by = coalesce(sessions.by, excluded.by),"
        " records = sessions.records + excluded.records, denied = sessions.denied + excluded.denied,"
        " first = case when excluded.first < sessions.first then excluded.first else sessions.first end,"
        " last = case when excluded.last > sessions.last then excluded.last else sessions.last end",
        *(machine, session, by, len(records), denied, min(times), max(times)),
    )


def path_of(machine: str, session: str) -> str:
    """A session's place in addresses."""
    return f"{quote(machine, safe='', errors='replace')}/{quote(session, safe='', errors='replace')}"


def _keep(connection: Connection, token: int, machine: str, each: Delivered) -> int | None:
    get = each.record.get
    words = [_word(get(key)) for key in ("type", "by", "session_id", "event", "decision", "tool_name")]
    row = connection.one(
        "insert into records (agent_token, machine, segment, line, hash, time, type, by, session, event, decision,"
        " tool, waited, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (agent_token, machine, hash) do nothing returning number",
        *(token, machine, each.segment, each.line, _word(get("hash")) or "", _number(get("time")) or 0.0, *words),
        *(_number(get("waited_ms")), json.dumps(each.record)),
    )
    return None if row is None else int(row["number"])


def _keep_runs(connection: Connection, number: int, record: Mapping[str, Any]) -> None:
    """What each hook did, as far as it can be read."""
    runs = [record] if record.get("type") == "async" else record.get("runs")
    for run in runs if isinstance(runs, list) else ():
        if not isinstance(run, dict) or not isinstance(run.get("hook"), str):
            continue
        connection.run(
            "insert into runs (record, time, hook, source, event, outcome, meaning, decision, shadow, duration,"
            " changes, tells) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(number, _number(record.get("time")) or 0.0, run["hook"], _word(run.get("source"))),
            *(_word(record.get("event")), *(_word(run.get(key)) for key in ("outcome", "meaning", "decision"))),
            *(int(bool(run.get("shadow"))), _number(run.get("duration_ms")), int(bool(run.get("modified_input")))),
            int(bool(run.get("additional_context") or run.get("message"))),
        )


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None


def sessions(connection: Connection, limit: int) -> list[Row]:
    """Sessions that something is known of, the latest first."""
    return connection.all("select * from sessions order by last desc limit ?", limit)


def timeline(connection: Connection, machine: str, session: str, after: int, limit: int) -> list[Row]:
    """A session's records in the order of its journal, each with its number and as `record`."""
    rows = connection.all(
        "select number, time, body from records where machine = ? and session = ? and number > ?"
        " order by number limit ?",
        *(machine, session, after, limit),
    )
    return [{"number": row["number"], "time": row["time"], "record": json.loads(row["body"])} for row in rows]


class Figures(NamedTuple):
    """What hooks did since a moment: in figures, and over time."""

    since: float
    until: float
    hooks: list[statistics.HookFigures]
    series: dict[tuple[str, str], list[Row]]  # by hook and source: what happened in each stretch of the time
    total: list[Row]


class _Runs(NamedTuple):
    """Runs, where statistics look for them."""

    rows: list[tuple[Any, ...]]

    def runs(self, _: Wanted) -> list[tuple[Any, ...]]:
        return self.rows


def hooks(connection: Connection, since: float) -> Figures:
    """How hooks have been doing."""
    until = time.time()
    found = connection.all(
        "select hook, source, event, outcome, meaning, decision, shadow, duration, time, changes, tells from runs"
        " where time >= ? order by time desc limit ?",
        *(since, _MOST_RUNS),
    )
    rows = [{**row, "source": row["source"] or ""} for row in reversed(found)]
    by_hook: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_hook.setdefault((row["hook"], row["source"]), []).append(row)
    runs = _Runs([tuple(row.values()) for row in rows])
    figures = statistics.by_hook(cast("Index", runs), Wanted(since=since))
    series = {key: _series(group, since, until) for key, group in by_hook.items()}
    return Figures(since, until, figures, series, _series(found, since, until))


def _series(rows: list[Row], since: float, until: float) -> list[Row]:
    """Runs, blocks, failures and how long runs took, in equal stretches of time."""
    width = max(until - since, 1.0) / _COLUMNS
    stretches: list[list[Row]] = [[] for _ in range(_COLUMNS)]
    for row in rows:
        if row["outcome"] not in ("not_run", "started"):
            stretches[min(max(int((row["time"] - since) / width), 0), _COLUMNS - 1)].append(row)
    return [_point(since + number * width, stretch) for number, stretch in enumerate(stretches)]


def _point(begin: float, rows: list[Row]) -> Row:
    took = sorted(row["duration"] or 0.0 for row in rows)
    meanings = [row["meaning"] for row in rows]
    return {
        "time": begin,
        "runs": len(rows),
        "blocks": meanings.count("blocked"),
        "failures": meanings.count("failed") + meanings.count("timed_out"),
        "p50_ms": statistics.percentile(took, 0.5),
        "p95_ms": statistics.percentile(took, 0.95),
    }


KEEP_DAYS = 90
_DAY = 86400.0
_OLD = (
    "delete from runs where record in (select number from records where time < ?)",
    "delete from records where time < ?",
    "delete from sessions where last < ?",
    "delete from grants where at < ?",
    "delete from deliveries where request in (select id from requests where state <> 'open' and opened < ?)",
    "delete from requests where state <> 'open' and opened < ?",
    "delete from answers where at < ?",
)


def forget_old(connection: Connection, days: int) -> None:
    """Drop what is older than so many days, and changes that nobody will ask for any more."""
    change_feed.forget_old(connection)
    before = time.time() - days * _DAY
    for statement in _OLD:
        connection.run(statement, before)
