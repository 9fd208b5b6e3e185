"""`tenterhook replay`: run recorded events against the current hooks or a candidate."""

from __future__ import annotations

import time
from typing import Any

import click

from ..basics.display_text import one_line, visible
from .loading import config_option, event_names, hook_names, json_option, session_ids
from .log import moment_since, opened_index, since_option
from .printing import counted, print_json, print_text

DIFFERENT = 1
_MOST_SHOWN = 20


@click.command(short_help="Replay recorded events against the current hooks; show what would differ.")
@since_option("7d")
@click.option("--session", metavar="S", shell_complete=session_ids, help="Only this session's events.")
@click.option("--event", metavar="E", shell_complete=event_names, help="Only this event, by any of its names.")
@click.option("--hook", metavar="NAME", shell_complete=hook_names, help="Run only this hook.")
@click.option("--with", "directory", metavar="DIR", type=click.Path(), help="Run the hooks in this directory instead.")
@config_option
@json_option
def replay(
    since: str,
    session: str | None,
    event: str | None,
    hook: str | None,
    directory: str | None,
    configs: tuple[str, ...],
    as_json: bool,
) -> int:
    """Replay recorded events against the current hooks, or a candidate, and list differences; exit status 1 if any.

    Hooks run in a temporary directory with TENTERHOOK_REPLAY=1. Events that were only partly recorded are counted
    separately; to record them in full, set `payloads = "full"` below [journal] in config.toml.

    \b
    tenterhook replay --since 7d
    tenterhook replay --hook block-dangerous-commands
    tenterhook replay --with ./my-new-guard
    """
    if hook is not None and directory is not None:
        raise click.UsageError("--hook and --with cannot be combined")
    from ..authoring.replay import Candidate, folder_hooks, is_replayed
    from ..authoring.replay import replay as play
    from ..events import spec_of
    from ..journal.filters import RecordFilter

    if directory is not None:
        folder_hooks(directory)  # reports what is wrong with it even if there is nothing to replay
    wanted = RecordFilter(session=session, event=spec_of(event).name if event else None, since=moment_since(since))
    records = [record for _, record in opened_index().records(wanted) if is_replayed(record)]
    replayed = play(records, Candidate(hook, directory, configs))
    if as_json:
        differences = [each._asdict() for each in replayed.differences]
        print_json({"schema": 1, **replayed._asdict(), "differences": differences})
    else:
        _print(replayed)
    return DIFFERENT if replayed.differences else 0


def _print(replayed: Any) -> None:
    from ..authoring.replay import KINDS

    for kind in KINDS:
        found = [each for each in replayed.differences if each.kind == kind]
        if not found:
            continue
        click.echo(click.style(f"{kind}: {len(found)}", bold=True))
        for each in found[:_MOST_SHOWN]:
            when = time.strftime("%m-%d %H:%M:%S ", time.localtime(each.time)) if each.time else ""
            whose = f"{one_line(each.hook)}  " if each.hook else ""
            about = one_line(each.about)[:80]
            print_text(f"  {when}{each.event}  {whose}{visible(each.before)} → {visible(each.after)}  {about}".rstrip())
        if len(found) > _MOST_SHOWN:
            print_text(f"  and {len(found) - _MOST_SHOWN} more (--json has all)")
    apart = f"; {replayed.not_comparable} more recorded only in part, not compared" if replayed.not_comparable else ""
    what = counted(len(replayed.differences), "difference") if replayed.differences else "no difference"
    print_text(f"{counted(replayed.events, 'event')} replayed: {what}{apart}")
