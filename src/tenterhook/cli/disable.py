"""`tenterhook disable`: switch a hook off, for a while or until it is enabled."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from ..basics.display_text import one_line
from ..install import hooks_toml
from .durations import seconds
from .loading import catalog_here, hook_names, json_option, yes_option
from .own_hooks import governed, hooks_as_json, own_settings, place
from .printing import print_json, print_problems, print_text, why_text
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..catalog.catalog import Catalog, LeftOut


@click.command(short_help="Disable a hook, for a while or until it is enabled again.")
@click.argument("name", metavar="NAME", shell_complete=hook_names)
@click.option(
    "--for", "duration", metavar="1h", help="Disable it for this long (90s, 30m, 1h, 2d), then enable it again."
)
@yes_option
@json_option
def disable(name: str, duration: str | None, yes: bool, as_json: bool) -> int:
    """Disable a hook in every project and every agent, until `tenterhook enable NAME`.

    This adds an entry to the hooks.toml beside your own hooks, which can disable your hooks and those of projects. The
    hook stays where it is. The command needs a terminal or --yes and cannot be run by a guarded agent.

    \b
    tenterhook disable enforce-tests
    tenterhook disable no-force-push --for 1h
    """
    until = _until(duration) if duration is not None else None
    catalog = catalog_here()
    hooks = governed(name, catalog)
    called = hooks[0].name
    file = own_settings(catalog)[0]
    refuse_below_agent("disable")
    need_terminal("disable", yes=yes)
    if not yes:
        for hook in hooks:
            click.echo(f"{click.style(one_line(hook.name), bold=True)}  {place(hook)}", err=as_json)
        how_long = f"for {duration}" if duration else "until it is enabled again"
        if not click.confirm(f"Disable it {how_long}?", default=True, err=as_json):
            return 1
    hooks_toml.disable(file, called, until)
    return _say(called, file, until, catalog_here(), as_json=as_json)


def _until(duration: str) -> datetime:
    lasts = seconds("--for", duration)
    if lasts <= 0:
        raise click.UsageError(f"--for {duration}: it must be longer than 0")
    try:
        return datetime.fromtimestamp(math.ceil(time.time() + lasts), UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        raise click.UsageError(f"--for {duration}: too long; leave --for out") from None


def _say(name: str, file: str, until: datetime | None, catalog: Catalog, *, as_json: bool) -> int:
    """Print which hooks of the name are disabled now, and which are still in force; return the exit status."""
    off = [each for each in catalog.left_out if each.hook.name == name and each.is_disabled]
    on = [hook for hook in catalog.hooks if hook.name == name]
    if as_json:
        _print_json(name, file, until, off, catalog)
        return 0 if off and not on else 1
    for each in off:
        where = f"  {place(each.hook)}" if len(off) > 1 else ""
        print_text(f"{click.style(one_line(name), bold=True)}{where}\n  {why_text(each)}")
    for hook in on:
        why = "it is managed" if hook.layer == "managed" else "hooks.toml has no effect"
        print_text(f"{one_line(name)} is still in force: {place(hook)} ({why})", err=True)
    print_problems((each for each in catalog.problems if each.file == file), err=True)
    if off:
        again = "to enable it sooner" if until else "to enable it"
        print_text(f"  {again}: tenterhook enable {one_line(name)}")
    return 0 if off and not on else 1


def _print_json(name: str, file: str, until: datetime | None, off: list[LeftOut], catalog: Catalog) -> None:
    hooks = [hook for hook in catalog.all_hooks() if hook.name == name]
    disabled = {each.hook.source for each in off}
    shown = [{**each, "disabled": each["source"] in disabled} for each in hooks_as_json(hooks)]
    moment = until.isoformat() if until else None
    print_json({"schema": 1, "name": name, "until": moment, "file": file, "hooks": shown})
