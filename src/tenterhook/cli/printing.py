"""How commands print text, tables, problems and verdicts, and JSON."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import click

from ..basics.display_text import one_line, visible, with_stderr
from ..journal.records import meaning
from ..model import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..approvals.presenter import Presentation
    from ..catalog.catalog import LeftOut
    from ..errors import Problem
    from ..install.settings_change import SettingsChange
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


def run_line(hook: str, became: str, duration: str) -> str:
    """Return the beginning of a line about one run: the hook, what it did, how long it took."""
    word = click.style(f"{became.replace('_', ' '):<12}", fg=COLOURS.get(became))
    return f"{one_line(hook):<28} {word} {duration:>10}"


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
        print_said(f"{coloured(problem.severity)} {place} [{problem.code}] ", problem.message, indent=4, err=err)
        print_said("    ", problem.remedy, err=err)


def print_presented(presented: Presentation, facts: Iterable[tuple[str, str]], *, err: bool = False) -> None:
    """Print a call that a person decides about, whole, with its dangers and some facts."""
    from ..approvals import presenter

    click.secho(one_line(presented.title), bold=True, err=err)
    for line in presenter.text_lines(presented):
        click.echo(f"  | {line}", err=err)
    for danger in presented.dangers:
        click.secho(f"  ! {danger}", fg="red", err=err)
    for name, value in facts:
        print_said(f"  {name:<9} ", value, err=err)


def print_changes(plan: SettingsChange, *, in_full: bool) -> bool:
    """Print the diffs of changed files; return whether there are any. Unless `in_full`, plug-ins are only named."""
    for file in plan.changed_files:
        if in_full or not file.is_whole_plugin:
            print_diff(file.shown())
            continue
        sign, text = ("+", file.after) if file.before is None else ("-", file.before)
        lines = len((text or b"").splitlines())
        print_diff(f"{sign}{sign}{sign} {file.path} (a plug-in of {lines} lines; --dry-run shows it)")
    return bool(plan.changed_files)


def print_diff(diff: str, *, indent: int = 0) -> None:
    """Print a diff, indented by some columns; on a terminal, long lines are wrapped."""
    width = terminal_width()
    for line in diff.removesuffix("\n").split("\n"):
        rows = [visible(line)]
        if width is not None and len(rows[0]) > width - indent:
            from ..basics.terminal_layout import folded

            rows = folded(rows[0], width - indent)
        for row in rows:
            click.echo(" " * indent + click.style(row, fg={"+": "green", "-": "red"}.get(line[:1])))


def terminal_width(*, err: bool = False) -> int | None:
    """Return the width of the terminal; None if there is none, and nothing is wrapped or shortened."""
    stream = sys.stderr if err else sys.stdout
    is_terminal = stream is not None and stream.isatty()  # None if it was closed
    return shutil.get_terminal_size().columns if is_terminal else None


def print_table(headers: Sequence[str], rows: Sequence[Sequence[str]], *, err: bool = False) -> None:
    """Print rows in aligned columns under their headers; on a terminal fitted to its width."""
    from ..basics.terminal_layout import is_coloured, table_lines

    colour = is_coloured(sys.stderr if err else sys.stdout)
    for line in table_lines(headers, rows, terminal_width(err=err), colour=colour):
        click.echo(line, err=err)


def print_text(text: str, *, err: bool = False) -> None:
    """Print a text. On a terminal, lines that are too long are wrapped at their blanks and keep their indentation."""
    width = terminal_width(err=err)
    if width is None:
        click.echo(text, err=err)
        return
    for line in text.split("\n"):
        plain = click.unstyle(line)
        indent = len(plain) - len(plain.lstrip(" "))
        if len(plain) <= width:
            click.echo(line, err=err)
        else:
            print_wrapped(" " * indent, line[indent:], err=err)


def print_said(
    head: str,
    text: str,
    *,
    indent: int | None = None,
    err: bool = False,
    dim: bool | None = None,
) -> None:
    """Print a head and a text beside it. On a terminal the text is wrapped, in a column of its own or at `indent`."""
    width = terminal_width(err=err)
    styled = click.style(below(text) if width is None else visible(text), dim=dim)
    if width is None or not text:
        click.echo(f"{head}{styled}" if text else head.rstrip(), err=err)
        return
    print_wrapped(head, styled, indent=indent, err=err)


def print_wrapped(head: str, text: str, *, indent: int | None = None, err: bool = False) -> None:
    """Print a head and a text beside it, wrapped to the terminal's width. Both may have styles."""
    from ..basics.terminal_layout import is_coloured, wrapped

    width = terminal_width(err=err) or 80
    colour = is_coloured(sys.stderr if err else sys.stdout)
    for line in wrapped(text, width, first=head, indent=indent, colour=colour):
        click.echo(line, err=err)


@contextlib.contextmanager
def progress(text: str, total: int | None = None, *, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Show progress, and how much of a total is done, if stderr is a terminal.

    Yields a function that advances it. Print nothing meanwhile; at the end it disappears.
    """
    if not (is_shown and terminal_width(err=True)):
        yield lambda size: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn

    shown = [SpinnerColumn(), TextColumn("{task.description}", markup=False)]
    shown += [BarColumn(), TaskProgressColumn()] if total is not None else []
    console = Console(stderr=True)
    with Progress(*shown, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as bar:
        task = bar.add_task(text, total=total)
        yield lambda size: bar.advance(task, size)


def matcher_text(hook: Hook) -> str:
    """Return a hook's matchers in one line."""
    if hook.has_one_matcher:
        return visible(hook.tool or hook.target or "")
    parts = [f"{key}={value}" for key, value in (("tool", hook.tool), ("pattern", hook.pattern)) if value]
    return visible(" ".join(parts))


def print_verdict(verdict: Verdict) -> None:
    """Print a verdict and its runs: what ran, in which order, how long, what was decided and why."""
    decided = f"{click.style(verdict.event, bold=True)}  {coloured(str(verdict.decision))}  "
    print_said(decided, verdict.reason or "", indent=6)
    for number, run in enumerate(verdict.runs, start=1):
        print_run(number, run, told=verdict.reason)
    changed = (("input", verdict.modified_input), ("output", verdict.modified_output))
    for what, value in changed:
        if value is not None:
            print_said(f"  {what} is now ", json.dumps(value, ensure_ascii=False), indent=6)
    for text in verdict.additional_context:
        print_said("  context: ", text, indent=6)
    for text in verdict.messages:
        print_said("  message: ", text, indent=6)


def print_run(number: int, run: Run, *, told: str | None) -> None:
    """Print one run; its reason only if it differs from `told`, which is printed already."""
    duration = "" if run.outcome in (Outcome.NOT_RUN, Outcome.STARTED) else f"{run.duration_ms:.1f} ms"
    reason = "" if run.decision.reason == told else run.decision.reason
    said = run.why or reason or ""
    if run.failed:
        said = with_stderr(said, run.stderr)
    became = meaning(run.outcome, run.decision.action)
    print_said(f"  {number}. {run_line(run.hook.name, became, duration)}  ", said, indent=6)
    notes = [*run.notes, *run.decision.notes, *([run.decision.ignored] if run.decision.ignored else [])]
    if run.failed:
        notes.append(f"defined in {place_text(run.hook.source, run.hook.line)}")
    for note in notes:
        print_said("     ", note, dim=True)
