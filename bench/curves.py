"""python -m bench.curves: how cost grows with hooks, payloads and definitions, as plots for docs/performance.md.

All points of a curve are measured in turn within one run, so that other load on the machine affects all of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from . import dispatching, growth, measuring, peers, plotting, tables
from .comparing import Block, take_turns
from .compiling import NoCompiler
from .packages import CannotInstall
from .plotting import Chart, Point, Series
from .requests import Case, WorkerEnded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from .measuring import Effort, Setting

_PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
HOOKS = (1, 2, 4, 8, 16, 32)
SIZES = (1024, 16 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024)
DEFINITIONS = (1, 10, 30, 100, 300, 1000)
_CAT = "cat >/dev/null"
_OURS, _C = "Tenterhook", "C program"
_NOTE = "medians, with the middle half of all rounds as a band"


class Curve(NamedTuple):
    """The lines of one plot, in microseconds, and the contenders that were skipped, with the reason."""

    file: str
    title: str
    x_title: str
    series: tuple[Series, ...]
    skipped: Mapping[str, str] = {}
    is_log: bool = True  # the vertical axis, too

    def drawn(self) -> str:
        scales = "both axes are logarithmic" if self.is_log else "the lower axis is logarithmic"
        note = f"{_NOTE}; {scales}; {tables.machine()}"
        return plotting.drawn(Chart(self.title, note, self.x_title, self.series, self.x_label, shown_time, self.is_log))

    def x_label(self, value: float) -> str:
        return shown_size(value) if self.file == "bench-payload" else f"{value:,.0f}"


def against_hooks(setting: Setting, counts: Sequence[int] = HOOKS) -> Curve:
    """Measure an event by its number of hooks, with our engine, the C program, asyncio and other engines."""
    with ExitStack() as stack:
        workers, skipped = {_OURS: stack.enter_context(setting.engine())}, {}
        try:
            workers[_C] = stack.enter_context(setting.c_program())
        except NoCompiler as reason:
            skipped[_C] = str(reason)
        workers["asyncio"] = stack.enter_context(setting.asyncio())
        for peer, worker_of in peers.PEERS.items():
            try:
                worker = stack.enter_context(worker_of(setting, _no_tools(setting)))
                worker.microseconds(1, Case(1, _CAT))
                workers[peer] = worker
            except (CannotInstall, WorkerEnded) as reason:
                skipped[peer] = str(reason)
        turns = {
            (name, count): worker.block(max(1, 8 // count), Case(count, _CAT))
            for count in counts
            for name, worker in workers.items()
        }
        series = _series(turns, setting)
    return Curve(
        "bench-hooks", "Time for an event, by the number of hooks", f"hooks side by side, each {_CAT}", series, skipped
    )


def _no_tools(setting: Setting) -> Path:
    """Write an empty list of matchers for other tools, which the workers of peers require; return the file."""
    file = setting.directory / "no-tools.json"
    file.write_text("[]")
    return file


def against_payload(setting: Setting, sizes: Sequence[int] = SIZES) -> Curve:
    """Measure an event with one hook, by the size of its payload."""
    skipped = {}
    with ExitStack() as stack:
        turns = {}
        for size in sizes:
            more = size - setting.payload_size
            workers = {_OURS: setting.engine(more_bytes=more)}
            try:
                workers[_C] = setting.c_program(more)
            except NoCompiler as reason:
                skipped[_C] = str(reason)
            workers["asyncio"] = setting.asyncio(more)
            workers["asyncio, json.dumps"] = setting.asyncio(more, encoding=True)
            for name, worker in workers.items():
                stack.enter_context(worker)
                worker.microseconds(1, Case(1, f"test $(wc -c) = {size};"))  # a figure counts only if it all arrives
                turns[name, size] = worker.block(4, Case(1, _CAT))
        series = _series(turns, setting)
    return Curve(
        "bench-payload", "Time for an event, by the size of its payload", f"bytes for one hook, {_CAT}", series, skipped
    )


def against_definitions(setting: Setting, counts: Sequence[int] = DEFINITIONS) -> Curve:
    """Measure an event that no hook matches, by the number of hooks, with the daemon and without."""
    with ExitStack() as stack:
        turns: dict[tuple[str, int], Block] = {}
        for count in counts:
            alone = dispatching.with_hooks(setting, count)
            served = dispatching.with_hooks(setting, count, f"{count}-various-and-daemon")
            stack.enter_context(growth.running_daemon(served))  # before any event, which makes this process an agent
            for here in (alone, served):
                here.begin(dispatching.READ)
            sent, sent_to_daemon = (here.payload(dispatching.READ) for here in (alone, served))
            turns[_OURS, count] = alone.block(["/bin/sh", "-c", alone.line], sent)
            turns["python -I -S -c pass", count] = alone.block([alone.python, "-I", "-S", "-c", "pass"], sent)
            turns["Tenterhook, daemon", count] = served.block(["/bin/sh", "-c", served.line], sent_to_daemon)
        series = _series(turns, setting)
    title = "Time for an event that no hook is for, by the number of hooks defined"
    return Curve("bench-definitions", title, "hooks defined", series, is_log=False)


def of_loading(setting: Setting, counts: Sequence[int] = DEFINITIONS) -> Curve:
    """Measure loading hook folders, first and again, against strictyaml on their front matter, and a stat of each."""
    again, stats = "Engine.load, again", "a stat of each file"
    with setting.strictyaml(setting.folders(max(counts))) as strictyaml:
        turns: dict[tuple[str, int], Block] = {}
        for count in counts:
            setting.folders(count)
            turns[_OURS, count] = _loads(setting, count)
            turns["strictyaml", count] = strictyaml.block(1, Case(count))
        found = take_turns(turns, setting.effort.loads)
    lines: dict[str, list[Point]] = {"Engine.load": [], stats: [], "strictyaml": [], again: []}
    for count in counts:
        loads = [measuring.Loads(*took) for took in found[_OURS, count]]
        lines["Engine.load"].append(_point(count, [each.load for each in loads]))
        lines[again].append(_point(count, [each.again for each in loads]))
        lines[stats].append(_point(count, [each.stats for each in loads]))
        lines["strictyaml"].append(_point(count, list(chain.from_iterable(found["strictyaml", count]))))
    series = tuple(Series(name, tuple(points)) for name, points in lines.items())
    return Curve("bench-loading", "Time to load, by the number of hook folders", "hook folders", series)


CURVES: tuple[Callable[[Setting], Curve], ...] = (against_hooks, against_payload, against_definitions, of_loading)


def _series(turns: Mapping[tuple[str, int], Block], setting: Setting) -> tuple[Series, ...]:
    """Measure all points in turn; return a line for each name, in the order in which the names first appear."""
    found = take_turns(turns, max(2, setting.effort.blocks // 3))
    lines: dict[str, list[Point]] = {}
    for (name, x), blocks in found.items():
        lines.setdefault(name, []).append(_point(x, list(chain.from_iterable(blocks))))
    return tuple(Series(name, tuple(points)) for name, points in lines.items())


def _point(x: float, took: Sequence[float]) -> Point:
    return Point(x, *quantiles(took, n=4, method="inclusive"))


def _loads(setting: Setting, count: int) -> Block:
    return lambda: setting.loads(count)


def shown_time(microseconds: float) -> str:
    """Return a time with its unit and at most three digits."""
    for unit, size in (("s", 1e6), ("ms", 1e3), ("µs", 1.0)):
        if microseconds >= size * 0.9995:
            value = microseconds / size
            return f"{value:.0f} {unit}" if value >= 99.95 else f"{value:.3g} {unit}"
    return f"{microseconds:.2g} µs" if microseconds else "0"


def shown_size(size: float) -> str:
    return f"{size / 1024:g} KiB" if size < 1024 * 1024 else f"{size / 1024 / 1024:g} MiB"


def measured(effort: Effort) -> list[Curve]:
    """Measure every curve, each in a directory of its own; raises `WorkerEnded`."""
    curves = []
    for measure in CURVES:
        with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
            curves.append(measure(measuring.Setting(Path(directory).resolve(), effort)))
        print(f"{curves[-1].file}: done", file=sys.stderr, flush=True)
    return curves


def as_text(curves: Sequence[Curve]) -> str:
    """Return a table of medians for each curve, and the contenders that were skipped."""
    return "\n\n".join(chain.from_iterable(map(_table_of, curves)))


def _table_of(curve: Curve) -> Iterator[str]:
    across = [point.x for point in curve.series[0].points]
    headings = (curve.x_title, *map(curve.x_label, across))
    rows = [(each.name, *(shown_time(point.middle) for point in each.points)) for each in curve.series]
    yield f"{curve.title}:"
    yield tables.lined_up([headings, *rows], range(1, len(headings)))
    yield from (f"Skipped: {name}: {reason}" for name, reason in curve.skipped.items())


def as_json(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    return [
        {
            "picture": f"{curve.file}.svg",
            "title": curve.title,
            "x": curve.x_title,
            "skipped": dict(curve.skipped),
            "series": [
                {
                    "name": series.name,
                    "microseconds": [
                        {"x": point.x, "p25": point.low, "p50": point.middle, "p75": point.high}
                        for point in series.points
                    ],
                }
                for series in curve.series
            ],
        }
        for curve in curves
    ]


def write(curves: Sequence[Curve], folder: Path = _PICTURES) -> None:
    for curve in curves:
        (folder / f"{curve.file}.svg").write_text(curve.drawn())


def main() -> int:
    options = _options()
    try:
        curves = measured(measuring.QUICK if options.quick else measuring.FULL)
    except WorkerEnded as error:
        sys.exit(f"bench: a contender ended early: {error}")
    if options.write:
        write(curves)
    print(json.dumps(as_json(curves), indent=1) if options.json else f"\n{as_text(curves)}\n\n{tables.machine()}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.curves", description="Measure how cost grows; `python -m bench` does this, too."
    )
    parser.add_argument("--quick", action="store_true", help="a short run; its figures are rough")
    parser.add_argument("--json", action="store_true", help="print data instead of tables")
    parser.add_argument("--write", action="store_true", help="draw the pictures of docs/performance.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
