"""`tenterhook untrust`: revoke trust."""

from __future__ import annotations

import os
import sys

import click

from ..basics.display_text import one_line
from ..errors import HookError
from .loading import catalog_here, offered
from .refusals import need_terminal, refuse_below_agent, typed


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    trust = catalog_here().trust
    return offered(map(os.path.basename, trust.keys()), incomplete)


@click.command(short_help="Revoke trust in this project's hooks.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_names)
@click.option("--all", "everything", is_flag=True, help="All that was trusted in this project.")
@click.option("--yes", is_flag=True, help="Do not ask; for scripts.")
def untrust(names: tuple[str, ...], everything: bool, yes: bool) -> int:
    """Revoke trust in this project's hooks: they no longer run.

    \b
    tenterhook untrust format
    tenterhook untrust --all --yes
    """
    if not names and not everything:
        raise click.UsageError(f"name the hooks, or: {typed('--all' if yes or sys.stdin.isatty() else '--all --yes')}")
    refuse_below_agent("untrust")
    trust = catalog_here().trust
    keys = trust.keys()
    wanted = keys if everything else [key for name in names for key in _keys(name, keys)]
    need_terminal("untrust", yes=yes)
    for key in wanted:
        if yes or click.confirm(f"Untrust {one_line(key)}?", default=True):
            trust.revoke(key)
            click.echo(f"untrusted {one_line(key)}")
    if not wanted:
        click.echo("nothing was trusted here")
    return 0


def _keys(name: str, keys: list[str]) -> list[str]:
    found = [key for key in keys if name in (key, os.path.basename(key))]
    if not found:
        raise HookError(f"'{name}' is not trusted", f"trusted here: {', '.join(keys) or 'nothing'}")
    return found
