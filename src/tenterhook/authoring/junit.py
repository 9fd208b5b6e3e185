"""Results as JUnit's XML, which every continuous integration reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ..basics.display_text import one_line, visible
from .results import Status

if TYPE_CHECKING:
    from .results import Report, Result


def write(report: Report, file: str) -> None:
    """One test suite for each hook; broken definitions and case files are errors of a suite of their own."""
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
    is_special = os.path.exists(file) and not os.path.isfile(file)  # /dev/stdout
    written = file if is_special else f"{file}.{os.getpid()}.new"
    ElementTree.ElementTree(root).write(written, encoding="utf-8", xml_declaration=True)
    if not is_special:
        os.replace(written, file)  # a link that is there by now is replaced, not followed


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
