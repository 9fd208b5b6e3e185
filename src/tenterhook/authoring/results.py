"""The results of cases, the report, and JUnit XML for continuous integration."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from ..basics.display_text import one_line, visible
from ..basics.named_tuples import StrEnum
from ..basics.places import replace_file
from . import expectations, worker_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..errors import Problem
    from .cases import Case
    from .expectations import Mismatch
    from .suites import SelectedHooks, Suite


class Status(StrEnum):
    """How a case ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"  # it could not be run, or expects nothing
    UPDATED = "updated"  # it failed, and its expectations were updated


class Result(NamedTuple):
    """One case, what happened, and the differences to what it expects."""

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
    """The results of all cases, and what was not run."""

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
        """Whether all cases ran and passed."""
        bad = self.count(Status.FAILED) + self.count(Status.ERROR)
        return not (bad or self.problems or self.broken or any(suite.files for suite in self.untrusted))


def run_suites(picked: SelectedHooks, words: Sequence[str], done: Callable[[int, Result], None] | None) -> Report:
    """Run the cases with one of these words in their name or their hook's, or all.

    `done` is called with each result, and its number, as soon as it is known.
    """
    allowed = [suite for suite in picked.suites if suite.untrusted is None]
    every = [(suite, case) for suite in allowed for case in suite.cases]
    chosen = [(suite, case) for suite, case in every if _has_word(suite, case, words)]
    results: dict[int, Result] = {}

    def ended(number: int, actual: dict[str, Any]) -> None:
        results[number] = result_of(*chosen[number], actual)
        if done is not None:
            done(number, results[number])

    worker_pool.run_all([worker_pool.CaseJob(suite.hook, case, suite.refusal) for suite, case in chosen], ended)
    return Report(
        results=tuple(results[number] for number in sorted(results)),
        problems=tuple(problem for suite in allowed for problem in suite.problems),
        broken=picked.broken,
        untrusted=tuple(suite for suite in picked.suites if suite.untrusted is not None),
        without=tuple(suite for suite in allowed if not suite.files),
        deselected=len(every) - len(chosen),
    )


def _has_word(suite: Suite, case: Case, words: Sequence[str]) -> bool:
    text = f"{suite.hook.name} {case.name} {case.file.rpartition('/')[2]}".lower()
    return not words or any(word.lower() in text for word in words)


def result_of(suite: Suite, case: Case, actual: Mapping[str, Any]) -> Result:
    """Return the result of a case, from what happened."""
    if "error" in actual:
        return Result(suite, case, Status.ERROR, error=actual["error"], remedy=actual["remedy"])
    if case.expect is None:
        remedy = "add [expect], or let --update record what happens now"
        return Result(suite, case, Status.ERROR, actual=actual, error="it expects nothing", remedy=remedy)
    differences = tuple(expectations.differences(case.expect, actual))
    return Result(suite, case, Status.FAILED if differences else Status.PASSED, differences, actual)


def updated(report: Report) -> Report:
    """Rewrite the expectations of every case that failed or has none, and return the report with them as updated."""
    from . import update_cases

    edits: dict[str, list[tuple[Case, dict[str, Any]]]] = {}
    results = list(report.results)
    for number, result in enumerate(report.results):
        if result.actual and result.status is not Status.PASSED:
            results[number] = result._replace(status=Status.UPDATED)
            expect = expectations.updated(result.case.expect, result.actual)
            edits.setdefault(result.case.file, []).append((result.case, expect))
    for file, changed in edits.items():
        update_cases.rewrite(file, changed)
    return report._replace(results=tuple(results))


def write_junit(report: Report, file: str) -> None:
    """Write one test suite for each hook; broken definitions and case files are errors of a separate suite."""
    root = ElementTree.Element("testsuites", name="tenterhook")
    suites: dict[tuple[str, str], list[Result]] = {}
    for result in report.results:
        suites.setdefault((result.suite.hook.name, result.suite.directory), []).append(result)
    for (name, _), results in suites.items():
        suite = _suite(root, name, [each.status for each in results])
        suite.set("time", _seconds(sum(each.duration_ms for each in results)))
        for result in results:
            _case(suite, result)
    problems = [*report.broken, *report.problems]
    if problems:
        suite = _suite(root, "case files", [Status.ERROR] * len(problems))
        for problem in problems:
            place = f"{problem.file}:{problem.line}" if problem.line else problem.file
            case = ElementTree.SubElement(suite, "testcase", classname="case files", name=one_line(place))
            error = ElementTree.SubElement(case, "error", message=one_line(problem.message), type=problem.code)
            error.text = visible(f"{problem.message}\n{problem.remedy}")
    refused = [each for each in report.untrusted if each.files]
    if refused:
        suite = _suite(root, "not trusted", [Status.ERROR] * len(refused))
        for each in refused:
            case = ElementTree.SubElement(suite, "testcase", classname=one_line(each.hook.name), name="is trusted")
            ElementTree.SubElement(case, "error", message=one_line(f"not run: {each.untrusted}"), type="untrusted")
    ElementTree.indent(root)
    written = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    if os.path.exists(file) and not os.path.isfile(file):  # /dev/stdout
        with open(file, "wb") as stream:
            stream.write(written)
    else:
        replace_file(file, written, mode=0o644)  # a link is replaced, not followed


def _suite(root: ElementTree.Element, name: str, statuses: list[Status]) -> ElementTree.Element:
    return ElementTree.SubElement(
        root,
        "testsuite",
        name=one_line(name),
        tests=str(len(statuses)),
        failures=str(sum(status is Status.FAILED for status in statuses)),
        errors=str(sum(status is Status.ERROR for status in statuses)),
        skipped="0",
    )


def _case(suite: ElementTree.Element, result: Result) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=one_line(result.suite.hook.name),
        name=one_line(result.case.name),
        file=one_line(result.case.file),
        line=str(result.case.line),
        time=_seconds(result.duration_ms),
    )
    if result.status is Status.FAILED:
        first = result.differences[0]
        message = f"{first.field}: expected {first.expected}, was {first.actual}"
        failure = ElementTree.SubElement(case, "failure", message=one_line(message), type="difference")
        failure.text = visible(
            "\n".join(
                f"{each.field}\n  expected: {each.expected}\n  actual:   {each.actual}" for each in result.differences
            )
        )
    elif result.status is Status.ERROR:
        error = ElementTree.SubElement(case, "error", message=one_line(result.error or ""), type="error")
        error.text = visible(f"{result.error}\n{result.remedy}")
    for key, tag in (("stdout", "system-out"), ("stderr", "system-err")):
        if result.actual.get(key):
            ElementTree.SubElement(case, tag).text = visible(result.actual[key])


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"
