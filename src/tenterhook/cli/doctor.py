"""`tenterhook doctor`: check whether guards would block in each agent."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import click

from ..agents import AGENTS
from ..basics import install_record
from ..catalog import project_root
from ..doctor import checks, proofs
from ..doctor.checks import Finding, Level
from ..install import event_wiring, managed, records, settings_change, sources, sync
from .loading import agent_names, agents_named, catalog_here, json_option
from .printing import print_json, print_said, print_text, progress
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..agents.protocol import Agent
    from ..catalog.catalog import Catalog
    from ..doctor.probe import ModeResult

_MARKS = {Level.OK: ("ok", "green"), Level.NOTE: ("note", "yellow"), Level.BAD: ("bad", "red")}


@click.command(short_help="Check whether your guards would block.")
@click.argument("names", nargs=-1, metavar="[AGENT]...", shell_complete=agent_names)
@click.option("--live", is_flag=True, help="Run each real agent and have it try something harmless but forbidden.")
@click.option("--timeout", default=120.0, show_default=True, metavar="SECONDS", help="How long each live run may take.")
@click.option("--fix", is_flag=True, help="First repeat `tenterhook install` with the same options.")
@json_option
def doctor(names: tuple[str, ...], live: bool, timeout: float, fix: bool, as_json: bool) -> int:
    """Check whether your guards would block in AGENT (default: in every agent that is guarded or found).

    It checks the agent's settings, runs the launcher that they name, and checks every hook and its trust. With --fix,
    it first repeats `tenterhook install` with the options chosen then. With --live, the real agent runs headless in
    each of its modes, with a copy of your settings and against a scripted model on this machine, and tries what a
    canary hook in a temporary project forbids. Your own hooks run there too. Exit status 1 if a guard would not block.

    \b
    tenterhook doctor
    tenterhook doctor claude-code --live
    tenterhook doctor --fix
    """
    named = agents_named(names)
    if fix:
        _renew(named)
    catalog = sources.here().catalog
    hooks = checks.hook_findings(catalog_here())  # hooks files are checked for each agent
    if not as_json:
        print_text(click.style("hooks", bold=True))
        _print(hooks)
    reports = []
    for agent in named or _present():
        report = _check_agent(agent, catalog, is_asked_for=bool(names))
        if not as_json:
            print_text(f"{click.style(agent.title, bold=True)} {report.version or '(program not found)'}")
            _print(report.findings)
        if live and report.is_known:
            report = report._replace(live=_live(agent, report.project, timeout, as_json=as_json))
        if any(each.held is not None for each in report.live):
            record = records.read(records.file(agent, report.project)) or {"configs": ()}
            untried = checks.untried_guards(agent, catalog, record)
            report = report._replace(findings=[*report.findings, *untried])
            if not as_json:
                _print(untried)
        reports.append(report)
    broken = _is_bad(hooks) or any(report.is_broken for report in reports)
    unshown = any(report.is_unshown for report in reports)
    if as_json:
        everything = {
            "hooks": [finding.as_json() for finding in hooks],
            "agents": [report.as_json() for report in reports],
        }
        print_json({"schema": 1, "holds": not (broken or unshown), **everything})
    elif reports and not catalog.in_force() and not broken and any(report.is_guarded for report in reports):
        print_text("no hook is in force: nothing would be blocked")
    else:
        print_text(_summary(reports, broken=broken, unshown=unshown))
    return 1 if broken or unshown else 0


def _renew(named: Sequence[Agent]) -> None:
    """Install again with the options of the existing installations."""
    refuse_below_agent("doctor --fix")
    for record in records.all_records():
        if record["host"] not in AGENTS:
            continue
        agent = AGENTS[record["host"]]
        if named and agent not in named:
            continue
        with sync.settings_where_they_were(agent, record):
            hooks = sources.for_agent(agent.name, record["root"] or project_root.project_root(os.getcwd()), ()).catalog
            must_close = event_wiring.must_close(hooks.in_force())
            settings_change.apply(settings_change.plan(agent, record["root"], hooks.expected(), must_close=must_close))


class _AgentReport(NamedTuple):
    """The findings about one agent, and the results of its live runs."""

    agent: Agent
    version: str | None
    project: str | None  # of the installation that was checked first
    is_known: bool
    findings: Sequence[Finding]
    live: Sequence[ModeResult] = ()

    @property
    def is_broken(self) -> bool:
        return _is_bad(self.findings) or any(each.held is False for each in self.live)

    @property
    def is_unshown(self) -> bool:
        """Whether there were live runs, all without a result."""
        return bool(self.live) and all(each.held is None for each in self.live)

    @property
    def is_guarded(self) -> bool:
        return any(finding.level is Level.OK for finding in self.findings)

    def as_json(self) -> dict[str, object]:
        return {
            "agent": self.agent.name,
            "version": self.version,
            "findings": [finding.as_json() for finding in self.findings],
            "live": [each._asdict() for each in self.live],
        }


def _check_agent(agent: Agent, catalog: Catalog, *, is_asked_for: bool) -> _AgentReport:
    """Check every installation in an agent; an agent that was neither named nor installed is only reported as such."""
    is_here = any((each["host"], each["root"]) == (agent.name, catalog.root) for each in records.all_records())
    projects = [None, *([catalog.root] if is_here else [])]
    if records.read(records.file(agent, None)) is None and len(projects) > 1:
        projects = projects[1:]
    is_known = is_asked_for or records.read(records.file(agent, projects[0])) is not None
    of_machine = install_record.managed(agent.name)
    findings = checks.managed_findings(agent, of_machine) if of_machine else []
    if of_machine and records.read(records.file(agent, projects[0])) is None:
        return _AgentReport(agent, agent.version(), None, is_asked_for, findings)
    findings += [each for project in projects for each in checks.agent_findings(agent, catalog, project)]
    if not is_known:
        findings = [Finding(Level.NOTE, "not guarded", f"tenterhook install {agent.name}")]
    return _AgentReport(agent, agent.version(), projects[0], is_known, findings)


def _is_bad(findings: Sequence[Finding]) -> bool:
    return any(finding.level is Level.BAD for finding in findings)


def _summary(reports: Sequence[_AgentReport], *, broken: bool, unshown: bool) -> str:
    """Return the last line of the report."""
    if not reports:
        return "no agent was found on this machine"
    if broken:
        return click.style("a guard would not block", fg="red")
    if not any(report.is_guarded for report in reports):
        return "no agent is guarded yet: tenterhook install"
    if unshown:
        return click.style("not tried: no live run showed whether guards block", fg="yellow")
    if any(each.held is None for report in reports for each in report.live):
        return "no guard failed; the untried modes remain unproven"
    unproven = [report.agent.title for report in reports if report.is_guarded and not report.agent.proven]
    return "every guard would block" + (f"; in {', '.join(unproven)} by documentation only" if unproven else "")


def _present() -> list[Agent]:
    installed = {record["host"] for record in (*records.all_records(), *managed.all_records())}
    return [agent for agent in AGENTS.values() if agent.name in installed or agent.is_present()]


def _print(findings: Sequence[Finding]) -> None:
    for finding in findings:
        word, colour = _MARKS[finding.level]
        print_said(f"  {click.style(f'{word:<5}', fg=colour)} ", finding.what)
        if finding.remedy and finding.level is not Level.OK:
            print_said("        ", finding.remedy)


def _live(agent: Agent, project: str | None, timeout: float, *, as_json: bool) -> list[ModeResult]:
    from ..doctor import probe

    record = records.read(records.file(agent, project))
    if record is None or "pre-tool-call" not in record["events"].values():
        if not as_json:
            _print([Finding(Level.NOTE, "no hook on tool calls is wired: a live run could not show anything")])
        return []
    runs = []
    modes = probe.probe_modes(agent, project, timeout=timeout)
    while True:
        with progress(f"{agent.title} runs: does the guard block?"):
            tried = next(modes, None)
        if tried is None:
            break
        runs.append(tried)
        if not as_json:
            _print_tried(tried)
    outcomes = {each.held for each in runs}
    proofs.record_result(agent, project, held=True in outcomes and False not in outcomes)
    return runs


def _print_tried(tried: ModeResult) -> None:
    word, colour = {True: ("blocked", "green"), False: ("NOT BLOCKED", "red"), None: ("untried", "yellow")}[tried.held]
    took = f"  ({tried.seconds:.1f} s)" if tried.seconds else ""
    print_said(f"  {click.style(f'{word:<11}', fg=colour)} {tried.mode:<13} ", f"{tried.what}{took}")
