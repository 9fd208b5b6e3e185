"""What makes looking things up quick: an index of the journal in SQLite, brought up to date by whoever reads.

The segments are the truth; the index holds nothing that they do not, and is made anew when it is gone or broken.
"""

from __future__ import annotations

import json
import os
import sqlite3
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import places
from ..basics.locks import Lock
from . import segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_VERSION = 2
_IN_MEMORY = ":memory:"
_TABLES = """
create table segments (name text primary key, size integer, lines integer, ending text);
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
        self.place = place or places.journal()
        self._file = os.path.join(places.cache(), "journal.db")
        self._database = self._open()

    def _open(self, *, anew: bool = False) -> sqlite3.Connection:
        """The database; where there is no place for it, one that lasts as long as this process."""
        try:
            places.make_private(os.path.dirname(self._file))
            with Lock(self._file + ".lock"):  # two that come first at the same time do not make it twice
                try:
                    if not anew:
                        return self._opened(self._file)
                except sqlite3.OperationalError:
                    raise
                except sqlite3.DatabaseError:  # not ours, or broken
                    pass
                self._remove()  # there is nothing in it that cannot be made again
                return self._opened(self._file)
        except (OSError, sqlite3.Error):
            return self._opened(_IN_MEMORY)

    def _remove(self) -> None:
        for ending in ("", "-wal", "-shm", "-journal"):
            try:
                os.unlink(self._file + ending)
            except FileNotFoundError:
                pass

    def _opened(self, file: str) -> sqlite3.Connection:
        database = sqlite3.connect(file, timeout=30, isolation_level=None)
        try:
            database.execute("pragma journal_mode = wal")
            database.execute("pragma synchronous = off")  # what a crash loses is made again
            (version,) = database.execute("pragma user_version").fetchone()
            kept = database.execute("select name from sqlite_master where name = 'about'").fetchone()
            whose = database.execute("select place from about").fetchone() if kept else None
            if version != _VERSION or whose != (_utf8(self.place),):
                for (name,) in database.execute("select name from sqlite_master where type = 'table'").fetchall():
                    database.execute(f'drop table "{name}"')
                database.executescript(_TABLES)
                database.execute("create table about (place text)")
                database.execute("insert into about values (?)", (_utf8(self.place),))
                database.execute(f"pragma user_version = {_VERSION}")
        except BaseException:
            database.close()
            raise
        return database

    def _ask(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """The rows of an answer; an index that turns out to be broken is made anew."""
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            self._make_anew(error)
            return self._database.execute(query, values).fetchall()

    def _make_anew(self, error: sqlite3.Error) -> None:
        """Begin a broken index again; one that others are busy with is not broken."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise error
        self._database.close()
        self._database = self._open(anew=True)
        self._take_in_all()

    def update(self) -> None:
        """Take in what was appended since."""
        try:
            self._take_in_all()
        except sqlite3.Error as error:  # broken, or of another shape than it says
            self._make_anew(error)

    def _take_in_all(self) -> None:
        with self._database as database:
            database.execute("begin immediate")
            known = {row[0]: row[1:] for row in database.execute("select name, size, lines, ending from segments")}
            present = segments.names(self.place)
            for name in known.keys() - {_utf8(name) for name in present}:
                self._forget(name)
            for name in present:
                try:
                    self._take_in(name, known.get(_utf8(name)))
                except OSError:  # removed in the meantime, or something else stands in its place
                    self._forget(_utf8(name))
            database.execute("commit")

    def _take_in(self, name: str, known: tuple[int, int, str] | None) -> None:
        try:
            found = os.stat(os.path.join(self.place, name))
        except FileNotFoundError:  # old enough to have been removed just now
            self._forget(name)
            return
        if known is not None and self._ending(name, known[0]) != known[2]:  # another, by the same name
            self._forget(_utf8(name))
            known = None
        start, number = (known[0], known[1]) if known else (0, 0)
        if start == found.st_size:
            return
        for line in segments.lines(self.place, name, start, number + 1):
            if not line.raw.endswith(b"\n"):
                break
            start, number = line.start + len(line.raw), line.number
            if segments.is_ours(line) and (record := line.record) is not None:
                self._add(line, record)
        self._database.execute(
            "insert or replace into segments values (?, ?, ?, ?)",
            (_utf8(name), start, number, self._ending(name, start)),
        )

    def _ending(self, name: str, size: int) -> str:
        """What stands before a place in a segment: the hash of the line that ends there."""
        with segments.open_segment(self.place, name) as file:
            file.seek(max(size - 64, 0))
            return file.read(min(size, 64)).decode("utf-8", "replace")

    def _add(self, line: segments.Line, record: dict[str, Any]) -> None:
        get = record.get
        moment = _number(get("time"))
        if moment is None:
            return
        words = [_word(get(key)) for key in ("type", "by", "session_id", "event", "decision", "tool_name", "payload")]
        columns = (_utf8(line.segment), line.start, len(line.raw), moment, *words, _number(get("waited_ms")))
        insert = "insert into records values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        added = self._database.execute(insert, columns).lastrowid
        runs = [record] if get("type") == "async" else get("runs")
        self._database.executemany(
            "insert into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    *(added, moment, _word(run.get("hook")), _word(run.get("source")), _word(get("event"))),
                    *(_word(run.get("outcome")), _word(run.get("meaning")), _word(run.get("decision"))),
                    *(bool(run.get("shadow")), _number(run.get("duration_ms"))),
                    *(bool(run.get("modified_input")), bool(run.get("additional_context") or run.get("message"))),
                )
                for run in (runs if isinstance(runs, list) else ())
                if isinstance(run, dict) and isinstance(run.get("hook"), str)
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
        rows = self._ask(f"select * from ({chosen}) order by time, id", values)
        for number, segment, start, length, _ in rows:
            record = self._read(segment, start, length)
            if record is not None:
                yield number, record

    def _read(self, segment: str, start: int, length: int) -> dict[str, Any] | None:
        try:
            with segments.open_segment(self.place, segment) as file:
                file.seek(start)
                record = json.loads(file.read(length))
        except (OSError, ValueError, RecursionError):
            return None
        return record if isinstance(record, dict) else None

    def runs(self, wanted: Wanted) -> list[tuple[Any, ...]]:
        """(hook, source, event, outcome, meaning, decision, shadow, duration, time, changes, tells) of every run.

        Oldest first. `changes`: it gave another input; `tells`: it had something to say to the model or the person.
        """
        where, values = _conditions(wanted._replace(hook=None))
        hook = "and hook = ?" if wanted.hook else ""
        columns = "hook, source, runs.event, outcome, meaning, runs.decision, shadow, duration, runs.time"
        columns += ", changes, tells"
        query = (
            f"select {columns} from runs join records on records.id = record where {where} {hook} order by runs.time"
        )
        return self._ask(query, [*values, *([wanted.hook] if wanted.hook else [])])

    def waiting(self, wanted: Wanted) -> list[tuple[str, int, float]]:
        """(session, events, milliseconds waited) of each session, the longest first."""
        where, values = _conditions(wanted)
        query = (
            f"select session, count(*), sum(waited) from records where {where} and type = 'verdict' group by session"
        )
        return self._ask(f"{query} order by 3 desc", values)

    def close(self) -> None:
        self._database.close()


def _utf8(text: str) -> str:
    """A text as SQLite can hold it: a lone surrogate, such as in an undecodable file name, it cannot."""
    return text.encode("utf-8", "replace").decode()


def _word(value: Any) -> str | None:
    return _utf8(value) if isinstance(value, str) else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < 1e15 else None


def _conditions(wanted: Wanted) -> tuple[str, list[Any]]:
    """A where-clause over `records`."""
    conditions = ["records.type in ('verdict', 'async', 'approval')"]
    values: list[Any] = []
    plain = {"session": wanted.session, "event": wanted.event, "decision": wanted.decision, "by": wanted.by}
    for column, value in plain.items():
        if value is not None:
            conditions.append(f"records.{column} = ?")
            values.append(_utf8(value))
    if wanted.hook is not None:
        conditions.append("records.id in (select record from runs where hook = ?)")
        values.append(_utf8(wanted.hook))
    for comparison, moment in ((">=", wanted.since), ("<", wanted.until)):
        if moment is not None:
            conditions.append(f"records.time {comparison} ?")
            values.append(moment)
    return " and ".join(conditions), values
