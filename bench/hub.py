"""python -m bench.hub: how soon an answer at the hub reaches the waiting agent, while many others wait."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
import uuid
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from tenterhook.approvals.requests import Call, Request
from tenterhook.journal.statistics import percentile

from . import homes, tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
_COMMAND = "python -m bench.hub --write"
_LIMIT = 50.0  # milliseconds, at the median
_POLL = 50.0  # seconds that an agent waits at a time, as ours do
_PAUSE = 0.25  # seconds before each answer: by then all pages have received the request's event
_AT_ONCE = 20  # requests that are opened side by side
_MEBIBYTE = 1024  # kibibytes


class Load(NamedTuple):
    """The load besides the agent that is measured."""

    requests: int
    pages: int

    def __str__(self) -> str:
        if not self.requests:
            return "nobody else"
        return f"{self.requests:,} open requests, {self.pages:,} pages"


class Measured(NamedTuple):
    """Milliseconds from each answer until the agent continued, and the hub's memory at that load."""

    load: Load
    took: list[float]
    mebibytes: float

    @property
    def p50(self) -> float:
        return median(self.took)

    @property
    def p99(self) -> float:
        return percentile(sorted(self.took), 0.99)

    @property
    def mark(self) -> str:
        return "pass" if self.p50 <= _LIMIT else "miss"


