"""Many agents, several hubs, people racing each other, a hub killed and PostgreSQL restarted in the middle of it.

Every request is answered at most once, none is approved without an answer, and nothing is lost from the journals.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest

from bench import hub_faults, hub_load, postgres
from hub import hubs
from hub.hubs import request
from tenterhook.hub import database

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator
    from pathlib import Path

    from tenterhook.hub.database import Connection, Row


class Size(NamedTuple):
    """How many there are of everything."""

    agents: int
    requests: int  # of each agent
    people: int  # who answer, at each hub


SMALL = Size(8, 5, 2)
LARGE = Size(50, 40, 3)


class Race:
    """Agents that ask and report, and people who answer, at whichever hub is there."""

    def __init__(self, size: Size, tokens: list[str], person: str, urls: list[str]) -> None:
        self.size = size
        self.urls = urls
        self._tokens = tokens
        self._person = person
        self._random = random.Random(6)
        self.seen: dict[str, dict[str, Any]] = {}  # what agents were told, by request
        self.won: list[tuple[str, bool]] = []  # what people were told

    async def run(self, trouble: Callable[[Race], Coroutine[Any, Any, None]]) -> None:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(timeout=30, limits=limits) as self._client, asyncio.TaskGroup() as tasks:
            people = [tasks.create_task(self._answer()) for _ in range(self.size.people * 2)]
            troubling = tasks.create_task(trouble(self))
            await asyncio.gather(*(tasks.create_task(self._ask(number)) for number in range(self.size.agents)))
            await troubling
            for each in people:
                each.cancel()

    async def _call(self, token: str, method: str, path: str, **more: Any) -> httpx.Response:
        """Ask any hub, and another one if that is not there or its database is away."""
        while True:
            with contextlib.suppress(httpx.TransportError):
                headers = {"authorization": f"Bearer {token}"}
                url = f"{self._random.choice(self.urls)}/api/v1{path}"
                response = await self._client.request(method, url, headers=headers, **more)
                if response.status_code != 503:
                    return response
            await asyncio.sleep(0.05)

    async def _ask(self, agent: int) -> None:
        token, session = self._tokens[agent], f"session-{agent}"
        for number in range(self.size.requests):
            asked = request(f"make {agent}-{number}", session_id=session)
            made = await self._call(token, "POST", "/requests", json=asked)
            assert made.status_code in (200, 201), made.text
            told = {"state": "open"}
            while told["state"] == "open":
                found = await self._call(token, "GET", f"/requests/{asked['id']}/answer?wait=5")
                assert found.status_code == 200, found.text
                told = found.json()
            self.seen[asked["id"]] = told
            record = {"type": "approval", "hash": asked["id"], "time": time.time(), "session_id": session}
            line = {"segment": "000001.jsonl", "line": number, "record": record}
            taken = await self._call(token, "POST", "/records", json={"records": [line]})
            assert sum(taken.json().values()) == 1

    async def _answer(self) -> None:
        """Answer whatever waits, as others do at the same time."""
        while True:
            waiting = await self._call(self._person, "GET", "/inbox?limit=50")
            chosen = waiting.json()["requests"]
            self._random.shuffle(chosen)
            for each in chosen[:10]:
                given = {"approved": self._random.random() < 0.5, "hash": each["hash"]}
                with contextlib.suppress(httpx.TransportError):
                    url = f"{self._random.choice(self.urls)}/api/v1/requests/{each['id']}/answer"
                    headers = {"authorization": f"Bearer {self._person}"}
                    answer = await self._client.post(url, json=given, headers=headers)
                    assert answer.status_code in (200, 409, 503), answer.text
                    if answer.status_code == 200:
                        self.won.append((each["id"], given["approved"]))
            await asyncio.sleep(0.02)

    async def until_seen(self, share: float) -> None:
        """Wait until this share of the requests has been decided."""
        while len(self.seen) < share * self.size.agents * self.size.requests:
            await asyncio.sleep(0.02)


def check(race: Race, where: str) -> None:
    """Hold what agents and people were told to what is kept."""
    kept = database.opened(where)
    try:
        requests, answers, records = kept.read(_all)
    finally:
        kept.close()
    assert {row["id"] for row in requests} == set(race.seen)
    assert len(requests) == race.size.agents * race.size.requests
    winners = {row["request"]: row for row in answers if row["became"] == "won"}
    assert len(winners) == sum(row["became"] == "won" for row in answers)  # each at most once
    for row in requests:
        told, winner = race.seen[row["id"]], winners.get(row["id"])
        assert told["state"] == row["state"]
        if winner is None:
            assert row["state"] in ("withdrawn", "expired")
            assert told["answer"] is None
        else:
            assert row["state"] == ("approved" if winner["approved"] else "denied")
            assert told["answer"]["by"] == winner["who"]
            assert told["answer"]["approved"] == bool(winner["approved"])
    assert len(dict(race.won)) == len(race.won)  # at most one answer of a request was said to count
    assert all(bool(winners[request]["approved"]) == approved for request, approved in race.won)
    assert len(winners) >= 0.9 * len(requests)  # a few askers may have been cut off for longer than a lease
    for number in range(race.size.agents):
        lines = [row["line"] for row in records if row["session"] == f"session-{number}"]
        assert lines == list(range(race.size.requests))


def _all(connection: Connection) -> tuple[list[Row], list[Row], list[Row]]:
    return (
        connection.all("select * from requests"),
        connection.all("select * from answers"),
        connection.all("select session, line from records order by number"),
    )


def raced(first: hubs.Hub, size: Size, urls: list[str], trouble: Callable[[Race], Coroutine[Any, Any, None]]) -> Race:
    tokens = [first.token(f"agent {number}") for number in range(size.agents)]
    race = Race(size, tokens, first.person_file["token"], urls)
    asyncio.run(race.run(trouble))
    return race


@pytest.fixture
def server() -> Iterator[hubs.PostgreSQL]:
    """A server that may be restarted."""
    server = hubs.PostgreSQL()
    yield server
    server.remove()


@pytest.mark.parametrize("size", [SMALL, pytest.param(LARGE, marks=[pytest.mark.thorough, pytest.mark.timeout(900)])])
def test_on_postgresql_with_a_hub_killed_and_the_server_restarted(
    tmp_path: Path, server: hubs.PostgreSQL, size: Size
) -> None:
    where = server.new_database()
    with contextlib.ExitStack() as stack:
        one, two = (stack.enter_context(hubs.running(tmp_path / name, database=where)) for name in ("one", "two"))
        urls = [one.url, two.url]

        async def trouble(race: Race) -> None:
            await race.until_seen(0.2)
            two.process.send_signal(signal.SIGKILL)
            await race.until_seen(0.4)
            third = await asyncio.to_thread(hubs.Hub, two.home, database=where)
            stack.callback(third.end)
            urls[:] = [one.url, third.url]
            await race.until_seen(0.6)
            await asyncio.to_thread(server.stop)
            await asyncio.to_thread(server.start)

        race = raced(one, size, urls, trouble)
        check(race, where)


@pytest.mark.parametrize("size", [SMALL, pytest.param(LARGE, marks=[pytest.mark.thorough, pytest.mark.timeout(900)])])
def test_on_sqlite_with_its_one_hub_killed_and_started_again(tmp_path: Path, size: Size) -> None:
    where = str(tmp_path / "hub.db")
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(hubs.running(tmp_path / "one", database=where))
        urls = [one.url]

        async def trouble(race: Race) -> None:
            await race.until_seen(0.4)
            one.process.send_signal(signal.SIGKILL)
            await asyncio.to_thread(one.process.wait)
            again = await asyncio.to_thread(hubs.Hub, one.home, database=where)
            stack.callback(again.end)
            urls[:] = [again.url]

        race = raced(one, size, urls, trouble)
        check(race, where)


@pytest.mark.thorough
@pytest.mark.parametrize("agents", [100, pytest.param(2000, marks=pytest.mark.timeout(900))])
def test_under_load_no_fault_loses_anything_and_everyone_is_served_again(agents: int) -> None:
    """A hub killed, PostgreSQL crashed, its disk full, all agents restarted: `bench.hub_load --faults`, but smaller."""
    rates = hub_load.Rates(12.0, 10.0, 100.0, 5)
    with contextlib.ExitStack() as stack:
        try:
            server, disk = stack.enter_context(hub_faults.server_on_small_disk())
        except postgres.NotInstalled as reason:
            pytest.skip(str(reason))
        site = hub_load.Site(hub_load.SETUPS[0], stack, server, agents)
        faults = hub_faults.Faults(site, server, disk, stack)
        endured, wrong = asyncio.run(hub_faults.endure(site, faults, agents, rates))
    assert wrong == []
    assert len(endured) == (3 if disk is None else 4)
    assert all(each.seconds < 60 for each in endured), endured  # a busy machine is given time
