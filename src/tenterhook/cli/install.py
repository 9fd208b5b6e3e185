"""`tenterhook install`: put your hooks in force in the agents you use."""

from __future__ import annotations

import os
import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from ..agents import AGENTS
from ..basics.display_text import visible
from ..catalog import loading, project_root
from ..dispatch import daemon as daemon_
from ..errors import ERROR, HookError
from ..install import event_wiring, settings_change, sources
from ..install.interpreters import temporary
from . import services
from .daemon import RUNS
from .loading import agent_names, agents_named, json_option
from .printing import print_diff, print_json, short_path
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
    help="If Tenterhook cannot answer: refuse tool calls, or go on. Default: as before, else open.",
)
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Hooks of this file are in force there too.",
)
@click.option("--no-config", "forget_configs", is_flag=True, help="Forget the files named with --config before.")
@click.option(
    "--daemon/--no-daemon",
    default=None,
    help="Keep the daemon running, which has everything loaded: hooks answer about three times as fast."
    " Default: ask on a terminal.",
)
@click.option("--hub/--no-hub", default=None, hidden=True)  # as it was called before
@click.option("--dry-run", is_flag=True, help="Show the change and make none.")
@json_option
def install(
    names: tuple[str, ...],
    for_user: bool,
    closed: bool | None,
    configs: tuple[str, ...],
    forget_configs: bool,
    daemon: bool | None,
    hub: bool | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Put your hooks in force in coding agents: one entry for each event that has hooks, in the agent's own settings.

    Without AGENT it lists the agents found on this machine and asks. The change is shown; what else is in the file,
    comments and order too, stays as it is; `tenterhook uninstall` takes it out without a trace. On a terminal the
    middle of long lines is left out; `--dry-run | cat` and `--dry-run --json` show them whole.

    \b
    tenterhook install claude-code kimi-code
    tenterhook install codex --daemon
    tenterhook install gemini --dry-run
    """
    if not dry_run:
        refuse_below_agent("install")  # it can name files whose hooks need no trust, and open what was closed
    if hub is not None:
        click.echo(f"`--{'' if hub else 'no-'}hub` is now `--{'' if hub else 'no-'}daemon`", err=True)
        daemon = hub if daemon is None else daemon
    agents = _chosen(names)
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
        for each in plans:  # all first: a refusal changes nothing
            settings_change.check(each)
        for each in plans:
            settings_change.apply(each)
    if as_json:
        trouble = _trouble_with_daemon() if daemon and not dry_run else None
        about = {"running": daemon_.SERVICE.process_id(), "why_not": trouble}
        done = {"dry_run": dry_run, "installed": [_as_json(each) for each in plans]}
        print_json({"schema": 1, **done, "daemon": about, "hub": about})  # "hub": as it was called before
        return 0 if trouble is None else 1
    for each, catalog in zip(plans, catalogs, strict=True):
        _print(each, catalog.expected(), dry_run=dry_run)
    _warn_if_temporary()
    if not dry_run:
        _offer_daemon(daemon)
    return 0


def _offer_daemon(daemon: bool | None) -> None:
    if daemon is None and daemon_.could_help():
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            click.echo(f"the daemon does not run; {daemon_.ADVICE}")
            return
        click.echo("hooks answer about three times as fast while a process in the background has everything loaded;")
        click.echo("it takes about 25 MB, listens on no network, and ends with: tenterhook daemon stop")
        daemon = click.confirm("keep one running?", default=True)
    if daemon:
        _start_daemon()
        click.echo(RUNS)


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
        remedy = f"{wrong.remedy}, then see: {shlex.join(('tenterhook', 'check', refused))}"
        raise HookError(f"{refused} cannot be used: {wrong.message}", remedy)
    files = [os.path.abspath(config) for config in configs]
    for file in files:
        if project_root.repository_can_reach(file, catalog.root):
            remedy = "copy it to your own ~/.config, or make it a hook folder of the project and trust that"
            raise HookError(
                f"{file} belongs to this project or a repository: a change to it would change what runs", remedy
            )
    return files


def _chosen(names: Sequence[str]) -> list[Agent]:
    if names:
        return agents_named(names)
    found = [agent for agent in AGENTS.values() if agent.is_present()]
    if not found:
        raise HookError("no agent was found on this machine", f"name one of: {', '.join(AGENTS)}")
    click.echo("found on this machine:", err=True)
    for agent in found:
        click.echo(f"  {agent.name:<12} {short_path(agent.settings())}", err=True)
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise HookError("which of them?", f"tenterhook install {' '.join(agent.name for agent in found)}")
    return [agent for agent in found if click.confirm(f"install into {agent.title}?", default=True, err=True)]


def _as_json(plan: settings_change.SettingsChange) -> dict[str, object]:
    return {
        "agent": plan.agent.name,
        "settings": plan.record["settings"],
        "events": plan.record["events"],
        "closed": plan.record["closed"],
        "changes": [file.shown() for file in plan.files if file.changes],
    }


def _print(plan: settings_change.SettingsChange, hooks: Sequence[Hook], *, dry_run: bool) -> None:
    agent = plan.agent
    changed = [file for file in plan.files if file.changes]
    for file in changed:
        print_diff(file.shown())
    if dry_run:
        click.echo(f"{agent.title}: {'this would be changed' if changed else 'nothing would change'}")
        return
    events = ", ".join(plan.record["events"])
    state = "guarded" if changed else "already guarded, nothing changed"
    click.echo(f"{click.style(agent.title, bold=True)}: {state}  ({events})")
    for file in changed:
        if file.before is not None:
            click.echo(f"  as it was: {short_path(settings_change.backup_of(file.path))}")
    for line in (*_doubts(plan, hooks), *_conditions(plan)):
        click.echo(f"  {line}")
    if changed:
        click.echo(f"  restart {agent.title} if it is running")
    click.echo(f"  check that it blocks: tenterhook doctor {agent.name} --live")


def _doubts(plan: settings_change.SettingsChange, hooks: Sequence[Hook]) -> Iterator[str]:
    """Yield which hooks would not run in the agent, and why."""
    agent = plan.agent
    if not any(hook.event == "pre-tool-call" for hook in hooks):
        yield "no hook on tool calls yet; its event is wired as soon as you add one"
    for hook in event_wiring.without_event(agent.events, hooks):
        yield f"{agent.title} has no event for '{visible(hook.name)}' ({hook.declared}); it never runs there"
    for what, remedy in agent.switches(plan.record["settings"], project_root.project_root(os.getcwd())):
        yield f"{click.style('it would not block', fg='red')}: {visible(what)}; {visible(remedy)}"


def _conditions(plan: settings_change.SettingsChange) -> Iterator[str]:
    """Yield further notes about guards in this agent."""
    yield from plan.agent.install_notes(in_project=plan.root is not None)
    for config in plan.record["configs"]:
        yield f"hooks of {short_path(config)} are in force there too"
    if plan.record["closed"]:
        yield "if Tenterhook cannot answer, tool calls are refused"


def _warn_if_temporary() -> None:
    why = temporary()
    if why:
        click.echo(f"{click.style('this will not last', fg='yellow')}: {why}", err=True)
        click.echo("  install Tenterhook into an environment that stays, then again: tenterhook install", err=True)
