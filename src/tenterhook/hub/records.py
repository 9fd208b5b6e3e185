"""Journal records from agents: each stored once, in order; the figures of sessions and hooks."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ..journal import filters, statistics
from . import change_feed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .database import Connection, Row
    from .schemas import DeliveredGiven, RecordsGiven

_POINTS = 48  # of a plot
_MAX_RUNS = 200_000  # the newest, for figures


def store(connection: Connection, token: int, given: RecordsGiven) -> tuple[int, int]:
    """Store records; return how many were new, and how many were known."""
    taken = 0
    sessions: dict[str, list[filters.Columns]] = {}
    for each in given.records:
        columns = filters.columns_of(each.record)
        number = _insert(connection, token, given.machine, each, columns)
        if number is None:
            continue
        taken += 1
        sessions.setdefault(columns.session or "", []).append(columns)
        _insert_runs(connection, number, each.record, columns)
    for session, records in sorted(sessions.items()):
        if session:
            _update_session(connection, given.machine, session, records)
        change_feed.add(connection, change_feed.RECORD, path_of(given.machine, session), "added")
    return taken, len(given.records) - taken


def _update_session(connection: Connection, machine: str, session: str, records: list[filters.Columns]) -> None:
    times = [record.time for record in records]
    denied = sum(record.decision == "deny" for record in records)
    connection.run(
        "insert into sessions (machine, session, by, records, denied, first, last) values (?, ?, ?, ?, ?, ?, ?)"
        " on conflict (machine, session) do update set by = coalesce(sessions.by, excluded.by),"
        " records = sessions.records + excluded.records, denied = sessions.denied + excluded.denied,"
        " first = case when excluded.first < sessions.first then excluded.first else sessions.first end,"
        " last = case when excluded.last > sessions.last then excluded.last else sessions.last end",
        *(machine, session, records[0].by, len(records), denied, min(times), max(times)),
    )


def path_of(machine: str, session: str) -> str:
    """Return the path of a session in URLs."""
    return f"{quote(machine, safe='', errors='replace')}/{quote(session, safe='', errors='replace')}"


def _insert(
    connection: Connection, token: int, machine: str, each: DeliveredGiven, columns: filters.Columns
) -> int | None:
    """Store a record; return its number, or None if it is known."""
    hash_ = each.record.get("hash")
    row = connection.one(
        "insert into records (agent_token, machine, segment, line, hash, time, type, by, session, event, decision,"
        " tool, waited, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " on conflict (agent_token, machine, hash) do nothing returning number",
        *(token, machine, each.segment, each.line, hash_ if isinstance(hash_, str) else ""),
        *(columns.time, columns.type, columns.by, columns.session, columns.event, columns.decision, columns.tool),
        *(columns.waited, json.dumps(each.record)),
    )
    return None if row is None else int(row["number"])


def _insert_runs(connection: Connection, number: int, record: Mapping[str, Any], columns: filters.Columns) -> None:
    for run in filters.runs_of(record):
        connection.run(
            "insert into runs (record, time, hook, source, event, outcome, meaning, decision, shadow, duration,"
            " changes, tells) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(number, columns.time, run.hook, run.source, columns.event, run.outcome, run.meaning, run.decision),
            *(int(run.shadow), run.duration, int(run.changes), int(run.tells)),
        )


def sessions(connection: Connection, limit: int) -> list[Row]:
    """Return the sessions that have records, the latest first."""
    return connection.all("select * from sessions order by last desc limit ?", limit)


def timeline(connection: Connection, machine: str, session: str, after: int, limit: int) -> list[Row]:
    """Return a session's records in the order of its journal, each with its number, time and `record`."""
    rows = connection.all(
        "select number, time, body from records where machine = ? and session = ? and number > ?"
        " order by number limit ?",
        *(machine, session, after, limit),
    )
    return [{"number": row["number"], "time": row["time"], "record": json.loads(row["body"])} for row in rows]


class Figures(NamedTuple):
    """Statistics of hooks over a period, and time series for plots."""

    since: float
    until: float
    hooks: list[statistics.HookFigures]
    series: dict[tuple[str, str], list[Row]]  # by hook and source
    total: list[Row]


def hooks(connection: Connection, since: float) -> Figures:
    """Return the statistics of hooks since a time."""
    until = time.time()
    found = connection.all(
        "select hook, source, event, outcome, meaning, decision, shadow, duration, time, changes, tells from runs"
        " where time >= ? order by time desc limit ?",
        *(since, _MAX_RUNS),
    )
    rows = [{**row, "source": row["source"] or ""} for row in reversed(found)]
    by_hook: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_hook.setdefault((row["hook"], row["source"]), []).append(row)
    figures = statistics.by_hook((tuple(row.values()) for row in rows), since)
    series = {key: _series(group, since, until) for key, group in by_hook.items()}
    return Figures(since, until, figures, series, _series(found, since, until))


def _series(rows: list[Row], since: float, until: float) -> list[Row]:
    """Return the figures of runs in equal intervals."""
    width = max(until - since, 1.0) / _POINTS
    intervals: list[list[Row]] = [[] for _ in range(_POINTS)]
    for row in rows:
        if row["outcome"] not in ("not_run", "started"):
            intervals[min(max(int((row["time"] - since) / width), 0), _POINTS - 1)].append(row)
    return [_point(since + number * width, interval) for number, interval in enumerate(intervals)]


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
