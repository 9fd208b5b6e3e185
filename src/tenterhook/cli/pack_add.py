"""`tenterhook pack add`: use a pack, after a review of every byte of it that would run."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from ..basics.display_text import one_line
from ..catalog import source_trust
from ..catalog.packs import NamedPack
from ..errors import HookError
from ..packs import declarations, store
from ..packs.git import Repository
from . import pack_review
from .loading import yes_option
from .pack import here, project_option, rev_of, say_in_force
from .printing import print_text
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from ..catalog.packs import LockedPack


@click.command("add", short_help="Use a pack of hooks.")
@click.argument("source", metavar="SOURCE[@REV]")
@click.option("--only", "only", metavar="NAME,…", help="Only these hooks. Default: those that the pack lists.")
@click.option("--dry-run", is_flag=True, help="Fetch and show it, and change nothing.")
@project_option
@yes_option
def pack_add(source: str, only: str | None, dry_run: bool, for_project: bool, yes: bool) -> int:
    """Use the hooks of a git repository or a folder, at a tag, branch or commit; without REV, at its newest tag.

    Every byte that would run is shown. What you accept is written into hooks.toml and hooks.lock, and trusted in every
    project that names the same source and revision.

    \b
    tenterhook pack add https://git.example.org/acme/agent-hooks@v1.4.0 --only no-prod,format
    tenterhook pack add ../agent-hooks --project
    tenterhook pack add https://git.example.org/acme/tools#agent-hooks@v2.0.0   # in a directory of a repository
    """
    if not dry_run:
        refuse_below_agent("pack add")
    address, rev = split(source)
    declared = here(for_project)
    if any(named.source == address for named, _ in declared.packs):
        raise HookError(f"{address} is in {declared.file} already", "tenterhook pack update brings it up to date")
    chosen = None if only is None else tuple(name.strip() for name in only.split(",") if name.strip())
    locked = fetch(address, rev, declared.layer)
    named = NamedPack(address, locked.rev, chosen)
    known = {hook.name for hook in locked.hooks}
    if unknown := set(chosen or ()) - known:
        raise HookError(f"{address} has no hook {sorted(unknown)[0]!r}", f"its hooks: {', '.join(sorted(known))}")
    declarations.refuse_same_names(declared, named, locked, "leave it out of one pack: --only")
    names = {hook.name for hook in locked.chosen(chosen)}
    print_text(f"{click.style(one_line(locked.name), bold=True)} {rev_of(locked)}  {one_line(address)}")
    if not pack_review.show(locked, None, names, declared.layer, is_asked=not yes and not dry_run):
        print_text("not added: you did not view all of it", err=True)
        return 1
    if dry_run:
        return 0
    need_terminal("pack add", yes=yes)
    if not yes and not click.confirm("Use exactly this?", default=False):
        return 1
    source_trust.approve(locked, locked.signer, names)
    declarations.write(declared, address, (named, locked))
    say_in_force(declared, locked, sorted(names))
    return 0


def split(text: str) -> tuple[str, str]:
    """Return the source and the revision of `SOURCE@REV`; a path becomes absolute."""
    found = None if os.path.exists(text) else re.fullmatch(rf"((?>(?:{_HOST})?)[^@]+)@([^@:]+)", text)
    source, rev = (found[1], found[2]) if found else (text, "")
    path, mark, below = source.partition("#")
    return f"{os.path.abspath(path)}{mark}{below}" if os.path.isdir(path) else source, rev


_HOST = r"[a-z+]+://[^/]+/|[^@/:]+@[^@/:]+:"  # the part of a URL, or of user@host:path, in which @ names no revision


def fetch(source: str, rev: str, layer: str) -> LockedPack:
    """Fetch a pack into the store; without a revision, at its newest tag, or its default branch if it has none."""
    signers = (source_trust.all_sources().get(source) or {}).get("signers", ())
    if store.is_folder(source) or rev:
        return store.fetch(source, rev, layer, signers)
    repository = Repository(source)
    repository.fetch()
    newest = next(iter(repository.tag_names()), "")
    return store.fetched(repository, repository.resolve(newest), layer, signers)
