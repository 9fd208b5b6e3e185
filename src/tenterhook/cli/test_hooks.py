"""`tenterhook test`: run hooks on their cases, and show unexpected results."""

from __future__ import annotations

import difflib
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click

from ..authoring import results, suites
from ..authoring.results import Status
from ..basics.display_text import one_line, visible
from ..errors import HookError
from ..install import sources
from .loading import config_option, hook_names, json_option
from .printing import (
    counted,
    print_diff,
    print_json,
    print_problems,
    print_said,
    print_text,
    short_path,
    terminal_width,
)
from .refusals import refuse_writing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..authoring.expectations import Mismatch
    from ..authoring.results import Report, Result
    from ..authoring.suites import SelectedHooks, Suite
    from ..catalog.catalog import Catalog

_MARKS = {
    Status.PASSED: click.style("ok     ", fg="green"),
    Status.FAILED: click.style("FAIL   ", fg="red"),
    Status.ERROR: click.style("ERROR  ", fg="red"),
    Status.UPDATED: click.style("updated", fg="cyan"),
}
_INDENT = " " * 10
_NAME = 40  # columns of a case's name
_MOST_LINES = 40  # of what a hook wrote
_CONTEXT = 2  # lines around a change


@click.command("test", short_help="Test your hooks with their cases.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=hook_names)
@click.option("--watch", is_flag=True, help="Run again whenever a hook or a case changes; Ctrl-C stops.")
@click.option("-k", "words", multiple=True, metavar="WORD", help="Only cases with this word in their name or hook's.")
@click.option("--update", is_flag=True, help="Rewrite failing cases to expect what happens now.")
@config_option
@click.option("--cases", "directory", metavar="DIR", type=click.Path(), help="Cases are in DIR/<hook's name>/.")
@click.option("--trust-project", is_flag=True, help="Run the project's hooks this once, trusted or not.")
@click.option("--junit", "junit_file", metavar="FILE", type=click.Path(), help="Also write the results as JUnit XML.")
@json_option
def test_hooks(
    names: tuple[str, ...],
    watch: bool,
    words: tuple[str, ...],
    update: bool,
    configs: tuple[str, ...],
    directory: str | None,
    trust_project: bool,
    junit_file: str | None,
    as_json: bool,
) -> int:
    """Test hooks with their cases: the real engine runs that hook alone, each case in a new directory and home.

    NAME is a hook's name, or its folder if it contains a /; without one, all hooks here are tested. Cases are TOML or
    JSON files in the folder's cases/ or, for a hook in a TOML file, in cases/<hook's name>/ beside that file. Exit
    status 1 if a case failed or could not be run.

    \b
    tenterhook test
    tenterhook test no-force-push --watch
    tenterhook test --config hooks.toml -k push --junit results.xml
    """
    if directory is not None and not os.path.isdir(directory):
        raise click.UsageError(f"--cases: no such directory: {directory}")

    if junit_file:
        refuse_writing("test --junit", junit_file)
    options = _Options(names, words, update, configs, directory, trust_project, junit_file, as_json)
    return _watch(options) if watch else _run_once(options, lambda _: None)


class _Options(NamedTuple):
    """The options of the command."""

    names: tuple[str, ...]
    words: tuple[str, ...]
    update: bool
    configs: tuple[str, ...]
    directory: str | None
    trust_project: bool
    junit_file: str | None
    as_json: bool


def _run_once(options: _Options, begins: Callable[[list[str]], None]) -> int:
    """Run all cases once and return the exit status. `begins` is called with the paths that the cases depend on."""
    found = sources.here(options.configs, trust_project=options.trust_project)
    catalog = found.catalog
    picked = suites.pick(catalog, options.names, options.directory)
    begins(_watched(catalog, picked, options.configs))
    printer = _Printer()
    report = results.run_suites(picked, options.words, None if options.as_json or options.update else printer.add)
    if options.update:
        refuse_writing("test --update", *dict.fromkeys(result.case.file for result in report.results))
        report = results.updated(report)
    if options.junit_file:
        refuse_writing("test --junit", options.junit_file)  # again: it may have changed since
        results.write_junit(report, options.junit_file)
    if options.as_json:
        print_json(_as_json(report, catalog))
    else:
        for number, result in enumerate(report.results if options.update else ()):
            printer.add(number, result)
        print_problems([each for each in catalog.problems if each not in report.broken], err=True)
        _print_rest(report)
    nothing = not report.results and bool(options.names or options.words)
    return 1 if not report.is_good or nothing or found.refused else 0


def _watch(options: _Options) -> NoReturn:
    """Run all cases after each change, until Ctrl-C."""
    paths: list[str] = []
    before: suites.Signature = {}

    def begins(found: list[str]) -> None:
        nonlocal paths, before
        paths, before = found, suites.signature(found)  # a change during a run counts too

    while True:
        try:
            _run_once(options, begins)
        except HookError as error:
            if not paths:
                raise
            print_text(f"tenterhook: {visible(str(error))}", err=True)  # perhaps in the middle of an edit
            before = suites.signature(paths)
        click.echo(click.style("watching; Ctrl-C stops", dim=True), err=True)
        changed = suites.wait_for_change(paths, before)
        shown = ", ".join(short_path(path) for path in changed[:3])
        print_text(click.style(f"\n{time.strftime('%H:%M:%S')} changed: {shown}", dim=True), err=True)


def _watched(catalog: Catalog, picked: SelectedHooks, configs: Sequence[str]) -> list[str]:
    paths = [layer.directory for layer in catalog.layers if layer.name != "managed"]
    paths += [os.path.abspath(config) for config in configs]
    paths += [path for suite in picked.suites for path in (suite.hook.folder, suite.directory) if path]
    return list(dict.fromkeys(paths))


class _Printer:
    """Prints results in the order of their hooks and cases, each as soon as those before it have arrived."""

    def __init__(self) -> None:
        self._results: dict[int, Result] = {}
        self._printed = 0
        self._suite: Suite | None = None

    def add(self, number: int, result: Result) -> None:
        self._results[number] = result
        while self._printed in self._results:
            self._print(self._results[self._printed])
            self._printed += 1

    def _print(self, result: Result) -> None:
        if self._suite is not result.suite:
            self._suite = result.suite
            name, where = _name_and_place(result.suite)
            print_said(f"{name}  ", where, indent=2, dim=True)
        _print_result(result)


def _name_and_place(suite: Suite) -> tuple[str, str]:
    return click.style(one_line(suite.hook.name), bold=True), short_path(suite.hook.folder or suite.hook.source)


def _print_result(result: Result) -> None:
    duration = f" {result.duration_ms:>8.1f} ms" if result.actual.get("ran") else ""
    columns = min(_NAME, (terminal_width() or 80) - len(_INDENT) - len(duration))
    print_said(f"  {_MARKS[result.status]} ", f"{one_line(result.case.name).ljust(columns)}{duration}".rstrip())
    if result.status is Status.PASSED:
        return
    for difference in result.differences:
        _print_difference(difference)
    if result.error and result.status is Status.ERROR:
        print_text(f"{_INDENT}{visible(result.error)}")
        print_text(f"{_INDENT}{visible(result.remedy or '')}")
    if result.status is not Status.UPDATED:
        _print_run(result)
    click.echo(click.style(f"{_INDENT}{short_path(result.case.file)}:{result.case.line}", dim=True))


def _print_difference(difference: Mismatch) -> None:
    """Print what was expected, marked with -, and what happened, with +; of long texts a diff."""
    click.echo(f"{_INDENT}{click.style(one_line(difference.field), bold=True)}")
    expected, actual = (visible(text).removesuffix("\n").split("\n") for text in difference[1:])
    if expected == actual:  # they differ at their end only
        ends = [text.endswith("\n") for text in difference[1:]]
        lines = [
            f"{mark} (with{'' if has_end else 'out'} a line break at the end)"
            for mark, has_end in zip("-+", ends, strict=True)
        ]
    elif len(expected) == len(actual) == 1:
        lines = [f"- {expected[0]}", f"+ {actual[0]}"]
    else:
        found = difflib.unified_diff(expected, actual, lineterm="", n=_CONTEXT)
        lines = [f"{line[0]} {line[1:]}" for line in list(found)[2:] if not line.startswith("@@")]
    print_diff("\n".join(line.rstrip() for line in lines[: _MOST_LINES * 2]), indent=len(_INDENT) + 2)
    if len(lines) > _MOST_LINES * 2:
        click.echo(f"{_INDENT}  … {len(lines) - _MOST_LINES * 2} more lines")


def _print_run(result: Result) -> None:
    """Print how the script ended, and what it wrote."""
    actual = result.actual
    if not actual.get("ran"):
        return
    ended = f"exit code {actual['exit_code']}" if actual["exit_code"] is not None else actual["why"] or "no exit code"
    print_text(f"{_INDENT}the script ended: {visible(ended)}")
    for note in actual["notes"]:
        print_text(f"{_INDENT}note: {visible(note)}")
    for key in ("stdout", "stderr"):
        lines = visible(actual[key]).rstrip("\n").split("\n") if actual[key].strip() else []
        if lines:
            click.echo(f"{_INDENT}on {key}:")
        for line in lines[:_MOST_LINES]:
            click.echo(f"{_INDENT}  | {line}")
        if len(lines) > _MOST_LINES:
            click.echo(f"{_INDENT}  | … {len(lines) - _MOST_LINES} more lines")


def _print_rest(report: Report) -> None:
    """Print what was not run, and the summary."""
    if any(result.status is Status.FAILED for result in report.results):
        click.echo("(-: expected, +: what happened)")
    print_problems([*report.broken, *report.problems])
    for suite in report.untrusted:
        said = f"{'  '.join(_name_and_place(suite))}: {visible(suite.untrusted or '')}"
        print_text(f"{click.style('not trusted', fg='yellow')}: {said}")
        its = f"its {counted(len(suite.files), 'case file')} did not run" if suite.files else "it has no cases"
        print_text(f"    {its}")
        print_text(f"    review it: tenterhook trust {one_line(suite.hook.name)}; to run it this once: --trust-project")
    if report.without:
        names = ", ".join(one_line(suite.hook.name) for suite in report.without)
        print_text(f"without cases: {names}")
    changed = [result.suite for result in report.results if result.status is Status.UPDATED]
    if any(suite.hook.layer == "project" for suite in changed):
        print_text("files of the project's hooks have changed: they need trust again (tenterhook trust)")
    print_text(_summary(report))


def _summary(report: Report) -> str:
    broken = len(report.problems) + len(report.broken)
    parts = [f"{report.count(Status.PASSED)} passed"]
    parts += [f"{report.count(status)} {word}" for status, word in _WORDS.items() if report.count(status)]
    parts += [f"{broken} broken"] if broken else []
    untrusted = len([suite for suite in report.untrusted if suite.files])
    parts += [f"{counted(untrusted, 'hook')} not trusted"] if untrusted else []
    parts += [f"{report.deselected} left out by -k"] if report.deselected else []
    if not report.results and not broken and not untrusted:
        return f"no cases: {parts[-1] if report.deselected else 'they are TOML or JSON files in cases/ of a hook'}"
    return click.style(", ".join(parts), fg="green" if report.is_good else "red", bold=True)


_WORDS = {Status.FAILED: "failed", Status.ERROR: "could not be run", Status.UPDATED: "updated"}


def _as_json(report: Report, catalog: Catalog) -> dict[str, Any]:
    return {
        "schema": 1,
        "passed": report.count(Status.PASSED),
        "failed": report.count(Status.FAILED),
        "errors": report.count(Status.ERROR),
        "updated": report.count(Status.UPDATED),
        "deselected": report.deselected,
        "cases": [_result_as_json(result) for result in report.results],
        "untrusted": [_suite_as_json(suite) | {"why": suite.untrusted} for suite in report.untrusted],
        "without_cases": [_suite_as_json(suite) for suite in report.without],
        "problems": [each.as_json() for each in dict.fromkeys((*report.broken, *report.problems, *catalog.problems))],
    }


def _suite_as_json(suite: Suite) -> dict[str, Any]:
    return {"hook": suite.hook.name, "source": suite.hook.source, "layer": suite.hook.layer}


def _result_as_json(result: Result) -> dict[str, Any]:
    actual = {key: value for key, value in result.actual.items() if key not in ("files", "changed")}
    return {
        **_suite_as_json(result.suite),
        "case": result.case.name,
        "file": result.case.file,
        "line": result.case.line,
        "status": str(result.status),
        "differences": [difference._asdict() for difference in result.differences],
        "error": result.error,
        "remedy": result.remedy,
        "duration_ms": result.duration_ms,
        "actual": actual or None,
    }
