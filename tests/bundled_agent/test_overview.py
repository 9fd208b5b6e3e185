"""The figures of `/hooks` are those of `log stats`."""

from __future__ import annotations

from tenterhook.bundled_agent.overview import Tally
from tenterhook.journal import statistics
from tenterhook.model import Failure, Hook, Run, Verdict

HOOK = Hook("guard", "pre-tool-call", "before_tool", "folder", source="/hooks/guard/HOOK.md")
ENDED = {"hook": "guard", "event": "pre-tool-call", "source": HOOK.source, "outcome": "failed", "duration_ms": 300.0}


def test_percentiles_are_computed_as_in_the_statistics_of_the_journal() -> None:
    tally = Tally()
    for number in range(20, 0, -1):
        tally.add(Verdict("pre-tool-call", runs=(Run(HOOK, duration_ms=float(number)),)))
    count = tally.of(HOOK)
    ordered = [float(number) for number in range(1, 21)]
    assert (count.percentile(0.5), count.percentile(0.95)) == (10.0, 19.0)
    assert count.percentile(0.95) == statistics.percentile(ordered, 0.95)


def test_an_asynchronous_hook_counts_when_it_starts_and_its_end_when_it_ends() -> None:
    tally = Tally()
    tally.add(Verdict("pre-tool-call", runs=(Run(HOOK, background=True),)))
    count = tally.of(HOOK)
    assert (count.runs, count.failures, count.percentile(0.5)) == (1, 0, None)
    tally.add_ended(ENDED)
    assert (count.runs, count.failures, count.percentile(0.5)) == (1, 1, 300.0)


def test_one_that_could_not_start_has_failed_at_once() -> None:
    tally = Tally()
    tally.add(Verdict("pre-tool-call", runs=(Run(HOOK, failure=Failure.CANNOT_START, why="cannot start"),)))
    assert (tally.of(HOOK).runs, tally.of(HOOK).failures) == (1, 1)


def test_the_end_of_a_hook_that_an_earlier_process_started_is_not_counted() -> None:
    tally = Tally()
    tally.add_ended(ENDED)
    assert tally.counts == {}


def test_an_end_without_a_start_of_ours_counts_nothing() -> None:
    tally = Tally()
    tally.add(Verdict("pre-tool-call", runs=(Run(HOOK, duration_ms=5.0), Run(HOOK, background=True))))
    for _ in range(2):  # the second is of a run that an earlier process of this session has started
        tally.add_ended(ENDED)
    count = tally.of(HOOK)
    assert (count.runs, count.failures, count.percentile(0.5), count.percentile(1)) == (2, 1, 5.0, 300.0)
