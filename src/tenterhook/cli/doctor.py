"""`tenterhook doctor`: am I protected?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..doctor import checks
from ..doctor.findings import Finding, Level
from ..installing import records
from ..installing.agents import AGENTS
from ..shown import visible
from .loading import agent_names, agents_named, catalog_here, json_option
from .printing import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..doctor.canary import Tried
    from ..installing.agents import Agent

_MARKS = {Level.OK: ("ok", "green"), Level.NOTE: ("note", "yellow"), Level.BAD: ("bad", "red")}


@click.command(short_help="Find out whether your guards really hold.")
@click.argument("names", nargs=-1, metavar="[AGENT]...", shell_complete=agent_names)
@click.option("--live", is_flag=True, help="Start each agent for real and let it try something harmless but forbidden.")
@click.option("--timeout", default=120.0, show_default=True, metavar="SECONDS", help="How long each live run may take.")
@json_option
def doctor(names: tuple[str, ...], live: bool, timeout: float, as_json: bool) -> int:
    """Say whether your guards would hold in AGENT (default: in every agent that is guarded or found).

    It looks at the agent's settings, at the line in them, at every hook and its trust. With --live the real agent runs
    headless, with a copy of your settings, against a scripted model on this machine, in each mode that it has, and
    tries what a canary hook of a throw-away project forbids. Your own hooks run there too. Exit status 1 if a guard
    would not hold.

    \b
    tenterhook doctor
    tenterhook doctor claude-code --live
    """
    named = agents_named(names)
    catalog = catalog_here()
    hooks = checks.hook_findings(catalog)
    if not as_json:
        click.echo(click.style("hooks", bold=True))
        _print(hooks)
    results: list[dict[str, object]] = []
    untried, unshown = 0, False
    broken = any(finding.level is Level.BAD for finding in hooks)
    for agent in named or _present():
        projects = [None, *(record["root"] for record in records.all_records() if _is_for(record, agent, catalog.root))]
        if records.read(records.file(agent, None)) is None and len(projects) > 1:
            projects = projects[1:]
        findings = [each for project in projects for each in checks.agent_findings(agent, catalog, project)]
        is_known = bool(names) or records.read(records.file(agent, projects[0])) is not None
        if not is_known:  # found on the machine, never asked for
            findings = [Finding(Level.NOTE, "not guarded", f"tenterhook install {agent.name}")]
        version = agent.version()
        if not as_json:
            click.echo(f"{click.style(agent.title, bold=True)} {version or '(program not found)'}")
            _print(findings)
        runs = _live(agent, projects[0], timeout, as_json=as_json) if live and is_known else []
        if runs and not as_json:
            _print(checks.untried_guards(agent, catalog))
        broken = broken or any(finding.level is Level.BAD for finding in findings)
        untried += sum(each.held is None for each in runs)
        broken = broken or any(each.held is False for each in runs)
        unshown = unshown or (bool(runs) and all(each.held is None for each in runs))
        results.append(
            {
                "agent": agent.name,
                "version": version,
                "findings": [finding.as_json() for finding in findings],
                "live": [each._asdict() for each in runs],
            }
        )
    if as_json:
        everything = {"hooks": [finding.as_json() for finding in hooks], "agents": results}
        print_json({"schema": 1, "holds": not (broken or unshown), **everything})
    elif not results:
        click.echo("no agent was found on this machine")
    elif not broken and not any(_is_guarded(result) for result in results):
        click.echo("no agent is guarded yet: tenterhook install")
    else:
        if not any(catalog.hooks):
            click.echo("no hook is in force: nothing is held")
            return 0
        held = "every guard would hold" if not untried else "no guard failed; what is untried was not shown to hold"
        if unshown:
            held = click.style("not tried: whether guards hold was not shown", fg="yellow")
        click.echo(click.style("a guard would not hold", fg="red") if broken else held)
    return 1 if broken or unshown else 0


def _is_guarded(result: dict[str, object]) -> bool:
    findings = result["findings"]
    return isinstance(findings, list) and any(finding["level"] == "ok" for finding in findings)


def _is_for(record: dict[str, object], agent: Agent, root: str) -> bool:
    return record["host"] == agent.name and record["root"] == root


def _present() -> list[Agent]:
    installed = {record["host"] for record in records.all_records()}
    return [agent for agent in AGENTS.values() if agent.name in installed or agent.is_present()]


def _print(findings: Sequence[Finding]) -> None:
    for finding in findings:
        word, colour = _MARKS[finding.level]
        click.echo(f"  {click.style(f'{word:<5}', fg=colour)} {visible(finding.what)}")
        if finding.remedy and finding.level is not Level.OK:
            click.echo(f"        {visible(finding.remedy)}")


def _live(agent: Agent, project: str | None, timeout: float, *, as_json: bool) -> list[Tried]:
    from ..doctor import canary

    record = records.read(records.file(agent, project))
    if record is None or "pre-tool-call" not in record["events"].values():
        if not as_json:
            click.echo("  note  no hook on tool calls is wired, so there is nothing that a live run could show")
        return []
    runs = []
    for each in canary.tried(agent, project, timeout=timeout):
        runs.append(each)
        if not as_json:
            word, colour = {True: ("held", "green"), False: ("NOT HELD", "red"), None: ("untried", "yellow")}[each.held]
            took = f"  ({each.seconds:.1f} s)" if each.seconds else ""
            click.echo(f"  {click.style(f'{word:<8}', fg=colour)} {each.mode:<13} {visible(each.what)}{took}")
    return runs
