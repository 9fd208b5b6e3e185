"""python -m bench.guards: which dangerous shell lines guards stop, which harmless ones, and how long they take."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from tenterhook.guards import GUARDS
from tenterhook.journal.statistics import percentile

from . import guard_calls, guard_contenders, packages, tables
from .guard_contenders import ASK, CC_SAFETY_NET, INFRASTRUCTURE, OWN_SOURCES, PASS, REFUSE, SH, BadFile, Judged, Line
from .packages import CannotInstall
from .requests import WorkerEnded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .guard_calls import Timed

_ROOT = Path(__file__).resolve().parent.parent
_CORPUS = _ROOT / "tests" / "guards" / "corpus" / "policy.jsonl"
_PAGE = _ROOT / "docs" / "guards-measured.md"
_COMMAND = "python -m bench.guards --write"
_MEASURED = ("block-dangerous-commands", "protect-secrets", INFRASTRUCTURE)
_COMMON = "common"  # the sources that count for every guard: only over these are their sums comparable
_EPILOG = """\
FILE has one JSON object per line:

  {"id": "files-1", "source": "tenterhook", "line": "rm -rf /", "label": "refuse", "class": "files", "sure": true}

label is what a guard should do: refuse, ask or pass. A line is caught if it is refused or asked about; a line to
pass that is stopped is a false alarm. Lines whose label is not sure do not count. No line is ever run.
Each source is shown apart, and the lines of a guard's own source are left out of its column (--own counts them).

  python -m bench.guards                                 our own corpus, and the times
  python -m bench.guards --no-times --own --misses       what our guards miss in our own corpus
  python -m bench.guards --others none --infrastructure off more.jsonl
  python -m bench.guards --guards protect-secrets --others none more.jsonl
"""


class Count(NamedTuple):
    """How many lines of a class there are, and how many of them were refused and asked about."""

    lines: int
    refused: int
    asked: int

    @property
    def caught(self) -> int:
        return self.refused + self.asked


class Measured(NamedTuple):
    """A whole run."""

    lines: list[Line]
    judged: list[Judged]
    calls: list[Timed]
    skipped: list[str]
    count_own: bool

    def sources(self) -> list[str]:
        return list(dict.fromkeys(line.source for line in self.lines))

    def is_left_out(self, judged: Judged, source: str) -> bool:
        return not self.count_own and OWN_SOURCES.get(judged.title) == source

    def common_sources(self) -> set[str]:
        """Return the sources that are not a guard's own in this run."""
        return {each for each in self.sources() if not any(self.is_left_out(judged, each) for judged in self.judged)}

    def counts(self, judged: Judged, source: str | None = None) -> dict[tuple[str, str], Count]:
        """Return the counts by class and label, of one source or of all common sources."""
        found: dict[tuple[str, str], Counter[str]] = {}
        wanted = self.common_sources() if source is None else {source}
        for line, answer in zip(self.lines, judged.answers, strict=True):
            if line.source in wanted:
                found.setdefault((line.kind, line.label), Counter())[answer] += 1
        return {key: Count(each.total(), each[REFUSE], each[ASK]) for key, each in found.items()}


