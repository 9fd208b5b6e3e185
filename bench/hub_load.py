"""python -m bench.hub_load: a hub's latency while up to 10,000 agents wait, with answers and records at a given rate.

The load is an open loop: answers and uploads arrive at random moments, whether or not earlier ones are done, and
latency is measured from the moment at which one was due.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import resource
import secrets
import signal
import sys
import time
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from tenterhook.hub import accounts, database
from tenterhook.journal.statistics import percentile

from . import hub_faults, plotting, postgres, tables
from .hub import running
from .hub_fleet import Fleet, address_of, differences
from .plotting import Chart, Point, Series

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenterhook.hub.database import Connection

_DOCS = Path(__file__).resolve().parent.parent / "docs"
_COMMAND = "python -m bench.hub_load --write"
_FAULTS_COMMAND = "python -m bench.hub_load --faults --write"
_LIMIT = 300.0  # milliseconds, at the 99th percentile
_KIBIBYTES = 1024.0
AGENTS = (100, 300, 1000, 3000, 10_000)
ANSWERS, RECORDS = 20.0, 500.0  # per second


class Setup(NamedTuple):
    """Which database, and how many hubs on it."""

    database: str
    hubs: int

    def __str__(self) -> str:
        return f"{self.database}, {'1 hub' if self.hubs == 1 else f'{self.hubs} hubs'}"


SETUPS = (Setup("PostgreSQL", 2), Setup("PostgreSQL", 1), Setup("SQLite", 1))


class Latency(NamedTuple):
    """Milliseconds."""

    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, took: Sequence[float]) -> Latency:
        ordered = sorted(took)
        return cls(*(percentile(ordered, share) for share in (0.5, 0.95, 0.99)))

    @classmethod
    def median(cls, several: Sequence[Latency]) -> Latency:
        return cls(*map(median, zip(*several, strict=True)))

    def __str__(self) -> str:
        return " / ".join(f"{each:.0f}" for each in self)


class Measured(NamedTuple):
    """The results of one setup with this number of agents."""

    setup: Setup
    agents: int
    answers: Latency
    records: Latency
    kibibytes: float  # for each agent that waits
    busy: float  # cores that the hubs used
    waited: float  # the share of their event loops' runnable time that these waited for a free core

    @property
    def is_target(self) -> bool:
        return self.setup == SETUPS[0] and self.agents == AGENTS[-1]

    @property
    def mark(self) -> str:
        return "pass" if max(self.answers.p99, self.records.p99) <= _LIMIT else "miss"


class Rates(NamedTuple):
    """The load: for so many seconds, answers and records per second, and records in an upload."""

    seconds: float
    answers: float
    records: float
    batch: int


class Cpu(NamedTuple):
    """Seconds that processes ran, that their event loops ran, and that these waited for a free core."""

    ran: float
    loops_ran: float
    loops_waited: float


class Site:
    """Hubs on one database, and tokens for agents."""

    def __init__(self, setup: Setup, stack: ExitStack, server: postgres.Server | None, agents: int) -> None:
        self.setup = setup
        if server is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="tenterhook-bench-"))
            self.where = f"{folder}/hub.db"
        else:
            self.where = server.new_database()
        self.hubs = [stack.enter_context(running(self.where)) for _ in range(setup.hubs)]
        self.database = database.opened(self.where)
        stack.callback(self.database.close)
        self.tokens = self.database.write(lambda connection: list(islice(_new_tokens(connection), agents)))

    def fleet(self) -> Fleet:
        return Fleet([address_of(hub) for hub in self.hubs], self.tokens, self.hubs[0].person)

    @property
    def mebibytes(self) -> float:
        return sum(hub.mebibytes for hub in self.hubs)

    @property
    def cpu(self) -> Cpu:
        """Return the hubs' CPU time so far."""
        return Cpu(*map(sum, zip(*(_cpu_of(hub.process.pid) for hub in self.hubs), strict=True)))