class Hub:
    """A hub process, and a person's token."""

    def __init__(self, process: subprocess.Popen[str], home: Path) -> None:
        self.process = process
        assert process.stdout is not None
        self.host, _, port = json.loads(process.stdout.readline())["listen"].removeprefix("http://").rpartition(":")
        self.port = int(port)
        kept = json.loads((home / ".local/state/tenterhook/hub/person.json").read_text())
        self.person: str = kept["token"]

    async def call(self, token: str, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send a request over a new connection, as agents do; return the response's body. Raises `Unmeasured`."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(self._head(token, method, path, body))
            status, _, rest = (await reader.read()).partition(b"\r\n")
            said: dict[str, Any] = json.loads(rest.partition(b"\r\n\r\n")[2])
            if status.split()[1][:1] != b"2":
                raise Unmeasured(f"{method} {path}: {status.decode()} {said}")
            return said
        finally:
            writer.close()

    async def listen(self, token: str) -> asyncio.Transport:
        """Open the event stream, as a page does."""
        loop = asyncio.get_running_loop()
        transport, page = await loop.create_connection(_Page, self.host, self.port)
        transport.write(self._head(token, "GET", "/stream"))
        await page.has_data
        return transport

    def _head(self, token: str, method: str, path: str, body: object = None) -> bytes:
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} /api/v1{path} HTTP/1.1", f"Host: {self.host}", f"Authorization: Bearer {token}"]
        lines += ["Connection: close", "Content-Type: application/json", f"Content-Length: {len(data)}"]
        return "\r\n".join((*lines, "", "")).encode() + data

    @property
    def mebibytes(self) -> float:
        """Return the hub's resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / _MEBIBYTE


class Unmeasured(Exception):
    """The hub refused a request of the benchmark."""


class _Page(asyncio.Protocol):
    """The event stream of a page, which discards what it receives."""

    def __init__(self) -> None:
        self.has_data = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        if not self.has_data.done():
            self.has_data.set_result(None)


@contextmanager
def running(database: str | None = None) -> Iterator[Hub]:
    """Run a hub on this database, or on SQLite in a home of its own."""
    with ExitStack() as stack:
        home = Path(stack.enter_context(TemporaryDirectory(prefix="tenterhook-bench-"))).resolve()
        command = [sys.executable, "-m", "tenterhook", "hub", "--listen", "127.0.0.1:0", "--json"]
        command += ["--database", database] if database else []
        process = subprocess.Popen(command, env=homes.clean_environment(home), stdout=subprocess.PIPE, text=True)
        stack.callback(process.communicate)
        stack.callback(process.terminate)
        yield Hub(process, home)


class Agents:
    """Agents that wait for answers, each in a long poll."""

    def __init__(self, hub: Hub, token: str) -> None:
        self._hub = hub
        self._token = token
        self._waiting: dict[str, asyncio.Task[float]] = {}
        self._hashes: dict[str, str] = {}

    async def ask(self) -> str:
        """Add an agent that waits; return the id of its request."""
        command = f"make target-{uuid.uuid4().hex}"
        request = Request(uuid.uuid4().hex, Call("Shell", {"command": command}, "/home/ann/shop", "session"))
        said = await self._hub.call(self._token, "POST", "/requests", request.as_json("build", None))
        self._hashes[request.id] = said["hash"]
        self._waiting[request.id] = asyncio.create_task(self._wait(request.id))
        return request.id

    async def ask_many(self, count: int) -> None:
        for _ in range(0, count, _AT_ONCE):
            await asyncio.gather(*(self.ask() for _ in range(_AT_ONCE)))

    async def _wait(self, request: str) -> float:
        """Wait for the answer; return when it came."""
        wait = random.uniform(1, _POLL)  # so that the agents' polls end at different times
        while True:
            said = await self._hub.call(self._token, "GET", f"/requests/{request}/answer?wait={wait:g}")
            if said["state"] != "open":
                return time.perf_counter()
            wait = _POLL

    async def answer(self, person: str, request: str) -> float:
        """Answer a request; return the milliseconds until its agent continues."""
        given = {"approved": True, "hash": self._hashes.pop(request)}
        begun = time.perf_counter()
        posted = asyncio.create_task(self._hub.call(person, "POST", f"/requests/{request}/answer", given))
        ended = await self._waiting.pop(request)
        await posted
        return (ended - begun) * 1000

    async def leave(self) -> None:
        for task in self._waiting.values():
            task.cancel()
        await asyncio.gather(*self._waiting.values(), return_exceptions=True)


async def measure(hub: Hub, load: Load, answers: int) -> Measured:
    """Answer one request after another; each is replaced by a new one, so that the load stays the same."""
    made = await hub.call(hub.person, "POST", "/tokens", {"name": f"build, {load}"})
    agents = Agents(hub, made["token"])
    pages = [await hub.listen(hub.person) for _ in range(load.pages)]
    try:
        await agents.ask_many(load.requests)
        took = []
        for _ in range(answers):
            request = await agents.ask()
            await asyncio.sleep(_PAUSE)
            took.append(await agents.answer(hub.person, request))
        return Measured(load, took, hub.mebibytes)
    finally:
        for page in pages:
            page.abort()
        await agents.leave()


def table(measured: Sequence[Measured]) -> str:
    headings = ("while there are", "p50", "p99", "the hub's memory", "target", "")
    lines = [
        (
            str(one.load),
            f"{one.p50:.1f} ms",
            f"{one.p99:.1f} ms",
            f"{one.mebibytes:.0f} MiB",
            f"p50 ≤ {_LIMIT:g} ms" if one.load.requests else "",
            one.mark if one.load.requests else "",
        )
        for one in measured
    ]
    return tables.lined_up([headings, *lines], range(1, 5))


async def measure_all(hub: Hub, loads: Sequence[Load], answers: int) -> list[Measured]:
    return [await measure(hub, load, answers) for load in loads]


def main() -> int:
    options = _options()
    loads = (Load(0, 0), Load(options.requests, options.pages))
    with running() as hub:
        before = hub.mebibytes
        measured = asyncio.run(measure_all(hub, loads, options.answers))
    effort = f"{options.answers} answers each; the hub's memory was {before:.0f} MiB before the load"
    text = f"{table(measured)}\n\n{tables.machine()}; {effort}"
    if options.write:
        tables.put(_PAGE, _COMMAND, text)
    print(f"\n{text}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.hub", description="Measure how soon an answer at the hub reaches the waiting agent."
    )
    parser.add_argument("--requests", type=int, default=1000, help="open requests (default: 1000)")
    parser.add_argument("--pages", type=int, default=200, help="pages that listen (default: 200)")
    parser.add_argument("--answers", type=int, default=400, help="answers that are timed (default: 400)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    if options.answers < 2:
        parser.error("at least two answers")
    return options


if __name__ == "__main__":
    sys.exit(main())
