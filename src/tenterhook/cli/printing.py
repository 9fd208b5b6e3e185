"""What commands print for people; with `--json` they print data instead."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ..model import Outcome
from ..shown import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..errors import Problem
    from ..model import Hook, Run, Verdict

COLOURS = {
    "deny": "red",
    "blocked": "red",
    "failed": "yellow",
    "timed_out": "yellow",
    "not_run": "yellow",
    "ask": "magenta",
    "approve": "green",
    "allow": "green",
    "ok": "green",
    "started": "cyan",
    "error": "red",
    "warning": "yellow",
}


def print_json(data: Any) -> None:
    """One object, and nothing else, on stdout."""
    click.echo(json.dumps(data, indent=2 if sys.stdout.isatty() else None, ensure_ascii=not _speaks_utf8()))


def _speaks_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def coloured(word: str) -> str:
    return click.style(word, fg=COLOURS.get(word))


def short_path(path: str) -> str:
    """A path as a person would say it."""
    home = os.path.expanduser("~")
    here = os.getcwd()
    if path.startswith(here + "/"):
        path = path[len(here) + 1 :]
    elif path.startswith(home + "/"):
        path = "~" + path[len(home) :]
    return one_line(path)


def print_problems(problems: Iterable[Problem], *, err: bool = False) -> None:
    """Each problem with its place and its remedy."""
    for problem in problems:
        place = short_path(problem.file) + (f":{problem.line}" if problem.line else "")
        click.echo(f"{coloured(problem.severity)} {place} [{problem.code}] {visible(problem.message)}", err=err)
        click.echo(f"    {visible(problem.remedy)}", err=err)


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be; the last may be as long as it likes."""
    widths = [max(len(row[number]) for row in (headers, *rows)) for number in range(len(headers))]
    for number, row in enumerate((headers, *rows)):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        line = ("  " + "  ".join(cells)).rstrip()
        click.echo(click.style(line, dim=True) if number == 0 else line)


def matcher_text(hook: Hook) -> str:
    """A hook's matchers in one cell."""
    if hook.has_one_matcher:
        return visible(hook.tool or hook.target or "")
    parts = [f"{key}={value}" for key, value in (("tool", hook.tool), ("pattern", hook.pattern)) if value]
    return visible(" ".join(parts))


def print_verdict(verdict: Verdict) -> None:
    """A timeline: what ran, in which order, how long, what was decided and why."""
    reason = f"  {visible(verdict.reason)}" if verdict.reason else ""
    click.echo(f"{click.style(verdict.event, bold=True)}  {coloured(str(verdict.decision))}{reason}")
    for number, run in enumerate(verdict.runs, start=1):
        print_run(number, run)
    if verdict.modified_input is not None:
        click.echo(f"  input is now {visible(json.dumps(verdict.modified_input, ensure_ascii=False))}")
    for text in verdict.additional_context:
        click.echo(f"  context: {visible(text)}")
    for text in verdict.messages:
        click.echo(f"  message: {visible(text)}")


def print_run(number: int, run: Run) -> None:
    duration = "" if run.outcome in (Outcome.NOT_RUN, Outcome.STARTED) else f"{run.duration_ms:.1f} ms"
    said = run.why or run.decision.reason or ""
    if run.failed and run.stderr.strip():
        said += f": {run.stderr.strip().splitlines()[-1]}"
    action = "" if run.decision.action in ("none", "deny") else f" {run.decision.action}"
    outcome = coloured(str(run.outcome)) + action + " " * max(0, 16 - len(run.outcome) - len(action))
    click.echo(f"  {number}. {visible(run.hook.name):<28} {outcome} {duration:>10}  {visible(said)}".rstrip())
    notes = [*run.notes, *run.decision.notes, *([run.decision.ignored] if run.decision.ignored else [])]
    if run.failed:
        place = short_path(run.hook.source) + (f":{run.hook.line}" if run.hook.line else "")
        notes.append(f"defined in {place}")
    for note in notes:
        click.echo(click.style(f"     {visible(note)}", dim=True))
