"""`tenterhook setup`: guards in every agent on this machine, installed and tried, in one command."""

from __future__ import annotations

import os
import signal
import sys
import textwrap
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import click

from ..agents import AGENTS
from ..agents.protocol import Agent
from ..authoring.built_in_hooks import COPIED, CURRENT, built_in_hooks, state_of
from ..basics import places
from ..basics.display_text import listed, visible
from ..catalog import fail_closed
from ..catalog.catalog import is_config_moved
from ..dispatch import daemon as daemon_
from ..doctor import probe, proofs
from ..errors import HookError
from ..install import event_wiring, launcher, records, settings_change, sources, sync
from ..install.rollback import Rollback
from ..model import Hook
from . import add, hub_machine, services
from .daemon import RUNS
from .install import warn_if_temporary
from .loading import agent_names, agents_named, json_option, known_name, offered, yes_option
from .printing import print_changes, print_json, print_said, print_text, short_path, terminal_width
from .refusals import need_terminal, refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..catalog.catalog import Catalog
    from ..doctor.probe import ModeResult
    from ..install.settings_change import SettingsChange

# What cannot be restored; what must not leave the machine; and what keeps an agent from switching both off.
RECOMMENDED = ("block-dangerous-commands", "protect-secrets", "protect-hooks")
_OPT_IN = "infrastructure"  # not for everyone: mentioned at the end
_TIMEOUT = 120.0  # seconds for each live run
_INTERRUPTED = 130
# What live runs, hooks and the daemon write into the state directory.
_STATE_FILES = (
    *("sessions", "sessions.looked", "journal", "hooks", "trusted", "trust.json", "trust.json.lock"),
    *("fail-closed.json", "fail-closed.json.lock", "daemon.log", "daemon.lock", "daemon.sock"),
)


def _split(names: Sequence[str]) -> list[str]:
    return [name.strip() for each in names for name in each.split(",") if name.strip()]


def _guards(_: click.Context, __: click.Parameter, incomplete: str) -> list[str]:
    """For shell completion."""
    return offered([*(hook.name for hook in built_in_hooks()), "none"], incomplete)


