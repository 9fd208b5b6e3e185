"""The measurements, each a function from the setting to rows of the table."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import dispatching, growth, handing_over, homes, looking_up, peers
from .comparing import Block, Blocks, Comparison, compare, scaled, take_turns
from .compiling import NoCompiler, spawn_program
from .requests import Case, Worker, WorkerEnded
from .rows import Row, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROOT = Path(__file__).resolve().parent.parent
_C = "C program"
_HELD_MEBIBYTES = 1024
_STRICTYAML_SAMPLE = 100


class Effort(NamedTuple):
    """How often things are repeated: blocks of a spawning case, and fresh processes of a loading case."""

    blocks: int
    loads: int


FULL = Effort(blocks=120, loads=15)
QUICK = Effort(blocks=15, loads=3)


class Spawning(NamedTuple):
    """A case of running hooks, how many rounds make a block, and its target against the C program."""

    title: str
    case: Case
    rounds: int
    target: Target


SPAWNING = (
    Spawning("1 hook `:`", Case(1, ":"), 10, Target(1.45)),
    Spawning("1 hook `cat >/dev/null`", Case(1, "cat >/dev/null"), 10, Target(1.20)),
    Spawning("8 hooks `cat >/dev/null`", Case(8, "cat >/dev/null"), 4, Target(1.07)),
    Spawning("32 hooks `cat >/dev/null`", Case(32, "cat >/dev/null"), 2, Target(1.05)),
)
FOLDERS = ((30, None), (100, None), (1000, Target(5, at_least=True)))
AGAIN = ((30, None), (1000, Target(3)))
HELD = Target(1.05)
JOURNAL = Target(1.05)


class Loads(NamedTuple):
    """The durations that one process measured, in microseconds."""

    load: float
    first_event: float
    again: float  # to load the same, with nothing changed
    stats: float  # to `stat` each file of the hooks


class Setting:
    """The directory of a run, with homes and the project of the events; starts workers there."""

    def __init__(self, directory: Path, effort: Effort) -> None:
        self.directory = directory
        self.effort = effort
        self.home = directory / "home"
        self.work_dir = directory / "project"
        self.home.mkdir()
        self.work_dir.mkdir()
        self.environment, self.payload_size = self._hook_environment()

    def _hook_environment(self) -> tuple[dict[str, str], int]:
        """Return the environment and the payload's size that the engine gives a hook, as do the other contenders."""
        payload, environment = self.directory / "payload", self.directory / "environment"
        with self.engine() as worker:
            worker.microseconds(1, Case(1, f"cat >'{payload}'; env -0 >'{environment}';"))
        pairs = os.fsdecode(environment.read_bytes()).split("\0")
        return dict(pair.split("=", 1) for pair in pairs if pair), payload.stat().st_size

    def engine(
        self, home: Path | None = None, held_mebibytes: int = 0, *, journal: bool = False, more_bytes: int = 0
    ) -> Worker:
        argv = self._module("engine_worker", self.work_dir, held_mebibytes, "journal" if journal else "", more_bytes)
        return Worker(argv, homes.clean_environment(home or self.home), _ROOT)

    def asyncio(self, more_bytes: int = 0, *, encoding: bool = False) -> Worker:
        size = self.payload_size + more_bytes
        argv = self._module("asyncio_worker", self.work_dir, size, "json" if encoding else "")
        return Worker(argv, self.environment, _ROOT)

    def strictyaml(self, home: Path) -> Worker:
        return Worker(self._module("strictyaml_worker"), homes.clean_environment(home), _ROOT)

    def c_program(self, more_bytes: int = 0) -> Worker:
        """Compile and start the C program; raises `NoCompiler`."""
        program = spawn_program(self.directory)
        return Worker([program, str(self.payload_size + more_bytes)], self.environment, self.work_dir)

    def folders(self, count: int) -> Path:
        """Return a home with `count` hook folders, which is made on first use."""
        home = self.directory / f"{count}-folders"
        return home if home.exists() else homes.write_folders(home, count)

    def loads(self, count: int) -> Loads:
        """Measure loading `count` folders in a new process; raises `WorkerEnded`."""
        environment = homes.clean_environment(self.folders(count))
        argv = self._module("loading_worker", self.work_dir, count)
        ended = subprocess.run(argv, env=environment, cwd=_ROOT, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise WorkerEnded(ended.stderr.strip().splitlines()[-1])
        return Loads(*map(float, ended.stdout.split()))

    def _module(self, name: str, *arguments: object) -> list[str]:
        return [sys.executable, "-m", f"bench.{name}", *map(str, arguments)]


def running(setting: Setting) -> Iterator[Row]:
    """Measure hooks run by the engine and by asyncio, against the C program."""
    with ExitStack() as stack:
        try:
            c_program = stack.enter_context(setting.c_program())
        except NoCompiler as reason:
            yield from (Row(each.title, _C, None, each.target, str(reason)) for each in SPAWNING)
            return
        engine = stack.enter_context(setting.engine())
        asyncio = stack.enter_context(setting.asyncio())
        others: list[Row] = []
        for title, case, rounds, target in SPAWNING:
            workers = {"c": c_program, "engine": engine, "asyncio": asyncio}
            found = take_turns(
                {name: worker.block(rounds, case) for name, worker in workers.items()}, setting.effort.blocks
            )
            yield Row(title, _C, compare(found["engine"], found["c"]), target)
            others.append(Row(f"asyncio, {title}", _C, compare(found["asyncio"], found["c"])))
        yield from others


def reaching_none(setting: Setting) -> Iterator[Row]:
    """Measure an event that none of 100 hooks matches, against one spawn of `sh -c :`."""
    against = f"{_C}, 1 hook `:`"
    titles = ("none of 100 hooks matches", "the same, first event after loading")
    try:
        program = setting.c_program()
    except NoCompiler as reason:
        yield from (Row(title, against, None, None, str(reason)) for title in titles)
        return
    spawn = Case(1, ":")
    with program, setting.engine(setting.folders(100)) as engine:
        turns = {"c": program.block(10, spawn), "steady": engine.block(100, Case(0))}
        found = take_turns(turns, setting.effort.blocks)
        yield Row(titles[0], against, compare(found["steady"], found["c"]))
        turns = {"c": program.block(10, spawn), "first": lambda: [setting.loads(100).first_event]}
        found = take_turns(turns, setting.effort.loads)
        yield Row(titles[1], against, compare(found["first"], found["c"]))


def loading(setting: Setting) -> Iterator[Row]:
    """Measure how many times faster the engine loads hook folders than strictyaml their front matter alone."""
    for count, target in FOLDERS:
        sample = min(count, _STRICTYAML_SAMPLE)
        against = "strictyaml" if sample == count else f"strictyaml ({sample} folders, scaled)"
        with setting.strictyaml(setting.folders(count)) as strictyaml:
            turns = {"strictyaml": strictyaml.block(1, Case(sample)), "engine": _one_load(setting, count)}
            found = take_turns(turns, setting.effort.loads)
        faster = _times_faster(found["engine"], scaled(found["strictyaml"], count / sample))
        yield Row(f"load {count:,} hook folders (times faster)", against, faster, target)
    for count, again in AGAIN:
        turns = {"again": _one_load_again(setting, count), "stats": _one_look(setting, count)}
        found = take_turns(turns, setting.effort.loads)
        title = f"load {count:,} hook folders again"
        yield Row(title, "a `stat` of each of their files", compare(found["again"], found["stats"]), again)


def holding_memory(setting: Setting) -> Iterator[Row]:
    """Measure a hook started by a process that holds a gibibyte, against one that does not."""
    title, against = "1 hook `cat >/dev/null`, 1 GiB held", "the same, nothing held"
    case = Case(1, "cat >/dev/null")
    try:
        with setting.engine() as small, setting.engine(held_mebibytes=_HELD_MEBIBYTES) as large:
            found = take_turns({"small": small.block(10, case), "large": large.block(10, case)}, setting.effort.blocks)
    except WorkerEnded as reason:
        yield Row(title, against, None, HELD, f"the process with 1 GiB ended: {reason}")
        return
    yield Row(title, against, compare(found["large"], found["small"]), HELD)


def journaling(setting: Setting) -> Iterator[Row]:
    """Measure a hook with the journal, against the same without."""
    for title, case, rounds, _ in SPAWNING[:2]:
        with setting.engine() as without, setting.engine(journal=True) as engine:
            turns = {"without": without.block(rounds, case), "with": engine.block(rounds, case)}
            found = take_turns(turns, setting.effort.blocks)
        target = JOURNAL if case.command.startswith("cat") else None  # a hook that reads its event, as hooks do
        yield Row(f"{title}, with the journal", "the same, without", compare(found["with"], found["without"]), target)


MEASUREMENTS = (
    *(running, journaling, reaching_none, loading, holding_memory),
    *(dispatching.reaching_none, dispatching.guarding, handing_over.with_daemon),
    *(looking_up.answers, growth.rows, peers.running),
)


def _one_load(setting: Setting, count: int) -> Block:
    return lambda: [setting.loads(count).load]


def _one_load_again(setting: Setting, count: int) -> Block:
    return lambda: [setting.loads(count).again]


def _one_look(setting: Setting, count: int) -> Block:
    return lambda: [setting.loads(count).stats]


def _times_faster(ours: Blocks, theirs: Blocks) -> Comparison:
    """Return the inverse comparison, in which our time is still `ours`."""
    turned = compare(theirs, ours)
    over = -turned.over[0], -turned.over[1]
    return turned._replace(ours=turned.theirs, theirs=turned.ours, over=over)
