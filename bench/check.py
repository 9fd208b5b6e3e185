"""python -m bench.check: compare the cost of the hot paths with record.json; fail if one has become more expensive.

Instructions are counted, which noise hardly changes; a few ratios are measured, with a wider margin. A record is valid
for one interpreter and one counter: on another machine the figures are only printed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from . import hot_paths, instructions
from .measuring import Effort, Setting
from .requests import WorkerEnded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .instructions import Counter

_RECORD = Path(__file__).resolve().parent / "record.json"
_MORE_INSTRUCTIONS = 1.05
_LARGER_RATIO = 1.5
_SAME_INTERPRETER = 0.02  # the largest relative difference of bare starts of one interpreter
_EFFORT = Effort(blocks=40, loads=2)


class Figures(NamedTuple):
    """One measurement: the instructions of a bare start, and those and the ratios of hot paths, by name."""

    reference: int
    instructions: Mapping[str, int]
    ratios: Mapping[str, float]


class Finding(NamedTuple):
    """A measured figure and the recorded one."""

    name: str
    found: float
    recorded: float | None
    limit: float  # as a multiple of the recorded figure

    @property
    def is_regression(self) -> bool:
        return self.recorded is not None and self._change(self.recorded) > self.limit - 1

    def _change(self, recorded: float) -> float:
        """Return the relative change. A recorded figure is negative if it is less than a bare start."""
        return (self.found - recorded) / abs(recorded)

    def __str__(self) -> str:
        shown = f"{self.found:,}" if isinstance(self.found, int) else f"{self.found:.2f}×"
        if self.recorded is None:
            return f"{self.name}: {shown}"
        change = f"{self._change(self.recorded) * 100:+.1f} %"
        limit = f", more than {(self.limit - 1) * 100:g} %: a regression" if self.is_regression else ""
        return f"{self.name}: {shown}, {change}{limit}"


def findings(found: Figures, recorded: Figures | None) -> list[Finding]:
    """Return each figure with the recorded one, if that is of the same interpreter."""
    if recorded is not None and not _is_the_same(found, recorded):
        recorded = None
    known = recorded or Figures(0, {}, {})
    return [
        *(Finding(name, n, known.instructions.get(name), _MORE_INSTRUCTIONS) for name, n in found.instructions.items()),
        *(Finding(name, n, known.ratios.get(name), _LARGER_RATIO) for name, n in found.ratios.items()),
    ]


def _is_the_same(found: Figures, recorded: Figures) -> bool:
    """Return whether both are of the same interpreter, build and libraries."""
    return abs(found.reference - recorded.reference) <= recorded.reference * _SAME_INTERPRETER


def machine(counter: Counter | None) -> str:
    """Return what identifies a record: the interpreter, its build, the machine."""
    python = f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}"
    return f"{python}, {platform.machine()}, {counter.name if counter else 'not counted'}"


def read(record: Path, machine: str) -> Figures | None:
    """Return the figures recorded for this kind of machine, or None."""
    if not record.exists():
        return None
    found = json.loads(record.read_text())["machines"].get(machine)
    return Figures(**found) if found is not None else None


def write(record: Path, machine: str, figures: Figures) -> None:
    """Add figures to the record, or replace those of this kind of machine."""
    machines = json.loads(record.read_text())["machines"] if record.exists() else {}
    machines[machine] = figures._asdict()
    record.write_text(json.dumps({"schema": 1, "machines": machines}, indent=1, sort_keys=True) + "\n")


def main() -> int:
    options = _options()
    counter = instructions.counter()
    here = machine(counter)
    recorded = read(_RECORD, here)
    try:
        found = _figures(counter)
    except WorkerEnded as error:
        sys.exit(f"bench: a contender ended early: {error}")
    if counter is None:
        print("neither perf nor callgrind works here: only ratios are checked")
    if options.write:
        write(_RECORD, here, found)
        recorded = found
    return report(here, found, recorded)


def report(here: str, found: Figures, recorded: Figures | None) -> int:
    """Print the result; return 1 if it is a regression."""
    print(here)
    if recorded is None:
        print("there is no record for this kind of machine: the figures are not checked")
    elif not _is_the_same(found, recorded):
        print(f"the record is of another build of Python ({recorded.reference:,}): the figures are not checked")
    all_of = findings(found, recorded)
    for each in all_of:
        print(each)
    return int(any(each.is_regression for each in all_of))


def _figures(counter: Counter | None) -> Figures:
    counts: dict[str, int] = {}
    if counter is not None:
        with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
            counts.update(hot_paths.counted(counter, Setting(Path(directory).resolve(), _EFFORT)))
    reference = counts.pop(hot_paths.REFERENCE, 0)
    return Figures(reference, counts, _ratios())


def _ratios() -> dict[str, float]:
    """Return the ratios of the minima of contenders that took turns."""
    with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
        rows = hot_paths.ratios(Setting(Path(directory).resolve(), _EFFORT))
        return {row.what: round(row.result.of_minima, 3) for row in rows if row.result is not None}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.check", description="Compare the cost of the hot paths with the record."
    )
    parser.add_argument("--write", action="store_true", help="record the figures for this kind of machine")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
