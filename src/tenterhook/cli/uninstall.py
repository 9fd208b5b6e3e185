"""`tenterhook uninstall`: remove our entries from an agent's settings."""

from __future__ import annotations

import os

import click

from ..agents import AGENTS
from ..basics import places
from ..basics.display_text import listed
from ..catalog import project_root
from ..dispatch import daemon
from ..errors import HookError
from ..install import managed as machine
from ..install import records, settings_change
from . import add, hub_machine, managed
from .loading import agent_names, agents_named, yes_option
from .printing import print_changes, print_text, short_path
from .refusals import need_terminal, refuse_below_agent


@click.command(short_help="Remove Tenterhook from an agent's settings.")
@click.argument("names", nargs=-1, metavar="[AGENT]...", shell_complete=agent_names)
@click.option("--user/--project", "for_user", default=True, help="From your own settings (default), or this project's.")
@click.option("--managed", "for_machine", is_flag=True, help="What root installed for every account; needs root.")
@click.option("--dry-run", is_flag=True, help="Show the change and make none.")
@yes_option
def uninstall(names: tuple[str, ...], for_user: bool, for_machine: bool, dry_run: bool, yes: bool) -> int:
    """Remove our entries, and nothing else, from the settings of AGENT (default: of every agent that has them).

    Your hooks no longer run there. Hook folders, the journal and the state directory stay; after the last agent, it
    names them. It shows the change and asks before making it; without a terminal it needs --yes. It cannot be run by a
    guarded agent. What root installed for every account stays, unless root adds --managed, which also removes the packs
    that were installed with it.
    """
    named = agents_named(names)
    if for_machine:
        return managed.uninstall(named, dry_run=dry_run, yes=yes)
    if not dry_run:
        refuse_below_agent("uninstall")
        need_terminal("uninstall", yes=yes)
    root = None if for_user else project_root.project_root(os.getcwd())
    chosen = named or [
        AGENTS[record["host"]]
        for record in records.all_records()
        if record["root"] == root and record["host"] in AGENTS
    ]
    if not chosen:
        if machine.all_records():
            raise HookError("you have not installed it in any agent", machine.STAYS)
        raise HookError("it is not installed in any agent", "name the agent to check its settings anyway")
    plans = [settings_change.plan_removal(agent, root) for agent in chosen]
    for plan in plans:
        settings_change.check(plan)
        print_changes(plan, in_full=dry_run)
    if dry_run:
        return 0
    titles = listed([plan.agent.title for plan in plans])
    if not yes and not click.confirm(f"remove it from {titles}?", default=False):
        return 1
    for plan in plans:
        settings_change.apply(plan, removal=True)
        changed = [short_path(file.path) for file in plan.changed_files]
        said = f"removed from {', '.join(changed)}" if changed else "no entries of ours"
        elsewhere = [record for record in records.all_records() if record["host"] == plan.agent.name]
        left = "another installation is still in force there" if elsewhere else "your hooks no longer run there"
        print_text(f"{click.style(plan.agent.title, bold=True)}: {said}" + (f"; {left}" if changed else ""))
    _stop_daemon()
    _say_what_is_left()
    hub_machine.report()
    managed.report()
    return 0


def _stop_daemon() -> None:
    """Stop the daemon if no agent is left that could use it."""
    if not records.all_records():
        daemon.migrate(leave=daemon.SERVICE)
        if daemon.SERVICE.disable():
            daemon.SERVICE.stop()
            print_text("the daemon has stopped: no agent is left that uses it")


def _say_what_is_left() -> None:
    """Name the directories of ours that still exist, if no agent is left."""
    directories = [
        ("your hooks", add.hooks_directory(None)),
        ("the journal", places.journal()),
        ("other state", places.state()),
        ("the cache", places.cache()),
    ]
    left = [f"{what} ({short_path(path)})" for what, path in directories if os.path.isdir(path)]
    if left and not records.all_records():
        print_text(f"left as they are: {listed(left)}")
