"""Statistics of hooks over time: counts and durations, and remarks on hooks that fail or exceed their budget."""

from __future__ import annotations

import math
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import places
from .filters import RecordFilter
from .index import Index
from .records import CANARY
from .writer import check_writable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..model import Hook

FAILING_AFTER = 5  # failures in a row
_BARS = "▁▂▃▄▅▆▇█"
_COLUMNS = 20
_FAILED = ("failed", "timed_out")


class HookFigures(NamedTuple):
    """One hook's figures."""

    hook: str
    source: str
    runs: int
    blocks: int
    failures: int
    timeouts: int
    not_run: int
    allowed: int
    asked: int
    no_decision: int
    would_block: int  # in shadow mode, or at an event that cannot be blocked
    changed_input: int
    told: int  # runs with a message for the model or the user
    shadow: bool
    p50_ms: float
    p95_ms: float
    p99_ms: float
    is_failing: bool
    budget_ms: float | None
    activity: str  # runs over time, as a line of bars

    @property
    def is_over_budget(self) -> bool:
        return self.budget_ms is not None and self.runs > 0 and self.p95_ms > self.budget_ms

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "is_over_budget": self.is_over_budget}


def by_hook(
    runs: Iterable[tuple[Any, ...]], since: float | None, budgets: Mapping[str, float] | None = None
) -> list[HookFigures]:
    """Return the figures of every hook that has run, by name and source. `runs` are those of `Index.runs`."""
    rows: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for row in runs:
        if row[0] != CANARY:
            rows.setdefault((row[0], row[1]), []).append(row)
    times = [row[8] for group in rows.values() for row in group]
    span = (since or min(times, default=0.0), max(time.time(), max(times, default=0.0)))
    return [_figures(group, span, budgets or {}) for _, group in sorted(rows.items())]


def _figures(rows: list[tuple[Any, ...]], span: tuple[float, float], budgets: Mapping[str, float]) -> HookFigures:
    hook, source = rows[0][0], rows[0][1]
    meanings = [row[4] for row in rows]
    ran = [row for row in rows if row[3] not in ("not_run", "started")]
    last = [row[3] for row in ran[-FAILING_AFTER:]]
    took = sorted(row[7] or 0.0 for row in ran)
    return HookFigures(
        hook=hook,
        source=source,
        runs=len(ran),
        blocks=meanings.count("blocked"),
        failures=meanings.count("failed"),
        timeouts=meanings.count("timed_out"),
        not_run=meanings.count("not_run"),
        allowed=meanings.count("allowed") + meanings.count("approved"),
        asked=meanings.count("asked"),
        no_decision=meanings.count("no_decision"),
        would_block=meanings.count("would_block"),
        changed_input=sum(bool(row[9]) for row in rows),
        told=sum(bool(row[10]) for row in rows),
        shadow=bool(rows[-1][6]),
        p50_ms=percentile(took, 0.5),
        p95_ms=percentile(took, 0.95),
        p99_ms=percentile(took, 0.99),
        is_failing=len(last) == FAILING_AFTER and all(outcome in _FAILED for outcome in last),
        budget_ms=budgets.get(hook),
        activity=_bars((row[8] for row in rows), span),
    )


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that is at least as large as this share of the values; 0 without values."""
    return ordered[max(math.ceil(len(ordered) * share), 1) - 1] if ordered else 0.0


def _bars(times: Iterable[float], span: tuple[float, float]) -> str:
    """Return a histogram of the times over a span."""
    begin, end = span
    width = max(end - begin, 1e-9) / _COLUMNS
    counts = [0] * _COLUMNS
    for each in times:
        counts[min(max(int((each - begin) / width), 0), _COLUMNS - 1)] += 1
    most = max(counts)
    if not most:
        return " " * _COLUMNS
    return "".join(_BARS[min(count * len(_BARS) // (most + 1), len(_BARS) - 1)] if count else " " for count in counts)


_RECENT = 7 * 86400  # seconds


def why_not_written() -> str | None:
    """Return why the journal cannot be written; None if it can."""
    try:
        check_writable(places.journal())
    except OSError as error:
        return f"{error.strerror}: {error.filename or places.journal()}"
    return None


def remarks(hooks: Iterable[Hook]) -> dict[tuple[str, str], str]:
    """Return remarks on hooks that fail or exceed their budget, by name and source."""
    if not os.path.isdir(places.journal()):
        return {}
    budgets = {hook.name: hook.budget_ms for hook in hooks if hook.budget_ms is not None}
    try:
        index = Index()
        index.update()
        wanted = RecordFilter(since=time.time() - _RECENT)
        figures = by_hook(index.runs(wanted), wanted.since, budgets)
        index.close()
    except (OSError, sqlite3.Error):  # unreadable: `log` reports it
        return {}
    found: dict[tuple[str, str], str] = {}
    for each in figures:
        said = []
        if each.is_failing:
            said.append(f"failing: its last {FAILING_AFTER} runs failed")
        if each.is_over_budget:
            said.append(f"over budget: p95 {each.p95_ms:.0f} ms of {each.budget_ms:g} ms")
        if said:
            found[each.hook, each.source] = "; ".join(said)
    return found
