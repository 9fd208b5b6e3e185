"""`tenterhook show`: one hook with its text and script, or one event with its fields."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from ..basics.display_text import one_line, visible
from ..errors import HookError
from ..events import BY_NAME, OUTPUT_FIELDS, suggestion
from ..formats import entry_points, payloads
from ..formats import folder as folder_format
from ..install import sources
from ..model import Event, Hook
from . import sample_events
from .list_hooks import hook_as_json, mode, trust_text
from .loading import config_option, event_names, hook_names, json_option
from .printing import matcher_text, place_text, print_json, print_problems, print_said, short_path

if TYPE_CHECKING:
    from ..catalog.catalog import Catalog
    from ..events import EventSpec
    from ..install.sources import InForce


def _names(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    return hook_names(context, parameter, incomplete) + event_names(context, parameter, incomplete)


@click.command(short_help="Show a hook or an event.")
@click.argument("name", metavar="NAME|EVENT", shell_complete=_names)
@config_option
@json_option
def show(name: str, configs: tuple[str, ...], as_json: bool) -> None:
    """Show a hook with its text and script, or an event: its names, its fields, what a block means, an example.

    \b
    tenterhook show block-dangerous-commands
    tenterhook show pre-tool-call
    """
    found = sources.here(configs)
    catalog = found.catalog
    if not as_json:
        print_problems(catalog.problems, err=True)
    hooks = [hook for hook in catalog.all_hooks() if hook.name == name]
    if hooks:
        if as_json:
            shown = [_details(hook, found) for hook in hooks]
            print_json({"schema": 1, "hooks": shown, "problems": [problem.as_json() for problem in catalog.problems]})
            return
        for hook in hooks:
            _print_hook(hook, found)
    elif name in BY_NAME:
        spec = BY_NAME[name]
        if as_json:
            print_json({"schema": 1, "event": _event_as_json(spec)})
            return
        _print_event(spec)
    else:
        close = get_close_matches(name, [hook.name for hook in catalog.all_hooks()], n=1)
        remedy = f"did you mean '{close[0]}'?" if close else f"hooks: tenterhook list; events: {suggestion(name)}"
        raise HookError(f"no hook and no event is called '{name}'", remedy)


def _details(hook: Hook, found: InForce) -> dict[str, Any]:
    script, text = _script(hook, "backslashreplace")
    body = folder_format.body(hook.folder) if hook.folder and not hook.missing else None
    shown = hook_as_json(hook, found, _why_left_out(hook, found.catalog))
    return {**shown, "body": body, "script": script, "script_text": text}


def _script(hook: Hook, not_utf8: str) -> tuple[str | None, str | None]:
    """Return the entry point and its whole text; `not_utf8` is the error handler for decoding."""
    if hook.folder is None or hook.missing:
        return None, None
    script, _ = entry_points.entry_point(hook.folder)
    if script is None:
        return None, None
    with open(script, encoding="utf-8", errors=not_utf8, newline="") as file:
        return script, file.read()


def _why_left_out(hook: Hook, catalog: Catalog) -> str | None:
    return next((each.why for each in catalog.left_out if each.hook is hook), None)


def _print_hook(hook: Hook, found: InForce) -> None:
    catalog = found.catalog
    source = found.source_of(hook)
    left_out = _why_left_out(hook, catalog)
    print_said(click.style(one_line(hook.name), bold=True) + "  ", hook.description, indent=2)
    facts = {
        "event": hook.declared if hook.declared == hook.event else f"{hook.declared} ({hook.event})",
        "layer": hook.layer,
        "defined in": place_text(hook.source, hook.line if hook.format != "folder" else None),
        "mode": mode(hook),
        "runs": _runs(hook),
        "priority": str(hook.priority),
        "timeout": f"{hook.timeout:g} s",
        "matcher": f"{matcher_text(hook)} ({hook.dialect})" if matcher_text(hook) else "everything",
        "on failure": "block" if hook.fail_closed else "go on",
        "state": left_out or (str(source) if source is not None else trust_text(hook, catalog)),
    }
    for key, value in facts.items():
        print_said(f"  {key:<11}", value)
    if hook.command is not None:
        click.echo("\n" + visible(hook.command).rstrip("\n"))
    if hook.missing:
        click.echo(f"\n{visible(hook.missing)}")
    elif hook.folder is not None:
        click.echo(f"\n{visible(folder_format.body(hook.folder))}")
        script, text = _script(hook, "surrogateescape")  # for `visible`
        if script is not None and text is not None:
            click.echo(f"\n{click.style(short_path(script), bold=True)}\n" + visible(text).rstrip("\n"))
    click.echo()


def _runs(hook: Hook) -> str:
    if hook.guard is None:
        return "a command" if hook.folder is None else "a script"
    if hook.in_background:
        return f"the script below, which calls the built-in guard {hook.guard}"
    return f"built-in guard {hook.guard}, in process (the script is for other programs)"


def example(spec: EventSpec, family: str) -> dict[str, Any]:
    """Return the payload that a hook of this format is sent, with sample values."""
    where = "/home/me/project"
    filled = sample_events.fields(spec, {}, where)
    event = Event(spec.name, session_id="session_1", work_dir=where, timestamp="2026-01-15T10:30:00Z", **filled)
    names = {"folder": spec.table_name or spec.name, "array": spec.array_name or spec.name}
    return payloads.payload(Hook("example", spec.name, names[family], family), event)


def _event_as_json(spec: EventSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "names": list(spec.names),
        "matcher_target": spec.target or "",
        "fields": list(spec.fields),
        "array_fields": [column.name for column in spec.columns],
        "block": spec.block,
        "array_block": spec.array_block or spec.block,
        "effect": {family: str(spec.effect(family)) for family in ("folder", "table", "array")},
        "example": example(spec, "folder"),
        "array_example": example(spec, "array"),
    }


def _print_event(spec: EventSpec) -> None:
    from ..basics import light_json

    click.echo(click.style(spec.name, bold=True))
    facts = {
        "names": ", ".join(spec.names),
        "matched": f"the field {spec.target}" if spec.target else "the empty string",
        "a block": spec.block + (f"; array format: {spec.array_block}" if spec.array_block else ""),
        "fields": ", ".join(spec.fields),
        "array": ", ".join(column.name for column in spec.columns),
    }
    if spec.name in OUTPUT_FIELDS:
        facts["output"] = f"modified_output of a hook that decides replaces {OUTPUT_FIELDS[spec.name]} for the model"
    for key, value in facts.items():
        print_said(f"  {key:<9}", value)
    for family, title in (("folder", "folder and table hooks are sent"), ("array", "array hooks are sent")):
        click.echo()
        print_said("", f"{title}, under the name they declare:")
        print_said("  ", light_json.encode(example(spec, family)).decode())
