"""`tenterhook log`: show the journal, its statistics, and whether it is intact."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..basics import places
from ..basics.display_text import one_line, with_stderr
from ..events import spec_of
from ..model import PRECEDENCE
from .durations import seconds
from .groups import Group
from .loading import event_names, hook_names, json_option, session_ids
from .printing import (
    COLOURS,
    below,
    coloured,
    counted,
    in_home,
    print_json,
    print_said,
    print_table,
    print_text,
    run_line,
    terminal_width,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..journal.filters import RecordFilter
    from ..journal.index import Index

F = TypeVar("F", bound="Callable[..., Any]")
DAMAGED = 1
_POLL = 0.2  # seconds
DECISIONS: tuple[str, ...] = tuple(str(each) for each in PRECEDENCE)


def since_option(default: str | None) -> Callable[[F], F]:
    return click.option("--since", metavar="2h", default=default, help="Only records since then: 10m, 2h, 7d, 4w.")


def opened_index() -> Index:
    """Return the up-to-date index of the journal; it is closed when the command ends."""
    from ..journal.index import Index

    index = Index()
    click.get_current_context().call_on_close(index.close)
    index.update()
    return index


@click.group(cls=Group, invoke_without_command=True, short_help="Show what reached your hooks and what they did.")
@click.option("-f", "--follow", is_flag=True, help="Keep printing new records; Ctrl-C stops.")
@click.option("-n", "last", metavar="N", type=int, default=50, show_default=True, help="Show at most N; 0 for all.")
@click.option("--session", metavar="S", shell_complete=session_ids, help="Only this session.")
@click.option("--event", metavar="E", shell_complete=event_names, help="Only this event, by any of its names.")
@click.option("--hook", metavar="H", shell_complete=hook_names, help="Only what reached this hook.")
@click.option("--decision", metavar="D", type=click.Choice(DECISIONS), help="Only events with this decision.")
@since_option(None)
@json_option
@click.pass_context
def log(
    context: click.Context,
    follow: bool,
    last: int,
    session: str | None,
    event: str | None,
    hook: str | None,
    decision: str | None,
    since: str | None,
    as_json: bool,
) -> None:
    """Show the events that reached your hooks, oldest first: what each hook did, its duration, the decision and why.

    \b
    tenterhook log --decision deny --since 7d
    tenterhook log -f --hook block-dangerous-commands
    tenterhook log stats
    tenterhook log verify
    """
    if context.invoked_subcommand is not None:
        return
    from ..journal.filters import RecordFilter

    canonical = spec_of(event).name if event else None
    wanted = RecordFilter(session, canonical, hook, decision, moment_since(since))
    index = opened_index()
    number = 0
    for seen, record in index.records(wanted, last=last or None):
        number = max(number, seen)
        _print(record, as_json=as_json)
    if follow:
        for record in _following(index, wanted, number):
            _print(record, as_json=as_json)
    elif not number and not as_json:
        print_text("nothing recorded" + (" that matches" if any(wanted) else " yet: the next event will be"))


def _following(index: Index, wanted: RecordFilter, number: int) -> Iterator[dict[str, Any]]:
    while True:
        time.sleep(_POLL)
        index.update()
        for seen, record in index.records(wanted, after=number):
            number = max(number, seen)
            yield record


@log.command()
@since_option("7d")
@click.option("--session", metavar="S", shell_complete=session_ids, help="Only this session.")
@click.option("--shadow", is_flag=True, help="Only runs in shadow mode, and what they would have done.")
@json_option
def stats(since: str, session: str | None, shadow: bool, as_json: bool) -> None:
    """Show statistics: runs, blocks, questions, failures and times of hooks, and how long they delayed each session."""
    from ..install import sources
    from ..journal import statistics
    from ..journal.filters import RecordFilter

    index = opened_index()
    wanted = RecordFilter(session=session, since=moment_since(since), shadow=shadow)
    budgets = {hook.name: hook.budget_ms for hook in sources.here().catalog.hooks if hook.budget_ms is not None}
    hooks = statistics.by_hook(index.runs(wanted), wanted.since, budgets)
    sessions = index.waiting(wanted)
    if as_json:
        waited = [{"session_id": each, "events": count, "waited_ms": round(took, 1)} for each, count, took in sessions]
        print_json({"schema": 1, "hooks": [each.as_json() for each in hooks], "sessions": waited})
        return
    if not hooks:
        of_session = f" of session {one_line(session)}" if session else ""
        print_text(f"nothing recorded{of_session}{' in shadow mode' if shadow else ''} in the last {since}")
        return
    headings = ("hook", "runs", "blocks", "asked", "failed", "p50", "p95", "p99", "timed out", "not run", "when", "")
    print_table(headings, [_figures_row(each) for each in hooks])
    click.echo()
    print_table(
        ("session", "events", "waited"),
        [(one_line(each), str(count), _seconds(took)) for each, count, took in sessions[:10]],
    )


def _figures_row(each: Any) -> tuple[str, ...]:
    remarks = []
    if each.is_failing:
        remarks.append("failing")
    if each.is_over_budget:
        remarks.append(f"over its budget of {each.budget_ms:g} ms")
    if each.shadow:
        remarks.append(f"shadow: would have {_would_have(each)}")
    return (
        *(each.hook, str(each.runs), str(each.blocks), str(each.asked), str(each.failures)),
        *(f"{each.p50_ms:.1f} ms", f"{each.p95_ms:.1f} ms", f"{each.p99_ms:.1f} ms"),
        *(str(each.timeouts), str(each.not_run), each.activity, ", ".join(remarks)),
    )


def _would_have(each: Any) -> str:
    """Return what a hook in shadow mode would have done, and how often."""
    others = (("asked", each.asked), ("changed the input", each.changed_input), ("said something", each.told))
    return ", ".join([f"blocked {each.would_block}", *(f"{what} {count}" for what, count in others if count)])


@log.command(short_help="Check that no record was edited, removed or reordered.")
@click.option("--anchor", metavar="FILE", type=click.File(), help="Output of `log anchor`, to detect truncation.")
@json_option
def verify(anchor: Any, as_json: bool) -> int:
    """Check whether a record was edited, removed or reordered. If so, print where, with exit status 1.

    Lines that `log redact` has redacted are listed too.
    """
    from ..journal import segments

    found = segments.verify(places.journal(), _anchor(anchor) if anchor else None)
    if as_json:
        findings = [each._asdict() for each in found.findings]
        redacted = [{key: getattr(each, key) for key in ("segment", "line", "time", "by")} for each in found.redacted]
        counts = {"records": found.records, "segments": found.segments}
        print_json({"schema": 1, **counts, "findings": findings, "redacted": redacted})
    else:
        for note in found.redacted:
            print_text(f"{note.segment}:{note.line}  redacted on {_when(note._asdict())} by {one_line(note.by)}")
        for each in found.findings:
            print_text(f"{each.segment}:{each.line}  {each.what}")
        verdict = f"{len(found.findings)} found" if found.findings else "intact"
        redacted_lines = f", {len(found.redacted)} redacted" if found.redacted else ""
        count = f"{counted(found.records, 'record')} in {counted(found.segments, 'segment')}"
        print_text(f"{count}{redacted_lines}: {verdict}")
    return DAMAGED if found.findings else 0


@log.command()
def anchor() -> None:
    """Print the last hashes, to be stored elsewhere: with them, `log verify` also detects a truncated journal."""
    from ..journal import segments

    found = segments.verify(places.journal())
    heads = {name: head._asdict() for name, head in found.heads.items()}
    print_json({"schema": 1, "time": round(time.time(), 3), "heads": heads})


def _anchor(file: Any) -> dict[str, Any]:
    from ..journal.segments import Head

    try:
        heads = json.load(file)["heads"]
        return {str(name): Head(int(head["lines"]), str(head["hash"])) for name, head in heads.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise click.UsageError(f"{file.name} is not the output of `tenterhook log anchor`") from None


def moment_since(text: str | None) -> float | None:
    """Return the time this long ago, such as `2h`."""
    return None if text is None else time.time() - seconds("--since", text)


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s" if milliseconds >= 1000 else f"{milliseconds:.0f} ms"


def _print(record: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(record))
        return
    when = _when(record)
    if record.get("type") == "async":
        how = f"{str(record.get('meaning') or record.get('outcome')).replace('_', ' ')}  {_ms(record)}"
        about = f"{one_line(str(record.get('event_name')))}  {one_line(str(record.get('hook')))} (async)"
        print_said(f"{when}  {about} {how}  ", _why(record), indent=4)
        return
    tool = f" {one_line(record['tool_name'])}" if record.get("tool_name") else ""
    if record.get("type") == "approval":
        reason = one_line(str(record.get("reason") or "").replace("\n", " "))
        _print_verdict(f"{when}  approval{tool}  {_answered(record)}", reason, record)
        return
    told = record.get("reason")
    head = f"{when}  {record.get('event')}{tool}  {coloured(str(record.get('decision')))}"
    _print_verdict(head, str(told or ""), record)
    for run in record.get("runs", ()):
        own = run.get("reason") if run.get("reason") != told else ""
        said = _why(run) or ": ".join(text for text in (run.get("ignored"), own) if text)
        became = str(run.get("meaning") or run.get("outcome") or "")
        duration = "" if became in ("not_run", "started") else _ms(run)
        print_said(f"    {run_line(str(run.get('hook')), became, duration)}  ", str(said), indent=6)
        for note in run.get("notes") or ():
            print_said("      ", str(note), dim=True)


def _why(run: dict[str, Any]) -> str:
    """Return why a hook failed or did not run; with the end of stderr if it failed or decided nothing with exit 2."""
    has_failed = run.get("outcome") in ("failed", "timed_out")
    said = run.get("why") or (f"exit {run['exit_code']}" if run.get("type") == "async" and run.get("exit_code") else "")
    is_shown = has_failed or (run.get("type") == "async" and said)
    return with_stderr(str(said), str(run.get("stderr") or "")) if is_shown else str(said)


def _when(record: dict[str, Any]) -> str:
    from ..journal.filters import moment_of

    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment_of(record)))
    except (ValueError, OverflowError, OSError):  # out of range
        return "(unknown time)     "


def _print_verdict(head: str, reason: str, record: dict[str, Any]) -> None:
    """Print the decision and its subject; a reason that does not fit on the line is wrapped below."""
    by, width = f"  ({one_line(str(record.get('by')))})", terminal_width()
    line = f"{head}  {below(reason)}{by}" if reason else f"{head}{by}"
    is_long = width is not None and bool(reason) and (len(click.unstyle(line)) > width or "\n" in line)
    click.echo(f"{head}{by}" if is_long else line)
    _print_subject(record)
    if is_long:
        print_said("    ", reason)


def _print_subject(record: dict[str, Any]) -> None:
    """Print the project and the command, file or prompt: shortened to one line on a terminal."""
    from ..journal.records import PATHS, subject

    work_dir, about = record.get("work_dir"), subject(record)
    project = in_home(work_dir) if isinstance(work_dir, str) else ""
    text = about.text if about else ""
    if about and about.key in PATHS and project:
        text = text.removeprefix(f"{work_dir}/")
    width, text = terminal_width(), one_line(text)
    if width is not None:
        from rich.cells import cell_len

        from ..basics.terminal_layout import without_middle

        project = without_middle(project, max(width // 3, 12))
        text = without_middle(text, max(width - cell_len(f"    {project}  "), 12))
    if project or text:
        click.echo(f"    {click.style(project, fg='cyan')}  {text}".rstrip())


def _answered(record: dict[str, Any]) -> str:
    """Return how an approval request ended, on one line."""
    decision, by = str(record.get("decision")), one_line(str(record.get("answered_by") or ""))
    waited = float(record.get("waited_ms") or 0)
    has_waited = waited >= 1  # otherwise nobody was asked
    word = click.style(_ANSWERS.get(decision, decision), fg=COLOURS.get(decision))
    scope = " for the session" if record.get("scope") == "session" else ""
    who = _ANSWERED_BY.get(by, f" by {by}" if by else "")
    if by == "nobody":
        who = ": nobody answered" if has_waited else ": nobody could be asked"
    return f"{word}{scope}{who}" + (f" after {_seconds(waited)}" if has_waited else "")


_ANSWERS = {"approve": "approved", "deny": "denied", "none": "no answer"}
_ANSWERED_BY = {
    "allow": " with tenterhook allow",
    "hook": " by a hook",
    "rule": " by a rule",
    "session": " as before in this session",
}


def _ms(run: dict[str, Any]) -> str:
    return f"{run.get('duration_ms') or 0:.1f} ms"


from .log_export import export  # noqa: E402  # it imports from this module
from .log_redact import redact  # noqa: E402

log.add_command(export)
log.add_command(redact)
