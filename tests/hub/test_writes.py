"""Writes that share a transaction: as many as come at the same time, and none suffers from another's failure."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tenterhook.errors import HookError
from tenterhook.hub import change_feed
from tenterhook.hub import database as databases
from tenterhook.hub.writes import Writes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tenterhook.hub.database import Connection, SQLite


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[SQLite]:
    kept = databases.opened(str(tmp_path / "hub.db"))
    assert isinstance(kept, databases.SQLite)
    yield kept
    kept.close()


def store(connection: Connection, given: Sequence[str]) -> list[str | Exception]:
    for each in given:
        change_feed.add(connection, change_feed.RULES, each, "added")
    return [HookError(each) if each == "refused" else each for each in given]


def store_or_fail(connection: Connection, given: Sequence[str]) -> list[str | Exception]:
    if "broken" in given:
        raise ValueError("broken")
    return store(connection, given)


def stored(kept: SQLite) -> list[str]:
    return [change.about for change in kept.read(lambda connection: change_feed.changes_after(connection, 0))]


def test_what_comes_at_the_same_time_is_one_transaction(kept: SQLite) -> None:
    transactions: list[int] = []
    kept.told = lambda changes: transactions.append(len(changes))

    async def run() -> list[str]:
        writes = Writes(kept)
        return await asyncio.gather(*(writes.do(store, f"w{number}") for number in range(50)))

    assert asyncio.run(run()) == [f"w{number}" for number in range(50)]
    assert sum(transactions) == 50
    assert len(transactions) < 5
    assert sorted(stored(kept)) == sorted(f"w{number}" for number in range(50))


@pytest.mark.parametrize("bad", ["refused", "broken"])
def test_one_that_fails_does_not_fail_the_others(kept: SQLite, bad: str) -> None:
    async def run() -> list[str | BaseException]:
        writes = Writes(kept)
        work = (writes.do(store_or_fail, each) for each in ("a", bad, "b"))
        return await asyncio.gather(*work, return_exceptions=True)

    first, failed, last = asyncio.run(run())
    assert (first, last) == ("a", "b")
    assert isinstance(failed, HookError if bad == "refused" else ValueError)
    assert {"a", "b"} <= set(stored(kept))
