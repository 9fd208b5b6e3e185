"""`tenterhook try`: what would happen to a shell line, without running it."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..agents import AGENTS
from ..approvals import configured
from ..approvals.policy import Ruling, Step
from ..basics import agent_marks
from ..basics.display_text import one_line, visible
from ..catalog import project_root
from ..dispatch import approvals
from ..engine.engine import Engine, untrusted_hints, untrusted_line
from ..engine.sessions import Session, fresh_id
from ..guards import GUARDS, judge
from ..guards.calls import GuardedCall, Objection
from ..install import sources
from ..model import Action, Event
from .hook_runs import decide, own_state
from .loading import caller, caller_names, json_option
from .printing import below, counted, print_json, print_text, short_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TextIO

    from ..approvals.rules import Rule
    from ..catalog.catalog import Catalog
    from ..guards.calls import GuardFinding
    from ..install.sources import Source
    from ..model import Run

RUNS, ASKED, REFUSED = "runs", "asked", "refused"
STATUS = {RUNS: 0, REFUSED: 2, ASKED: 3}
_WORDS = {
    RUNS: ("would run", "green"),
    ASKED: ("would be asked about", "magenta"),
    REFUSED: ("would be refused", "red"),
}
_VERBS = {"deny": "refuses", "ask": "asks", "approve": "approves", "failed": "failed"}
_OUTCOMES = {"deny": REFUSED, "ask": ASKED}
_GUARD = "block-dangerous-commands"  # the guard that is recommended where there is none


class HookAnswer(NamedTuple):
    """The decision of one hook, or one built-in guard, about a line."""

    name: str
    decision: str
    reason: str | None
    findings: tuple[GuardFinding, ...] = ()
    source: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "findings": [finding._asdict() for finding in self.findings]}


class LineResult(NamedTuple):
    """What would happen to a line, and which hook or rule decides it."""

    line: str
    outcome: str
    by: str = ""  # hook or rule; empty if nothing decides
    said: tuple[HookAnswer, ...] = ()
    rule: Rule | None = None
    becomes: str | None = None  # if a hook changes it
    outcomes: tuple[tuple[str, str], ...] = ()  # in each agent with the same hooks; rules may differ

    def as_json(self) -> dict[str, Any]:
        said = [each.as_json() for each in self.said]
        rule = self.rule and self.rule._asdict()
        return {**self._asdict(), "said": said, "rule": rule, "outcomes": dict(self.outcomes)}


@click.command("try", short_help="See what would happen to a shell line, without running it.")
@click.argument("line", metavar="[LINE]", required=False)
@click.option(
    "--in",
    "directory",
    metavar="DIR",
    default=".",
    type=click.Path(exists=True, file_okay=False),
    help="Where the line would run (default: here).",
)
@click.option(
    "--agent",
    metavar="NAME",
    callback=lambda context, option, name: name and caller(context, option, name),
    shell_complete=caller_names,
    help="The agent that would run it; agent is the bundled one (default: the first one that is installed; others with "
    "the same hooks are named if something else would happen there).",
)
@click.option(
    "--file",
    metavar="FILE|-",
    type=click.File(encoding="utf-8", errors="replace"),
    help="Try each line of a file: text, or JSON with `line`.",
)
@click.option("--guards", is_flag=True, help="Check with every built-in guard, in force or not, and nothing else.")
@json_option
def try_line(
    line: str | None, directory: str, agent: str | None, file: TextIO | None, guards: bool, as_json: bool
) -> int:
    """See what would happen to a shell line: whether it would run, be asked about or be refused, by which hook or rule.

    The line itself is never run, and nothing is written to the journal. Hooks that decide about shell commands are run
    as for a real call, since only they know; asynchronous hooks are not. With --guards, no hook is run.

    Exit status 0: it would run; 2: refused; 3: a person would be asked; for a file, the worst result (refused first).

    \b
    tenterhook try 'git push --force'
    tenterhook try 'rm -rf build' --in ~/work/site --agent codex
    tenterhook try --file lines.txt --json
    """
    if (line is None) == (file is None) or (line is not None and not line.strip()):
        raise click.UsageError("give one line, in quotes, or a file: tenterhook try 'git push --force'")
    lines = [line] if line is not None else list(_lines(file))
    with contextlib.chdir(directory):
        trial = _Trial(agent)
        tried = [_by_guards(each, GUARDS) if guards else trial.of(each) for each in lines]
        if as_json:
            _print_json(tried, trial, is_file=file is not None)
        elif file is not None:
            _print_list(tried)
        else:
            _print_one(tried[0], trial, guards=guards)
    return STATUS[_worst(each.outcome for each in tried)]


def _lines(file: TextIO | None) -> Iterator[str]:
    """Yield the lines of a file, each as text or as `line` of a JSON object; empty ones are left out."""
    for text in file or ():
        try:
            found = json.loads(text) if text.startswith("{") else None
        except ValueError:
            found = None
        given = found.get("line") if isinstance(found, dict) else None
        if (line := given if isinstance(given, str) else text.rstrip("\r\n")).strip():
            yield line


class _Trial:
    """The hooks and rules that are in force here in one agent."""

    def __init__(self, agent: str | None) -> None:
        self.directory = os.getcwd()
        root = project_root.project_root(self.directory)
        guarded = list(sources.guarded(root))
        self.agent = agent or next(iter(guarded), sources.BUNDLED)
        self.is_guarded = self.agent in (*guarded, sources.BUNDLED)
        self.only_bundled = agent is None and not guarded
        self.catalog: Catalog = sources.for_agent(self.agent, root).catalog
        files = sources.files_of(self.agent, root)[0]
        # other agents with the same hooks; those with hooks files of their own are tried with --agent
        same = [name for name in guarded[1:] if _files(sources.files_of(name, root)[0]) == _files(files)]
        self.agents = (self.agent, *([] if agent else same))
        self.rules = approvals.all_rules()
        self.untrusted: list[Run] = []
        self._tool = AGENTS[self.agent].shell_tool if self.agent in AGENTS else "Shell"
        # asynchronous hooks decide nothing
        hooks = [hook for hook in self.catalog.hooks if not hook.in_background]
        self._engine = Engine(hooks, catalog=self.catalog, tell_untrusted=False)

    @property
    def has_guard(self) -> bool:
        """Whether a built-in guard is in force."""
        return any(hook.guard is not None and hook.event == "pre-tool-call" for hook in self.catalog.hooks)

    def of(self, line: str) -> LineResult:
        """Run the hooks for a line and apply the rules to their verdict."""
        given: dict[str, Any] = {"tool_name": self._tool, "tool_input": {"command": line}}
        event = Event("pre-tool-call", session_id=fresh_id(), work_dir=self.directory, **given)
        with own_state(keep=False) if agent_marks.refusal() is not None else contextlib.nullcontext():
            try:
                verdict = decide(self._engine, event)
            finally:
                Session(event.session_id).forget()
        self.untrusted = [run for run in verdict.runs if run.why == "untrusted"]
        ruling, rule = approvals.foreseen(event, verdict, self.agent, self.rules)
        outcome = _outcome(ruling)
        said = tuple(each for run in verdict.runs if (each := _said(run)) is not None)
        becomes = (verdict.modified_input or {}).get("command")
        by = ruling.by if ruling.by in ("hook", "rule") else ""
        if outcome == ASKED:
            by = "hook" if verdict.decision is Action.ASK else "rule"
        outcomes = [
            (each, _outcome(approvals.foreseen(event, verdict, each, self.rules)[0])) for each in self.agents[1:]
        ]
        return LineResult(line, outcome, by, said, rule, becomes, ((self.agent, outcome), *outcomes))

    def then(self, agent: str) -> str:
        """Return what an agent does where a person must be asked."""
        title = sources.title(agent)
        first = "people at the hub are asked; without their answer " if configured.is_joined() else ""
        if _asks(agent):
            return f"{first}{title} asks its user"
        return f"{first}{title} has no way to ask its user: it is refused, and `tenterhook allow ID` lets it run once"


def _asks(agent: str) -> bool:
    """Return whether an agent can ask its user."""
    return agent not in AGENTS or AGENTS[agent].capabilities.asks


def _files(found: Iterable[Source]) -> set[str]:
    return {source.file for source in found}


def _worst(outcomes: Iterable[str]) -> str:
    return max(outcomes, key=(RUNS, ASKED, REFUSED).index, default=RUNS)


def _outcome(ruling: Ruling) -> str:
    if ruling.step is Step.REFUSE and ruling.by != "nobody":
        return REFUSED
    return RUNS if ruling.step in (Step.RUN, Step.LEAVE) else ASKED


def _said(run: Run) -> HookAnswer | None:
    """Return the decision of a run; None if it has no objection and did not fail."""
    decision = run.decision
    if run.failed:
        return HookAnswer(run.hook.name, "failed", run.why, source=run.hook.source)
    if not run.started or decision.ignored is not None or str(decision.action) in ("none", "allow"):
        return None
    return HookAnswer(run.hook.name, str(decision.action), decision.reason, run.findings, run.hook.source)


def _by_guards(line: str, names: Any) -> LineResult:
    """Return what built-in guards decide about a line, with their default settings."""
    call = GuardedCall("Shell", {"command": line}, os.getcwd(), os.environ)
    found = [(name, judge(name, call)) for name in names]
    said = tuple(
        HookAnswer(name, each.decision, each.reason, each.findings)
        for name, each in found
        if isinstance(each, Objection)
    )
    return LineResult(line, _worst(_OUTCOMES[each.decision] for each in said), "hook" if said else "", said)


def _print_one(tried: LineResult, trial: _Trial, *, guards: bool) -> None:
    _print_line(tried)
    for each in tried.said:
        _print_said(each)
    if tried.becomes is not None:
        print_text(f"  a hook changes it to: {below(tried.becomes)}")
    if tried.rule is not None:
        print_text(f"  rule: {tried.rule.answer}, {visible(tried.rule.said)}  ({short_path(tried.rule.source)})")
    if guards:
        return
    differ = len({(outcome, outcome == ASKED and _asks(agent)) for agent, outcome in tried.outcomes}) > 1
    if differ:
        for agent, outcome in tried.outcomes:
            would = f"{sources.title(agent)}: it {_WORDS[outcome][0]}"
            print_text(f"  {trial.then(agent) if outcome == ASKED else would}")
    elif tried.outcome == ASKED:
        print_text(f"  {trial.then(trial.agent)}")
    elif tried.outcome == RUNS and not tried.by:
        who = "no trusted hook" if trial.untrusted else "no hook"
        print_text(f"  {who} and no rule of yours objects; the agent's own settings decide whether it asks its user")
    if not trial.is_guarded:
        title = sources.title(trial.agent)
        print_text(f"{title} is not guarded here, so none of this happens: tenterhook install {trial.agent}", err=True)
    elif trial.only_bundled and trial.has_guard:
        print_text(
            "only the bundled agent calls your hooks; for the agents on this machine: tenterhook setup", err=True
        )
    if trial.untrusted:
        print_text(untrusted_line(len(trial.untrusted), untrusted_hints(trial.untrusted)), err=True)
    if not trial.has_guard:
        judged = _by_guards(tried.line, (_GUARD,))
        then = f"With `tenterhook add {_GUARD}` it {_WORDS[judged.outcome][0]}"
        print_text(f"No built-in guard is in force here. {then}{':' if judged.said else '.'}")
        for each in judged.said:
            _print_said(each)


def _print_line(tried: LineResult) -> None:
    """Print the outcome and the line, marking the part that the worst finding is about."""
    word, colour = _WORDS[tried.outcome]
    head = f"{word}: "
    print_text(f"{click.style(word, fg=colour, bold=True)}: {below(tried.line)}")
    span = next((each.span for said in tried.said for each in said.findings if each.span), None)
    if span is not None and tried.line.isprintable() and tried.line.isascii():
        print_text(" " * (len(head) + span[0]) + "^" * max(span[1] - span[0], 1))


def _print_said(said: HookAnswer) -> None:
    source = f"  ({short_path(said.source)})" if said.source else ""
    print_text(f"  {one_line(said.name)} {_VERBS[said.decision]}{source}")
    if said.reason:
        print_text(f"      {below(said.reason)}")


def _print_list(tried: list[LineResult]) -> None:
    for each in tried:
        colour = _WORDS[each.outcome][1]
        rules = [finding.rule for said in each.said for finding in said.findings[:1]]
        who = ", ".join(dict.fromkeys(rules or [said.name for said in each.said])) or each.by
        print_text(f"{click.style(f'{each.outcome:<8}', fg=colour)} {one_line(who):<28} {one_line(each.line)}")
    counts = Counter(each.outcome for each in tried)
    print_text(f"{counted(len(tried), 'line')}: " + ", ".join(f"{counts[name]} {_WORDS[name][0]}" for name in _WORDS))


def _print_json(tried: list[LineResult], trial: _Trial, *, is_file: bool) -> None:
    about = {
        "schema": 1,
        "agent": trial.agent,
        "guarded": trial.is_guarded,
        "directory": trial.directory,
        "if_asked": trial.then(trial.agent),
        "if_asked_by_agent": {agent: trial.then(agent) for agent in trial.agents},
        "untrusted": [run.hook.name for run in trial.untrusted],
    }
    if is_file:
        counts = Counter(each.outcome for each in tried)
        summary = {name: counts[name] for name in _WORDS}
        print_json({**about, "lines": [each.as_json() for each in tried], "summary": summary})
    else:
        print_json({**about, **tried[0].as_json()})
