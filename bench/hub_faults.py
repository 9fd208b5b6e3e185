"""Injects faults under load: a hub is killed, PostgreSQL crashes or has no space left, all agents restart."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from . import postgres, tables
from .hub import running
from .hub_fleet import Fleet, address_of, differences

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from .hub_load import Rates, Site

_FULL_FOR = 5.0  # seconds
_INTERVAL = 0.25
_PATIENCE = 60.0
LIMIT = 10.0  # seconds until everyone is served again: agents wait that long for a hub that does not respond
_SMALL_DISK = "size=1500m"
_SETTINGS = "max_wal_size = 128MB\nmin_wal_size = 32MB\n"


class Endured(NamedTuple):
    """One fault: the seconds until every agent was served again, and how many agents had given up by then."""

    fault: str
    seconds: float
    gave_up: int

    @property
    def mark(self) -> str:
        return "pass" if self.seconds <= LIMIT and not self.gave_up else "miss"


class Faults:
    """Injects the faults into two hubs with PostgreSQL."""

    def __init__(self, site: Site, server: postgres.Server, disk: str | None, stack: ExitStack) -> None:
        """`disk` is the server's own small disk, which can be filled."""
        self._site = site
        self._server = server
        self._disk = disk
        self._stack = stack

    async def all(self, fleet: Fleet, rates: Rates) -> list[Endured]:
        """Inject one fault after another under load, and return how each was endured."""
        faults: list[tuple[str, Callable[[Fleet], Awaitable[float]]]] = [
            ("a hub is killed, and started again", self._kill_hub),
            ("PostgreSQL crashes, and is started again", self._crash),
            ("all agents restart at once", self._restart_agents),
        ]
        if self._disk is not None:
            faults.insert(2, (f"the disk is full for {_FULL_FOR:g} s", self._fill_disk))
        endured = []
        for name, fault in faults:
            load = asyncio.create_task(
                fleet.load(rates.seconds, rates.answers, rates.records / rates.batch, rates.batch)
            )
            await asyncio.sleep(rates.seconds / 4)
            before = fleet.gave_up
            begun = await fault(fleet)
            await self._until_served(fleet)
            endured.append(Endured(name, time.perf_counter() - begun, fleet.gave_up - before))
            await load
            await fleet.settle()
            until = time.perf_counter() + _PATIENCE
            while fleet.unanswered and time.perf_counter() < until:
                await asyncio.sleep(_INTERVAL)
        return endured

    async def _until_served(self, fleet: Fleet) -> None:
        unserved, until = set(range(fleet.size)), time.perf_counter() + _PATIENCE
        while unserved and time.perf_counter() < until:
            unserved = await asyncio.to_thread(
                self._site.database.read, lambda connection, those=unserved: fleet.unserved(connection, those)
            )
            await asyncio.sleep(_INTERVAL)

    async def _kill_hub(self, fleet: Fleet) -> float:
        self._site.hubs[-1].process.kill()
        begun = time.perf_counter()
        hub = await asyncio.to_thread(self._stack.enter_context, running(self._site.where))
        self._site.hubs[-1] = hub
        fleet.hubs[-1] = address_of(hub)
        return begun

    async def _crash(self, _: Fleet) -> float:
        await asyncio.to_thread(self._server.stop, "immediate")
        await asyncio.to_thread(self._server.start)
        return time.perf_counter()

    async def _fill_disk(self, _: Fleet) -> float:
        assert self._disk is not None
        file = os.path.join(self._disk, "filler")
        await asyncio.to_thread(_fill, file)
        await asyncio.sleep(_FULL_FOR)
        os.unlink(file)
        await asyncio.to_thread(self._server.ensure_running)
        return time.perf_counter()

    async def _restart_agents(self, fleet: Fleet) -> float:
        begun = time.perf_counter()
        await fleet.restart()
        return begun


def _fill(file: str) -> None:
    with contextlib.suppress(OSError), open(file, "wb", buffering=0) as stream:
        while stream.write(b"\0" * 65536):
            pass


@contextlib.contextmanager
def small_disk() -> Iterator[str | None]:
    """Mount a small disk for the server; yields None if this account may not."""
    folder = tempfile.mkdtemp(prefix="tenterhook-disk-", dir=postgres.reachable())
    try:
        command = ["mount", "-t", "tmpfs", "-o", _SMALL_DISK, "tenterhook", folder]
        if os.getuid() != 0 or subprocess.run(command, check=False, capture_output=True).returncode != 0:
            yield None
            return
        try:
            os.chmod(folder, 0o755)
            yield folder
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    finally:
        os.rmdir(folder)


@contextlib.contextmanager
def server_on_small_disk() -> Iterator[tuple[postgres.Server, str | None]]:
    with small_disk() as disk:
        server = postgres.Server(data=disk, settings=_SETTINGS)
        try:
            yield server, disk
        finally:
            server.remove()


async def endure(site: Site, faults: Faults, agents: int, rates: Rates) -> tuple[list[Endured], list[str]]:
    """Inject all faults while `agents` agents wait; return the results, and what is inconsistent afterwards."""
    fleet = site.fleet()
    await fleet.grow(agents)
    endured = await faults.all(fleet, rates)
    await fleet.stop()
    return endured, await asyncio.to_thread(site.database.read, lambda connection: differences(fleet, connection))


def table(endured: Sequence[Endured]) -> str:
    headings = ("fault, under that load", "everyone is served again after", "gave up", "target", "")
    lines = [
        (each.fault, f"{each.seconds:.1f} s", f"{each.gave_up:,}", f"≤ {LIMIT:g} s", each.mark) for each in endured
    ]
    return tables.lined_up([headings, *lines], range(1, 4))
