"""`tenterhook install --managed` and `uninstall --managed`: the same hooks for every account of a machine."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from ..agents import AGENTS, managed_settings
from ..basics.display_text import listed, one_line, visible
from ..catalog.catalog import MANAGED
from ..catalog.packs import MANAGED_STORE, NamedPack
from ..errors import HookError
from ..install import managed, settings_change
from ..install.rollback import Rollback
from ..packs import declarations
from ..packs.git import Repository
from . import pack_review
from .pack import rev_of
from .pack_add import fetch, split
from .pack_update import refuse_moved
from .printing import print_changes, print_json, print_text
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ..agents.protocol import Agent
    from ..install.settings_change import SettingsChange


def install(
    agents: Sequence[Agent], packs: Sequence[str], *, closed: bool | None, dry_run: bool, yes: bool, as_json: bool
) -> int:
    """Install hooks for every account of this machine."""
    managed.require_root("install")
    if not dry_run:
        refuse_below_agent("install")
    if not agents:
        able = [agent.name for agent in AGENTS.values() if agent.managed]
        remedy = f"name the agents of this machine: tenterhook install --managed {' '.join(able)}"
        raise HookError("no agent was named", remedy)
    for agent in agents:  # check all first: a refusal changes nothing
        managed_settings.of(agent)
    managed.check_program()
    plans = [managed.plan(agent, closed=closed) for agent in agents]
    for each in plans:
        settings_change.check(each)
    if not dry_run and not as_json:
        need_terminal("install --managed", yes=yes)
    before = Rollback()
    for name in ("hooks.toml", "hooks.lock"):
        before.keep(f"{MANAGED}/{name}")
    try:
        is_changed = False
        for source in packs:
            with managed.machine():
                is_new = _add_pack(source, dry_run=dry_run, yes=yes, as_json=as_json)
            if is_new is None:
                before.undo()
                return 1
            is_changed |= is_new
        sources = [split(text)[0] for text in packs]
        plans = [managed.plan(agent, closed=closed, packs=sources) for agent in agents]  # now with their events
        with managed.machine():
            is_changed |= any(each.changes for each in plans)
        if not as_json:
            _show(plans, dry_run=dry_run)
        if not dry_run:
            titles = listed([agent.title for agent in agents])
            if not yes and not as_json and not click.confirm(f"install into {titles} for every account?", default=True):
                before.undo()
                return 1
            for each in plans:
                managed.apply(each)
    except BaseException:  # on Ctrl-C too, everything is restored
        before.undo()
        raise
    hooks = managed.hooks()
    if as_json:
        about = [{"agent": each.agent.name, "settings": each.record["settings"], **_choices(each)} for each in plans]
        said = {"changed": is_changed, "managed": about, "hooks": [hook.name for hook in hooks]}
        print_json({"schema": 1, "dry_run": dry_run, **said})
        return 0
    if dry_run:
        return 0
    for each in plans:
        events = ", ".join(each.record["events"])
        print_text(f"{click.style(each.agent.title, bold=True)}: managed, for every account  ({events})")
        if moved_by := each.record["moved_by"]:
            print_text(f"  a user who sets {moved_by} makes it read another file instead")
        if each.record["closed"]:
            print_text("  if Tenterhook cannot answer, tool calls are refused")
    names = ", ".join(visible(hook.name) for hook in hooks)
    none = "none yet; add some with --pack SOURCE, or put hook folders there"
    print_text(f"hooks of every account, in {MANAGED}: {names or none}")
    print_text("  users and projects can add hooks but cannot disable or replace these")
    return 0


def _choices(change: SettingsChange) -> dict[str, object]:
    return {"events": change.record["events"], "closed": change.record["closed"]}


def _show(plans: Sequence[SettingsChange], *, dry_run: bool) -> None:
    for plan in plans:
        is_changed = print_changes(plan, in_full=dry_run)
        print_text(f"{plan.agent.title}: {'this would be changed' if is_changed else 'nothing to change'}")


def _add_pack(text: str, *, dry_run: bool, yes: bool, as_json: bool) -> bool | None:
    """Put the hooks of a pack into the machine's layer. Return whether this changes it; None if it was not accepted."""
    source, rev = split(text)
    declared = declarations.read(MANAGED, "managed")
    locked = fetch(source, rev, "managed")
    known = next((found for named, found in declared.packs if named.source == source), None)
    named = NamedPack(source, locked.rev)
    if known is not None and known.commit and locked.commit:
        repository = Repository(source)
        refuse_moved(repository, known, repository.resolve(locked.rev), f"--pack {source}@{locked.commit}")
    if known is not None and known == locked:
        return False
    declarations.refuse_same_names(declared, named, locked, "remove one of them from hooks.toml")
    if not as_json:
        print_text(f"{click.style(one_line(locked.name), bold=True)} {rev_of(locked)}  {one_line(source)}")
        names = {hook.name for hook in locked.chosen(None)}
        before = known._replace(hooks=tuple(known.chosen(None))) if known is not None else None
        if not pack_review.show(locked, before, names, "managed", is_asked=not yes and not dry_run):
            print_text("not installed: not all of it was shown", err=True)
            return None
        if not dry_run and not yes and not click.confirm("Use exactly this, for every account?", default=False):
            return None
    if not dry_run:
        declarations.write(declared, source, (named, locked))
        os.chmod(declared.file, 0o644)
    return True


