"""`tenterhook` alone: where one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..doctor import checks
from ..errors import ERROR, HookError
from ..installing import wiring
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
    unguarded = []
    click.echo(f"{click.style('hooks', bold=True)}   {len(running)} in force in {short_path(catalog.root)}")
    if waiting:
        click.echo(f"        {waiting} of this project not trusted")
    problems = [*catalog.problems, *wiring.problems(catalog.hooks)]
    if problems:
        click.echo(f"        {len(problems)} problems, {errors} of them errors: tenterhook check")
    click.echo(click.style("agents", bold=True) + ("" if present else "  none found"))
    for agent in present:
        try:
            record = checks.guarded(agent) or (checks.guarded(agent, catalog.root) if agent.project_file else None)
            state = click.style("guarded", fg="green") if record else click.style("not guarded", fg="yellow")
            more = f"  {', '.join(record['events'])}" if record else ""
        except HookError as error:
            record, state, more = None, click.style("unreadable settings", fg="red"), f"  {visible(error.message)}"
        if record is None:
            unguarded.append(agent.name)
        click.echo(f"        {agent.title:<12} {state}{more}")
    click.echo(f"{click.style('next', bold=True)}    {_next(len(catalog.hooks), waiting, errors, present, unguarded)}")
    return 0


def _next(hooks: int, waiting: int, errors: int, present: Sequence[Agent], unguarded: list[str]) -> str:
    if errors:
        return "tenterhook check           what is wrong, and how to mend it"
    if not hooks:
        return "write a hook: a folder with a HOOK.md in ~/.config/agents/hooks; then: tenterhook list"
    if waiting:
        return "tenterhook trust           look at this project's hooks and let them run"
    if unguarded:
        return f"tenterhook install {unguarded[0]}"
    if present:
        return "tenterhook doctor --live   see whether your guards really hold"
    return 'tenterhook trigger pre-tool-call --tool Shell --input \'{"command": "ls"}\''
