"""The index of the journal, in SQLite; each reader updates it first.

It contains nothing that is not in the segments, and is rebuilt if it is missing or broken.
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING, Any

from ..basics import places
from ..basics.light_json import printable
from ..basics.processes import Lock
from . import segments
from .filters import RecordFilter, columns_of, conditions, is_entry, runs_of
from .follower import Follower, Position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VERSION = 4
_TABLES = """
create table segments (name text primary key, start integer, stop integer, digest text, lines integer);
create table records (
    id integer primary key, segment text, start integer, length integer, time real, type text, by text,
    session text, event text, decision text, tool text, payload text, waited real
);
create table runs (
    record integer, time real, hook text, source text, event text, outcome text, meaning text, decision text,
    shadow integer, duration real, changes integer, tells integer
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


class Index:
    """The index of one journal, for queries."""

    def __init__(self) -> None:
        self.place = places.journal()
        self._file = _file()
        self._database = self._open()

    def _open(self, *, rebuild: bool = False) -> sqlite3.Connection:
        """Open the database; if the file cannot be used, one in memory."""
        try:
            places.make_private(os.path.dirname(self._file))
            with Lock(self._file + ".lock"):  # against two processes creating it at the same time
                try:
                    if not rebuild:
                        return self._connect(self._file)
                except sqlite3.OperationalError:
                    raise
                except sqlite3.DatabaseError:  # not ours, or broken
                    pass
                _remove(self._file)
                return self._connect(self._file)
        except (OSError, sqlite3.Error):
            return self._connect(":memory:")

    def _connect(self, file: str) -> sqlite3.Connection:
        """Connect to a database, and create its tables, also if it has those of another version or journal."""
        database = sqlite3.connect(file, timeout=30, isolation_level=None)
        try:
            database.execute("pragma journal_mode = wal")
            database.execute("pragma synchronous = off")  # what a crash loses is rebuilt
            (version,) = database.execute("pragma user_version").fetchone()
            kept = database.execute("select name from sqlite_master where name = 'about'").fetchone()
            whose = database.execute("select place from about").fetchone() if kept else None
            if version != _VERSION or whose != (printable(self.place),):
                for (name,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
                    database.execute(f'drop table "{name}"')
                database.executescript(_TABLES)
                database.execute("create table about (place text)")
                database.execute("insert into about values (?)", (printable(self.place),))
                database.execute(f"pragma user_version = {_VERSION}")
        except BaseException:
            database.close()
            raise
        return database

    def _query(self, query: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows of a query; rebuilds the index if it turns out to be broken."""
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._rebuild(error)
            return self._database.execute(query, values).fetchall()

    def _rebuild(self, error: sqlite3.Error) -> None:
        """Rebuild a broken index. Raises the error if the database is only locked."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise error
        self._database.close()
        self._database = self._open(rebuild=True)
        self._add_new_lines()

    def update(self) -> None:
        """Add the records that were appended since the last update."""
        try:
            self._add_new_lines()
        except sqlite3.Error as error:  # broken, or its tables are not those of its version
            self._rebuild(error)

    def _add_new_lines(self) -> None:
        with self._database as database:
            database.execute("begin immediate")
            rows = database.execute("select name, start, stop, digest, lines from segments")
            stored = {name: Position(*row) for name, *row in rows}
            present = {
                name: stored[printable(name)] for name in segments.names(self.place) if printable(name) in stored
            }
            follower = Follower(self.place, present, resumes=False)  # where lines begin must be right
            current = map(printable, follower.cursor)
            for name in stored.keys() - current:  # removed, or replaced by another of the same name
                self._remove_segment(name)
            for line in follower.lines():
                if segments.is_ours(line) and (record := line.record) is not None and is_entry(record):
                    self._add(line, record)
            read = [(printable(name), *each) for name, each in follower.cursor.items() if each != present.get(name)]
            database.executemany("insert or replace into segments values (?, ?, ?, ?, ?)", read)
            database.execute("commit")

    def _add(self, line: segments.Line, record: dict[str, Any]) -> None:
        columns = columns_of(record)
        values = (printable(line.segment), line.start, len(line.raw), *columns)
        insert = "insert into records values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        added = self._database.execute(insert, values).lastrowid
        self._database.executemany(
            "insert into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(added, columns.time, run.hook, run.source, columns.event, *run[2:]) for run in runs_of(record)],
        )

    def _remove_segment(self, name: str) -> None:
        self._database.execute("delete from runs where record in (select id from records where segment = ?)", (name,))
        self._database.execute("delete from records where segment = ?", (name,))
        self._database.execute("delete from segments where name = ?", (name,))

    def records(
        self, wanted: RecordFilter, *, last: int | None = None, after: int = 0
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield matching records with their numbers, oldest first: the `last` ones, or those `after` a number."""
        where, values = _where(wanted)
        order = "order by time desc, id desc limit ?" if last is not None else "order by time, id"
        chosen = f"select id, segment, start, length, time from records where {where} and id > ? {order}"
        values = [*values, after, *([last] if last is not None else [])]
        rows = self._query(f"select * from ({chosen}) order by time, id", values)
        for number, segment, start, length, _ in rows:
            record = self._read(segment, start, length)
            if record is not None:
                yield number, record

    def _read(self, segment: str, start: int, length: int) -> dict[str, Any] | None:
        try:
            with segments.open_segment(self.place, segment) as file:
                file.seek(start)
                return segments.Line(segment, 0, start, file.read(length)).record
        except OSError:
            return None

    def runs(self, wanted: RecordFilter) -> list[tuple[Any, ...]]:
        """Return (hook, source, event, outcome, meaning, decision, shadow, duration, time, changes, tells) of each run.

        Oldest first. `changes`: it modified the input or output; `tells`: it had a message for the model or the user.
        """
        where, values = _where(wanted._replace(hook=None, shadow=False))
        of_run = conditions(wanted).run
        columns = "hook, source, runs.event, outcome, meaning, runs.decision, shadow, duration, runs.time"
        columns += ", changes, tells"
        both = " and ".join([where, *(f"runs.{each.column} {each.comparison} ?" for each in of_run)])
        query = f"select {columns} from runs join records on records.id = record where {both} order by runs.time"
        return self._query(query, [*values, *(each.value for each in of_run)])

    def waiting(self, wanted: RecordFilter) -> list[tuple[str, int, float]]:
        """Return (session, events, milliseconds waited) of each session, the longest first."""
        where, values = _where(wanted)
        query = (
            f"select session, count(*), sum(waited) from records where {where} and type = 'verdict' group by session"
        )
        return self._query(f"{query} order by 3 desc", values)

    def close(self) -> None:
        self._database.close()


def delete() -> None:
    """Delete the index; the next reader rebuilds it."""
    if os.path.isdir(os.path.dirname(_file())):
        with Lock(_file() + ".lock"):
            _remove(_file())


def _file() -> str:
    return os.path.join(places.cache(), "journal.db")


def _remove(file: str) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        try:
            os.unlink(file + suffix)
        except FileNotFoundError:
            pass


def _where(wanted: RecordFilter) -> tuple[str, list[Any]]:
    """Return a where clause over `records`, and its values."""
    of_record, of_run = conditions(wanted)
    parts = [f"records.{each.column} {each.comparison} ?" for each in of_record]
    if of_run:
        both = " and ".join(f"{each.column} {each.comparison} ?" for each in of_run)
        parts.append(f"records.id in (select record from runs where {both})")
    return " and ".join(parts) or "true", [each.value for each in (*of_record, *of_run)]
