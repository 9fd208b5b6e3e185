"""Simulates waiting agents, answering people and uploading machines, up to 10,000 of them in one process.

Each exchange has a connection of its own, as in the real client. All responses are kept to compare them with the
database.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from tenterhook.approvals.requests import Call, Request
from tenterhook.hub import inbox
from tenterhook.hub_client.connection import CONNECT_TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from tenterhook.hub.database import Connection, Row

    from .hub import Hub

POLL = 50.0  # seconds; this, and the next two, are those of the real client
_RETRY = 0.25
GIVES_UP = 10.0
_SECOND = 1000.0  # milliseconds


class Unavailable(Exception):
    """No response, or one that says to try again."""


class _Exchange(asyncio.Protocol):
    """Sends one request, and has the response when the hub closes the connection."""

    __slots__ = ("_received", "_sent", "done")

    def __init__(self, sent: bytes) -> None:
        self._sent = sent
        self._received = b""
        self.done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._sent)

    def data_received(self, data: bytes) -> None:
        self._received += data

    def connection_lost(self, _: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(self._received)


class Address(NamedTuple):
    """Where a hub listens."""

    host: str
    port: int

    async def call(self, token: str, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """Return the status and the body of a response; raises `Unavailable`."""
        data = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} /api/v1{path} HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer {token}\r\n"
            f"Connection: close\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        )
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):  # the system tries again after 1, 3, 7 and 15 seconds
                transport, exchange = await loop.create_connection(lambda: _Exchange(head.encode() + data), *self)
        except OSError as error:
            raise Unavailable(str(error)) from None
        try:
            received = await exchange.done
        finally:
            transport.abort()
        status, _, rest = received.partition(b"\r\n")
        try:
            code, said = int(status.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2])
        except (ValueError, IndexError):
            raise Unavailable("no response") from None
        if code >= 500:
            raise Unavailable(f"{code} {said}")
        return code, said


def address_of(hub: Hub) -> Address:
    return Address(hub.host, hub.port)


class Poll(NamedTuple):
    """A long poll that is under way."""

    request: str
    sent: float  # seconds since 1970
    wait: float


class Waiting(NamedTuple):
    """A request that an agent waits for."""

    agent: int
    id: str
    hash: str


class Fleet:
    """Agents and a person, each of whose requests goes to a random one of the hubs."""

    def __init__(self, hubs: list[Address], tokens: Sequence[str], person: str) -> None:
        self.hubs = hubs  # may be changed at any time
        self.tokens = tokens
        self._person = person
        self._random = random.Random(22)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._others: set[asyncio.Task[None]] = set()
        self._waiting: list[Waiting] = []  # not yet answered
        self._polls: dict[int, Poll] = {}  # by agent
        self._due: dict[str, float] = {}  # when an answer was due, by request
        self.told: dict[str, dict[str, Any]] = {}  # what agents were told, by request
        self.won: list[tuple[str, bool]] = []  # the person's answers that the hub accepted
        self.acknowledged: list[str] = []  # hashes of records that a hub has taken
        self.gave_up = 0  # agents that were not served for longer than they would wait
        self.answered: list[tuple[float, float]] = []  # when due, and milliseconds until the agent went on
        self.taken: list[tuple[float, float]] = []  # the same of uploads, until they were acknowledged
        self._lines = 0

    @property
    def size(self) -> int:
        """How many agents there are."""
        return len(self._tasks)

    async def grow(self, size: int, at_once: int = 40) -> None:
        """Start agents, `at_once` at a time, until there are `size`; wait until their requests are open."""
        room = asyncio.Semaphore(at_once)

        async def begin(number: int) -> None:
            async with room:
                opened = asyncio.Event()
                self._tasks[number] = asyncio.create_task(self._ask_again_and_again(number, opened))
                await opened.wait()

        await asyncio.gather(*(begin(number) for number in range(self.size, size)))

    async def restart(self) -> None:
        """End all agents, and start them again at the same time: each asks under a new id."""
        await self.stop()
        self._waiting.clear()
        self._polls.clear()
        self._due.clear()
        for number in self._tasks:
            self._tasks[number] = asyncio.create_task(self._ask_again_and_again(number))

    async def stop(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def unserved(self, connection: Connection, agents: set[int]) -> set[int]:
        """Return those agents without a poll that a hub has accepted, which renews the request's lease."""
        rows = connection.all("select id, lease from requests where state = 'open'")
        leases = {row["id"]: row["lease"] for row in rows}
        polls = {agent: self._polls.get(agent) for agent in agents}
        return {
            agent
            for agent, poll in polls.items()
            if poll is None or leases.get(poll.request, 0.0) < poll.sent + poll.wait + inbox.LEASE
        }

    async def settle(self) -> None:
        """Wait for the answers and uploads that are under way."""
        while self._others:
            await asyncio.wait(self._others)

    @property
    def unanswered(self) -> int:
        """How many agents still wait although their request was answered."""
        return len(self._due)

    async def load(self, seconds: float, answers: float, uploads: float, records: int) -> None:
        """Answer requests and upload batches of `records` at random moments, at these rates per second."""
        await asyncio.gather(
            self._arrivals(seconds, answers, self._answer), self._arrivals(seconds, uploads, self._upload_of(records))
        )

    async def _arrivals(self, seconds: float, rate: float, begin: Callable[[float], Coroutine[Any, Any, None]]) -> None:
        due = time.perf_counter()
        until = due + seconds
        while rate and (due := due + self._random.expovariate(rate)) < until:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            task = asyncio.create_task(begin(due))
            self._others.add(task)
            task.add_done_callback(self._others.discard)

    async def _anywhere(
        self, token: str, method: str, path: str, body: object = None, poll: tuple[int, str, float] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Send a request to a random hub, and retry until one responds."""
        failed: float | None = None
        while True:
            if poll is not None:
                self._polls[poll[0]] = Poll(poll[1], time.time(), poll[2])
            try:
                return await self._random.choice(self.hubs).call(token, method, path, body)
            except Unavailable:
                now = time.perf_counter()
                failed = now if failed is None else failed
                if poll is not None and failed + GIVES_UP < now < failed + GIVES_UP + 2 * _RETRY:
                    self.gave_up += 1
            await asyncio.sleep(_RETRY)

    async def _ask_again_and_again(self, number: int, opened: asyncio.Event | None = None) -> None:
        token = self.tokens[number]
        wait = self._random.uniform(1, POLL)  # so that the agents' polls end at different times
        while True:
            command = f"make target-{self._random.getrandbits(64):x}"
            request = Request(
                f"permission_{self._random.getrandbits(64):016x}",
                Call("Shell", {"command": command}, "/home/ann/shop", f"session-{number}"),
            )
            begun = time.perf_counter()
            status, said = await self._anywhere(token, "POST", "/requests", request.as_json("", None))
            self.gave_up += time.perf_counter() - begun > GIVES_UP
            if status not in (200, 201):
                raise AssertionError(f"{status} {said}")
            self._waiting.append(Waiting(number, request.id, said["hash"]))
            if opened is not None:
                opened.set()
            while said["state"] == "open":
                path = f"/requests/{request.id}/answer?wait={wait:.3f}"
                status, said = await self._anywhere(token, "GET", path, poll=(number, request.id, wait))
                if status != 200:
                    raise AssertionError(f"{status} {said}")
                wait = POLL
            now = time.perf_counter()
            del self._polls[number]
            self.told[request.id] = said
            if (due := self._due.pop(request.id, None)) is not None:
                self.answered.append((due, (now - due) * _SECOND))

    async def _answer(self, due: float) -> None:
        while not self._waiting:  # all of them have just been restarted
            await asyncio.sleep(_RETRY)
        place = self._random.randrange(len(self._waiting))
        self._waiting[place], self._waiting[-1] = self._waiting[-1], self._waiting[place]
        request = self._waiting.pop()
        self._due[request.id] = due
        approved = self._random.random() < 0.5
        given = {"approved": approved, "hash": request.hash}
        status, said = await self._anywhere(self._person, "POST", f"/requests/{request.id}/answer", given)
        if status == 200:
            self.won.append((request.id, approved))
        elif status != 409:
            raise AssertionError(f"{status} {said}")

    def _upload_of(self, records: int) -> Callable[[float], Coroutine[Any, Any, None]]:
        async def upload(due: float) -> None:
            number = self._random.randrange(self.size)
            lines = [self._line(number) for _ in range(records)]
            status, said = await self._anywhere(self.tokens[number], "POST", "/records", {"records": lines})
            if status != 200:
                raise AssertionError(f"{status} {said}")
            self.taken.append((due, (time.perf_counter() - due) * _SECOND))
            self.acknowledged += [line["record"]["hash"] for line in lines]

        return upload

    def _line(self, agent: int) -> dict[str, Any]:
        """Return a line of the journal: a call that one hook was asked about."""
        self._lines += 1
        run = {"hook": "no-force-push", "source": "user", "outcome": "exited", "exit_code": 0, "meaning": "allowed"}
        record = {
            "schema": 1,
            "type": "verdict",
            "time": round(time.time(), 3),
            "by": "claude-code",
            "session_id": f"session-{agent}",
            "event": "pre-tool-call",
            "tool_name": "Shell",
            "payload": {"tool_input": {"command": f"make target-{self._lines}"}, "cwd": "/home/ann/shop"},
            "decision": "allow",
            "waited_ms": 11.5,
            "runs": [{**run, "decision": "allow", "duration_ms": 9.75}],
            "hash": hashlib.sha256(f"{id(self)} {self._lines}".encode()).hexdigest(),
        }
        return {"segment": "000001.jsonl", "line": self._lines, "record": record}


def differences(fleet: Fleet, connection: Connection) -> list[str]:
    """Return what is inconsistent: requests answered twice, lost answers and records, agents told another state."""
    requests = {row["id"]: row for row in connection.all("select * from requests")}
    answers = connection.all("select request, approved, became from answers")
    won: dict[str, list[Row]] = {}
    for row in answers:
        if row["became"] == "won":
            won.setdefault(row["request"], []).append(row)
    found = [f"{request} was answered {len(rows)} times" for request, rows in won.items() if len(rows) > 1]
    found += [
        f"{request}: the answer {approved} was lost"
        for request, approved in fleet.won
        if request not in won or bool(won[request][0]["approved"]) is not approved
    ]
    for request, said in fleet.told.items():
        if request not in requests or requests[request]["state"] != said["state"]:
            found.append(f"{request}: the agent was told {said['state']}")
        elif said["state"] in ("approved", "denied") and request not in won:
            found.append(f"{request}: {said['state']} without an answer")
        elif said["state"] in ("withdrawn", "expired"):
            found.append(f"{request}: {said['state']} while its agent waited")
    stored = [row["hash"] for row in connection.all("select hash from records")]
    found += [] if len(stored) == len(set(stored)) else ["records were stored twice"]
    found += [f"record {missing} was lost" for missing in set(fleet.acknowledged) - set(stored)]
    return found
