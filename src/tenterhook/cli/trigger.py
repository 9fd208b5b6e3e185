"""`tenterhook trigger`: fire an event at the hooks in force and show what they decide."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from ..approvals import configured
from ..authoring.explain import Explanation, explain
from ..basics import agent_marks
from ..basics.display_text import one_line, visible
from ..catalog import project_root
from ..catalog.trust import project_trust
from ..engine.engine import Engine, untrusted_hints, untrusted_line
from ..engine.sessions import Session, fresh_id
from ..errors import ERROR, HookError
from ..events import spec_of
from ..install import sources
from ..journal.journal import Journal
from ..model import Event, Verdict
from . import sample_events
from .hook_runs import decide, own_state
from .loading import caller, caller_names, config_option, event_names, json_option, session_ids
from .printing import print_json, print_problems, print_said, print_text, print_verdict, short_path
from .refusals import refuse_below_agent

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..approvals.rules import Rule
    from ..catalog.catalog import Catalog
    from ..errors import Problem

DENIED = 2
REFUSED_CONFIG = 1


@click.command(short_help="Fire an event at your hooks and see the verdict.")
@click.argument("event", metavar="EVENT", shell_complete=event_names)
@click.option(
    "--payload",
    metavar="FILE|-",
    type=click.Path(allow_dash=True),
    help="A JSON object with the event's fields; - reads it from stdin.",
)
@click.option("--tool", metavar="NAME", help="The tool's name.")
@click.option("--input", "tool_input", metavar="JSON", help="The tool's input, a JSON object.")
@click.option("--prompt", metavar="TEXT", help="The prompt's text.")
@click.option(
    "--session",
    metavar="ID",
    shell_complete=session_ids,
    help="The session; calls with the same session share its state.",
)
@click.option("--cwd", metavar="DIR", type=click.Path(), help="The session's working directory (default: here).")
@config_option
@click.option(
    "--agent",
    metavar="NAME",
    default="agent",
    show_default=True,
    callback=caller,
    shell_complete=caller_names,
    help="The agent whose hooks are run; agent is the bundled one.",
)
@click.option("--trust-project", is_flag=True, help="Run the project's hooks this once, trusted or not.")
@click.option("--dry-run", is_flag=True, help="Run nothing; show which hooks would run, and why the others would not.")
@click.option("--debug", is_flag=True, help="Print to stderr what each hook receives and how it ends.")
@json_option
def trigger(
    event: str,
    payload: str | None,
    tool: str | None,
    tool_input: str | None,
    prompt: str | None,
    session: str | None,
    cwd: str | None,
    configs: tuple[str, ...],
    agent: str,
    trust_project: bool,
    dry_run: bool,
    debug: bool,
    as_json: bool,
) -> int:
    """Fire an event at your hooks and see what they decide.

    EVENT is any name of an event: pre-tool-call, before_tool and PreToolUse are the same. Hooks receive every field
    that "tenterhook show EVENT" lists, with a sample value unless an option sets it; with --payload, they receive
    that. Exit status 2 if the decision is deny, 1 if a file given with --config was refused, else 0.

    \b
    tenterhook trigger pre-tool-call --tool Shell --input '{"command": "rm -rf /"}'
    tenterhook trigger Stop --payload event.json --json
    tenterhook trigger permission-request --tool Shell --input '{"command": "ls"}' --dry-run
    """
    if session:
        refuse_below_agent("trigger --session")
    is_below_agent = agent_marks.refusal() is not None
    fired = _event(event, payload, tool=tool, tool_input=tool_input, prompt=prompt, session=session, cwd=cwd)
    if is_below_agent:
        fired = fired.replace(session_id="")
    not_given = () if payload or as_json else _not_given(fired, {"tool": tool, "input": tool_input, "prompt": prompt})
    lasting = bool(fired.session_id)
    root = _root(fired, lasting=lasting and not dry_run)
    if not lasting:
        fired = fired.replace(session_id=fresh_id())
    found = sources.for_agent(agent, root, configs, project_trust(root, trust_project))
    catalog = found.catalog
    if dry_run:
        explanations = explain(catalog.hooks, fired, catalog)
        _print_samples(fired, not_given)
        _print_explanations(fired, explanations, _deciding_rule(fired, agent), catalog, as_json=as_json)
        return REFUSED_CONFIG if found.refused else 0
    say = (lambda line: click.echo(visible(line), err=True)) if debug or catalog.debug else None
    engine = Engine(catalog.hooks, catalog=catalog, debug=say, tell_untrusted=False, journal=Journal("trigger"))
    in_background = any(hook.in_background for hook in catalog.hooks)
    with own_state(keep=in_background) if is_below_agent else contextlib.nullcontext():
        try:
            verdict = decide(engine, fired)
        finally:
            if not lasting and not in_background:
                Session(fired.session_id).forget()  # its id cannot be used again
    _start_upload()
    with contextlib.suppress(OSError):  # output that cannot be written does not change the decision
        _print_samples(fired, not_given)
        _print(verdict, as_json=as_json)
        for each in catalog.disabled(fired.canonical):
            print_text(f"tenterhook: not asked: {visible(str(each))}", err=True)
    return DENIED if verdict.denied else REFUSED_CONFIG if found.refused else 0


def _start_upload() -> None:
    """Start the upload of new records if a hub was joined."""
    if configured.is_joined():
        from ..hub_client.uploader_start import ensure_uploader_running

        ensure_uploader_running()


def _print(verdict: Verdict, *, as_json: bool) -> None:
    if as_json:
        print_json(verdict.as_json())
    else:
        print_verdict(verdict)
        _print_errors(verdict.problems)
    untrusted = [run for run in verdict.runs if run.why == "untrusted"]
    if untrusted:
        print_text(untrusted_line(len(untrusted), untrusted_hints(untrusted)), err=True)


def _event(
    name: str, payload: str | None, *, session: str | None, cwd: str | None, tool_input: str | None, **options: Any
) -> Event:
    """Return the event of the payload and the options; options take precedence."""
    given: dict[str, Any] = _json_object(_read(payload), "--payload") if payload else {}
    if tool_input is not None:
        given["tool_input"] = _json_object(tool_input, "--input")
    if options.get("tool"):
        given["tool_name"] = options["tool"]
    if options.get("prompt") is not None:
        given["prompt"] = options["prompt"]
    given["session_id"] = session or given.get("session_id") or os.environ.get("TENTERHOOK_SESSION_ID") or ""
    given["work_dir"] = cwd or given.pop("cwd", None) or given.get("work_dir") or os.getcwd()
    given.pop("cwd", None)
    for key, kind in (("session_id", str), ("work_dir", str), ("timestamp", str), ("context", dict)):
        if not isinstance(given.get(key) or kind(), kind):
            raise click.UsageError(f"{key} must be {'a string' if kind is str else 'an object'}")
    if not os.path.isdir(given["work_dir"]):
        hint = "" if cwd else "; it is from the payload; override it with --cwd DIR, for example --cwd ."
        raise click.UsageError(f"no such directory: {given['work_dir']}{hint}")
    try:
        if payload is None:
            given = sample_events.fields(spec_of(name), given, given["work_dir"])
        return Event.from_payload(name, given)
    except (HookError, TypeError) as error:
        raise click.UsageError(str(error)) from None


def _not_given(event: Event, options: dict[str, str | None]) -> Sequence[str]:
    """Return the options that matchers of the event test and that were not given."""
    looked_at = ("tool", "input") if event.spec.has_tool else ("prompt",) if event.spec.target == "prompt" else ()
    return [name for name in looked_at if options[name] is None]


def _print_samples(event: Event, not_given: Sequence[str]) -> None:
    fields = {"tool": "tool_name", "input": "tool_input", "prompt": "prompt"}
    shown = [f"--{name} {json.dumps(event.fields.get(fields[name]), ensure_ascii=False)}" for name in not_given]
    if shown:
        print_text(click.style(f"sample sent: {visible(', '.join(shown))}", dim=True), err=True)


def _read(payload: str) -> str:
    try:
        if payload == "-":
            return sys.stdin.buffer.read().decode()
        with open(payload, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise click.UsageError(f"--payload: {error.strerror}: {payload}") from None
    except UnicodeDecodeError as error:
        raise click.UsageError(f"--payload: not UTF-8: {error.reason}") from None


def _json_object(text: str, option: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{option} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise click.UsageError(f'{option} must be a JSON object, such as {{"command": "ls"}}')
    return value


def _root(event: Event, *, lasting: bool) -> str:
    """Return the root of the project in which the session began."""
    found = project_root.project_root(event.work_dir)
    session = Session(event.session_id)
    return session.fix_root(found) if lasting else (session.root() if event.session_id else None) or found


def _deciding_rule(event: Event, agent: str) -> Rule | None:
    """Return the rule that applies to a tool call, of any source, or None."""
    if event.canonical not in configured.EVENTS or event.tool_name is None or not configured.is_any():
        return None
    from ..dispatch import approvals

    return approvals.deciding_rule(event, agent)


def _print_explanations(
    event: Event, explanations: list[Explanation], rule: Rule | None, catalog: Catalog, *, as_json: bool
) -> None:
    if as_json:
        print_json(
            {
                "schema": 1,
                "event": event.canonical,
                "dry_run": True,
                "hooks": [_explanation_as_json(each) for each in explanations],
                "rule": rule._asdict() if rule is not None else None,
                "problems": [problem.as_json() for problem in catalog.problems],
            }
        )
        return
    would = [each for each in explanations if each.why_not is None]
    print_text(f"{click.style(event.canonical, bold=True)}  {len(would)} would run")
    for each in would:
        when = "in the background" if each.background else f"stage {each.stage}"
        when += f", built-in guard {each.hook.guard}" if each.hook.guard and not each.background else ""
        note = f"  ({each.note})" if each.note else ""
        print_said(f"  {one_line(each.hook.name):<28} ", f"{when}{note}")
    others = [each for each in explanations if each.why_not is not None]
    if others:
        print_text("would not run:")
    for each in others:
        print_said(f"  {one_line(each.hook.name):<28} ", each.why_not or "")
    if rule is not None:
        print_text(f"rule: {rule.answer}, {visible(rule.said)}  ({short_path(rule.source)})")
    elif event.canonical in configured.EVENTS and configured.is_any():
        click.echo("rule: none matches")
    _print_errors(catalog.problems)


def _print_errors(problems: Iterable[Problem]) -> None:
    """Print the errors; `check` and `list` print warnings too."""
    print_problems((problem for problem in problems if problem.severity == ERROR), err=True)


def _explanation_as_json(each: Explanation) -> dict[str, Any]:
    return {
        "hook": each.hook.name,
        "source": each.hook.source,
        "layer": each.hook.layer,
        "event_name": each.hook.declared,
        "would_run": each.why_not is None,
        "stage": each.stage,
        "async": each.background,
        "why_not": each.why_not,
        "note": each.note,
    }
