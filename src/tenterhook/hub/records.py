"""Journal records from agents: each stored once, in order; the statistics of sessions and hooks."""

from __future__ import annotations

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ..journal import filters, statistics
from ..journal.redacted_records import is_redacted, is_redaction_of
from . import change_feed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .database import Connection, Row
    from .schemas import DeliveredGiven, RecordsGiven

_POINTS = 48  # of a plot
_OWN_ANSWERS = ("terminal", "hook", "rule", "session", "allow", "mode", "nobody")  # of a machine, which names no person
_MOST_AHEAD = 86400.0  # seconds that a machine's clock may be: a record of later would be kept for longer
_MAX_RUNS = 200_000  # the newest, for figures


class Upload(NamedTuple):
    """Records of the machine of a token."""

    token: int
    machine: str
    given: RecordsGiven
    agent: str | None = None  # the only one that may use the token: the records are of this agent, whatever they say


class _Line(NamedTuple):
    upload: int
    record: Mapping[str, Any]
    columns: filters.Columns
    values: tuple[Any, ...]


def store(connection: Connection, uploads: Sequence[Upload]) -> list[tuple[int, int]]:
    """Store records; return for each upload how many were new, and how many were known.

    A redacted record replaces the original one if it differs from it by redaction marks only.
    """
    lines: list[_Line] = []
    known: list[_Line] = []
    latest = time.time() + _MOST_AHEAD
    for place, (token, machine, given, agent) in enumerate(uploads):
        for each in given.records:
            columns = filters.columns_of(each.record)
            columns = columns._replace(by=agent or columns.by, time=min(columns.time, latest))
            line = _Line(place, each.record, columns, _values(token, machine, each, columns))
            (known if each.replaces else lines).append(line)
    rows = connection.many(_INSERT, [line.values for line in lines])
    added = [(int(row["number"]), line) for row, line in zip(rows, lines, strict=True) if row is not None]
    known += [line for row, line in zip(rows, lines, strict=True) if row is None]
    _insert_runs(connection, [(number, line.record, line.columns) for number, line in added])
    for line in known:
        _replace_redacted(connection, uploads[line.upload], line.record)
    taken = Counter(line.upload for _, line in added)
    _add_to_sessions(connection, [(uploads[line.upload].machine, line.columns) for _, line in added])
    return [(taken[place], len(each.given.records) - taken[place]) for place, each in enumerate(uploads)]


def _add_to_sessions(connection: Connection, added: Sequence[tuple[str, filters.Columns]]) -> None:
    """Add records to the figures of their sessions, in the same order at every hub, so that there is no deadlock."""
    sessions: dict[tuple[str, str], list[filters.Columns]] = {}
    for machine, columns in added:
        sessions.setdefault((machine, columns.session or ""), []).append(columns)
    connection.many(
        _UPDATE_SESSION, [(*key, *_figures(records)) for key, records in sorted(sessions.items()) if key[1]]
    )
    for machine, session in sorted(sessions):
        change_feed.add(connection, change_feed.RECORD, path_of(machine, session), "added")


def _replace_redacted(connection: Connection, upload: Upload, record: Mapping[str, Any]) -> None:
    if not isinstance(record.get("redacted"), dict):
        return
    stored = connection.one(
        "select number, machine, session, decision, body from records"
        " where agent_token = ? and machine = ? and hash = ?",
        *(upload.token, upload.machine, _identity(record)),
    )
    if stored is not None:
        old = json.loads(stored["body"])
        if old.get("hash") != record.get("hash") and is_redaction_of(record, old):
            replace(connection, stored, record)


def replace(connection: Connection, stored: Row, record: Mapping[str, Any]) -> None:
    """Replace the body of a record, given with its number, machine, session and decision, by a redacted one."""
    columns, machine, number = filters.columns_of(record), stored["machine"], stored["number"]
    kept = connection.one(
        "update records set by = coalesce((select agent from tokens where tokens.id = agent_token), ?),"
        " session = ?, tool = ?, body = ? where number = ? returning by",
        *(columns.by, columns.session, columns.tool, json.dumps(record), number),
    )
    columns = columns._replace(by=kept["by"] if kept else columns.by)
    connection.run("delete from runs where record = ?", number)
    _insert_runs(connection, [(number, record, columns)])
    if columns.session != stored["session"]:
        where = (machine, stored["session"])
        connection.run(
            "update sessions set records = records - 1, denied = denied - ? where machine = ? and session = ?",
            *(int(stored["decision"] == "deny"), *where),
        )
        connection.run("delete from sessions where machine = ? and session = ? and records <= 0", *where)
        if columns.session:
            add_to_session(connection, machine, columns.session, *_figures([columns]))
    change_feed.add(connection, change_feed.RECORD, path_of(machine, columns.session or ""), "redacted")


