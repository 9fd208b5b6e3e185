"""What the hooks of a session did, by hook and event: the figures of `/hooks`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..journal import statistics
from ..model import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model import Hook, Verdict

_KEPT = 1000  # durations of each


class Count:
    """One hook's runs at one event."""

    def __init__(self) -> None:
        self.runs = 0
        self.blocks = 0
        self.failures = 0
        self._open = 0  # runs that have started, and of whose end nothing is known
        self._took: list[float] = []

    def add(self, outcome: Outcome, took: float) -> None:
        """A run; the end of one that has only started is added when it comes."""
        self.runs += 1
        if outcome is Outcome.STARTED:
            self._open += 1
        else:
            self._ended(outcome, took)

    def add_ended(self, outcome: Outcome, took: float) -> None:
        """The end of a run that was added when it started; that of any other does not count."""
        if self._open:
            self._open -= 1
            self._ended(outcome, took)

    def _ended(self, outcome: Outcome, took: float) -> None:
        self.blocks += outcome is Outcome.BLOCKED
        self.failures += outcome in (Outcome.FAILED, Outcome.TIMED_OUT)
        self._took = [*self._took[1 - _KEPT :], took]

    def percentile(self, share: float) -> float | None:
        """Milliseconds that this share of the runs did not exceed; None if none has ended."""
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
        """Count the end of an asynchronous hook, as the journal has it."""
        count = self.counts.get((str(record["hook"]), str(record["event"]), str(record["source"])))
        if count is not None:  # else an earlier process of this session has started it
            count.add_ended(Outcome(record["outcome"]), float(record["duration_ms"]))

    def of(self, hook: Hook) -> Count:
        return self.counts.setdefault((hook.name, hook.event, hook.source), Count())

    def as_json(self) -> list[dict[str, Any]]:
        return [
            {"hook": name, "event": event, "runs": each.runs, "blocks": each.blocks, "failures": each.failures}
            for (name, event, _), each in self.counts.items()
        ]
