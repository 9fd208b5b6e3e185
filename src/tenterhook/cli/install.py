"""`tenterhook install`: put your hooks in force in the agents you use."""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from ..agents import AGENTS
from ..approvals import configured
from ..basics.display_text import listed, visible
from ..catalog import loading, project_root
from ..dispatch import daemon as daemon_
from ..errors import ERROR, HookError
from ..install import event_wiring, settings_change, sources
from ..install.interpreters import temporary
from . import hub_machine, managed, services
from .daemon import RUNS
from .loading import agent_names, agents_named, json_option, yes_option
from .printing import print_changes, print_json, print_text, short_path
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..agents.protocol import Agent
    from ..catalog.catalog import Catalog
    from ..model import Hook


@click.command(short_help="Put your hooks in force in the agents you use.")
@click.argument("names", nargs=-1, metavar="[AGENT]...", shell_complete=agent_names)
@click.option("--user/--project", "for_user", default=True, help="For every project (default), or for this one.")
@click.option(
    "--closed/--open",
    default=None,
    help="If Tenterhook cannot answer: refuse tool calls, or allow them. Default: the previous choice, else open.",
)
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Also put the hooks of this file in force there.",
)
@click.option("--no-config", "forget_configs", is_flag=True, help="Forget the files named with --config earlier.")
@click.option(
    "--daemon/--no-daemon",
    default=None,
    help="Keep the daemon running, which has everything loaded: hooks answer about three times as fast. Default: no.",
)
@click.option("--hub/--no-hub", default=None, hidden=True)  # the former name
@click.option(
    "--managed",
    "for_machine",
    is_flag=True,
    help="For every account of this machine, in settings that only root can change; needs root.",
)
@click.option(
    "--pack",
    "packs",
    multiple=True,
    metavar="SOURCE[@REV]",
    help="With --managed: the hooks of this pack, for every account.",
)
@click.option("--dry-run", is_flag=True, help="Show the change and make none.")
@yes_option
@json_option
def install(
    names: tuple[str, ...],
    for_user: bool,
    closed: bool | None,
    configs: tuple[str, ...],
    forget_configs: bool,
    daemon: bool | None,
    hub: bool | None,
    for_machine: bool,
    packs: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Put your hooks in force in coding agents: one entry for each event that has hooks, in the agent's own settings.

    Without AGENT, it installs into every agent found on this machine. It shows the change and, on a terminal, asks
    before making it; everything else in the file stays as it is, including comments and order. `tenterhook uninstall`
    removes the entries and nothing else. To start from scratch, with guards and a live test: tenterhook setup.

    With --managed, root installs hooks for every account: those in /etc/agents/hooks and those of the given packs.
    Users and projects can add hooks but cannot disable or replace these. Tenterhook itself must belong to root.

    \b
    tenterhook install claude-code kimi-code
    tenterhook install codex --daemon
    tenterhook install gemini --dry-run
    sudo tenterhook install --managed claude-code codex --pack https://git.example.org/acme/agent-hooks@v1.4.0
    """
    if for_machine:
        if not for_user or configs or forget_configs or daemon is not None or hub is not None:
            raise click.UsageError("--managed works only with --pack, --closed, --open, --dry-run, --yes and --json")
        agents = agents_named(names)
        return managed.install(agents, packs, closed=closed, dry_run=dry_run, yes=yes, as_json=as_json)
    if packs:
        raise click.UsageError("--pack needs --managed; for yourself: tenterhook pack add")
    if not dry_run:
        refuse_below_agent("install")  # it can name files whose hooks need no trust, and open what was closed
    if hub is not None:
        print_text(f"`--{'' if hub else 'no-'}hub` is now `--{'' if hub else 'no-'}daemon`", err=True)
        daemon = hub if daemon is None else daemon
    agents = _chosen(names, yes=yes or dry_run)
    here = project_root.project_root(os.getcwd())
    root = None if for_user else here
    files = _allowed(configs, loading.load(here, configs), agents, root)
    catalogs = [
        loading.load(here, files) if forget_configs else sources.for_agent(agent.name, here, files).catalog
        for agent in agents
    ]
    plan = partial(settings_change.plan, closed=closed, configs=files, forget_configs=forget_configs)
    plans = [
        plan(agent, root, catalog.expected(), must_close=event_wiring.must_close(catalog.in_force()))
        for agent, catalog in zip(agents, catalogs, strict=True)
    ]
    if not dry_run:
        for each in plans:  # check all first: a refusal changes nothing
            settings_change.check(each)
    if not as_json:
        asks = not yes and _can_ask() and any(each.changed_files for each in plans)
        _show_changes(plans, dry_run=dry_run, asks=asks)
        if dry_run:
            warn_if_temporary()
            return 0
        if asks:
            titles = listed([agent.title for agent in agents])
            if not click.confirm(f"install into {titles}?", default=True):
                return 1
    if not dry_run:
        for each in plans:
            settings_change.apply(each)
        hub_machine.report()
    if as_json:
        trouble = _trouble_with_daemon() if daemon and not dry_run else None
        about = {"running": daemon_.SERVICE.process_id(), "why_not": trouble}
        done = {"dry_run": dry_run, "installed": [_as_json(each) for each in plans]}
        print_json({"schema": 1, **done, "daemon": about, "hub": about})  # "hub": the former name
        return 0 if trouble is None else 1
    for each, catalog in zip(plans, catalogs, strict=True):
        _print(each, catalog)
    warn_if_temporary()
    if daemon:
        _start_daemon()
        print_text(RUNS)
    elif daemon is None and daemon_.could_help():
        print_text(f"daemon  off; {daemon_.ADVICE}")
    return 0


def _can_ask() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _start_daemon() -> None:
    if daemon_.SERVICE.process_id() is None:
        services.start(daemon_.SERVICE, {})


def _trouble_with_daemon() -> str | None:
    try:
        _start_daemon()
    except HookError as error:
        return error.message
    return None


def _allowed(configs: Sequence[str], catalog: Catalog, agents: Sequence[Agent], root: str | None) -> list[str]:
    """Return the files named with --config. Refuse those that an agent runs itself or a repository can change."""
    for agent in agents:
        if twice := next((config for config in configs if sources.runs_itself(agent, config, root)), None):
            raise HookError(
                f"{agent.title} runs the hooks of {twice} itself", "name it for other agents, or convert it"
            )
    if catalog.refused_configs:
        refused = catalog.refused_configs[0]
        wrong = next(each for each in catalog.problems if each.file == refused and each.severity == ERROR)
        remedy = f"{wrong.remedy}; to check the file: {shlex.join(('tenterhook', 'check', refused))}"
        raise HookError(f"{refused} cannot be used: {wrong.message}", remedy)
    files = [os.path.abspath(config) for config in configs]
    for file in files:
        if project_root.repository_can_reach(file, catalog.root):
            remedy = "copy it to your own ~/.config, or make it a hook folder in the project and trust that"
            raise HookError(
                f"{file} belongs to this project or a repository: a change to it would change what runs", remedy
            )
    return files


def _chosen(names: Sequence[str], *, yes: bool) -> list[Agent]:
    """Return the agents that were named, or else all that are found here."""
    if names:
        return agents_named(names)
    found = [agent for agent in AGENTS.values() if agent.is_present()]
    if not found:
        raise HookError("no agent was found on this machine", f"name one of: {', '.join(AGENTS)}")
    if not yes and not _can_ask():
        found_here = ", ".join(agent.title for agent in found)
        remedy = f"name them: tenterhook install {' '.join(agent.name for agent in found)}"
        raise HookError(f"no agent was named; found here: {found_here}", remedy)
    return found


def _as_json(plan: settings_change.SettingsChange) -> dict[str, object]:
    return {
        "agent": plan.agent.name,
        "settings": plan.record["settings"],
        "events": plan.record["events"],
        "closed": plan.record["closed"],
        "changes": [file.shown() for file in plan.changed_files],
    }


def _show_changes(plans: Sequence[settings_change.SettingsChange], *, dry_run: bool, asks: bool) -> None:
    for plan in plans:
        if not print_changes(plan, in_full=dry_run):
            print_text(f"{plan.agent.title}: nothing to change")
        elif dry_run or asks:
            print_text(f"{plan.agent.title}: this would be changed")


def _print(plan: settings_change.SettingsChange, catalog: Catalog) -> None:
    agent, hooks = plan.agent, catalog.expected()
    events = ", ".join(plan.record["events"])
    state = (
        "guarded" if event_wiring.is_guarded(agent, plan.record, catalog.in_force()) else "installed, no hook in force"
    )
    unchanged = "" if plan.changed_files else "; nothing changed"
    print_text(f"{click.style(agent.title, bold=True)}: {state}{unchanged}  ({events})")
    for file in plan.changed_files:
        if file.before is not None:
            print_text(f"  backup: {short_path(settings_change.backup_of(file.path))}")
    for line in (*_doubts(plan, hooks), *_conditions(plan)):
        print_text(f"  {line}")
    if plan.changed_files:
        print_text(f"  restart {agent.title} if it is running")
    if agent.proven:
        print_text(f"  check that it blocks: tenterhook doctor {agent.name} --live")
    else:
        unproven = click.style("by documentation, not proven", fg="yellow")
        print_text(f"  {unproven}: try it with a call that one of your guards refuses")


def _doubts(plan: settings_change.SettingsChange, hooks: Sequence[Hook]) -> Iterator[str]:
    """Yield which hooks would not run in the agent, and why."""
    agent = plan.agent
    if not configured.is_joined() and not any(hook.event == "pre-tool-call" for hook in hooks):
        yield "no hook on tool calls yet; its event is wired as soon as you add one"
    for hook in event_wiring.without_event(agent, hooks):
        yield f"{agent.title} has no event for '{visible(hook.name)}' ({hook.declared}); it never runs there"
    for what, remedy in agent.switches(plan.record["settings"], project_root.project_root(os.getcwd())):
        yield f"{click.style('it would not block', fg='red')}: {visible(what)}; {visible(remedy)}"


def _conditions(plan: settings_change.SettingsChange) -> Iterator[str]:
    """Yield further notes about guards in this agent."""
    yield from plan.agent.install_notes(in_project=plan.root is not None)
    for config in plan.record["configs"]:
        yield f"hooks of {short_path(config)} are in force there too"
    if configured.is_joined():
        yield f"it asks at the hub, too, {hub_machine.when_it_asks(plan.agent)}"
    if plan.record["closed"]:
        yield "if Tenterhook cannot answer, tool calls are refused"


def warn_if_temporary() -> None:
    """Warn if this Tenterhook is in a temporary environment."""
    why = temporary()
    if why:
        print_text(f"{click.style('this will not last', fg='yellow')}: {why}", err=True)
        print_text("  install Tenterhook in a permanent environment, then run tenterhook install again", err=True)