def uninstall(agents: Sequence[Agent], *, dry_run: bool, yes: bool) -> int:
    """Remove what `install --managed` wrote."""
    managed.require_root("uninstall")
    if not dry_run:
        refuse_below_agent("uninstall")
        need_terminal("uninstall --managed", yes=yes)
    chosen = list(agents) or [AGENTS[record["host"]] for record in managed.all_records()]
    if not chosen:
        raise HookError("no agent is managed on this machine", "name the agent to check its managed settings anyway")
    plans = [managed.plan_removal(agent) for agent in chosen]
    for plan in plans:
        settings_change.check(plan)
        print_changes(plan, in_full=dry_run)
    if dry_run:
        return 0
    titles = listed([plan.agent.title for plan in plans])
    if not yes and not click.confirm(f"remove it from {titles}, for every account?", default=False):
        return 1
    packs = [source for record in managed.all_records() for source in record.get("packs", ())]
    for plan in plans:
        managed.remove(plan)
        changed = [file.path for file in plan.changed_files]
        said = f"removed from {', '.join(changed)}" if changed else "no entries of ours"
        print_text(f"{click.style(plan.agent.title, bold=True)}: {said}")
    if not managed.all_records():
        with managed.machine():
            _remove_packs(packs)
            managed.remove_records()
    if hooks := managed.hooks():
        names = ", ".join(visible(hook.name) for hook in hooks)
        print_text(f"left in {MANAGED}: {names}; they run in agents where a user runs tenterhook install")
    return 0


def _remove_packs(sources: Collection[str]) -> None:
    """Remove the packs that were installed with it, and what was fetched for them."""
    declared = declarations.read(MANAGED, "managed")
    for named, locked in declared.packs:
        if named.source in sources:
            declarations.write(declarations.read(MANAGED, "managed"), named.source, None)
            print_text(f"removed the pack {one_line(named.source)} from {declared.file}")
            if locked is not None:
                shutil.rmtree(f"{MANAGED_STORE}/{locked.tree}", ignore_errors=True)
    if not declarations.read(MANAGED, "managed").packs:  # earlier revisions too
        shutil.rmtree(MANAGED_STORE, ignore_errors=True)
    for directory in (MANAGED_STORE, os.path.dirname(MANAGED_STORE), MANAGED, os.path.dirname(MANAGED)):
        with suppress(OSError):  # not empty: there is more
            os.rmdir(directory)


def report() -> None:
    """Say that managed installations stay, after a user's command that removes something."""
    if managed.all_records():
        print_text(managed.STAYS)
