"""`tenterhook` alone: where one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..doctor import checks
from ..doctor.findings import Level
from ..errors import ERROR, HookError
from ..installing import records, wiring
from ..installing.agents import AGENTS
from ..shown import visible
from .loading import catalog_here
from .printing import short_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..installing.agents import Agent


def print_status() -> int:
    """Agents found, guarded or not; hooks in force; problems; the next useful command."""
    catalog = catalog_here()
    running = [hook for hook in catalog.hooks if catalog.trust.standing(hook).runs]
    waiting = len(catalog.hooks) - len(running)
    errors = sum(problem.severity == ERROR for problem in catalog.problems)
    present = [agent for agent in AGENTS.values() if agent.is_present()]
    unguarded: list[str] = []
    doubtful: list[str] = []
    nowhere = "" if any(records.all_records()) or not running else "; no agent calls them yet"
    click.echo(f"{click.style('hooks', bold=True)}   {len(running)} in force in {short_path(catalog.root)}{nowhere}")
    if waiting:
        click.echo(f"        {waiting} of this project not trusted")
    problems = [*catalog.problems, *wiring.problems(catalog.hooks)]
    if problems:
        counted = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        click.echo(f"        {counted}: tenterhook check")
    click.echo(click.style("agents", bold=True) + ("" if present else "  none found"))
    for agent in present:
        try:
            record = checks.guarded(agent)
            project = None if record or not agent.project_file else catalog.root
            record = record or (checks.guarded(agent, project) if project else None)
            state = click.style("guarded", fg="green") if record else click.style("not guarded", fg="yellow")
            more = f"  {', '.join(record['events'])}" if record else ""
            trouble = checks.agent_findings(agent, catalog, project, quickly=True) if record else []
            bad = [finding for finding in trouble if finding.level is Level.BAD]
            if bad:
                state, more = click.style("would not hold", fg="red"), f"  {visible(bad[0].what)}"
                doubtful.append(agent.name)
        except HookError as error:
            record, state, more = None, click.style("unreadable settings", fg="red"), f"  {visible(error.message)}"
            doubtful.append(agent.name)
        if record is None and agent.name not in doubtful:
            unguarded.append(agent.name)
        click.echo(f"        {agent.title:<12} {state}{more}")
    next_step = _next(len(catalog.hooks), waiting, errors, present, unguarded, doubtful)
    click.echo(f"{click.style('next', bold=True)}    {next_step}")
    return 0


def _next(
    hooks: int, waiting: int, errors: int, present: Sequence[Agent], unguarded: list[str], doubtful: list[str]
) -> str:
    if errors:
        return "tenterhook check           what is wrong, and how to mend it"
    if not hooks:
        return "tenterhook add             take a ready-made hook, or write one: tenterhook new --help"
    if doubtful:
        return f"tenterhook doctor {doubtful[0]}   what is wrong there, and how to mend it"
    if waiting:
        return "tenterhook trust           look at this project's hooks and let them run"
    if unguarded:
        return f"tenterhook install {unguarded[0]}"
    if present:
        return "tenterhook doctor --live   see whether your guards really hold"
    return 'tenterhook trigger pre-tool-call --tool Shell --input \'{"command": "ls"}\''