def _new_tokens(connection: Connection) -> Iterator[str]:
    """Create and yield tokens for agents, without end."""
    while True:
        token = f"th_agent_{secrets.token_urlsafe(32)}"
        connection.run(
            "insert into tokens (name, kind, hash, created) values (?, 'agent', ?, ?)",
            *(secrets.token_hex(8), accounts.digest(token), time.time()),
        )
        yield token


def _cpu_of(pid: int) -> Cpu:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ran, waited, _ = map(int, Path(f"/proc/{pid}/schedstat").read_text().split())
    return Cpu((int(fields[11]) + int(fields[12])) / 100, ran / 1e9, waited / 1e9)


async def measure(site: Site, sizes: Sequence[int], rates: Rates, rounds: int) -> list[Measured]:
    """Grow the fleet to each size, and measure several rounds under load; return the medians."""
    before = site.mebibytes
    fleet = site.fleet()
    measured = []
    for size in sizes:
        begun = time.perf_counter()
        await fleet.grow(size)
        print(f"{site.setup}: {size:,} agents ask after {time.perf_counter() - begun:.0f} s", file=sys.stderr)
        done = []
        for _ in range(rounds):
            done.append(await _round(site, fleet, rates, before))
            print(f"  {_shown(done[-1])}", file=sys.stderr)
        measured.append(
            Measured(
                *(site.setup, size),
                *(Latency.median([each.answers for each in done]), Latency.median([each.records for each in done])),
                *(median(each.kibibytes for each in done), median(each.busy for each in done)),
                median(each.waited for each in done),
            )
        )
    await fleet.stop()
    wrong = await asyncio.to_thread(site.database.read, lambda connection: differences(fleet, connection))
    for each in wrong:
        print(f"wrong: {each}", file=sys.stderr)
    return measured


async def _round(site: Site, fleet: Fleet, rates: Rates, before: float) -> Measured:
    fleet.answered.clear()
    fleet.taken.clear()
    before_cpu, begun = site.cpu, time.perf_counter()
    await fleet.load(rates.seconds, rates.answers, rates.records / rates.batch, rates.batch)
    ran, loops_ran, waited = (after - before for before, after in zip(before_cpu, site.cpu, strict=True))
    took = time.perf_counter() - begun
    await fleet.settle()
    while fleet.unanswered:
        await asyncio.sleep(0.01)
    answers, records = (Latency.of([one for _, one in several]) for several in (fleet.answered, fleet.taken))
    each = (site.mebibytes - before) * _KIBIBYTES / fleet.size
    return Measured(site.setup, fleet.size, answers, records, each, ran / took, waited / (loops_ran + waited))


def _shown(one: Measured) -> str:
    return f"answers {one.answers} ms, records {one.records} ms, {one.kibibytes:.0f} KiB each, {_cpu(one)}"


def _cpu(one: Measured) -> str:
    return f"{one.busy:.2f} cores, waiting {one.waited:.0%}"


def table(measured: Sequence[Measured]) -> str:
    headings = (
        "database",
        "agents that wait",
        "answers, ms",
        "records, ms",
        "memory for each",
        "hubs' CPU",
        "target",
        "",
    )
    lines = [
        (
            str(one.setup),
            f"{one.agents:,}",
            str(one.answers),
            str(one.records),
            f"{one.kibibytes:.0f} KiB",
            _cpu(one),
            f"p99 ≤ {_LIMIT:g} ms" if one.is_target else "",
            one.mark if one.is_target else "",
        )
        for one in measured
    ]
    return tables.lined_up([headings, *lines], range(1, 7))


def drawn(measured: Sequence[Measured], rates: Rates) -> str:
    """Return a plot of the answers' latency by the number of agents."""
    setups = dict.fromkeys(one.setup for one in measured)
    series = [
        Series(str(setup), [Point(one.agents, *_band(one.answers)) for one in measured if one.setup == setup])
        for setup in setups
    ]
    note = f"95th percentile, with a band from the median to the 99th; {rates.answers:g} answers and {rates.records:g} "
    note += f"records per second; {tables.machine()}"
    title = "From an answer to the agent going on, by the number of agents that wait"
    return plotting.drawn(
        Chart(title, note, "agents that wait", series, lambda count: f"{count:,.0f}", lambda took: f"{took:,.0f} ms")
    )


