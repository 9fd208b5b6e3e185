"""How commands print text, tables, problems and verdicts, and JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from ..basics.display_text import LEFT_OUT, one_line, visible, with_stderr, without_middle
from ..journal.records import meaning
from ..model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..approvals.presenter import Presentation
    from ..catalog.catalog import LeftOut
    from ..errors import Problem
    from ..model import Hook, Run, Verdict

# By decision, by what a hook did, by severity.
COLOURS = {
    "deny": "red",
    "ask": "magenta",
    "approve": "green",
    "allow": "green",
    "blocked": "red",
    "would_block": "magenta",
    "asked": "magenta",
    "approved": "green",
    "allowed": "green",
    "no_decision": "green",
    "failed": "yellow",
    "timed_out": "yellow",
    "not_run": "yellow",
    "started": "cyan",
    "error": "red",
    "warning": "yellow",
}


def print_json(data: Any) -> None:
    """Print one JSON value on stdout."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    click.echo(json.dumps(data, indent=2 if sys.stdout.isatty() else None, ensure_ascii=not is_utf8))


def coloured(word: str) -> str:
    return click.style(word, fg=COLOURS.get(word))


def run_line(hook: str, became: str, duration: str, said: str) -> str:
    """Return a line about one run: the hook, what it did, how long it took, and a text."""
    word = click.style(f"{became.replace('_', ' '):<12}", fg=COLOURS.get(became))
    return f"{one_line(hook):<28} {word} {duration:>10}  {below(said)}".rstrip()


def below(text: str) -> str:
    """Return a text with its second and further lines indented."""
    return visible(text).replace("\n", "\n      ")


def short_path(path: str) -> str:
    """Return a path relative to the current directory, else with `~` for the home directory."""
    here = os.getcwd()
    return one_line(path[len(here) + 1 :]) if path.startswith(here + "/") else in_home(path)


def in_home(path: str) -> str:
    """Return a path with `~` for the home directory."""
    home = os.path.expanduser("~")
    return one_line("~" + path[len(home) :] if path == home or path.startswith(home + "/") else path)


def place_text(file: str, line: int | None) -> str:
    """Return a file's short path, with the line if there is one."""
    return short_path(file) + (f":{line}" if line else "")


def counted(number: int, noun: str) -> str:
    """Return `1 hook`, `2 hooks`."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def why_text(left_out: LeftOut) -> str:
    """Return why a hook is not in force, with `~` for the home directory."""
    return one_line(left_out.why.replace(os.path.expanduser("~") + "/", "~/"))


def print_problems(problems: Iterable[Problem], *, err: bool = False) -> None:
    """Print each problem with its place and its remedy."""
    for problem in problems:
        place = place_text(problem.file, problem.line)
        click.echo(f"{coloured(problem.severity)} {place} [{problem.code}] {visible(problem.message)}", err=err)
        click.echo(f"    {visible(problem.remedy)}", err=err)


def print_presented(presented: Presentation, facts: Iterable[tuple[str, str]], *, err: bool = False) -> None:
    """Print a call that a person decides about, whole, with its dangers and some facts."""
    from ..approvals import presenter

    click.secho(one_line(presented.title), bold=True, err=err)
    for line in presenter.text_lines(presented):
        click.echo(f"  | {line}", err=err)
    for danger in presented.dangers:
        click.secho(f"  ! {danger}", fg="red", err=err)
    for name, value in facts:
        click.echo(f"  {name:<8} {value}", err=err)


def print_diff(diff: str) -> None:
    """Print a diff; on a terminal the middle of lines that do not fit is left out."""
    width = terminal_width()
    lines = [visible(line) for line in diff.removesuffix("\n").split("\n")]
    for line in lines:
        shown = line if width is None else without_middle(line, width)
        click.echo(click.style(shown, fg={"+": "green", "-": "red"}.get(line[:1])))
    if width is not None and any(len(line) > width for line in lines):
        click.echo(click.style(f"({LEFT_OUT}: the middle of a long line; --dry-run | cat shows it)", dim=True))


def terminal_width() -> int | None:
    """Return the width of the terminal; None if stdout is not a terminal, and nothing is shortened."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows in aligned columns under their headers."""
    widths = [max(len(row[number]) for row in (headers, *rows)) for number in range(len(headers))]
    for number, row in enumerate((headers, *rows)):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        line = ("  " + "  ".join(cells)).rstrip()
        click.echo(click.style(line, dim=True) if number == 0 else line)


def matcher_text(hook: Hook) -> str:
    """Return a hook's matchers in one line."""
    if hook.has_one_matcher:
        return visible(hook.tool or hook.target or "")
    parts = [f"{key}={value}" for key, value in (("tool", hook.tool), ("pattern", hook.pattern)) if value]
    return visible(" ".join(parts))


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict and its runs: what ran, in which order, how long, what was decided and why."""
    reason = f"  {below(verdict.reason)}" if verdict.reason else ""
    click.echo(f"{click.style(verdict.event, bold=True)}  {coloured(str(verdict.decision))}{reason}")
    for number, run in enumerate(verdict.runs, start=1):
        print_run(number, run, told=verdict.reason)
    if verdict.modified_input is not None:
        click.echo(f"  input is now {visible(json.dumps(verdict.modified_input, ensure_ascii=False))}")
    for text in verdict.additional_context:
        click.echo(f"  context: {visible(text)}")
    for text in verdict.messages:
        click.echo(f"  message: {visible(text)}")


def print_run(number: int, run: Run, *, told: str | None) -> None:
    """Print one run; its reason only if it is not `told`, the reason that is printed already."""
    duration = "" if run.outcome in (Outcome.NOT_RUN, Outcome.STARTED) else f"{run.duration_ms:.1f} ms"
    reason = "" if run.decision.reason == told else run.decision.reason
    said = run.why or reason or ""
    if run.failed:
        said = with_stderr(said, run.stderr)
    became = meaning(run.outcome, run.decision.action)
    click.echo(f"  {number}. {run_line(run.hook.name, became, duration, said)}")
    notes = [*run.notes, *run.decision.notes, *([run.decision.ignored] if run.decision.ignored else [])]
    if run.failed:
        notes.append(f"defined in {place_text(run.hook.source, run.hook.line)}")
    for note in notes:
        click.echo(click.style(f"     {visible(note)}", dim=True))
