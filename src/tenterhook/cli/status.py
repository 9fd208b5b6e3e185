"""`tenterhook` without a command: hooks, agents, daemon, and the next useful command."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..agents import AGENTS
from ..agents.protocol import Agent
from ..approvals import configured
from ..authoring import released_hooks
from ..basics import install_record
from ..basics.display_text import one_line, visible
from ..catalog.trust import State
from ..doctor import checks, proofs
from ..doctor.checks import Level
from ..errors import ERROR, HookError
from ..install import event_wiring, launcher, managed, records, sources
from .printing import counted, print_said, print_text, short_path, why_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..catalog.catalog import Catalog
    from ..install.sources import InForce
    from ..model import Hook


class AgentState(NamedTuple):
    """The state of one agent."""

    agent: Agent
    word: str
    colour: str
    more: str = ""
    is_untried: bool = False  # guarded, and `doctor --live` has not shown that it blocks

    @property
    def is_installed(self) -> bool:
        """Whether our entries are in its settings and work; there may be no hook yet."""
        return self.word in (_GUARDED, _NO_HOOK)

    @property
    def is_unguarded(self) -> bool:
        return self.word == _NOT_GUARDED


_GUARDED, _NOT_GUARDED, _DOUBTFUL, _UNREADABLE = "guarded", "not guarded", "would not block", "unreadable settings"
_NO_HOOK = "no hook yet"  # our entries are in its settings, but no hook is in force


def print_status() -> int:
    """Print the hooks in force, the agents found, guarded or not, problems, and the next useful command."""
    found = sources.here()
    catalog = found.catalog
    standings = [(hook, catalog.trust.standing(hook)) for hook in catalog.hooks]
    missing = [hook for hook, standing in standings if hook.missing and standing.state is not State.UNTRUSTED]
    waiting = sum(not standing.runs for hook, standing in standings if hook not in missing)
    states = agent_states(catalog)
    _print_hooks(found, waiting, missing)
    print_text(click.style("agents", bold=True) + ("" if states else "  none found"))
    for state in states:
        word = click.style(state.word, fg=state.colour)
        print_said(f"        {state.agent.title:<12} {word}  ", state.more)
    if any(state.word == _GUARDED for state in states) and (instead := launcher.fallback()):
        print_text(f"        {visible(instead)} answers, not what was installed: tenterhook doctor --fix")
    if daemon := _daemon(states):
        print_text(f"{click.style('daemon', bold=True)}  {daemon}")
    print_said(f"{click.style('next', bold=True)}    ", _next(catalog, waiting, states))
    return 0


def _print_hooks(found: InForce, waiting: int, missing: Sequence[Hook]) -> None:
    catalog = found.catalog
    running = len(catalog.hooks) - waiting - len(missing)
    folders = any(hook.layer != "config" for hook in catalog.hooks)
    called = records.all_records() or managed.all_records()
    nowhere = "; no agent calls them yet" if folders and not called else ""
    print_text(f"{click.style('hooks', bold=True)}   {running} in force in {short_path(catalog.root)}{nowhere}")
    if count := sum(hook.layer == "managed" for hook in catalog.hooks):
        print_text(f"        {count} of them managed: for every account of this machine; only root can change them")
    for source in found.sources:
        if count := sum(hook.source == source.file for hook in catalog.hooks):
            print_text(f"        {count} of them from {short_path(source.file)}: {source}")
    if waiting:
        print_text(f"        {waiting} of this project's hooks {'is' if waiting == 1 else 'are'} not trusted")
    for hook in missing:
        print_said("        ", f"{hook.name} {hook.missing}")
    for each in catalog.left_out:
        print_said("        ", f"{one_line(each.hook.name)} is not: {why_text(each)}")
    if old := released_hooks.problems(released_hooks.outdated_hooks(catalog)):
        print_text(f"        {len(old)} written by an earlier version: tenterhook update")
    problems = found.problems()
    if problems:
        print_text(f"        {counted(len(problems), 'problem')}: tenterhook check")


def agent_states(catalog: Catalog) -> list[AgentState]:
    """Return the state of every agent that is found on this machine."""
    with ThreadPoolExecutor() as pool:  # each waits for a process
        return list(pool.map(lambda agent: _state(agent, catalog), filter(Agent.is_present, AGENTS.values())))


def _state(agent: Agent, catalog: Catalog) -> AgentState:
    """Check an agent's settings and run the launcher that they name."""
    if (of_machine := install_record.managed(agent.name)) is not None:
        return _managed_state(agent, of_machine, catalog)
    try:
        record = checks.guarded(agent)
        project = None if record or not agent.project_file else catalog.root
        record = record or (checks.guarded(agent, project) if project else None)
        if record is None:
            return AgentState(agent, _NOT_GUARDED, "yellow")
        findings = checks.agent_findings(agent, catalog, project, quickly=True)
    except HookError as error:
        return AgentState(agent, _UNREADABLE, "red", visible(error.message))
    state = _by_findings(agent, record, catalog, findings)
    if state.word == _NO_HOOK:
        return state._replace(more=f"installed ({state.more})")
    return state._replace(is_untried=not proofs.is_proven(agent, project)) if state.word == _GUARDED else state