def _band(took: Latency) -> tuple[float, float, float]:
    return max(took.p50, 0.1), max(took.p95, 0.1), max(took.p99, 0.1)


def main() -> int:
    options = _options()
    _raise_limits()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("bench: ended"))  # so that child processes are ended, too
    gc.disable()  # a pause here would be counted as one of the hub's
    rates = Rates(options.seconds, options.answers, options.records, options.batch)
    effort = f"{rates.answers:g} answers and {rates.records:g} records per second, {rates.batch} in an upload"
    if options.faults:
        return _go_through_faults(options, rates, effort)
    measured: list[Measured] = []
    for setup in SETUPS:
        if options.only and options.only not in str(setup):
            continue
        with ExitStack() as stack:
            server = None
            if setup.database == "PostgreSQL":
                try:
                    server = postgres.Server()
                except postgres.NotInstalled as reason:
                    print(f"skipped: {setup}: {reason}", file=sys.stderr)
                    continue
                stack.callback(server.remove)
            site = Site(setup, stack, server, options.agents[-1])
            measured += asyncio.run(measure(site, options.agents, rates, options.rounds))
    effort += f"; median of {options.rounds} rounds of {rates.seconds:g} s; p50 / p95 / p99"
    _put(options, _COMMAND, f"{table(measured)}\n\n{tables.machine()}; {effort}")
    if options.write:
        (_DOCS / "pictures" / "bench-hub-load.svg").write_text(drawn(measured, rates))
    return 0


def _go_through_faults(options: argparse.Namespace, rates: Rates, effort: str) -> int:
    agents = options.agents[-1]
    with ExitStack() as stack:
        server, disk = stack.enter_context(hub_faults.server_on_small_disk())
        site = Site(SETUPS[0], stack, server, agents)
        faults = hub_faults.Faults(site, server, disk, stack)
        endured, wrong = asyncio.run(hub_faults.endure(site, faults, agents, rates))
    withdrawn = sum("while its agent waited" in each for each in wrong)
    result = (
        f"{len(wrong) - withdrawn:,} requests answered twice, answers or records lost or told otherwise than stored"
    )
    result += f"; {withdrawn:,} requests withdrawn while their agent waited"
    effort = f"{SETUPS[0]}; {agents:,} agents; {effort}; {result}"
    _put(options, _FAULTS_COMMAND, f"{hub_faults.table(endured)}\n\n{tables.machine()}; {effort}")
    for each in wrong[:20]:
        print(f"wrong: {each}", file=sys.stderr)
    return 1 if wrong else 0


def _put(options: argparse.Namespace, command: str, text: str) -> None:
    print(f"\n{text}")
    if options.write:
        tables.put(_DOCS / "performance.md", command, text)


def _raise_limits() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.hub_load", description=__doc__.partition("\n")[0])
    parser.add_argument("--agents", type=int, nargs="+", default=AGENTS, help="agents that wait, ascending")
    parser.add_argument("--answers", type=float, default=ANSWERS, help="answers per second (default: 20)")
    parser.add_argument("--records", type=float, default=RECORDS, help="records per second (default: 500)")
    parser.add_argument("--batch", type=int, default=5, help="records in an upload (default: 5)")
    parser.add_argument("--seconds", type=float, default=20.0, help="of a round (default: 20)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each (default: 3)")
    parser.add_argument("--only", help="setups whose name has this")
    parser.add_argument("--faults", action="store_true", help="instead: faults under this load, with all the agents")
    parser.add_argument("--quick", action="store_true", help="up to 1,000 agents, one round of 5 s: a rough look")
    parser.add_argument("--write", action="store_true", help="put the table and the plot into docs/performance.md")
    options = parser.parse_args()
    if options.quick:
        options.agents, options.seconds, options.rounds = AGENTS[:3], 5.0, 1
    return options


if __name__ == "__main__":
    sys.exit(main())
