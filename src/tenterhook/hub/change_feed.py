"""The change feed: a table of numbered changes, and wake-ups of coroutines that wait for one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from starlette.concurrency import run_in_threadpool

from .database import CHANNEL, DatabaseUnavailable, PostgreSQL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .database import Connection, Database

REQUEST, RECORD, RULES, PEOPLE, WEBHOOKS = "request", "record", "rules", "people", "webhooks"
MACHINE = "machine"
TOKEN_ADDED = "token added"  # noqa: S105  # no password
OPENED = "open"  # the waiting agent opened the request itself: it is not woken
_KEPT = 3600.0  # seconds
_RECENT = 2000  # changes that are kept in memory
_POLL = 0.5  # seconds after which the database is queried without a notification
_PAUSE = 0.01  # seconds between two queries: changes in quick succession are read together
_CURRENT = 2.0  # seconds after a query in which the feed counts as up to date
_RECONNECT = 0.5  # seconds before a lost connection is opened again
_DELAY = 0.05  # seconds by which agents that wait for their answer are woken before the streams


class Change(NamedTuple):
    """A change: what kind of thing, which one, and its new state."""

    number: int
    kind: str
    about: str
    what: str


def add(connection: Connection, kind: str, about: str, what: str) -> None:
    """Store a change at the end of the transaction; waiters are woken once it is committed."""
    connection.changes.append((kind, about, what))


def changes_after(connection: Connection, number: int) -> list[Change]:
    """Return the changes after a number, oldest first."""
    rows = connection.all(
        "select number, kind, about, what from changes where number > ? order by number limit ?", number, _RECENT
    )
    return [Change(**row) for row in rows]


def newest(connection: Connection) -> int:
    """Return the number of the last change; 0 if there is none."""
    row = connection.one("select max(number) as number from changes")
    return row["number"] or 0 if row else 0


def delete_old(connection: Connection) -> None:
    """Delete old changes; the last one stays, so that numbers continue after it."""
    connection.run(
        "delete from changes where time < ? and number < (select max(number) from changes)", time.time() - _KEPT
    )


def _is_removal(kind: str, what: str) -> bool:
    """Return whether a person, a token or a sign-in may have lost access."""
    return kind == PEOPLE and what != TOKEN_ADDED


def _resolve(changed: asyncio.Future[bool]) -> None:
    if not changed.done():
        changed.set_result(True)


class Feed:
    """Follows the changes for all waiters in this process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.last = 0
        self.is_closed = False
        self.on_people: Callable[[], object] = lambda: None  # called when access may have been lost, from any thread
        self._queried = 0.0
        self._recent: deque[Change] = deque(maxlen=_RECENT)
        self._waiting: dict[str, set[asyncio.Future[bool]]] = {}
        self._notified = asyncio.Event()
        self._news = asyncio.Event()
        self._waking: asyncio.TimerHandle | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Follow the changes from now on."""
        loop = asyncio.get_running_loop()
        self.last = await run_in_threadpool(self._database.read, newest)

        def told(changes: Sequence[tuple[str, str, str]]) -> None:
            if any(_is_removal(kind, what) for kind, _, what in changes):
                self.on_people()  # before the response
            loop.call_soon_threadsafe(self._notified.set)

        self._database.told = told
        self._tasks = [asyncio.create_task(self._follow())]
        if isinstance(self._database, PostgreSQL):
            self._tasks.append(asyncio.create_task(self._listen(self._database.address)))

    @property
    def is_current(self) -> bool:
        """Whether the changes were read recently: while the database is unavailable, they are not."""
        return time.monotonic() - self._queried < _CURRENT

    async def _follow(self) -> None:
        while True:
            self._notified.clear()
            begun = time.monotonic()
            try:
                found = await self._since(self.last)
            except DatabaseUnavailable:
                continue  # the read has already waited
            self._take(found)
            self._queried = begun
            if len(found) == _RECENT:
                continue
            await asyncio.sleep(_PAUSE)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._notified.wait(), _POLL)

    async def _since(self, number: int) -> list[Change]:
        return await run_in_threadpool(self._database.read, lambda connection: changes_after(connection, number))

    def _take(self, found: list[Change]) -> None:
        if not found:
            return
        self._recent.extend(found)
        self.last = found[-1].number
        if any(_is_removal(change.kind, change.what) for change in found):
            self.on_people()
        for change in found:
            is_news = change.kind == REQUEST and change.what != OPENED
            for changed in self._waiting.get(change.about, ()) if is_news else ():
                _resolve(changed)
        if self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(_DELAY, self._wake)

    def _wake(self) -> None:
        self._waking = None
        self._news.set()
        self._news = asyncio.Event()

    async def _listen(self, address: str) -> None:
        """Listen to PostgreSQL's notifications of changes by any hub; reconnect after each interruption."""
        import psycopg

        is_logged = False  # once for each interruption
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    address, autocommit=True, connect_timeout=5, application_name="tenterhook"
                ) as connection:
                    await connection.execute(f"listen {CHANNEL}")
                    is_logged = False
                    self._notified.set()  # there may have been changes before
                    async for _ in connection.notifies():
                        self._notified.set()
            except psycopg.Error as error:
                if not is_logged:
                    logging.getLogger("tenterhook.hub").warning("PostgreSQL is unavailable: %s", str(error).strip())
                is_logged = True
            await asyncio.sleep(_RECONNECT)

    @contextlib.contextmanager
    def watching(self, request: str) -> Iterator[asyncio.Future[bool]]:
        """Provide a future that becomes True when a request changes, unless the caller resolves it before."""
        changed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(request, set()).add(changed)
        if self.is_closed:
            _resolve(changed)
        try:
            yield changed
        finally:
            others = self._waiting[request]
            others.discard(changed)
            if not others:
                del self._waiting[request]

    async def next(self, number: int, seconds: float) -> list[Change]:
        """Return the changes after a number; waits for the first one, at most so many seconds."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while number >= self.last and not self.is_closed:
                    await self._news.wait()
        if number >= self.last:
            return []
        if self._recent and self._recent[0].number <= number + 1:
            return [change for change in self._recent if change.number > number]
        return await self._since(number)

    def close(self) -> None:
        """Wake all waiters, for the last time."""
        self.is_closed = True
        for several in self._waiting.values():
            for changed in several:
                _resolve(changed)
        self._wake()

    async def stop(self) -> None:
        """Stop following."""
        self._database.told = lambda _: None
        for _ in range(5):  # a connection that is failing may suppress the cancellation
            pending = [task for task in self._tasks if not task.done()]
            if not pending:
                return
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=1.0)
