"""`tenterhook pack verify`: check that lock, store and signatures agree."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import click

from ..basics.display_text import one_line
from ..catalog import packs, source_trust
from ..errors import HookError
from ..packs import declarations, store
from ..packs.git import Repository, Revision
from .loading import json_option
from .pack import everywhere, name_of, project_option
from .printing import print_json, print_text
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..catalog.packs import LockedPack, NamedPack
    from ..packs.declarations import Declarations


@click.command("verify", short_help="Check that lock, store and signatures agree.")
@click.option("--fetch", "fetches", is_flag=True, help="Fetch what is missing from the store or differs there.")
@click.option("--signer", "signers", multiple=True, metavar="KEY", help="Require a signature by this SSH key, or file.")
@project_option
@json_option
def pack_verify(fetches: bool, signers: tuple[str, ...], for_project: bool, as_json: bool) -> int:
    """Check that every pack is locked, that the bytes in the store match the lock, and that required signatures exist.

    For CI: exit status 1 if anything is wrong. With --fetch, the locked revisions are fetched, so that it works on a
    machine without a store; nothing in them is run.

    \b
    tenterhook pack verify
    tenterhook pack verify --project --fetch --signer team.pub
    """
    if fetches:
        refuse_below_agent("pack verify --fetch")
    keys = [read_key(each) for each in signers]
    found = list(everywhere(*(["project"] if for_project else [])))
    rows = [row for declared in found for row in _checked(declared, keys, fetches=fetches)]
    wrong = [row for row in rows if row["problem"]]
    if as_json:
        print_json({"schema": 1, "packs": rows})
        return 1 if wrong else 0
    for row in rows:
        mark = click.style("wrong", fg="red") if row["problem"] else click.style("ok", fg="green")
        print_text(
            f"{mark:<5}  {one_line(row['name'])} {one_line(row['rev'])}  {one_line(row['problem'] or row['source'])}"
        )
    if not rows:
        print_text("no packs")
    return 1 if wrong else 0


def read_key(text: str) -> str:
    """Return an SSH public key, given as text or as a file, without its comment. Raises `HookError` otherwise."""
    if not text.startswith(("ssh-", "ecdsa-", "sk-")):
        try:
            with open(text, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError) as error:
            raise HookError(
                f"{text} is neither an SSH public key nor a file with one: {error}", "name a .pub file"
            ) from None
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if len(lines) != 1 or len(lines[0]) < 2 or not _is_key(*lines[0][:2]):
        what = "more than one line" if len(lines) > 1 else "no SSH public key"
        raise HookError(f"this is {what}", "name a .pub file with one key, or write: ssh-ed25519 AAAA…")
    return " ".join(lines[0][:2])


def _is_key(kind: str, text: str) -> bool:
    """Whether a text is a key of a kind, which its bytes name first."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return False
    length = int.from_bytes(data[:4])
    return data[4 : 4 + length] == kind.encode() and len(data) > 4 + length


def _checked(declared: Declarations, keys: Sequence[str], *, fetches: bool) -> Iterator[dict[str, Any]]:
    for named, locked in declared.packs:
        try:
            problem = _problem(declared, named, locked, keys, fetches=fetches)
        except HookError as error:
            problem = f"{error.message} ({error.remedy})"
        yield {
            "name": name_of(named, locked),
            "source": named.source,
            "rev": named.rev,
            "layer": declared.layer,
            "problem": problem,
        }


def _problem(
    declared: Declarations, named: NamedPack, locked: LockedPack | None, keys: Sequence[str], *, fetches: bool
) -> str | None:
    if locked is None:
        return f"{named.source} is not in {packs.FILE} ({packs.locking(declared.layer)})"
    trusted = keys or (source_trust.all_sources().get(named.source) or {}).get("signers", ())
    signer = ""
    if fetches:
        signer = restore(locked, declared.layer, trusted).signer
    elif trusted and not locked.commit:
        return f"{locked.source} is not a git repository, so it has no signature (use its repository)"
    elif trusted:
        repository = Repository(named.source)
        signer = repository.signer(_revision(repository, locked), trusted) if repository.has(locked.commit) else ""
        if not signer:
            return f"{locked.commit[:12]} is not signed by a key that is required (or not fetched: --fetch)"
    if locked.signer not in ("", signer) and not _is_signed_as_locked(locked):
        return f"{packs.FILE} names a key by which there is no signature: {locked.signer} ({packs.RELOCK})"
    if (signer or locked.signer) and Repository(locked.source).tree(locked.commit) not in (None, locked.tree):
        return f"{packs.FILE} names another tree than that of the signed commit ({packs.RELOCK})"
    known = {hook.name for hook in locked.hooks}
    if unknown := sorted({*(named.only or ()), *named.settings} - known):
        return f"{declared.file} names a hook that the pack does not have: {unknown[0]}"
    if lost := packs.lacking(declared.layer, locked):
        return f"{packs.FILE} lacks its hook {lost[0]} ({packs.RELOCK})"
    declarations.refuse_same_names(declared, named, locked, "leave it out of one pack: only = […]")
    for hook in locked.hooks:
        why = packs.difference(f"{packs.store(declared.layer)}/{locked.tree}/{hook.name}", hook.digest)
        if why:
            return f"{hook.name}: {why} (--fetch)"
    return None


def _is_signed_as_locked(locked: LockedPack) -> bool:
    """Whether the key that a lock names has signed the revision; True if that was not fetched here."""
    words = locked.signer.split()
    if locked.signer != " ".join(words) or len(words) != 2 or not _is_key(*words) or not locked.commit:
        return False
    repository, keys = Repository(locked.source), [locked.signer]
    if not repository.has(locked.commit) or repository.signer(Revision(locked.rev, locked.commit, locked.tree), keys):
        return True
    return bool(repository.signer(_revision(repository, locked), keys))  # a signature of its tag


def _revision(repository: Repository, locked: LockedPack) -> Revision:
    """Return the locked revision, with its tag if that still points to it: either may be signed."""
    if repository.is_tag(locked.rev):
        tagged = repository.resolve(locked.rev)
        if tagged.commit == locked.commit:
            return tagged
    return repository.resolve(locked.commit)._replace(rev=locked.rev)


def restore(locked: LockedPack, layer: str, signers: Sequence[str] = ()) -> LockedPack:
    """Put the locked bytes of a pack into the store. Raises `HookError` if its source no longer has them."""
    if store.is_folder(locked.source):
        found = store.fetch(locked.source, "", layer, signers)
    else:
        repository = Repository(locked.source)
        if not locked.commit or not repository.has(locked.commit):
            repository.fetch()
        if not repository.has(locked.commit):
            message = f"{locked.source} no longer has the locked commit {locked.commit[:12]}: its history was rewritten"
            raise HookError(message, "if intended: tenterhook pack update NAME --to REV; else restore the source")
        found = store.fetched(repository, _revision(repository, locked), layer, signers)
    if (found.hooks, found.tree, found.default) != (locked.hooks, locked.tree, locked.default):
        message = f"{locked.source} no longer has what is locked for {locked.rev or 'it'}"
        raise HookError(message, "look at what changed: tenterhook pack diff")
    return found