@click.command(short_help="Guard the agents on this machine: install, add guards, test them.")
@click.option(
    "--agents",
    "agent_list",
    multiple=True,
    metavar="NAME,…",
    shell_complete=agent_names,
    help="Only these agents. Default: all that are found here.",
)
@click.option(
    "--guards",
    "guard_list",
    multiple=True,
    metavar="NAME,…",
    shell_complete=_guards,
    help=f"These built-in hooks, or none. Default: {', '.join(RECOMMENDED)}.",
)
@click.option("--daemon", is_flag=True, help="Keep the daemon running: hooks answer about three times as fast.")
@click.option("--dry-run", is_flag=True, help="Show what would be changed and change nothing.")
@yes_option
@json_option
def setup(
    agent_list: tuple[str, ...],
    guard_list: tuple[str, ...],
    daemon: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Guard the coding agents on this machine: show what would be done, ask once, and do it.

    It adds the recommended guards to your hooks, installs Tenterhook in the settings of each agent, and has each agent
    try something harmless but forbidden, in each of its modes: the real program, without an account, against a
    scripted model on this machine. Hooks that you have changed are left as they are. If it is interrupted or fails,
    everything is restored. Run again, it changes nothing. Exit status 1 if a guard did not block in an agent or is not
    in force.

    \b
    tenterhook setup
    tenterhook setup --yes --agents claude-code,kimi-code
    tenterhook setup --guards block-dangerous-commands --dry-run
    """
    if not dry_run:
        refuse_below_agent("setup")
    plan = _plan(agents_named(_split(agent_list)) or _found(), _wanted(_split(guard_list)), daemon=daemon)
    _show(plan, err=as_json)
    if dry_run:
        return _dry_run(plan, as_json=as_json)
    if plan.is_new:
        need_terminal("setup", yes=yes)
    for change in plan.changes:
        settings_change.check(change)  # check all first: a refusal changes nothing
    if plan.is_new and not yes and not click.confirm("Go ahead?", default=True, err=as_json):
        print_text("nothing was changed", err=True)
        return 1
    proofs_by_agent: dict[str, list[ModeResult]] = {}
    rollback = _rollback(plan)
    with _interrupts() as is_interrupted:
        try:
            _carry_out(plan, err=as_json)
            for agent in plan.to_prove():
                if is_interrupted():
                    break
                proofs_by_agent[agent.name] = _prove(agent, is_interrupted, err=as_json)
            if plan.starts_daemon and not is_interrupted():
                services.start(daemon_.SERVICE, {})
        except BaseException:  # however it ends, everything is restored
            _undo(plan, rollback)
            raise
        if is_interrupted():
            _undo(plan, rollback)
            print_text("interrupted: everything was restored", err=True)
            return _INTERRUPTED
    hub_machine.report()
    outcomes = [AgentProofs(agent, proofs_by_agent.get(agent.name, [])) for agent in plan.agents]
    in_force = {hook.name for hook in sources.here().catalog.in_force()}
    idle = [guard.hook.name for guard in plan.guards if guard.hook.name not in in_force]
    if as_json:
        print_json({**_as_json(plan, outcomes, dry_run=False), "not_in_force": idle})
    else:
        _print_result(plan, outcomes, idle)
    return 1 if idle or any(outcome.has_failed for outcome in outcomes) else 0


class Guard(NamedTuple):
    """A built-in hook, and the state of its folder: None if it is to be added."""

    hook: Hook
    folder: str
    state: str | None


class SetupPlan(NamedTuple):
    """What setup would do."""

    agents: Sequence[Agent]
    guards: Sequence[Guard]
    changes: Sequence[SettingsChange]  # of these agents, and of others in which events of new guards must be wired
    starts_daemon: bool

    @property
    def is_new(self) -> bool:
        """Whether it would change anything."""
        return bool(self.added or self.starts_daemon or any(change.changes for change in self.changes))

    @property
    def added(self) -> list[Guard]:
        return [guard for guard in self.guards if guard.state is None]

    def to_prove(self) -> list[Agent]:
        """Return the agents to be tried: those that can be, and were not proven since they were changed."""
        return [agent for agent in self.agents if _unprovable(agent) is None and not proofs.is_proven(agent, None)]


def _found() -> list[Agent]:
    found = [agent for agent in AGENTS.values() if agent.is_present()]
    if not found:
        raise HookError(
            "no agent was found on this machine", f"install one, or name it with --agents: {', '.join(AGENTS)}"
        )
    return found


def _wanted(names: Sequence[str]) -> list[Hook]:
    known = {hook.name: hook for hook in built_in_hooks()}
    chosen = [] if list(names) == ["none"] else list(dict.fromkeys(names)) or RECOMMENDED
    return [known[known_name(name, known, "built-in hook")] for name in chosen]


def _plan(agents: Sequence[Agent], wanted: Sequence[Hook], *, daemon: bool) -> SetupPlan:
    catalog = sources.here().catalog
    if is_config_moved(catalog.root):
        raise HookError(
            f"hooks in {places.config_home()} would count as those of the project {catalog.root}, because HOME is not"
            f" your account's home directory, {places.account_home()}",
            "run tenterhook setup in another directory, such as the project that you work on",
        )
    directory = add.hooks_directory(None)
    folders = {hook.name: os.path.join(directory, hook.name) for hook in wanted}
    guards = [Guard(hook, folders[hook.name], state_of(hook, folders[hook.name])) for hook in wanted]
    new = [guard.hook for guard in guards if guard.state is None]
    changes = [_change(agent, None, catalog, new) for agent in agents]
    chosen = {agent.name for agent in agents}
    for record in records.all_records():
        is_chosen = record["host"] in chosen and record["root"] is None
        if new and not is_chosen and record["host"] in AGENTS and record["root"] in (None, catalog.root):
            agent = AGENTS[record["host"]]
            with sync.settings_where_they_were(agent, record):
                changes.append(_change(agent, record["root"], catalog, new))
    return SetupPlan(agents, guards, changes, daemon and daemon_.SERVICE.process_id() is None)


def _change(agent: Agent, root: str | None, catalog: Catalog, new: Sequence[Hook]) -> SettingsChange:
    """Return the change of an agent's settings as it will be once the new hooks exist."""
    own = sources.for_agent(agent.name, catalog.root, ()).catalog
    must_close = event_wiring.must_close((*own.in_force(), *new))
    return settings_change.plan(agent, root, (*own.expected(), *new), must_close=must_close)


def _unprovable(agent: Agent) -> str | None:
    """Return why no live run is possible in an agent; None if one is."""
    if not agent.proven:
        return "known from documentation only"
    if agent.executable() is None:
        return f"{' or '.join(agent.executables)} is not on the PATH"
    return None


def _rollback(plan: SetupPlan) -> Rollback:
    """Save what setup may change, except agents' settings, which other programs may change meanwhile."""
    state = places.state()
    rollback = Rollback()
    for path in (records.directory(), launcher.path(), os.path.join(state, "fallback"), os.path.join(state, "live")):
        rollback.keep(path)
    for path in (daemon_.SERVICE.file, *(os.path.join(state, name) for name in _STATE_FILES), state, places.cache()):
        rollback.keep_missing(path)
    for guard in plan.guards:
        rollback.keep_missing(guard.folder)
    return rollback


def _carry_out(plan: SetupPlan, *, err: bool) -> None:
    directory = add.hooks_directory(None)
    for guard in plan.added:
        add.write(guard.hook, directory, copy=False)
    for change in plan.changes:
        if change.changes:
            settings_change.apply(change)
    if plan.added:
        print_text(f"added {listed([guard.hook.name for guard in plan.added])}", err=err)
    if changed := [change.agent.title for change in plan.changes if change.changes]:
        print_text(f"installed in {listed(list(dict.fromkeys(changed)))}", err=err)


def _undo(plan: SetupPlan, rollback: Rollback) -> None:
    if plan.starts_daemon and daemon_.SERVICE.process_id() is not None:
        services.stop(daemon_.SERVICE)
    for change in plan.changes:
        if change.changes:
            settings_change.revert(change)
    rollback.undo()
    for guard in plan.added:  # after it is gone: it blocks where it cannot be loaded
        if os.path.exists(fail_closed.path()):
            fail_closed.forget(guard.hook.name)


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Note signals that would end this process, so that it can undo what it did first."""
    seen: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda number, _: seen.append(number)) for number in numbers}
    try:
        yield lambda: bool(seen)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _prove(agent: Agent, is_interrupted: Callable[[], bool], *, err: bool) -> list[ModeResult]:
    """Try every mode of an agent and print the results as they come."""
    print_text(f"{click.style(agent.title, bold=True)} tries a command that a temporary guard forbids:", err=err)
    found: list[ModeResult] = []
    _show_progress(f"  …           {agent.modes[0]}", err=err)
    for result in probe.probe_modes(agent, None, timeout=_TIMEOUT, stop=is_interrupted):
        _show_progress("", err=err)
        if is_interrupted():
            break
        found.append(result)
        word, colour = _WORDS[result.held]
        took = f"  {result.seconds:.1f} s" if result.seconds else ""
        print_text(f"  {click.style(f'{word:<11}', fg=colour)} {result.mode:<13}{took}", err=err)
        if not result.held:
            print_text(f"              {visible(result.what)}", err=err)
        if len(found) < len(agent.modes):
            _show_progress(f"  …           {agent.modes[len(found)]}", err=err)
    _show_progress("", err=err)
    if is_interrupted():
        return found
    held = {result.held for result in found}
    proofs.record_result(agent, None, held=True in held and False not in held)
    return found


_WORDS = {True: ("blocked", "green"), False: ("NOT BLOCKED", "red"), None: ("untried", "yellow")}


def _show_progress(text: str, *, err: bool) -> None:
    """Show progress on the last line of a terminal; an empty text removes it. Elsewhere, print nothing."""
    stream = sys.stderr if err else sys.stdout
    if stream.isatty() and os.environ.get("TERM") != "dumb":
        click.echo(f"\r\x1b[K{text}", nl=False, err=err)


class AgentProofs(NamedTuple):
    """The result for one agent; without live runs it was proven before, or cannot be."""

    agent: Agent
    live: Sequence[ModeResult]

    @property
    def state(self) -> str:
        """`proven`, `failed`, `inconclusive` or `unproven`."""
        held = {result.held for result in self.live}
        if False in held:
            return "failed"
        if True in held or (not self.live and proofs.is_proven(self.agent, None)):
            return "proven"
        return "inconclusive" if self.live else "unproven"

    @property
    def has_failed(self) -> bool:
        return self.state in ("failed", "inconclusive")

    def text(self) -> str:
        if self.state == "failed":
            return click.style("a guard did not block", fg="red") + f": tenterhook doctor {self.agent.name} --live"
        if self.state in ("inconclusive", "unproven"):
            why = self.live[0].what if self.live else _unprovable(self.agent) or ""
            again = f"\n    to try again: tenterhook doctor {self.agent.name} --live" if self.agent.proven else ""
            return click.style("not proven", fg="yellow") + f": {visible(why)}{again}"
        blocked = sum(result.held is True for result in self.live)
        in_modes = f" in {blocked} of {len(self.live)} modes" if self.live else ", as an earlier live run showed"
        return click.style("guards block", fg="green") + in_modes


def _show(plan: SetupPlan, *, err: bool) -> None:
    """Print in a few lines what would be done."""
    if not plan.is_new:
        print_text("everything is already set up: nothing to change", err=err)
        return
    settings = {change.agent.name: change.record["settings"] for change in plan.changes}
    width = min((terminal_width(err=err) or 80) - 10, _WIDEST)
    rows = [("agents", f"{agent.title:<14} {short_path(settings[agent.name])}") for agent in plan.agents]
    for guard in plan.guards:
        rows.append(("guards", f"{guard.hook.name}{_STATES.get(guard.state, ' (modified: left as it is)')}"))
        if guard.state is None:
            rows += [("guards", f"  {line}") for line in textwrap.wrap(guard.hook.description, width)]
    if plan.added:
        rows.append(("guards", f"in {short_path(add.hooks_directory(None))}"))
    if silent := [agent.title for agent in plan.agents if not agent.capabilities.asks]:
        rows.append(("guards", f"{listed(silent)} cannot ask: what a guard would ask about is refused there"))
    if plan.to_prove():
        rows.append(("then", "each agent tries something forbidden, for real; no account is needed"))
    is_running = daemon_.SERVICE.process_id() is not None
    state = "runs" if is_running else "on" if plan.starts_daemon else "off; hooks are three times as fast with --daemon"
    rows.append(("daemon", state))
    last = ""
    for name, text in rows:
        heading = "" if name == last else name
        print_said(click.style(f"{heading:<8}", bold=True), text, err=err)
        last = name
    if any(change.record["closed"] for change in plan.changes):
        print_text("If Tenterhook cannot answer, tool calls are refused (on_failure: block).", err=err)


_STATES: dict[str | None, str] = {None: "", CURRENT: " (already added)", COPIED: " (already added, as a copy)"}


_WIDEST = 70  # columns of a description


def _dry_run(plan: SetupPlan, *, as_json: bool) -> int:
    if as_json:
        print_json(_as_json(plan, [AgentProofs(agent, []) for agent in plan.agents], dry_run=True))
        return 0
    for change in plan.changes:
        print_changes(change, in_full=True)
    return 0


def _print_result(plan: SetupPlan, outcomes: Sequence[AgentProofs], idle: Sequence[str]) -> None:
    """Print what is protected now, and what to do next; `idle` names the guards that are not in force."""
    guards = [guard.hook.name for guard in plan.guards if guard.hook.name not in idle]
    states = {outcome.state for outcome in outcomes}
    click.echo()
    if idle or "failed" in states:
        click.secho("not fully protected yet" if guards else "not protected yet", fg="red", bold=True)
    elif states == {"proven"}:
        click.secho("protected now", bold=True)
    else:
        heading = "protected now, but not proven in every agent" if "proven" in states else "installed, but not proven"
        click.secho(heading, fg="yellow", bold=True)
    if idle:
        print_text(f"  {listed(idle)} {'is' if len(idle) == 1 else 'are'} not in force: tenterhook list")
    for outcome in outcomes:
        print_text(f"  {outcome.agent.title:<14} {outcome.text()}")
    if guards:
        print_text(f"  by {listed(guards)}" if idle or "proven" in states else f"  with {listed(guards)}")
    if "proven" in states:
        print_text("  tested with a temporary guard; your guards are called in the same way")
    if not any(hook.name == _OPT_IN for hook in sources.here().catalog.all_hooks()):
        print_text(f"  not for clouds, clusters and databases: tenterhook add {_OPT_IN}")
    for change in plan.changes:
        root = sources.here().catalog.root
        for what, remedy in change.agent.switches(change.record["settings"], root):
            print_text(f"  {change.agent.title}: {click.style('it would not block', fg='red')}: {visible(what)}")
            print_text(f"    {visible(remedy)}")
        for note in change.agent.install_notes(in_project=change.root is not None):
            print_text(f"  {visible(note)}")
    if plan.is_new:
        print_text("  restart agents that are running")
    if plan.starts_daemon:
        print_text(f"  {RUNS}")
    warn_if_temporary()
    heading = click.style("next", bold=True)
    print_said(f"{heading}    tenterhook try 'git push --force'   ", "what would happen to a command")
    print_said("        tenterhook log                      ", "what your hooks did")


def _as_json(plan: SetupPlan, outcomes: Sequence[AgentProofs], *, dry_run: bool) -> dict[str, object]:
    """Return what was done, or would be."""
    by_agent = {outcome.agent.name: outcome for outcome in outcomes}
    return {
        "schema": 1,
        "dry_run": dry_run,
        "changed": plan.is_new and not dry_run,
        "agents": [
            {
                "agent": change.agent.name,
                "settings": change.record["settings"],
                "changes": [file.shown() for file in change.changed_files],
                "proof": by_agent[change.agent.name].state,
                "live": [result._asdict() for result in by_agent[change.agent.name].live],
            }
            for change in plan.changes[: len(plan.agents)]
        ],
        "guards": [
            {"name": guard.hook.name, "folder": guard.folder, "state": guard.state or "added"} for guard in plan.guards
        ],
        "daemon": {"running": daemon_.SERVICE.process_id()},
    }
