"""`tenterhook enable`: enable a disabled hook."""

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


@click.command(short_help="Enable a disabled hook.")
@click.argument("name", metavar="NAME", shell_complete=_names)
@json_option
def enable(name: str, as_json: bool) -> int:
    """Enable a hook that `tenterhook disable` has disabled: its entry in your hooks.toml is removed.

    It cannot be run by a guarded agent.

    \b
    tenterhook enable enforce-tests
    """
    catalog = catalog_here()
    files = [file for file in own_settings(catalog) if os.path.lexists(file)]
    refuse_below_agent("enable")  # it lets more run
    called = _called(name, catalog, files)
    changed = [file for file in files if hooks_toml.enable(file, called)]
    after = catalog_here()
    left = [each.hook for each in after.left_out if each.hook.name == called]
    trouble = next((error for hook in left if (error := still_disabled(hook, after))), None)
    lines = wired(after)
    if as_json:
        _print_json(called, changed, after)
    for file in () if as_json else changed:
        print_text(f"{click.style(one_line(called), bold=True)}  its entry was removed from {short_path(file)}")
    if trouble is not None:
        raise trouble
    if as_json:
        return 0
    if not changed:
        print_text(f"{one_line(called)} is not disabled")
    for hook in after.hooks:
        if hook.name == called and not (standing := after.trust.standing(hook)).runs:
            why = visible(standing.why or str(standing.state))
            print_text(f"  {place(hook)} does not run yet: {why}; tenterhook trust {one_line(called)}")
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


def _print_json(name: str, changed: list[str], catalog: Catalog) -> None:
    hooks = hooks_as_json(hook for hook in catalog.hooks if hook.name == name)
    print_json({"schema": 1, "name": name, "changed": changed, "hooks": hooks})
