"""`/hooks`: every hook of the session with its counts so far, and how to manage them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..basics import places
from ..basics.display_text import one_line
from ..basics.terminal_layout import table_lines
from ..journal import statistics
from ..model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..engine.engine import Engine
    from ..model import Hook, Verdict

_HEADINGS = ("hook", "event", "runs", "blocks", "failed", "p50", "p95", "state", "mode", "priority", "matcher")


def overview(engine: Engine, tally: Tally, places: Mapping[str, str], width: int | None = None) -> Iterator[str]:
    """Yield the lines of `/hooks`. `places`: where each hooks file is in force; `width`: of the terminal."""
    catalog = engine.catalog
    for title, hooks in _by_source(engine, places):
        yield title
        yield from table_lines(_HEADINGS, [_row(hook, engine, tally) for hook in hooks], width)
    if not engine.hooks:
        yield "no hooks in force; Tenterhook looks for them in:"
        yield from (f"  {each.name:8} {_short(each.directory)}" for each in (catalog.layers if catalog else ()))
    for each in catalog.left_out if catalog else ():
        yield f"  {one_line(each.hook.name)} is not in force: {_short_in(each.why)}"
    for problem in engine.problems:
        yield f"  {problem.severity}: {one_line(problem.message)} ({_short(problem.file or '')})"
    yield "manage them: tenterhook list, add, show NAME, check, trust,"
    yield "             disable NAME --for 1h, enable NAME, remove NAME"


def _by_source(engine: Engine, places: Mapping[str, str]) -> Iterator[tuple[str, list[Hook]]]:
    """Yield a title and the hooks of each layer, then of each hooks file."""
    layers = engine.catalog.layers if engine.catalog else ()
    for layer in dict.fromkeys(hook.layer for hook in engine.hooks if hook.layer != "config"):
        directories = [_short(each.directory) for each in layers if each.name == layer]
        yield f"{layer}  {', '.join(directories)}".rstrip(), [hook for hook in engine.hooks if hook.layer == layer]
    for file in dict.fromkeys(hook.source for hook in engine.hooks if hook.layer == "config"):
        yield (
            f"config  {_short(file)}  {places.get(file, '')}".rstrip(),
            [hook for hook in engine.hooks if hook.source == file],
        )


def _row(hook: Hook, engine: Engine, tally: Tally) -> tuple[str, ...]:
    count = tally.of(hook)
    took = ["-" if ms is None else f"{ms:.0f} ms" for ms in (count.percentile(0.5), count.percentile(0.95))]
    return (
        *(hook.name, hook.declared, str(count.runs), str(count.blocks), str(count.failures), *took),
        *(_state(hook, engine), "async" if hook.in_background else "sync", str(hook.priority), _matcher(hook)),
    )


def _matcher(hook: Hook) -> str:
    named = {"tool": hook.tool, "pattern": hook.pattern, "matcher": hook.target}
    return ", ".join(f"{key} {value}" for key, value in named.items() if value) or "-"


def _state(hook: Hook, engine: Engine) -> str:
    if hook.missing is not None:
        return "cannot be loaded"
    if hook.is_shadow:
        return "shadow"
    if hook.layer != "project" or engine.catalog is None:
        return "in force"
    return str(engine.catalog.trust.standing(hook).state)


def _short_in(text: str) -> str:
    return one_line(text.replace(places.home() + "/", "~/"))


def _short(path: str) -> str:
    home = places.home()
    return one_line("~" + path[len(home) :] if path == home or path.startswith(home + "/") else path)


_KEPT = 1000  # durations of each


class Count:
    """One hook's runs at one event."""

    def __init__(self) -> None:
        self.runs = 0
        self.blocks = 0
        self.failures = 0
        self._open = 0  # runs that have started and not ended
        self._took: list[float] = []

    def add(self, outcome: Outcome, took: float) -> None:
        """Count a run; the end of one that has only started is added by `add_ended`."""
        self.runs += 1
        if outcome is Outcome.STARTED:
            self._open += 1
        else:
            self._ended(outcome, took)

    def add_ended(self, outcome: Outcome, took: float) -> None:
        """Count the end of a run that was added when it started; others are ignored."""
        if self._open:
            self._open -= 1
            self._ended(outcome, took)

    def _ended(self, outcome: Outcome, took: float) -> None:
        self.blocks += outcome is Outcome.BLOCKED
        self.failures += outcome in (Outcome.FAILED, Outcome.TIMED_OUT)
        self._took = [*self._took[1 - _KEPT :], took]

    def percentile(self, share: float) -> float | None:
        """Return the milliseconds that this share of the runs did not exceed; None if none has ended."""
        return statistics.percentile(sorted(self._took), share) if self._took else None


class Tally:
    """Counts of every hook that ran."""

    def __init__(self) -> None:
        self.counts: dict[tuple[str, str, str], Count] = {}  # by name, event and source

    def add(self, verdict: Verdict) -> None:
        for run in verdict.runs:
            if run.started:
                self.of(run.hook).add(run.outcome, run.duration_ms)

    def add_ended(self, record: Mapping[str, Any]) -> None:
        """Count the end of an asynchronous hook, from its journal record."""
        count = self.counts.get((str(record["hook"]), str(record["event"]), str(record["source"])))
        if count is not None:  # else an earlier process of this session started it
            count.add_ended(Outcome(record["outcome"]), float(record["duration_ms"]))

    def of(self, hook: Hook) -> Count:
        return self.counts.setdefault((hook.name, hook.event, hook.source), Count())

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {"hook": name, "event": event, "runs": each.runs, "blocks": each.blocks, "failures": each.failures}
            for (name, event, _), each in self.counts.items()
        ]
