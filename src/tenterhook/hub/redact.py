"""Redaction of what the hub has stored: records, ended requests and the answers to them."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import HookError
from ..journal.redacted_records import redacted_record
from . import records
from .database import SQLite

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..journal.redacted_records import StoredRedactor
    from .database import Connection, PostgreSQL, Row

_BATCH = 500  # rows of a transaction
_BUSY_TIMEOUT = 60.0  # seconds
_AUDIT = "redaction "  # with the time, a key of the table `hub`

_REQUEST_NAMES = ("agent", "session", "work_dir", "tool_name")
_REQUEST_TEXTS = ("action", "why", "message")
_REQUEST_JSON = ("tool_input", "display")
_RULE_TEXTS = ("tool", "command", "pattern", "directory", "reason")


class Counts(NamedTuple):
    """How many rows had the text."""

    records: int = 0
    requests: int = 0
    answers: int = 0
    waiting: int = 0  # open requests, not redacted: their answers are bound to their content
    rules: int = 0  # not redacted: their meaning would change; a person has to edit them


def redact(database: SQLite | PostgreSQL, redactor: StoredRedactor, by: str, *, dry_run: bool = False) -> Counts:
    """Redact what is stored, and store who did so and when; with `dry_run`, only count."""
    work = _Work(redactor, dry_run=dry_run)
    answers = _in_batches(database, work.answers)
    requests = _in_batches(database, work.requests, "")
    stored = _in_batches(database, work.records)
    waiting = database.read(work.waiting)
    rules = database.read(work.rules)
    counts = Counts(stored, requests, answers, waiting, rules)
    if not dry_run:
        database.write(work.sessions)
        database.write(work.grants_and_changes)
        database.write(work.machines)
        if any((stored, requests, answers)):
            database.write(lambda connection: _add_audit(connection, by, counts))
        if isinstance(database, SQLite):
            _vacuum(database.file)
    return counts


def audit(connection: Connection) -> list[dict[str, Any]]:
    """Return the redactions of the past: time, by, and how many rows."""
    rows = connection.all("select value from hub where key like ? order by key", f"{_AUDIT}%")
    return [json.loads(row["value"]) for row in rows]


def _add_audit(connection: Connection, by: str, counts: Counts) -> None:
    now = round(time.time(), 6)
    told = {"time": now, "by": by, "records": counts.records, "requests": counts.requests, "answers": counts.answers}
    connection.run(
        "insert into hub (key, value) values (?, ?) on conflict (key) do nothing", f"{_AUDIT}{now}", json.dumps(told)
    )


def _in_batches(
    database: SQLite | PostgreSQL, work: Callable[[Connection, Any], tuple[list[Any], int]], after: Any = 0
) -> int:
    """Call a function with the last key it has seen, until it sees no more; return the sum of what it counted."""
    total = 0
    while True:
        seen, count = database.write(lambda connection, after=after: work(connection, after))  # type: ignore[misc]
        total += count
        if not seen:
            return total
        after = seen[-1]


class _Work:
    """Each method redacts a batch of rows after a key; it returns their keys, and how many had the text."""

    def __init__(self, redactor: StoredRedactor, *, dry_run: bool) -> None:
        self._redactor = redactor
        self._dry_run = dry_run
        self._is_of_names = "session_id" not in redactor.kept

    def records(self, connection: Connection, after: int) -> tuple[list[Any], int]:
        rows = connection.all(
            "select number, machine, session, decision, body from records where number > ? order by number limit ?",
            *(after, _BATCH),
        )
        count = 0
        for row in rows:
            record = json.loads(row["body"])
            kept = redacted_record(record, self._redactor)
            if kept is not record:
                count += 1
                if not self._dry_run:
                    records.replace(connection, row, kept)
        return [row["number"] for row in rows], count

    def requests(self, connection: Connection, after: str) -> tuple[list[Any], int]:
        rows = connection.all("select * from requests where id > ? order by id limit ?", after, _BATCH)
        count = 0
        for row in rows:
            changed = self._changed_request(row) if row["state"] != "open" else {}
            count += bool(changed)
            if changed and not self._dry_run:  # hashes of what was asked, by which a guess could be checked
                _delete_grants(connection, row)
                changed["grant_key"] = None
            self._update(connection, "requests", "id", row["id"], changed)
        return [row["id"] for row in rows], count

    def answers(self, connection: Connection, after: int) -> tuple[list[Any], int]:
        rows = connection.all(
            "select number, message from answers where number > ? order by number limit ?", after, _BATCH
        )
        count = 0
        for row in rows:
            changed = self._changed(row, ("message",))
            count += bool(changed)
            self._update(connection, "answers", "number", row["number"], changed)
        return [row["number"] for row in rows], count

    def waiting(self, connection: Connection) -> int:
        rows = connection.all("select * from requests where state = 'open'")
        return sum(bool(self._changed_request(row)) for row in rows)

    def rules(self, connection: Connection) -> int:
        return sum(bool(self._changed(row, _RULE_TEXTS)) for row in connection.all("select * from rules"))

    def sessions(self, connection: Connection) -> None:
        """Rename sessions. Most were renamed with their records, but a session may outlive its records."""
        for row in connection.all("select * from sessions") if self._is_of_names else ():
            if changed := self._changed(row, ("session", "by")):
                connection.run("delete from sessions where machine = ? and session = ?", row["machine"], row["session"])
                figures = {**row, **changed}
                columns = ("machine", "session", "by", "records", "denied", "first", "last")
                records.add_to_session(connection, *(figures[column] for column in columns))

    def grants_and_changes(self, connection: Connection) -> None:
        """Delete approvals for sessions with such names, and changes, which are kept for an hour."""
        for row in connection.all("select distinct session from grants") if self._is_of_names else ():
            if self._changed(row, ("session",)):
                connection.run("delete from grants where session = ?", row["session"])
        for row in connection.all("select distinct about from changes"):
            if self._changed(row, ("about",)):
                connection.run("delete from changes where about = ?", row["about"])

    def machines(self, connection: Connection) -> None:
        """Redact what machines report of their agents."""
        for row in connection.all("select agent_token, agents from machines"):
            values = {"agents": json.loads(row["agents"])}
            changed = {key: json.dumps(value) for key, value in self._changed(values, ("agents",)).items()}
            self._update(connection, "machines", "agent_token", row["agent_token"], changed)

    def _changed_request(self, row: Row) -> dict[str, Any]:
        names = _REQUEST_NAMES if self._is_of_names else ()
        values = {key: json.loads(row[key]) for key in _REQUEST_JSON}
        encoded = {key: json.dumps(value) for key, value in self._changed(values, _REQUEST_JSON).items()}
        return {**self._changed(row, (*names, *_REQUEST_TEXTS)), **encoded}

    def _changed(self, row: Row, columns: tuple[str, ...]) -> dict[str, Any]:
        """Return the columns that have the text, without it."""
        kept = {column: self._redactor.redacted(row[column]) for column in columns if row[column] is not None}
        return {column: value for column, value in kept.items() if value is not row[column]}

    def _update(self, connection: Connection, table: str, key: str, value: Any, changed: dict[str, Any]) -> None:
        if changed and not self._dry_run:
            columns = ", ".join(f"{column} = ?" for column in changed)
            connection.run(f"update {table} set {columns} where {key} = ?", *changed.values(), value)  # noqa: S608  # names above


def _delete_grants(connection: Connection, request: Row) -> None:
    """Delete the approvals for the session that cover a request: the agent then asks again."""
    connection.run(
        "delete from grants where agent_token = ? and session = ? and grant_key = ?",
        *(request["agent_token"], request["session"], request["grant_key"]),
    )


def _vacuum(file: str) -> None:
    """Rewrite the database file, so that replaced and deleted data is in neither it nor its log."""
    try:
        database = sqlite3.connect(file, timeout=_BUSY_TIMEOUT, isolation_level=None)
        try:
            database.execute("vacuum")
            is_busy = database.execute("pragma wal_checkpoint(truncate)").fetchone()[0]
        finally:
            database.close()
    except sqlite3.Error as error:
        raise HookError(f"it is redacted, but still in freed parts of {file}: {error}", _AGAIN) from None
    if is_busy:
        raise HookError(f"it is redacted, but may still be in {file}-wal", _AGAIN)


_AGAIN = "run the same command again"