def main() -> int:
    options = _options()
    try:
        measured = _measure(options)
    except (BadFile, WorkerEnded) as error:
        sys.exit(f"bench.guards: {error}")
    text = _text(measured)
    if options.write:
        tables.put(_PAGE, _COMMAND, text)
    if options.json:
        print(json.dumps(_as_json(measured), indent=1))
        return 0
    print(f"\n{text}")
    if options.misses:
        print("\n" + "\n".join(_misses(measured)))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.guards",
        description="Measure guards: dangerous shell lines caught by class, false alarms, and the time of a call.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help=f"lines with labels; {_CORPUS.name} if none"
    )
    parser.add_argument(
        "--guards",
        type=_names(GUARDS),
        default=[name for name in _MEASURED if name in GUARDS],
        metavar="NAME,…",
        help=f"the built-in guards to measure together (of {', '.join(GUARDS)}; default: {','.join(_MEASURED)})",
    )
    parser.add_argument("--infrastructure", choices=("on", "off", "both"), default="both", help="that guard (both)")
    parser.add_argument(
        "--others",
        type=_names((CC_SAFETY_NET, SH, "none")),
        default=[CC_SAFETY_NET, SH],
        metavar="NAME,…",
        help=f"guards beside ours: {CC_SAFETY_NET} (from npm, into a cache folder), {SH}, or none (default: both)",
    )
    parser.add_argument("--own", action="store_true", help="count the lines of a guard's own source, too")
    parser.add_argument("--no-times", action="store_true", help="do not install anything and time guarded calls")
    parser.add_argument("--quick", action="store_true", help="few guarded calls; their times are rough")
    parser.add_argument(
        "--misses", action="store_true", help="print what ours miss, ask about instead, or stop wrongly"
    )
    parser.add_argument("--json", action="store_true", help="print data instead of tables")
    parser.add_argument("--write", action="store_true", help=f"put the tables into docs/{_PAGE.name}")
    return parser.parse_args()


def _names(known: Any) -> Any:
    def read(text: str) -> list[str]:
        unknown = [name for name in text.split(",") if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}; there are: {', '.join(known)}")
        return text.split(",")

    return read


def _measure(options: argparse.Namespace) -> Measured:
    lines = guard_contenders.read(options.files or [_CORPUS])
    if not lines:
        raise BadFile("there are no lines whose label is sure")
    judged: list[Judged] = []
    calls: list[Timed] = []
    skipped: list[str] = []
    packages.cache().mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=packages.cache(), prefix="guards-") as directory:
        laptop = guard_contenders.Laptop(Path(directory))
        judged += guard_contenders.ours(lines, laptop, options.guards, options.infrastructure)
        if CC_SAFETY_NET in options.others:
            try:
                judged.append(guard_contenders.cc_safety_net(lines, laptop))
            except CannotInstall as reason:
                skipped.append(f"{CC_SAFETY_NET}: {reason}")
        if SH in options.others:
            judged.append(guard_contenders.in_sh(lines, laptop))
        if not options.no_times:
            blocks = 5 if options.quick else 40
            calls, more = guard_calls.timed(laptop, options.guards, options.others, blocks)
            skipped += more
    for each in judged:
        for error in each.errors:
            print(f"{each.title}: {error}", file=sys.stderr)
    return Measured(lines, judged, calls, list(dict.fromkeys(skipped)), options.own)


def _text(measured: Measured) -> str:
    parts = [_overview(measured)]
    parts += [f"### {source}\n\n{_of_source(measured, source)}" for source in measured.sources()]
    parts.append(f"### Time of one call, in process\n\n{_in_process(measured)}")
    if measured.calls:
        parts.append(f"### Time of one call, as an agent runs it\n\n{_end_to_end(measured)}")
    parts += [f"Skipped: {each}" for each in measured.skipped]
    return "\n\n".join((*parts, tables.machine()))


def _overview(measured: Measured) -> str:
    """Return a table with a row for each source and guard: lines caught, lines refused, and false alarms."""
    rows = [("source", "guard", "caught", "", "refused of those to refuse", "", "false alarms", "")]
    for source in (*measured.sources(), None):
        for judged in measured.judged:
            if source is not None and measured.is_left_out(judged, source):
                rows.append((source, judged.title, "its own", "", "", "", "", ""))
                continue
            counts = measured.counts(judged, source)
            dangerous = [each for (_, label), each in counts.items() if label != PASS]
            severe = [each for (_, label), each in counts.items() if label == REFUSE]
            harmless = [each for (_, label), each in counts.items() if label == PASS]
            cells = (
                *_share(sum(each.caught for each in dangerous), dangerous),
                *_share(sum(each.refused for each in severe), severe),
                *_share(sum(each.caught for each in harmless), harmless),
            )
            rows.append((source or ("all" if measured.count_own else _COMMON), judged.title, *cells))
    return tables.lined_up(rows, range(2, 8))


