"""What makes looking things up quick: an index of the journal in SQLite, brought up to date by whoever reads.

The segments are the truth; the index holds nothing that they do not, and is made anew when it is gone or broken.
"""

from __future__ import annotations

import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import places
from . import segments
from .writing import directory

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERSION = 1
_TABLES = """
create table segments (name text primary key, inode integer, size integer, lines integer);
create table records (
    id integer primary key, segment text, start integer, length integer, time real, type text, by text,
    session text, event text, decision text, tool text, payload text, waited real
);
create table runs (
    record integer, time real, hook text, source text, event text, outcome text, meaning text, decision text,
    shadow integer, duration real
);
create index records_time on records (time);
create index records_session on records (session, time);
create index records_event on records (event, time);
create index records_decision on records (decision, time);
create index records_segment on records (segment);
create index runs_hook on runs (hook, time);
create index runs_time on runs (time);
create index runs_record on runs (record);
"""


class Wanted(NamedTuple):
    """Which records somebody wants to see."""

    session: str | None = None
    event: str | None = None  # canonical
    hook: str | None = None
    decision: str | None = None
    since: float | None = None
    until: float | None = None
    by: str | None = None


class Index:
    """The journal, as readers ask for it."""

    def __init__(self, place: str | None = None) -> None:
        self.place = place or directory()
        self._file = os.path.join(places.cache(), "journal.db")
        self._database = self._open()

    def _open(self) -> sqlite3.Connection:
        places.make_private(os.path.dirname(self._file))
        try:
            return self._opened()
        except sqlite3.DatabaseError:  # not ours, or broken: there is nothing in it that cannot be made again
            os.unlink(self._file)
            return self._opened()

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._file, timeout=30, isolation_level=None)
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = off")  # what a crash loses is made again
        (version,) = database.execute("pragma user_version").fetchone()
        kept = database.execute("select name from sqlite_master where name = 'about'").fetchone()
        whose = database.execute("select place from about").fetchone() if kept else None
        if version != _VERSION or whose != (self.place,):
            for (name,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
                database.execute(f'drop table "{name}"')
            database.executescript(_TABLES)
            database.execute("create table about (place text)")
            database.execute("insert into about values (?)", (self.place,))
            database.execute(f"pragma user_version = {_VERSION}")
        return database

    def update(self) -> None:
        """Take in what was appended since."""
        with self._database as database:
            database.execute("begin immediate")
            known = {row[0]: row[1:] for row in database.execute("select name, inode, size, lines from segments")}
            present = segments.names(self.place)
            for name in known.keys() - set(present):
                self._forget(name)
            for name in present:
                self._take_in(name, known.get(name))
            database.execute("commit")

    def _take_in(self, name: str, known: tuple[int, int, int] | None) -> None:
        try:
            found = os.stat(os.path.join(self.place, name))
        except FileNotFoundError:  # old enough to have been removed just now
            self._forget(name)
            return
        if known is not None and (known[0] != found.st_ino or found.st_size < known[1]):
            self._forget(name)
            known = None
        start, number = (known[1], known[2]) if known else (0, 0)
        if start == found.st_size:
            return
        for line in segments.lines(self.place, name, start, number + 1):
            if not line.raw.endswith(b"\n"):
                break
            start, number = line.start + len(line.raw), line.number
            if (record := line.record) is not None:
                self._add(line, record)
        self._database.execute(
            "insert or replace into segments values (?, ?, ?, ?)", (name, found.st_ino, start, number)
        )

    def _add(self, line: segments.Line, record: dict[str, Any]) -> None:
        get = record.get
        columns = (
            *(line.segment, line.start, len(line.raw), get("time"), get("type"), get("by"), get("session_id")),
            *(get("event"), get("decision"), get("tool_name"), get("payload"), get("waited_ms")),
        )
        insert = "insert into records values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        added = self._database.execute(insert, columns).lastrowid
        runs = get("runs") or ([record] if get("type") == "async" else [])
        self._database.executemany(
            "insert into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(added, get("time"), run.get("hook"), run.get("source"), get("event"), run.get("outcome")),
                    *(run.get("meaning"), run.get("decision"), bool(run.get("shadow")), run.get("duration_ms")),
                )
                for run in runs
                if isinstance(run, dict)
            ],
        )

    def _forget(self, name: str) -> None:
        self._database.execute("delete from runs where record in (select id from records where segment = ?)", (name,))
        self._database.execute("delete from records where segment = ?", (name,))
        self._database.execute("delete from segments where name = ?", (name,))

    def records(
        self, wanted: Wanted, *, last: int | None = None, after: int = 0
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Records with their numbers, oldest first; the last so many if that is given."""
        where, values = _conditions(wanted)
        order = "order by time desc, id desc limit ?" if last is not None else "order by time, id"
        chosen = f"select id, segment, start, length, time from records where {where} and id > ? {order}"
        values = [*values, after, *([last] if last is not None else [])]
        rows = self._database.execute(f"select * from ({chosen}) order by time, id", values).fetchall()
        for number, segment, start, length, _ in rows:
            record = self._read(segment, start, length)
            if record is not None:
                yield number, record

    def _read(self, segment: str, start: int, length: int) -> dict[str, Any] | None:
        try:
            with open(os.path.join(self.place, segment), "rb") as file:
                file.seek(start)
                record = json.loads(file.read(length))
        except (OSError, ValueError, RecursionError):
            return None
        return record if isinstance(record, dict) else None

    def runs(self, wanted: Wanted) -> list[tuple[Any, ...]]:
        """(hook, source, event, outcome, meaning, decision, shadow, duration, time) of every run, oldest first."""
        where, values = _conditions(wanted._replace(hook=None))
        hook = "and hook = ?" if wanted.hook else ""
        columns = "hook, source, runs.event, outcome, meaning, runs.decision, shadow, duration, runs.time"
        query = (
            f"select {columns} from runs join records on records.id = record where {where} {hook} order by runs.time"
        )
        return self._database.execute(query, [*values, *([wanted.hook] if wanted.hook else [])]).fetchall()

    def waiting(self, wanted: Wanted) -> list[tuple[str, int, float]]:
        """(session, events, milliseconds waited) of each session, the longest first."""
        where, values = _conditions(wanted)
        query = (
            f"select session, count(*), sum(waited) from records where {where} and type = 'verdict' group by session"
        )
        return self._database.execute(f"{query} order by 3 desc", values).fetchall()

    def close(self) -> None:
        self._database.close()


def _conditions(wanted: Wanted) -> tuple[str, list[Any]]:
    """A where-clause over `records`."""
    conditions = ["records.type in ('verdict', 'async')"]
    values: list[Any] = []
    plain = {"session": wanted.session, "event": wanted.event, "decision": wanted.decision, "by": wanted.by}
    for column, value in plain.items():
        if value is not None:
            conditions.append(f"records.{column} = ?")
            values.append(value)
    if wanted.hook is not None:
        conditions.append("records.id in (select record from runs where hook = ?)")
        values.append(wanted.hook)
    for comparison, moment in ((">=", wanted.since), ("<", wanted.until)):
        if moment is not None:
            conditions.append(f"records.time {comparison} ?")
            values.append(moment)
    return " and ".join(conditions), values
