"""The hub's database: SQLite, or PostgreSQL for several hubs, behind one interface.

SQL is written once, with `?` for each value. `write` and `read` call a function with a connection inside a
transaction; it may be called again if the connection was lost, so it must have no other effect than on the database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from ..basics import places
from ..basics.processes import Lock
from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg
    from psycopg_pool import ConnectionPool

T = TypeVar("T")
Row = dict[str, Any]

_RETRY_TIMEOUT = 10.0  # seconds that a request waits for an unavailable database server
_START_TIMEOUT = 5.0  # the same when the hub starts
_PAUSE = 0.1
_MAX_CONNECTIONS = 16

# keys of advisory locks; a transaction that takes several takes them in this order
MIGRATING_TURN, PEOPLE_TURN, CHANGES_TURN = 0x74656E74, 0x74656E76, 0x74656E75  # "tent" and after


class DatabaseUnavailable(HookError):
    """The database server is unavailable."""

    def __init__(self) -> None:
        super().__init__("the hub's database is unavailable", "try again in a moment")


class Connection(Protocol):
    """A transaction."""

    kind: str
    changed: bool  # whether `Database.told` is called once it is committed

    def all(self, query: str, *values: Any) -> list[Row]:
        """Return every row."""

    def one(self, query: str, *values: Any) -> Row | None:
        """Return the first row, or None."""

    def run(self, query: str, *values: Any) -> int:
        """Run a statement; return how many rows it changed."""

    def take_turns(self, turn: int) -> None:
        """Take a lock until the end of the transaction; what earlier holders have committed is visible then."""


class Database(Protocol):
    """The interface of both databases."""

    kind: str
    told: Callable[[], object]  # called from any thread after a change

    def write(self, work: Callable[[Connection], T], *, lasting: bool = True) -> T:
        """Call a function in a transaction; if not `lasting`, a power failure may undo it."""

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
        self.told: Callable[[], object] = lambda: None
        self._writing = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._lock = Lock(f"{file}.lock", wait=0)
        try:
            places.make_private(os.path.dirname(file))
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
                "end it first, name another file with --database, or use PostgreSQL for several hubs",
            ) from None

    def write(self, work: Callable[[Connection], T], *, lasting: bool = True) -> T:
        with self._writing:
            transaction = _SQLiteTransaction(self._writer)
            # what the hub has acknowledged survives a power failure
            self._writer.execute(f"pragma synchronous = {'full' if lasting else 'normal'}")
            self._writer.execute("begin immediate")
            try:
                done = work(transaction)
            except BaseException:
                self._writer.execute("rollback")
                raise
            self._writer.execute("commit")
        if transaction.changed:
            self.told()
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
        self.changed = False

    def _execute(self, query: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        return self._connection.execute(query, tuple(map(_storable, values)))

    def all(self, query: str, *values: Any) -> list[Row]:
        return [dict(row) for row in self._execute(query, values).fetchall()]

    def one(self, query: str, *values: Any) -> Row | None:
        rows = self.all(query, *values)
        return rows[0] if rows else None

    def run(self, query: str, *values: Any) -> int:
        return self._execute(query, values).rowcount

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
        self.address = address
        self.told: Callable[[], object] = lambda: None
        options = {"row_factory": dict_row, "application_name": "tenterhook", "connect_timeout": 5}
        self._pool: ConnectionPool[psycopg.Connection[Row]] = ConnectionPool(
            address, min_size=1, max_size=_MAX_CONNECTIONS, kwargs=options, open=False, reconnect_timeout=_RETRY_TIMEOUT
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
        def quickly(connection: Connection) -> T:
            connection.run("set local synchronous_commit to off")
            return work(connection)

        transaction, done = self._retry(work if lasting else quickly)
        if transaction.changed:
            self.told()
        return done

    def read(self, work: Callable[[Connection], T]) -> T:
        return self._retry(work)[1]

    def _retry(self, work: Callable[[Connection], T]) -> tuple[_PostgreSQLTransaction, T]:
        """Call a function in a transaction; again if the connection is lost, until `_RETRY_TIMEOUT`."""
        import psycopg

        until = time.monotonic() + _RETRY_TIMEOUT
        while True:
            try:
                with self._pool.connection(timeout=max(until - time.monotonic(), _PAUSE)) as connection:
                    transaction = _PostgreSQLTransaction(connection)
                    done = work(transaction)
                return transaction, done
            except (psycopg.OperationalError, psycopg.InterfaceError):
                if time.monotonic() >= until:
                    raise DatabaseUnavailable from None
                time.sleep(_PAUSE)

    def close(self) -> None:
        self._pool.close()


class _PostgreSQLTransaction:
    kind = PostgreSQL.kind

    def __init__(self, connection: psycopg.Connection[Row]) -> None:
        self._connection = connection
        self.changed = False

    def _execute(self, query: str, values: tuple[Any, ...]) -> psycopg.Cursor[Row]:
        written = query.replace("%", "%%").replace("?", "%s")
        return self._connection.execute(written.encode(), tuple(map(_storable, values)))

    def all(self, query: str, *values: Any) -> list[Row]:
        return self._execute(query, values).fetchall()

    def one(self, query: str, *values: Any) -> Row | None:
        return self._execute(query, values).fetchone()

    def run(self, query: str, *values: Any) -> int:
        return self._execute(query, values).rowcount

    def take_turns(self, turn: int) -> None:
        self.run("select pg_advisory_xact_lock(?)", turn)
