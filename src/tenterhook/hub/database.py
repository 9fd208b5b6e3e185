"""The hub's database: SQLite, or PostgreSQL for several hubs, behind one interface.

SQL is written once, with `?` for each value. `write` and `read` call a function with a connection inside a
transaction; it may be called again if the connection was lost, so it must have no effect outside the database.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..basics import places
from ..basics.processes import Lock
from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import psycopg
    from psycopg_pool import ConnectionPool

T = TypeVar("T")
Row = dict[str, Any]
Change = tuple[str, str, str]  # kind, about, what: see change_feed.py

_RETRY_TIMEOUT = 10.0  # seconds that a request waits for an unavailable database server
_RECONNECT_TIMEOUT = 1.0  # after that, ask the pool again; by itself it would pause for up to 8 seconds
_START_TIMEOUT = 5.0  # the same when the hub starts
_PAUSE = 0.1
_MAX_CONNECTIONS = 16
CHANNEL = "tenterhook"  # of PostgreSQL's notifications

# keys of advisory locks; a transaction that takes several takes them in this order
MIGRATING_TURN, PEOPLE_TURN, CHANGES_TURN = 0x74656E74, 0x74656E76, 0x74656E75  # "tent" and after


class DatabaseUnavailable(HookError):
    """The database server is unavailable."""

    def __init__(self) -> None:
        super().__init__("the hub's database is unavailable", "try again in a moment")


class Connection(Protocol):
    """A transaction."""

    kind: str
    changes: list[Change]  # stored last; then `Database.told` is called, once it is committed

    def all(self, query: str, *values: Any) -> list[Row]:
        """Return every row."""

    def one(self, query: str, *values: Any) -> Row | None:
        """Return the first row, or None."""

    def run(self, query: str, *values: Any) -> int:
        """Run a statement; return how many rows it changed."""

    def many(self, query: str, rows: Sequence[tuple[Any, ...]]) -> list[Row | None]:
        """Run a statement that returns rows, with one set of values after another; return the first row of each."""

    def at_once(self) -> AbstractContextManager[object]:
        """Send the statements of a block without waiting for each; `run` then returns nothing useful."""

    def take_turns(self, turn: int) -> None:
        """Take a lock until the end of the transaction; commits of earlier holders are then visible."""


class Database(Protocol):
    """The interface of both databases."""

    kind: str
    told: Callable[[Sequence[Change]], object]  # called from any thread with changes that are committed

    def write(self, work: Callable[[Connection], T], *, lasting: bool = True) -> T:
        """Call a function in a transaction; if not `lasting`, a power failure of this machine may undo it."""

    def read(self, work: Callable[[Connection], T]) -> T:
        """Call a function that changes nothing, in a transaction."""

    def close(self) -> None:
        """Close the connections."""


def default_file() -> str:
    return os.path.join(places.state(), "hub", "hub.db")


def opened(where: str | None) -> SQLite | PostgreSQL:
    """Open a database and bring its schema up to date: a file, a `postgresql://` URL, or None for the default file."""
    from . import migrations

    database: SQLite | PostgreSQL
    if where is not None and where.startswith(("postgresql://", "postgres://")):
        database = PostgreSQL(where)
    else:
        database = SQLite(os.path.abspath(where.removeprefix("sqlite:///") if where else default_file()))
    try:
        migrations.bring_up_to_date(database)
    except BaseException:
        database.close()
        raise
    return database


def _store_changes(connection: Connection) -> None:
    """Store the changes of a transaction. Their numbers become visible in order, so this is the last of its work."""
    if not connection.changes:
        return
    now = time.time()
    with connection.at_once():
        connection.take_turns(CHANGES_TURN)
        connection.many(
            "insert into changes (kind, about, what, time) values (?, ?, ?, ?) returning number",
            [(*change, now) for change in connection.changes],
        )
        if connection.kind == PostgreSQL.kind:
            connection.run("select pg_notify(?, '')", CHANNEL)


def _storable(value: Any) -> Any:
    """Return a value that both databases can store: without lone surrogates, and for PostgreSQL without U+0000."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")


class SQLite:
    """One file, with one writer at a time and any number of readers."""

    kind = "sqlite"

    def __init__(self, file: str) -> None:
        self.file = file
        self.told: Callable[[Sequence[Change]], object] = lambda _: None
        self._writing = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._lock = Lock(f"{file}.lock", wait=0)
        try:
            places.make_private(os.path.dirname(file))
            # SQLite creates files as the umask permits, and its log with the mode of the file
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._writer = self._connect()
        except (OSError, sqlite3.Error) as error:
            raise HookError(f"{file} cannot be opened: {error}", "name another file with --database") from None
        os.chmod(file, 0o600)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.file, timeout=30, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma foreign_keys = on")
        return connection

    def claim(self) -> None:
        """Raise HookError if another hub uses this file: its process would not be woken by our changes."""
        if not self._lock.__enter__():
            raise HookError(
                f"another hub is running on {self.file}",
                "stop it first, name another file with --database, or use PostgreSQL for several hubs",
            ) from None

    def write(self, work: Callable[[Connection], T], *, lasting: bool = True) -> T:
        with self._writing:
            transaction = _SQLiteTransaction(self._writer)
            # what the hub has acknowledged survives a power failure
            self._writer.execute(f"pragma synchronous = {'full' if lasting else 'normal'}")
            self._writer.execute("begin immediate")
            try:
                done = work(transaction)
                _store_changes(transaction)
            except BaseException:
                self._writer.execute("rollback")
                raise
            self._writer.execute("commit")
        if transaction.changes:
            self.told(transaction.changes)
        return done

    def read(self, work: Callable[[Connection], T]) -> T:
        with self._reader() as connection:
            connection.execute("begin")
            try:
                return work(_SQLiteTransaction(connection))
            finally:
                connection.execute("rollback")

    @contextlib.contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
            connection.execute("pragma query_only = on")
        try:
            yield connection
        finally:
            self._idle.append(connection)

    def close(self) -> None:
        for connection in (*self._idle, self._writer):
            connection.close()
        self._lock.__exit__()


