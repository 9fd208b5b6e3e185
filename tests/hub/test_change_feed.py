"""The feed of changes: who is woken by what, and which changes can be read later."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from hub import hubs
from hub.hubs import answered, opened
from hub.listening import listening
from support import until
from tenterhook.hub import change_feed
from tenterhook.hub import database as databases
from tenterhook.hub.change_feed import Feed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tenterhook.hub.database import PostgreSQL, SQLite


@contextlib.asynccontextmanager
async def following(kept: SQLite | PostgreSQL) -> AsyncIterator[Feed]:
    feed = Feed(kept)
    await feed.start()
    try:
        yield feed
    finally:
        await feed.stop()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SQLite | PostgreSQL]:
    kept = databases.opened(str(tmp_path / "hub.db"))
    yield kept
    kept.close()


def add(kept: SQLite | PostgreSQL, about: str, what: str = "denied") -> None:
    kept.write(lambda connection: change_feed.add(connection, change_feed.REQUEST, about, what))


def test_one_who_waits_for_a_request_is_woken_by_its_answer_and_by_nothing_else(kept: SQLite | PostgreSQL) -> None:
    async def run() -> None:
        async with following(kept) as feed:
            with feed.watching("mine") as changed:
                for about, what in (("other", "denied"), ("mine", change_feed.OPENED)):
                    await asyncio.to_thread(add, kept, about, what)
                while feed.last < 2:
                    await asyncio.sleep(0.01)
                assert not changed.done()
                await asyncio.to_thread(add, kept, "mine")
                await asyncio.wait_for(changed, 10)

    asyncio.run(run())


def test_changes_come_in_order_from_any_number_on(kept: SQLite | PostgreSQL) -> None:
    add(kept, "before")

    async def run() -> None:
        async with following(kept) as feed:
            assert await feed.next(feed.last, 0) == []
            for number in range(3):
                await asyncio.to_thread(add, kept, f"r{number}")
            while feed.last < 4:
                await feed.next(feed.last, 10)
            assert [change.about for change in await feed.next(2, 0)] == ["r1", "r2"]
            assert [change.about for change in await feed.next(0, 0)] == ["before", "r0", "r1", "r2"]

    asyncio.run(run())


def test_a_feed_that_closes_lets_everyone_go(kept: SQLite | PostgreSQL) -> None:
    async def run() -> None:
        async with following(kept) as feed:
            waiting = asyncio.create_task(feed.next(feed.last, 60))
            with feed.watching("mine") as changed:
                await asyncio.sleep(0)
                feed.close()
                await asyncio.wait_for(changed, 10)
            assert await asyncio.wait_for(waiting, 10) == []
            with feed.watching("late") as late:
                assert late.done()

    asyncio.run(run())


def test_old_changes_are_dropped_but_the_last_one(kept: SQLite | PostgreSQL) -> None:
    for number in range(3):
        add(kept, f"r{number}")
    kept.write(lambda connection: connection.run("update changes set time = 1"))
    kept.write(change_feed.delete_old)
    assert [change.number for change in kept.read(lambda connection: change_feed.changes_after(connection, 0))] == [3]
    assert kept.read(change_feed.newest) == 3


@pytest.mark.slow
def test_two_hubs_on_one_server_are_one_inbox(tmp_path: Path, postgresql: hubs.PostgreSQL) -> None:
    database = postgresql.new_database()
    with (
        hubs.running(tmp_path / "one", database=database) as one,
        hubs.running(tmp_path / "two", database=database) as two,
    ):
        with listening(two) as listener:
            agent = one.agent()
            asked = opened(agent)
            until(lambda: listener.saw("request", asked["id"], "open"))
        assert two.admin is not None
        assert answered(two.admin, asked).status_code == 200
        assert agent.get(f"/requests/{asked['id']}/answer?wait=20").json()["state"] == "approved"
