"""Measures whether the daemon's memory and latency grow from the first 1,000 events to 100,000.

Threads of this process send the events to its socket, as the line in an agent's settings does; no interpreter is
started for them. One in ten matches a hook, and is written to the journal.
"""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tenterhook.dispatch import start

from . import homes
from .comparing import Blocks, Comparison, compare
from .dispatching import EVENT, HOST, READ, SHELL, Installed
from .requests import WorkerEnded
from .rows import Measure, Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from .measuring import Setting

MOST_EVENTS = 100_000
A_SESSION = 10  # events of a session, one of which matches a hook
_MEASURED = 1000
_AT_ONCE = 4
_BLOCK = 50
_PATIENCE = 60.0  # seconds for one event, and for the daemon to start
MEMORY = Target(10, measure=Measure.MEMORY)
COST = Target(1.1)

_HOOK = """\
---
name: quick
description: Is asked before a shell runs
trigger: pre-tool-call
matcher:
  tool: Shell
---
"""


class Grown(NamedTuple):
    """A daemon's memory in bytes after the first 1,000 events and at the end, and the microseconds of events."""

    memory: tuple[int, int]
    early: list[float]  # of the second 1,000 events
    late: list[float]  # of the last

    @property
    def megabytes(self) -> float:
        return (self.memory[1] - self.memory[0]) / 1e6

    @property
    def cost(self) -> Comparison:
        return compare(_blocks(self.late), _blocks(self.early))


class Daemon:
    """The running daemon of a home in which Tenterhook is installed, and a client of it."""

    def __init__(self, installed: Installed, pid: int) -> None:
        self._installed = installed
        self._socket = installed.record.parent.parent / "daemon.sock"
        self._arguments = ["--host", HOST, "--event", EVENT, "--record", str(installed.record)]
        self._pid = pid

    def resident(self) -> int:
        """Return its resident memory in bytes."""
        with open(f"/proc/{self._pid}/status") as file:
            line = next(line for line in file if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def ask(self, number: int, session: str) -> float:
        """Return the microseconds of one event, which must be allowed; retries if the daemon is too busy."""
        call = SHELL if number % A_SESSION == A_SESSION // 2 else READ
        sent = self._installed.payload({**call, "session_id": session})
        until = time.monotonic() + _PATIENCE
        while True:
            begun = time.perf_counter()
            answer = start.ask_daemon(str(self._socket), self._arguments, sent)
            took = time.perf_counter() - begun
            if answer is not None:
                break
            if time.monotonic() > until:
                raise WorkerEnded("the daemon does not answer")
        if answer != (0, b"", b""):
            raise WorkerEnded(f"the daemon answered {answer}")
        return took * 1e6


def rows(setting: Setting) -> Iterator[Row]:
    """Measure one long session, and as many sessions as possible."""
    events = min(MOST_EVENTS, setting.effort.blocks * 1000)
    for sessions, title in ((1, "1 session"), (events // A_SESSION, f"{events // A_SESSION:,} sessions")):
        what = f"the daemon after {events:,} events, {title}"
        try:
            grown = measured(setting.directory / f"growth-{sessions}", setting.work_dir, events, sessions)
        except WorkerEnded as reason:
            yield Row(f"{what}: memory", f"after {_MEASURED:,}", None, MEMORY, str(reason))
            yield Row(f"{what}: an event", f"after {_MEASURED:,}", None, COST, str(reason))
            continue
        yield Row(f"{what}: memory", f"after {_MEASURED:,}", _memory(grown), MEMORY)
        yield Row(f"{what}: an event", f"after {_MEASURED:,}", grown.cost, COST)


def measured(home: Path, project: Path, events: int, sessions: int) -> Grown:
    """Send `events` events of `sessions` consecutive sessions to a new daemon; raises `WorkerEnded`."""
    homes.write_folder(home, "quick", _HOOK, "#!/bin/sh\n:\n")
    with running_daemon(Installed(home, project)) as daemon, ThreadPoolExecutor(_AT_ONCE) as pool:

        def ask(number: int) -> float:
            return daemon.ask(number, f"s-{number * sessions // events}")

        def ask_many(begin: int, end: int) -> None:
            for _ in pool.map(ask, range(begin, end)):
                pass

        ask_many(0, _MEASURED)
        before = daemon.resident()
        early = [ask(number) for number in range(_MEASURED, 2 * _MEASURED)]
        ask_many(2 * _MEASURED, events - _MEASURED)
        late = [ask(number) for number in range(events - _MEASURED, events)]
        return Grown((before, daemon.resident()), early, late)


@contextmanager
def running_daemon(installed: Installed) -> Iterator[Daemon]:
    """Run the daemon of a home; raises `WorkerEnded`."""
    with daemon_in(installed.environment, installed.record.parent.parent) as pid:
        yield Daemon(installed, pid)


@contextmanager
def daemon_in(environment: Mapping[str, str], state: Path) -> Iterator[int]:
    """Run the daemon in an environment with this state directory; yields its process id."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tenterhook", "daemon", "run"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=dict(environment),
    )
    try:
        until = time.monotonic() + _PATIENCE
        while not (state / "daemon.sock").exists():
            if process.poll() is not None:
                assert process.stderr is not None
                said = process.stderr.read().decode(errors="replace").strip().splitlines()
                raise WorkerEnded(said[-1] if said else "the daemon ended")
            if time.monotonic() > until:
                raise WorkerEnded("the daemon does not listen")
            time.sleep(0.01)
        yield process.pid
    finally:
        process.terminate()
        process.communicate()


def _memory(grown: Grown) -> Comparison:
    before, after = grown.memory
    ratio, over = after / before, after - before
    return Comparison(after, before, ratio, ratio, (ratio, ratio), (over, over), ratio)


def _blocks(took: list[float]) -> Blocks:
    return [took[begin : begin + _BLOCK] for begin in range(0, len(took), _BLOCK)]