def _share(number: int, of: Sequence[Count]) -> tuple[str, str]:
    lines = sum(each.lines for each in of)
    return (f"{number:,} of {lines:,}", f"{100 * number / lines:.1f} %") if lines else ("", "")


def _of_source(measured: Measured, source: str) -> str:
    """Return a table with a row for each class: the lines caught by each guard, as refused + asked about."""
    judged = [each for each in measured.judged if not measured.is_left_out(each, source)]
    counts = [measured.counts(each, source) for each in judged]
    keys = sorted({(line.kind, line.label) for line in measured.lines if line.source == source}, key=_order)
    rows = [("class", "should be", "lines", *(each.title for each in judged))]
    for kind, label in keys:
        of = [each[kind, label] for each in counts]
        lines = sum(1 for line in measured.lines if (line.source, line.kind, line.label) == (source, kind, label))
        should = {REFUSE: "refused", ASK: "asked about", PASS: "passed"}[label]
        rows.append((kind or "harmless", should, str(lines), *(f"{each.refused} + {each.asked}" for each in of)))
    return tables.lined_up(rows, range(2, 3 + len(judged)))


def _order(key: tuple[str, str]) -> tuple[bool, str, str]:
    return key[1] == PASS, key[0], key[1]


def _in_process(measured: Measured) -> str:
    rows = [("guard", "median", "p99")]
    for judged in measured.judged:
        if judged.microseconds:
            ordered = sorted(judged.microseconds)
            middle, p99 = median(ordered) / 1000, percentile(ordered, 0.99) / 1000
            rows.append((judged.title, f"{middle:.2f} ms", f"{p99:.2f} ms"))
    return tables.lined_up(rows, (1, 2))


def _end_to_end(measured: Measured) -> str:
    rows = [("what runs", "fastest", "median", "p95", "limit", "")]
    for each in measured.calls:
        fastest, middle, p95 = (f"{took:.2f} ms" for took in (each.fastest, each.median, each.p95))
        rows.append((each.title, fastest, middle, p95, f"≤ {each.limit:.1f} ms" if each.limit else "", each.mark))
    return tables.lined_up(rows, range(1, 5))


def _misses(measured: Measured) -> list[str]:
    """Return the lines for which the combined answer of our guards differs from the label."""
    judged = measured.judged[0]
    found = []
    for line, answer in zip(measured.lines, judged.answers, strict=True):
        wrong = "false alarm" if line.label == PASS else "missed" if answer == PASS else "only asked about"
        if answer != line.label and (line.label, answer) != (ASK, REFUSE):
            found.append(f"{wrong}: {line.kind or PASS} {line.id}: {json.dumps(line.text, ensure_ascii=False)}")
    return found


def _as_json(measured: Measured) -> dict[str, Any]:
    guards = []
    for judged in measured.judged:
        ordered = sorted(judged.microseconds)
        sources = {
            source: {
                "left_out": measured.is_left_out(judged, source),
                "counts": [
                    {"class": kind, "label": label, **count._asdict()}
                    for (kind, label), count in sorted(measured.counts(judged, source).items())
                ],
            }
            for source in measured.sources()
        }
        times = {"median": median(ordered), "p99": percentile(ordered, 0.99)} if ordered else None
        guards.append({"guard": judged.title, "sources": sources, "microseconds": times, "errors": judged.errors})
    calls = [{**each._asdict(), "mark": each.mark or None} for each in measured.calls]
    machine = {"python": platform.python_version(), "cores": os.cpu_count()}
    return {"schema": 1, **machine, "guards": guards, "calls_ms": calls, "skipped": measured.skipped}


if __name__ == "__main__":
    sys.exit(main())
