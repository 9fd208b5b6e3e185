"""What is live: a table of numbered changes, and how whoever waits for one is woken without holding a thread."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from starlette.concurrency import run_in_threadpool

from .database import CHANGES_TURN, DatabaseAway, PostgreSQL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .database import Connection, Database

REQUEST, RECORD, RULES, PEOPLE, WEBHOOKS = "request", "record", "rules", "people", "webhooks"
KINDS = (REQUEST, RECORD, RULES, PEOPLE, WEBHOOKS)
OPENED = "open"  # what an agent that waits knows: it has opened the request itself
_CHANNEL = "tenterhook"
_KEPT = 3600.0  # seconds
_RECENT = 2000  # changes that are at hand without asking the database
_LOOK = 1.0  # seconds after which the database is looked at, even if nobody has called
_AGAIN = 0.5  # seconds before a lost connection is made anew
_LATER = 0.05  # seconds by which agents that wait for their answer hear of it before everybody who listens


class Change(NamedTuple):
    """Something that happened: to what, and what became of it."""

    number: int
    kind: str
    about: str
    what: str


def add(connection: Connection, kind: str, about: str, what: str) -> None:
    """Write a change down, as the last thing in its transaction; whoever waits is woken when that is done."""
    connection.take_turns(CHANGES_TURN)  # so that numbers are seen in order
    row = connection.one(
        "insert into changes (kind, about, what, time) values (?, ?, ?, ?) returning number",
        *(kind, about, what, time.time()),
    )
    assert row is not None
    if connection.kind == PostgreSQL.kind:
        connection.run("select pg_notify(?, ?)", _CHANNEL, str(row["number"]))
    connection.changed = True


def after(connection: Connection, number: int) -> list[Change]:
    """The changes since a number, oldest first."""
    rows = connection.all(
        "select number, kind, about, what from changes where number > ? order by number limit ?", number, _RECENT
    )
    return [Change(**row) for row in rows]


def newest(connection: Connection) -> int:
    """The number of the last change there was."""
    row = connection.one("select max(number) as number from changes")
    return row["number"] or 0 if row else 0


def forget_old(connection: Connection) -> None:
    """Drop changes that nobody will ask for any more; the last one stays, so that numbers are known to go on."""
    connection.run(
        "delete from changes where time < ? and number < (select max(number) from changes)", time.time() - _KEPT
    )


class Feed:
    """Follows the changes for everybody in this process who waits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.last = 0
        self.is_closed = False
        self._recent: deque[Change] = deque(maxlen=_RECENT)
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._call = asyncio.Event()
        self._news = asyncio.Event()
        self._waking: asyncio.TimerHandle | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to follow, from now on."""
        loop = asyncio.get_running_loop()
        self.last = await run_in_threadpool(self._database.read, newest)

        def told() -> None:
            loop.call_soon_threadsafe(self._call.set)

        self._database.told = told
        self._tasks = [asyncio.create_task(self._follow())]
        if isinstance(self._database, PostgreSQL):
            self._tasks.append(asyncio.create_task(self._listen(self._database.address)))

    async def _follow(self) -> None:
        while True:
            self._call.clear()
            try:
                found = await self._since(self.last)
            except DatabaseAway:
                continue  # it has waited long enough
            self._take(found)
            if len(found) == _RECENT:
                continue
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._call.wait(), _LOOK)

    async def _since(self, number: int) -> list[Change]:
        return await run_in_threadpool(self._database.read, lambda connection: after(connection, number))

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
            self._waking = asyncio.get_running_loop().call_later(_LATER, self._wake)

    def _wake(self) -> None:
        self._waking = None
        self._news.set()
        self._news = asyncio.Event()

    async def _listen(self, address: str) -> None:
        """Be called by PostgreSQL whenever any hub has changed something; again, after each interruption."""
        import psycopg

        is_known = False  # that it is away: said once
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    address, autocommit=True, connect_timeout=5, application_name="tenterhook"
                ) as connection:
                    await connection.execute(f"listen {_CHANNEL}")
                    is_known = False
                    self._call.set()  # what came while nobody listened
                    async for _ in connection.notifies():
                        self._call.set()
            except psycopg.Error as error:
                if not is_known:
                    logging.getLogger("tenterhook.hub").warning("PostgreSQL is away: %s", str(error).strip())
                is_known = True
            await asyncio.sleep(_AGAIN)

    @contextlib.contextmanager
    def watching(self, request: str) -> Iterator[asyncio.Event]:
        """An event that is set when something happens to a request."""
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
        """The changes since a number; waits for the first of them, but not longer than this."""
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
        """Send everybody home who waits."""
        self.is_closed = True
        for events in self._waiting.values():
            for event in events:
                event.set()
        self._wake()

    async def stop(self) -> None:
        """Follow no longer."""
        self._database.told = _nothing
        for _ in range(5):  # a connection that is just failing may swallow it
            pending = [task for task in self._tasks if not task.done()]
            if not pending:
                return
            for task in pending:
                task.cancel()
            await asyncio.wait(pending, timeout=1.0)


def _nothing() -> None:
    """Nobody is there to be told."""