def _managed_state(agent: Agent, record: dict[str, Any], catalog: Catalog) -> AgentState:
    state = _by_findings(agent, record, catalog, checks.managed_findings(agent, record))
    return state if state.word == _DOUBTFUL else state._replace(more=f"managed by root ({state.more})")


def _by_findings(
    agent: Agent, record: dict[str, Any], catalog: Catalog, findings: Sequence[checks.Finding]
) -> AgentState:
    bad = [finding for finding in findings if finding.level is Level.BAD]
    if bad:
        return AgentState(agent, _DOUBTFUL, "red", visible(bad[0].what))
    is_guarded = event_wiring.is_guarded(agent, record, catalog.in_force())
    word, colour = (_GUARDED, "green") if is_guarded else (_NO_HOOK, "yellow")
    return AgentState(agent, word, colour, ", ".join(record["events"]))


def _daemon(states: Sequence[AgentState]) -> str | None:
    from ..dispatch import daemon

    if daemon.SERVICE.process_id() is not None:
        return "runs"
    is_helped = bool(records.all_records())  # a managed installation does not use a user's daemon
    if not is_helped or not any(state.word == _GUARDED for state in states) or not daemon.could_help():
        return None
    return f"off; {daemon.ADVICE}"


def _is_own_hub_stopped() -> bool:
    """Whether the joined hub is the one of this account on this machine, and was stopped."""
    from ..hub import service
    from ..hub_client import membership

    joined = membership.read()
    is_own = joined is not None and joined.url == service.last_address()
    return is_own and service.SERVICE.config() is None and service.SERVICE.process_id() is None


def _next(catalog: Catalog, waiting: int, states: Sequence[AgentState]) -> str:
    doubtful = [state.agent.name for state in states if state.word in (_DOUBTFUL, _UNREADABLE)]
    unguarded = [state.agent.name for state in states if state.word == _NOT_GUARDED]
    untried = [state.agent.name for state in states if state.is_untried]
    if any(problem.severity == ERROR for problem in catalog.problems):
        return "tenterhook check           what is wrong, and how to fix it"
    if unguarded and configured.is_joined() and not _is_own_hub_stopped():
        return f"tenterhook install {unguarded[0]}   so that its questions reach the hub"
    if states and not catalog.all_hooks() and not any(records.all_records()):
        return "tenterhook setup           guards for these agents, installed and tried, in one command"
    if not catalog.hooks and not catalog.left_out:
        return "tenterhook add             add a built-in hook, or write one: tenterhook new --help"
    if doubtful:
        return f"tenterhook doctor {doubtful[0]}   what is wrong there, and how to fix it"
    if waiting:
        return "tenterhook trust           review this project's hooks and let them run"
    if unguarded and not records.all_records():
        return "tenterhook setup           install your hooks in these agents, and try them"
    if unguarded:
        return f"tenterhook install {unguarded[0]}"
    if untried:
        one = f"{untried[0]} " if len(untried) < len(states) else ""
        return f"tenterhook doctor {one}--live   check that your guards really block"
    if states:
        return "tenterhook log             what reached your hooks, and what they did"
    return 'tenterhook trigger pre-tool-call --tool Shell --input \'{"command": "ls"}\''