class _SQLiteTransaction:
    kind = SQLite.kind

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.changes: list[Change] = []

    def _execute(self, query: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        return self._connection.execute(query, tuple(map(_storable, values)))

    def all(self, query: str, *values: Any) -> list[Row]:
        return [dict(row) for row in self._execute(query, values).fetchall()]

    def one(self, query: str, *values: Any) -> Row | None:
        rows = self.all(query, *values)
        return rows[0] if rows else None

    def run(self, query: str, *values: Any) -> int:
        return self._execute(query, values).rowcount

    def many(self, query: str, rows: Sequence[tuple[Any, ...]]) -> list[Row | None]:
        return [self.one(query, *values) for values in rows]

    def at_once(self) -> AbstractContextManager[object]:
        return contextlib.nullcontext()

    def take_turns(self, turn: int) -> None:
        """Do nothing: there is only one writer."""


class PostgreSQL:
    """A server that several hubs share."""

    kind = "postgresql"

    def __init__(self, address: str) -> None:
        try:
            from psycopg.rows import dict_row
            from psycopg_pool import ConnectionPool, PoolTimeout
        except ImportError:
            from ..basics.install_hints import install_command

            raise HookError("PostgreSQL needs psycopg", f"install it with: {install_command('hub')}") from None
        logging.getLogger("psycopg").setLevel(logging.ERROR)  # it warns at each attempt to connect; we say so once
        self.address = address
        self.told: Callable[[Sequence[Change]], object] = lambda _: None
        options = {"row_factory": dict_row, "application_name": "tenterhook", "connect_timeout": 5}
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            address,
            min_size=1,
            max_size=_MAX_CONNECTIONS,
            kwargs=options,
            open=False,
            reconnect_timeout=_RECONNECT_TIMEOUT,
        )
        self._pool.open()
        try:
            self._pool.wait(timeout=_START_TIMEOUT)
        except PoolTimeout:
            self._pool.close()
            raise HookError("the PostgreSQL server cannot be reached", "check the address in --database") from None

    def claim(self) -> None:
        """Do nothing: several hubs may share a server."""

    def write(self, work: Callable[[Connection], T], *, lasting: bool = True) -> T:
        def do(connection: psycopg.Connection[Row]) -> tuple[_PostgreSQLTransaction, T]:
            transaction = _PostgreSQLTransaction(connection)
            done = work(transaction)  # lasting in any case: the server may crash alone, while agents wait at this hub
            _store_changes(transaction)
            return transaction, done

        transaction, done = self._retry(do)
        if transaction.changes:
            self.told(transaction.changes)
        return done

    def read(self, work: Callable[[Connection], T]) -> T:
        def do(connection: psycopg.Connection[Row]) -> T:
            # each query sees what is committed, as in a transaction, without its two exchanges
            connection.autocommit = True
            try:
                return work(_PostgreSQLTransaction(connection))
            finally:
                if not connection.closed:
                    connection.autocommit = False

        return self._retry(do)

    def _retry(self, work: Callable[[psycopg.Connection[Row]], T]) -> T:
        """Call a function in a transaction; again if the connection is lost, until `_RETRY_TIMEOUT`."""
        import psycopg

        until = time.monotonic() + _RETRY_TIMEOUT
        while True:
            try:
                with self._pool.connection(timeout=_RECONNECT_TIMEOUT) as connection:
                    return work(connection)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                if time.monotonic() >= until:
                    logging.getLogger("tenterhook.hub").warning("PostgreSQL is unavailable: %s", str(error).strip())
                    raise DatabaseUnavailable from None
                time.sleep(_PAUSE)

    def close(self) -> None:
        self._pool.close()


class _PostgreSQLTransaction:
    kind = PostgreSQL.kind

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection
        self.changes: list[Change] = []

    def _execute(self, query: str, values: tuple[Any, ...]) -> psycopg.Cursor[Row]:
        return self._connection.execute(_in_psycopg(query), tuple(map(_storable, values)))

    def all(self, query: str, *values: Any) -> list[Row]:
        return self._execute(query, values).fetchall()

    def one(self, query: str, *values: Any) -> Row | None:
        return self._execute(query, values).fetchone()

    def run(self, query: str, *values: Any) -> int:
        return self._execute(query, values).rowcount

    def many(self, query: str, rows: Sequence[tuple[Any, ...]]) -> list[Row | None]:
        if not rows:
            return []
        with self._connection.cursor() as cursor:  # sends all of them before it waits
            cursor.executemany(_in_psycopg(query), [tuple(map(_storable, values)) for values in rows], returning=True)
            found = [cursor.fetchone()]
            while cursor.nextset():
                found.append(cursor.fetchone())
            return found

    def at_once(self) -> AbstractContextManager[object]:
        return self._connection.pipeline()

    def take_turns(self, turn: int) -> None:
        self.run("select pg_advisory_xact_lock(?)", turn)


@functools.cache
def _in_psycopg(query: str) -> bytes:
    return query.replace("%", "%%").replace("?", "%s").encode()
