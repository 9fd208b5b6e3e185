"""`tenterhook enable`: enable disabled hooks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ..basics.display_text import one_line, visible
from ..errors import HookError
from ..install import hooks_toml
from .loading import catalog_here, json_option, offered
from .own_hooks import governed, hooks_as_json, own_settings, place, still_disabled, wired
from .printing import print_json, print_text, short_path
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from ..catalog.catalog import Catalog


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion: hooks that are disabled here."""
    return offered(sorted({each.hook.name for each in catalog_here().left_out}), incomplete)


@click.command(short_help="Enable disabled hooks.")
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=_names)
@json_option
def enable(names: tuple[str, ...], as_json: bool) -> int:
    """Enable hooks that `tenterhook disable` has disabled: their entries in your hooks.toml are removed.

    It cannot be run by a guarded agent. If a name is unknown, nothing is changed. With several names, --json prints a
    list of `results`.

    \b
    tenterhook enable enforce-tests
    """
    catalog = catalog_here()
    files = [file for file in own_settings(catalog) if os.path.lexists(file)]
    refuse_below_agent("enable")  # it lets more run
    chosen = list(dict.fromkeys(_called(name, catalog, files) for name in names))
    changed = {called: [file for file in files if hooks_toml.enable(file, called)] for called in chosen}
    after = catalog_here()
    left = [each.hook for each in after.left_out if each.hook.name in chosen]
    trouble = next((error for hook in left if (error := still_disabled(hook, after))), None)
    lines = wired(after)
    if as_json:
        results = [_as_json(called, changed[called], after) for called in chosen]
        print_json({"schema": 1, **(results[0] if len(names) == 1 else {"results": results})})
    else:
        for called in chosen:
            for file in changed[called]:
                print_text(f"{click.style(one_line(called), bold=True)}  its entry was removed from {short_path(file)}")
    if trouble is not None:
        raise trouble
    if as_json:
        return 0
    for called in chosen:
        if not changed[called]:
            print_text(f"{one_line(called)} is not disabled")
    for hook in after.hooks:
        if hook.name in chosen and not (standing := after.trust.standing(hook)).runs:
            why = visible(standing.why or str(standing.state))
            print_text(f"  {place(hook)} does not run yet: {why}; tenterhook trust {one_line(hook.name)}")
    for line in lines:
        print_text(line)
    return 0


def _called(name: str, catalog: Catalog, files: list[str]) -> str:
    """Return the name in hooks.toml; a deleted hook may still have an entry."""
    from ..catalog import layer_settings

    try:
        return governed(name, catalog)[0].name
    except HookError:
        if any(name in layer_settings.read(os.path.dirname(file), ())[0].disabled for file in files):
            return name
        raise


def _as_json(name: str, changed: list[str], catalog: Catalog) -> dict[str, object]:
    return {
        "name": name,
        "changed": changed,
        "hooks": hooks_as_json(hook for hook in catalog.hooks if hook.name == name),
    }
