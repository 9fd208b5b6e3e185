"""What became of each case, and of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics.named_tuples import StrEnum
from . import expectations, worker_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..errors import Problem
    from .cases import Case
    from .expectations import Mismatch
    from .suites import Picked, Suite


class Status(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"  # it could not be tried, or expects nothing
    UPDATED = "updated"  # it has failed, and expects now what happened


class Result(NamedTuple):
    """One case, what happened, and how that differs from what it expects."""

    suite: Suite
    case: Case
    status: Status
    differences: tuple[Mismatch, ...] = ()
    actual: Mapping[str, Any] = {}
    error: str | None = None
    remedy: str | None = None

    @property
    def duration_ms(self) -> float:
        return float(self.actual.get("duration_ms") or 0.0)


class Report(NamedTuple):
    """Everything that a round of tests has shown."""

    results: tuple[Result, ...]
    problems: tuple[Problem, ...]  # of case files
    broken: tuple[Problem, ...]  # of definitions, which keep a hook from being tested
    untrusted: tuple[Suite, ...]
    without: tuple[Suite, ...]  # cases
    deselected: int = 0

    def count(self, status: Status) -> int:
        return sum(result.status is status for result in self.results)

    @property
    def is_good(self) -> bool:
        """Whether everything that has cases was tried and is as expected."""
        bad = self.count(Status.FAILED) + self.count(Status.ERROR)
        return not (bad or self.problems or self.broken or any(suite.files for suite in self.untrusted))


def try_suites(picked: Picked, words: Sequence[str], done: Callable[[int, Result], None] | None) -> Report:
    """Try the cases with one of these words in their name or their hook's, or all.

    `done` hears of each as it ends, with its place among them.
    """
    allowed = [suite for suite in picked.suites if suite.untrusted is None]
    every = [(suite, case) for suite in allowed for case in suite.cases]
    chosen = [(suite, case) for suite, case in every if _has_word(suite, case, words)]
    results: dict[int, Result] = {}

    def ended(number: int, actual: dict[str, Any]) -> None:
        results[number] = judged(*chosen[number], actual)
        if done is not None:
            done(number, results[number])

    worker_pool.try_all([worker_pool.CaseJob(suite.hook, case, suite.refusal) for suite, case in chosen], ended)
    return Report(
        results=tuple(results[number] for number in sorted(results)),
        problems=tuple(problem for suite in allowed for problem in suite.problems),
        broken=picked.broken,
        untrusted=tuple(suite for suite in picked.suites if suite.untrusted is not None),
        without=tuple(suite for suite in allowed if not suite.files),
        deselected=len(every) - len(chosen),
    )


def _has_word(suite: Suite, case: Case, words: Sequence[str]) -> bool:
    told = f"{suite.hook.name} {case.name} {case.file.rpartition('/')[2]}".lower()
    return not words or any(word.lower() in told for word in words)


def judged(suite: Suite, case: Case, actual: Mapping[str, Any]) -> Result:
    """What a case's end means."""
    if "error" in actual:
        return Result(suite, case, Status.ERROR, error=actual["error"], remedy=actual["remedy"])
    if case.expect is None:
        remedy = "add [expect], or let --update write down what happens now"
        return Result(suite, case, Status.ERROR, actual=actual, error="it expects nothing", remedy=remedy)
    differences = tuple(expectations.differences(case.expect, actual))
    return Result(suite, case, Status.FAILED if differences else Status.PASSED, differences, actual)


def updated(report: Report) -> Report:
    """Rewrite the expectations of every case that has failed or has none, and say so."""
    from . import update_cases

    edits: dict[str, list[tuple[Case, list[expectations.ExpectationChange]]]] = {}
    for result in report.results:
        if result.actual and result.status is not Status.PASSED:
            expect = result.case.expect
            changes = (
                expectations.written(expectations.observed(result.actual))
                if expect is None
                else expectations.changes(expect, result.actual)
            )
            edits.setdefault(result.case.file, []).append((result.case, changes))
    for file, changed in edits.items():
        update_cases.rewrite(file, changed)
    results = [
        result._replace(status=Status.UPDATED) if result.actual and result.status is not Status.PASSED else result
        for result in report.results
    ]
    return report._replace(results=tuple(results))
