"""`tenterhook disable`: switch hooks off, for a while or until they are enabled."""

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


@click.command(short_help="Disable hooks, for a while or until they are enabled again.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=hook_names)
@click.option(
    "--for", "duration", metavar="1h", help="Disable them for this long (90s, 30m, 1h, 2d), then enable them again."
)
@yes_option
@json_option
def disable(names: tuple[str, ...], duration: str | None, yes: bool, as_json: bool) -> int:
    """Disable hooks in every project and every agent, until `tenterhook enable NAME`.

    This adds an entry to the hooks.toml beside your own hooks, which can disable your hooks and those of projects. The
    hooks stay where they are. The command needs a terminal or --yes and cannot be run by a guarded agent. If a name is
    unknown, nothing is disabled. With several names, --json prints a list of `results`.

    \b
    tenterhook disable enforce-tests
    tenterhook disable no-force-push use-pnpm --for 1h
    """
    until = _until(duration) if duration is not None else None
    catalog = catalog_here()
    chosen = {(hooks := governed(name, catalog))[0].name: hooks for name in dict.fromkeys(names)}
    file = own_settings(catalog)[0]
    refuse_below_agent("disable")
    need_terminal("disable", yes=yes)
    if not yes:
        for hook in (hook for hooks in chosen.values() for hook in hooks):
            print_text(f"{click.style(one_line(hook.name), bold=True)}  {place(hook)}", err=as_json)
        them, are = ("it", "it is") if len(chosen) == 1 else ("them", "they are")
        how_long = f"for {duration}" if duration else f"until {are} enabled again"
        if not click.confirm(f"Disable {them} {how_long}?", default=True, err=as_json):
            return 1
    for called in chosen:
        hooks_toml.disable(file, called, until)
    catalog = catalog_here()
    if as_json:
        results = [_as_json(called, file, until, catalog) for called in chosen]
        print_json({"schema": 1, **(results[0] if len(names) == 1 else {"results": results})})
    else:
        for called in chosen:
            _say(called, until, catalog)
        print_problems((each for each in catalog.problems if each.file == file), err=True)
    return 0 if all(_is_off(called, catalog) for called in chosen) else 1


def _until(duration: str) -> datetime:
    lasts = seconds("--for", duration)
    if lasts <= 0:
        raise click.UsageError(f"--for {duration}: it must be longer than 0")
    try:
        return datetime.fromtimestamp(math.ceil(time.time() + lasts), UTC).astimezone()
    except (ValueError, OverflowError, OSError):
        raise click.UsageError(f"--for {duration}: too long; leave --for out") from None


def _off(name: str, catalog: Catalog) -> list[LeftOut]:
    return [each for each in catalog.left_out if each.hook.name == name and each.is_disabled]


def _is_off(name: str, catalog: Catalog) -> bool:
    """Return whether hooks of a name are disabled, and none is in force."""
    return bool(_off(name, catalog)) and not any(hook.name == name for hook in catalog.hooks)


def _say(name: str, until: datetime | None, catalog: Catalog) -> None:
    """Print which hooks of the name are disabled now, and which are still in force."""
    off = _off(name, catalog)
    for each in off:
        where = f"  {place(each.hook)}" if len(off) > 1 else ""
        print_text(f"{click.style(one_line(name), bold=True)}{where}\n  {why_text(each)}")
    for hook in catalog.hooks:
        if hook.name == name:
            why = "it is managed" if hook.layer == "managed" else "hooks.toml has no effect"
            print_text(f"{one_line(name)} is still in force: {place(hook)} ({why})", err=True)
    if off:
        again = "to enable it sooner" if until else "to enable it"
        print_text(f"  {again}: tenterhook enable {one_line(name)}")


def _as_json(name: str, file: str, until: datetime | None, catalog: Catalog) -> dict[str, object]:
    hooks = [hook for hook in catalog.all_hooks() if hook.name == name]
    disabled = {each.hook.source for each in _off(name, catalog)}
    shown = [{**each, "disabled": each["source"] in disabled} for each in hooks_as_json(hooks)]
    return {"name": name, "until": until.isoformat() if until else None, "file": file, "hooks": shown}
