"""`tenterhook pack update` and `pack diff`: newer revisions of packs, shown, tested and confirmed."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from ..basics import agent_marks
from ..basics.display_text import one_line, visible
from ..catalog import source_trust
from ..errors import HookError
from ..packs import declarations, store
from ..packs.git import Repository
from . import pack_review
from .durations import seconds
from .loading import yes_option
from .pack import here, name_of, pack_names, project_option, rev_of, say_in_force
from .printing import print_text
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..catalog.packs import LockedPack, NamedPack
    from ..packs.declarations import Declarations
    from ..packs.git import Revision

_REPLAYED = 7.0  # days


@click.command("update", short_help="Update packs, after a review of what changes.")
@click.argument("name", metavar="[NAME]", required=False, shell_complete=pack_names)
@click.option("--to", "to", metavar="REV", help="Use this revision, which may be older.")
@click.option("--cooldown", metavar="7d", help="Only revisions that are at least this old.")
@click.option("--shadow", metavar="3d", help="Keep enforcing the old hooks this long; only record the new ones.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@project_option
@yes_option
def pack_update(
    name: str | None,
    to: str | None,
    cooldown: str | None,
    shadow: str | None,
    dry_run: bool,
    for_project: bool,
    yes: bool,
) -> int:
    """Fetch newer revisions of packs, show every byte of difference that would run, test it, and ask.

    A pack at a tag moves to the newest tag, one at a branch to its newest commit; one at a commit stays there. The
    pack's cases are run, and the journal's last seven days are replayed against it: what would be newly blocked, and
    what no longer. That runs the new code: you are asked first, unless you trust the revision or its signature already.

    A moved tag and a branch with rewritten history are refused; if that is intended, give the revision with --to. A
    lock that cannot be read is rewritten.

    \b
    tenterhook pack update --dry-run
    tenterhook pack update agent-hooks --cooldown 7d
    tenterhook pack update agent-hooks --to v1.3.0
    tenterhook pack update agent-hooks --shadow 3d     # then: tenterhook log stats --shadow
    """
    if to is not None and name is None:
        raise click.UsageError("--to needs the name of a pack")
    if not dry_run or yes:
        refuse_below_agent("pack update")
    oldest = time.time() - seconds("--cooldown", cooldown) if cooldown else None
    until = time.time() + seconds("--shadow", shadow) if shadow else 0.0
    declared = here(for_project, repairs=True)
    if declared.broken:
        print_text(f"{visible(declared.broken)}; it is rewritten", err=True)
    wanted = [declared.named(name)] if name else list(declared.packs)
    if not wanted:
        print_text("no packs; add one: tenterhook pack add SOURCE")
    failed = 0
    for named, locked in wanted:
        try:
            failed += not _update(
                here(for_project, repairs=True), named, locked, to, oldest, until, dry_run=dry_run, yes=yes
            )
        except HookError as error:
            if name:
                raise
            print_text(f"tenterhook: {visible(error.message)}\n  {visible(error.remedy)}", err=True)
            failed += 1
    return 1 if failed else 0


def _update(
    declared: Declarations,
    named: NamedPack,
    locked: LockedPack | None,
    to: str | None,
    oldest: float | None,
    shadow_until: float,
    *,
    dry_run: bool,
    yes: bool,
) -> bool:
    """Bring one pack up to date; return whether it is, or nothing was to be changed."""
    new = newer(declared, named, locked, to, oldest)
    title = click.style(one_line(name_of(named, locked)), bold=True)
    if new is None or (locked and (new.rev, new.commit, new.tree) == (locked.rev, locked.commit, locked.tree)):
        print_text(f"{title} {rev_of(locked) if locked else ''} is up to date")
        if locked and declared.broken and not dry_run:
            declarations.write(declared, named.source, (named, locked))
        return True
    print_text(f"{title} {rev_of(locked) if locked else 'not locked'} → {rev_of(new)}  {one_line(named.source)}")
    names = {hook.name for hook in new.chosen(named.only)}
    after = named._replace(rev=new.rev)
    declarations.refuse_same_names(declared, after, new, "leave it out of one pack: only = […]")
    if not pack_review.show(new, _seen(locked), names, declared.layer, is_asked=not yes and not dry_run):
        print_text("not updated: you did not view all of it", err=True)
        return False
    if not dry_run:
        need_terminal("pack update", yes=yes)
    is_good = True
    if yes or new.signer or source_trust.approves(new, names) or _may_run():
        is_good = pack_review.run_cases(new, names, declared.layer)
        pack_review.print_replay(new, locked, named, _REPLAYED, declared.layer)
    else:
        print_text("  cases: not run, and nothing replayed")
    if dry_run:
        return is_good
    if not is_good and yes:
        raise HookError(f"cases of {new.name} {rev_of(new)} fail; it was not updated", "update it without --yes")
    if not yes and not click.confirm("Use exactly this?", default=False):
        return False
    source_trust.approve(new, new.signer, names)
    if locked and shadow_until:
        new = new._replace(before=locked._replace(before=None, shadow_until=0.0), shadow_until=shadow_until)
        print_text(f"  until {time.strftime('%Y-%m-%d %H:%M', time.localtime(shadow_until))} changed hooks only record")
    declarations.write(declared, named.source, (after, new))
    say_in_force(declared, new, sorted(names))
    return True


def _seen(locked: LockedPack | None) -> LockedPack | None:
    """Return a revision with the hooks that the person has approved: others are shown whole."""
    if locked is None:
        return None
    return locked._replace(hooks=tuple(each for each in locked.hooks if source_trust.approves(locked, (each.name,))))


def _may_run() -> bool:
    """Ask whether code may run that was only shown so far; without a terminal, and below an agent, it does not."""
    question = "  Run this code on its cases and on the journal's last days?"
    return agent_marks.refusal() is None and sys.stdin.isatty() and click.confirm(question, default=False)


def newer(
    declared: Declarations, named: NamedPack, locked: LockedPack | None, to: str | None, oldest: float | None
) -> LockedPack | None:
    """Fetch the revision that a pack would be brought to; None if there is none."""
    signers = (source_trust.all_sources().get(named.source) or {}).get("signers", ())
    if store.is_folder(named.source):
        return store.fetch(named.source, to or "", declared.layer, signers)
    repository = Repository(named.source)
    repository.fetch()
    revision = _target(repository, named, locked, to, oldest, declared.layer)
    return None if revision is None else store.fetched(repository, revision, declared.layer, signers)


def _target(
    repository: Repository,
    named: NamedPack,
    locked: LockedPack | None,
    to: str | None,
    oldest: float | None,
    layer: str,
) -> Revision | None:
    if to is not None:
        return repository.resolve(to)
    now = repository.resolve(named.rev)
    if locked is None or locked.rev != named.rev:  # it was added, or changed, in hooks.toml by hand
        return now
    project = " --project" if layer == "project" else ""
    refuse_moved(repository, locked, now, f"tenterhook pack update {locked.name}{project} --to {now.commit}")
    if repository.is_branch(named.rev):
        return now if now.commit == locked.commit else _old_enough(named, [now], oldest)
    if not repository.is_tag(named.rev):
        return None  # a commit: another one only with --to
    names = repository.tag_names()
    return _old_enough(named, map(repository.resolve, names[: names.index(named.rev)]), oldest)


def refuse_moved(repository: Repository, locked: LockedPack, now: Revision, otherwise: str) -> None:
    """Raise `HookError` if the locked name stands for something else now, other than a branch that has grown."""
    if now.rev != locked.rev or now.commit == locked.commit:
        return
    was_fixed = locked.tag or (now.rev != "" and locked.commit.startswith(now.rev))  # and is a branch's name now
    if was_fixed or not repository.is_branch(now.rev):
        message = f"{locked.source}: the tag {now.rev} was moved, from {locked.commit[:12]} to {now.commit[:12]}"
        raise HookError(f"{message}; what is locked stays in force", f"if that is meant: {otherwise}")
    if not repository.descends(now.commit, locked.commit):
        message = f"{locked.source}: the history of {now.rev or 'its default branch'} was rewritten"
        raise HookError(f"{message}: the locked commit is no longer part of it", f"if that is meant: {otherwise}")


def _old_enough(named: NamedPack, newer: Iterable[Revision], oldest: float | None) -> Revision | None:
    """Return the first revision that is not too young; say which are."""
    for each in newer:
        if oldest is None or each.date <= oldest:
            return each
        since = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.date))
        print_text(f"{one_line(named.source)}: {one_line(each.rev) or each.commit[:12]} waits, it is of {since}")
    return None


@click.command("diff", short_help="Show what an update of a pack would change.")
@click.argument("name", metavar="NAME", shell_complete=pack_names)
@click.option("--to", "to", metavar="REV", help="Compare with this revision.")
@project_option
def pack_diff(name: str, to: str | None, for_project: bool) -> int:
    """Show every difference between the locked revision of a pack and the newest one, or REV."""
    declared = here(for_project)
    named, locked = declared.named(name)
    new = newer(declared, named, locked, to, None)
    if new is None or (locked and new.tree == locked.tree):
        print_text(f"{one_line(name)}: no difference")
        return 0
    print_text(f"{one_line(name)} {rev_of(locked) if locked else 'not locked'} → {rev_of(new)}")
    names = {hook.name for hook in new.chosen(named.only)}
    pack_review.show(new, _seen(locked), names, declared.layer, is_asked=False)
    return 0
