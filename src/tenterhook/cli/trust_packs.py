"""`tenterhook trust` for packs: a source, a key that signs its revisions, or one revision after a review."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from ..basics.display_text import one_line
from ..catalog import source_trust
from ..catalog.catalog import with_settings
from ..errors import HookError
from ..packs import declarations
from ..packs.git import Repository
from . import pack_review
from .own_hooks import wired
from .pack import rev_of
from .pack_verify import read_key, restore
from .printing import print_text

if TYPE_CHECKING:
    from ..catalog.catalog import Catalog
    from ..catalog.packs import LockedPack


def trust_pack(layer: str, locked: LockedPack, *, yes: bool) -> bool:
    """Fetch a locked pack, show all of it that is new to the user, and trust its source at this revision."""
    title = f"{click.style(one_line(locked.name), bold=True)} {rev_of(locked)}  {one_line(locked.source)}"
    print_text(title)
    record = source_trust.all_sources().get(locked.source) or {"signers": [], "revisions": {}}
    found = restore(locked, layer, record["signers"])
    if note := _other_commit(locked):
        print_text(f"  note: {note}", err=True)
    if found.signer:
        print_text(f"  signed by {one_line(found.signer)}, which you trust for this source")
    else:
        names = {hook.name for hook in locked.hooks}
        if not pack_review.show(locked, None, names, layer, is_asked=not yes):
            print_text("  not trusted: you did not view all of it", err=True)
            return False
        if not yes and not click.confirm("  Trust this revision, in every project that names it?", default=False):
            return False
    source_trust.approve(found._replace(rev=locked.rev), found.signer)
    print_text("  trusted")
    return True


def _other_commit(locked: LockedPack) -> str | None:
    """Return a note if the name that a lock gives its commit is another commit's: it may want to seem familiar."""
    if not locked.commit or not locked.rev:
        return None
    repository = Repository(locked.source)
    if not locked.tag and repository.is_branch(locked.rev):
        return None  # which grows
    try:
        now = repository.resolve(locked.rev).commit
    except HookError:
        return f"the source has no {one_line(locked.rev)}, only the commit {locked.commit[:12]} that is locked"
    if now == locked.commit:
        return None
    return f"{one_line(locked.rev)} of the source is {now[:12]}; locked is {locked.commit[:12]}"


def trust_source(source: str, signer: str | None, catalog: Catalog, *, yes: bool) -> int:
    """Trust a source: what is locked here now, and with a key all that it signs."""
    source = os.path.abspath(source) if os.path.isdir(source) else source
    key = read_key(signer) if signer else None
    if key is not None:
        print_text(f"{one_line(source)}: every revision signed by {one_line(key)} is trusted, in every project")
        if not yes and not click.confirm("Trust this key for it?", default=False):
            return 1
        source_trust.add_signer(source, key)
    here = [
        (layer.name, locked)
        for layer in with_settings(catalog.layers)
        for _, locked in declarations.read(layer.directory, layer.name).packs
        if locked and locked.source == source and layer.name != "managed"
    ]
    refused = sum(not trust_pack(layer, locked, yes=yes) for layer, locked in here)
    if not here and key is None:
        print_text(f"nothing here uses {one_line(source)}: its revisions are shown when a project uses one")
        return 1
    for line in wired(catalog):
        print_text(line)
    return 1 if refused else 0
