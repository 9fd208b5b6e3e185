"""`tenterhook untrust`: revoke trust."""

from __future__ import annotations

import os
import sys

import click

from ..basics.display_text import one_line
from ..catalog import source_trust
from ..errors import HookError
from .loading import catalog_here, offered, yes_option
from .own_hooks import managed
from .printing import print_text
from .refusals import need_terminal, refuse_below_agent, typed


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    trust = catalog_here().trust
    return offered(map(os.path.basename, trust.keys()), incomplete)


@click.command(short_help="Revoke trust in this project's hooks.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=_names)
@click.option("--all", "everything", is_flag=True, help="Everything that was trusted in this project.")
@click.option("--source", metavar="URL", help="A source of packs: its hooks no longer run in any project.")
@click.option("--signer", metavar="KEY", help="With --source: only this SSH key, or file, and what it has signed.")
@yes_option
def untrust(names: tuple[str, ...], everything: bool, source: str | None, signer: str | None, yes: bool) -> int:
    """Revoke trust in this project's hooks, or in a source of packs: they no longer run, from the next event on.

    \b
    tenterhook untrust format
    tenterhook untrust --all --yes
    tenterhook untrust --source https://git.example.org/acme/agent-hooks
    tenterhook untrust --source https://git.example.org/acme/agent-hooks --signer old.pub
    """
    if signer is not None and source is None:
        raise click.UsageError("--signer needs --source")
    if source is not None:
        return _untrust_source(source, signer, yes=yes)
    if not names and not everything:
        raise click.UsageError(f"name the hooks, or: {typed('--all' if yes or sys.stdin.isatty() else '--all --yes')}")
    refuse_below_agent("untrust")
    catalog = catalog_here()
    trust = catalog.trust
    keys = trust.keys()
    of_machine = {hook.name: hook for hook in catalog.hooks if hook.layer == "managed"}
    for name in names:
        if name in of_machine and not any(name in (key, os.path.basename(key)) for key in keys):
            raise managed(of_machine[name])
    wanted = keys if everything else [key for name in names for key in _keys(name, keys)]
    need_terminal("untrust", yes=yes)
    for key in wanted:
        if yes or click.confirm(f"Untrust {one_line(key)}?", default=True):
            trust.revoke(key)
            print_text(f"untrusted {one_line(key)}")
    if not wanted:
        print_text("nothing was trusted here")
    return 0


def _untrust_source(source: str, signer: str | None, *, yes: bool) -> int:
    refuse_below_agent("untrust")
    need_terminal("untrust", yes=yes)
    source = os.path.abspath(source) if os.path.isdir(source) else source
    if source not in source_trust.all_sources():
        known = ", ".join(source_trust.all_sources())
        raise HookError(f"'{source}' is not trusted", f"trusted sources: {known or 'none'}")
    if signer is not None:
        from .pack_verify import read_key

        key = read_key(signer)
        if not yes and not click.confirm(f"Untrust {one_line(key)} for {one_line(source)}?", default=True):
            return 1
        if not source_trust.remove_signer(source, key):
            known = ", ".join(source_trust.all_sources()[source]["signers"])
            raise HookError(f"{one_line(key)} is not trusted for {source}", f"its keys: {known or 'none'}")
        print_text("untrusted; what it signed no longer runs, in any project")
        return 0
    if yes or click.confirm(f"Untrust {one_line(source)} everywhere?", default=True):
        source_trust.revoke(source)
        print_text(f"untrusted {one_line(source)}: hooks of its packs no longer run, in any project")
    return 0


def _keys(name: str, keys: list[str]) -> list[str]:
    found = [key for key in keys if name in (key, os.path.basename(key))]
    if not found:
        raise HookError(f"'{name}' is not trusted", f"trusted here: {', '.join(keys) or 'nothing'}")
    return found