def _identity(record: Mapping[str, Any]) -> str:
    """Return the hash with which a line of the journal was written, even if it was redacted since."""
    redacted = record.get("redacted")
    found = redacted.get("was") if isinstance(redacted, dict) else record.get("hash")
    return found if isinstance(found, str) else ""


def _figures(records: Sequence[filters.Columns]) -> tuple[str | float | None, ...]:
    times = [record.time for record in records]
    denied = sum(record.decision == "deny" for record in records)
    return records[0].by, len(records), denied, min(times), max(times)


_UPDATE_SESSION = (
    "insert into sessions (machine, session, by, records, denied, first, last) values (?, ?, ?, ?, ?, ?, ?)"
    " on conflict (machine, session) do update set by = coalesce(sessions.by, excluded.by),"
    " records = sessions.records + excluded.records, denied = sessions.denied + excluded.denied,"
    " first = case when excluded.first < sessions.first then excluded.first else sessions.first end,"
    " last = case when excluded.last > sessions.last then excluded.last else sessions.last end returning records"
)


def add_to_session(connection: Connection, machine: str, session: str, *figures: str | float | None) -> None:
    """Add the figures of records to a session: by, records, denied, first, last."""
    connection.one(_UPDATE_SESSION, machine, session, *figures)


def path_of(machine: str, session: str) -> str:
    """Return the path of a session in URLs."""
    return f"{quote(machine, safe='', errors='replace')}/{quote(session, safe='', errors='replace')}"


_INSERT = (
    "insert into records (agent_token, machine, segment, line, hash, time, type, by, session, event, decision,"
    " tool, waited, body) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " on conflict (agent_token, machine, hash) do nothing returning number"
)


def _values(token: int, machine: str, each: DeliveredGiven, columns: filters.Columns) -> tuple[Any, ...]:
    """Return the values for `_INSERT`."""
    return (
        *(token, machine, each.segment, each.line, _identity(each.record)),
        *(columns.time, columns.type, columns.by, columns.session, columns.event, columns.decision, columns.tool),
        *(columns.waited, json.dumps(each.record)),
    )


def _insert_runs(connection: Connection, records: Sequence[tuple[int, Mapping[str, Any], filters.Columns]]) -> None:
    """Store the runs of records, given with their numbers."""
    connection.many(
        "insert into runs (record, time, hook, source, event, outcome, meaning, decision, shadow, duration,"
        " changes, tells) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning record",
        [
            (
                *(number, columns.time, run.hook, run.source, columns.event, run.outcome, run.meaning, run.decision),
                *(int(run.shadow), run.duration, int(run.changes), int(run.tells)),
            )
            for number, record, columns in records
            for run in filters.runs_of(record)
        ],
    )


def sessions(connection: Connection, limit: int) -> list[Row]:
    """Return the sessions that have records, the latest first."""
    return connection.all("select * from sessions order by last desc limit ?", limit)


def timeline(connection: Connection, machine: str, session: str, after: int, limit: int) -> list[Row]:
    """Return a session's records in the order of its journal, each with its number, time, `record` and `confirmed`."""
    rows = connection.all(
        "select number, time, agent_token, body from records where machine = ? and session = ? and number > ?"
        " order by number limit ?",
        *(machine, session, after, limit),
    )
    found = []
    for row in rows:
        record = json.loads(row["body"])
        confirmed = _is_confirmed(connection, row["agent_token"], record)
        found.append({"number": row["number"], "time": row["time"], "record": record, "confirmed": confirmed})
    return found


def _is_confirmed(connection: Connection, token: int, record: Mapping[str, Any]) -> bool | None:
    """Whether the answer in a record was given at this hub, to that call; None if the record has no person's answer."""
    by, request = record.get("answered_by"), record.get("request")
    if by is None or by in _OWN_ANSWERS:
        return None
    if not isinstance(by, str) or not isinstance(request, str):
        return False
    known = connection.one("select * from requests where id = ? and agent_token = ?", request, token)
    if known is None or known["answered_by"] is None:
        return False
    said = (f"{known['answered_by']} (hub)", known["hash"], {1: "approve", 0: "deny"}.get(known["approved"]))
    return said == (by, record.get("request_hash"), record.get("decision")) and _is_about(record, known)


def _is_about(record: Mapping[str, Any], request: Row) -> bool:
    """Whether a record is about the call of a request, as far as its machine has stored the payload."""
    asked = {"tool_input": json.loads(request["tool_input"])}
    return record.get("tool_name") == request["tool_name"] and (
        not (fields := record.get("fields")) or is_redacted(asked, fields)
    )


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
