"""What commands print for people; with `--json` they print data instead."""

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

    from ..catalog.catalog import LeftOut
    from ..errors import Problem
    from ..model import Hook, Run, Verdict

# What was decided, what became of a hook, how bad a problem is.
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
    """One object, and nothing else, on stdout."""
    click.echo(json.dumps(data, indent=2 if sys.stdout.isatty() else None, ensure_ascii=not _speaks_utf8()))


def _speaks_utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"


def coloured(word: str) -> str:
    return click.style(word, fg=COLOURS.get(word))


def run_line(hook: str, became: str, duration: str, said: str) -> str:
    """What one hook did: the journal's word for it, how long it took, what there is to say."""
    word = click.style(f"{became.replace('_', ' '):<12}", fg=COLOURS.get(became))
    return f"{one_line(hook):<28} {word} {duration:>10}  {below(said)}".rstrip()


def below(text: str) -> str:
    """What a hook said, its further lines moved in."""
    return visible(text).replace("\n", "\n      ")


def short_path(path: str) -> str:
    """A path as a person would say it."""
    here = os.getcwd()
    return one_line(path[len(here) + 1 :]) if path.startswith(here + "/") else in_home(path)


def in_home(path: str) -> str:
    """A path as a person would say it wherever they are: below `~` if it is in their home."""
    home = os.path.expanduser("~")
    return one_line("~" + path[len(home) :] if path == home or path.startswith(home + "/") else path)


def why_text(left_out: LeftOut) -> str:
    """Why a hook is not in force, with paths as people say them."""
    return one_line(left_out.why.replace(os.path.expanduser("~") + "/", "~/"))


def print_problems(problems: Iterable[Problem], *, err: bool = False) -> None:
    """Each problem with its place and its remedy."""
    for problem in problems:
        place = short_path(problem.file) + (f":{problem.line}" if problem.line else "")
        click.echo(f"{coloured(problem.severity)} {place} [{problem.code}] {visible(problem.message)}", err=err)
        click.echo(f"    {visible(problem.remedy)}", err=err)


def print_diff(diff: str) -> None:
    """A change of a file; on a terminal without the middle of lines that are longer than it is wide."""
    width = terminal_width()
    lines = [visible(line) for line in diff.removesuffix("\n").split("\n")]
    for line in lines:
        shown = line if width is None else without_middle(line, width)
        click.echo(click.style(shown, fg={"+": "green", "-": "red"}.get(line[:1])))
    if width is not None and any(len(line) > width for line in lines):
        click.echo(click.style(f"({LEFT_OUT}: the middle of a long line; --dry-run | cat shows it)", dim=True))


def terminal_width() -> int | None:
    """How wide the terminal is; None if stdout is none, and nothing need be cut."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


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
    """A line of the timeline, without the reason that was told above it."""
    duration = "" if run.outcome in (Outcome.NOT_RUN, Outcome.STARTED) else f"{run.duration_ms:.1f} ms"
    reason = "" if run.decision.reason == told else run.decision.reason
    said = run.why or reason or ""
    if run.failed:
        said = with_stderr(said, run.stderr)
    became = meaning(run.outcome, run.decision.action)
    click.echo(f"  {number}. {run_line(run.hook.name, became, duration, said)}")
    notes = [*run.notes, *run.decision.notes, *([run.decision.ignored] if run.decision.ignored else [])]
    if run.failed:
        place = short_path(run.hook.source) + (f":{run.hook.line}" if run.hook.line else "")
        notes.append(f"defined in {place}")
    for note in notes:
        click.echo(click.style(f"     {visible(note)}", dim=True))
