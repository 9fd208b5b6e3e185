"""The change feed: a table of numbered changes, and wake-ups of coroutines that wait for one."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from starlette.concurrency import run_in_threadpool

from .database import CHANGES_TURN, DatabaseUnavailable, PostgreSQL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .database import Connection, Database

REQUEST, RECORD, RULES, PEOPLE, WEBHOOKS = "request", "record", "rules", "people", "webhooks"
OPENED = "open"  # the agent that waits has opened the request itself: it is not woken
_CHANNEL = "tenterhook"
_KEPT = 3600.0  # seconds
_RECENT = 2000  # changes that are kept in memory
_POLL = 1.0  # seconds after which the database is queried without a notification
_RECONNECT = 0.5  # seconds before a lost connection is opened again
_DELAY = 0.05  # seconds by which agents that wait for their answer are woken before the streams


class Change(NamedTuple):
    """A change: what kind of thing, which one, and its new state."""

    number: int
    kind: str
    about: str
    what: str


def add(connection: Connection, kind: str, about: str, what: str) -> None:
    """Store a change, at the end of its transaction; those who wait are woken once it is committed."""
    connection.take_turns(CHANGES_TURN)  # numbers become visible in order
    row = connection.one(
        "insert into changes (kind, about, what, time) values (?, ?, ?, ?) returning number",
        *(kind, about, what, time.time()),
    )
    assert row is not None
    if connection.kind == PostgreSQL.kind:
        connection.run("select pg_notify(?, ?)", _CHANNEL, str(row["number"]))
    connection.changed = True


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


class Feed:
    """Follows the changes for all that wait in this process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.last = 0
        self.is_closed = False
        self._recent: deque[Change] = deque(maxlen=_RECENT)
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._notified = asyncio.Event()
        self._news = asyncio.Event()
        self._waking: asyncio.TimerHandle | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Follow the changes from now on."""
        loop = asyncio.get_running_loop()
        self.last = await run_in_threadpool(self._database.read, newest)
        self._database.told = lambda: loop.call_soon_threadsafe(self._notified.set)
        self._tasks = [asyncio.create_task(self._follow())]
        if isinstance(self._database, PostgreSQL):
            self._tasks.append(asyncio.create_task(self._listen(self._database.address)))

    async def _follow(self) -> None:
        while True:
            self._notified.clear()
            try:
                found = await self._since(self.last)
            except DatabaseUnavailable:
                continue  # the read has already waited
            self._take(found)
            if len(found) == _RECENT:
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._notified.wait(), _POLL)

    async def _since(self, number: int) -> list[Change]:
        return await run_in_threadpool(self._database.read, lambda connection: changes_after(connection, number))

    def _take(self, found: list[Change]) -> None:
        if not found:
            return
        self._recent.extend(found)
        self.last = found[-1].number
        for change in found:
            is_news = change.kind == REQUEST and change.what != OPENED
            for event in self._waiting.get(change.about, ()) if is_news else ():
                event.set()
        if self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(_DELAY, self._wake)

    def _wake(self) -> None:
        self._waking = None
        self._news.set()
        self._news = asyncio.Event()

    async def _listen(self, address: str) -> None:
        """Listen to PostgreSQL's notifications of changes by any hub; reconnects after each interruption."""
        import psycopg

        is_logged = False  # once for each interruption
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    address, autocommit=True, connect_timeout=5, application_name="tenterhook"
                ) as connection:
                    await connection.execute(f"listen {_CHANNEL}")
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
    def watching(self, request: str) -> Iterator[asyncio.Event]:
        """Provide an event that is set when a request changes."""
        event = asyncio.Event()
        self._waiting.setdefault(request, set()).add(event)
        if self.is_closed:
            event.set()
        try:
            yield event
        finally:
            events = self._waiting[request]
            events.discard(event)
            if not events:
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
        """Wake all that wait, for the last time."""
        self.is_closed = True
        for events in self._waiting.values():
            for event in events:
                event.set()
        self._wake()

    async def stop(self) -> None:
        """Stop following."""
        self._database.told = lambda: None
        for _ in range(5):  # a connection that is failing may suppress the cancellation
            pending = [task for task in self._tasks if not task.done()]
            if not pending:
                return
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=1.0)
