"""docs/formats.md: every key of every format and every event, from the tables that definitions are checked against."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING

from tenterhook import Engine
from tenterhook.agents import AGENTS, FORMATS, dialect
from tenterhook.authoring import cases, expectations
from tenterhook.catalog import layer_settings as hooks_toml
from tenterhook.cli import sample_events, show
from tenterhook.events import EVENTS, OUTPUT_FIELDS, TOOL_NAMES, Effect
from tenterhook.formats import hook_fields, settings
from tools.reference.markdown import code, codes, sentence, table
from tools.reference.words import BASE, FIELDS, FUNCTION, WHEN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tenterhook.events import Column, EventSpec
    from tenterhook.formats.hook_fields import Field

_ABOUT = """# Formats reference

Every key of every format, and every event. [Writing hooks](hooks.md) tells how they are used, and
`tenterhook show EVENT` prints an event with an example.

"""
_KINDS = {str: "text", int: "whole number", bool: "true or false", dict: "table", list: "array", object: ""}
_EFFECTS = {
    Effect.DECIDES: "decides",
    Effect.INFORMS: "informs: its context and messages count, its decision does not",
    Effect.OBSERVES: "observes: awaited, its answer changes nothing",
    Effect.BACKGROUND: "observes: started when the verdict is known, never waited for",
}


def page() -> str:
    """Return the current page."""
    parts = [_ABOUT, *_definitions(), *_sent(), *_events()]
    return "".join(parts).rstrip() + "\n"


def _definitions() -> Iterator[str]:
    yield "## Folder format\n\nThe front matter of `HOOK.md`, in YAML.\n\n" + _keys(hook_fields.FOLDER)
    yield "Of `matcher`, here and in the table format:\n\n" + _keys(hook_fields.MATCHER)
    yield "`hooks.toml` beside the folders. Below `[hooks]`:\n\n" + _keys(hooks_toml.TOP)
    yield "Below `[hooks.defaults]`, for hooks that do not say it themselves:\n\n" + _keys(hooks_toml.DEFAULTS)
    yield "In each `[[hooks.disable]]`:\n\n" + _keys(hooks_toml.DISABLE)
    yield "`until` is Tenterhook's own; [disabling a hook](hooks.md#living-with-hooks) tells more.\n\n"
    yield "`[[hooks.override]]` has a `name` and any key of the front matter.\n\n"
    yield "## Table format\n\n`[[hooks.<event>]]` in a TOML file.\n\n" + _keys(hook_fields.TABLE)
    yield "## Array format\n\n`[[hooks]]` in a TOML file. Any other key refuses the file.\n\n" + _keys(
        hook_fields.ARRAY
    )
    yield "## Settings of other agents\n\nBelow `hooks`, for each event an array of groups:\n\n" + _keys(settings.GROUP)
    yield "Each of a group's `hooks`:\n\n" + _keys(settings.HANDLER)
    defaults = ", ".join(f"{dialect(each).timeout:g} in {_title(each)}" for each in FORMATS)
    yield f"A `timeout` that is not given is, in seconds: {defaults}.\n"
    yield "[Writing hooks](hooks.md#other-agents-settings) tells what else differs between them.\n\n"
    yield "## Python functions\n\n`@engine.on(…)`, see [embedding](embedding.md).\n\n" + _parameters()
    yield "## Cases\n\n`cases/*.toml` or `*.json` of a hook, see [writing hooks](writing-hooks.md#cases).\n\n"
    yield _keys(cases.CASE) + "A file as a table:\n\n" + _keys(cases.FILE)
    yield "Below `[expect]`:\n\n" + _keys(expectations.FIELDS)


def _keys(table_of: Sequence[Field]) -> str:
    rows = []
    for field in table_of:
        default = "required" if field.required else "" if not field.default and field.kind is not bool else _json(field)
        kind = codes(field.choices) if field.choices else _KINDS[field.kind]
        rows.append((code(field.key), kind, default, _range(field), field.meaning))
    return table(("key", "type", "default", "range", "meaning"), rows)


def _json(field: Field) -> str:
    return code(json.dumps(field.default) if not isinstance(field.default, str) else field.default)


def _range(field: Field) -> str:
    unit = " characters" if field.kind is str else ""
    if field.high is None:
        return "" if field.low is None else "not empty"
    return f"up to {field.high}{unit}" if not field.low and unit else f"{field.low} to {field.high}{unit}"


def _parameters() -> str:
    parameters = list(inspect.signature(Engine.on).parameters.values())[1:]
    rows = []
    for each in parameters:
        default = "required" if each.default is each.empty else "" if each.default is None else code(each.default)
        rows.append((code(each.name), default, FUNCTION[each.name]))
    return table(("parameter", "default", "meaning"), rows)


def _sent() -> Iterator[str]:
    yield "## What every hook is sent\n\n"
    yield "As JSON on stdin, with the event's own fields beside it; a field without a value is left out. What an\n"
    yield "agent tells beyond the fields below is sent as it is.\n\n"
    rows = [(code(ours), code(array) if array else "", meaning) for ours, array, meaning in BASE]
    yield table(("folder, table", "array", "meaning"), rows)
    yield "Hooks from another agent's settings are sent that agent's own JSON. A call of a tool, to a folder or table\n"
    yield "hook and to an array hook:\n\n"
    spec = next(spec for spec in EVENTS if spec.name == "pre-tool-call")
    for family in ("folder", "array"):
        yield f"```json\n{json.dumps(show.example(spec, family), indent=2)}\n```\n\n"
    yield "## Tools\n\nEvery name of a row is the same tool to a matcher; which agent uses which does not matter.\n\n"
    yield table(("tool", "other names"), ((code(names[0]), codes(names[1:])) for names in TOOL_NAMES))
    yield "`apply_patch` and `editor` are found as `WriteFile` and as `StrReplaceFile`, `file_editor` as what its "
    yield "`command` makes of it: `WriteFile` (`create`), `ReadFile` (`view`) or `StrReplaceFile`.\n\n"
    yield "A tool of an MCP server is found under the agent's own name, as `mcp:server/tool` and as\n"
    yield "`mcp__server__tool` ([more](hooks.md#tools-of-mcp-servers)). Agents spell them:\n\n"
    spelt: dict[str, list[str]] = {}
    for agent in AGENTS.values():
        if agent.mcp_prefix is not None or agent.mcp_spelling is None:  # the names do not contain the server
            spelling = f"{agent.mcp_prefix or ''}tool"
        else:
            spelling = "{}server{}tool".format(*agent.mcp_spelling)
        spelt.setdefault(spelling, []).append(agent.title)
    yield table(("the agent's own name", "agents"), ((code(name), ", ".join(names)) for name, names in spelt.items()))


def _events() -> Iterator[str]:
    yield "## Events\n\n"
    yield "Every name in a row means the same event, in every format, on the command line and in Python.\n\n"
    rows = [(f"[{spec.name}](#{spec.name})", _name(spec.table_name), _name(spec.array_name)) for spec in EVENTS]
    yield table(("event", "folders, tables also", "arrays also"), rows)
    yield "Where a hook *decides*, a block means what the event's row says. An *observer* changes nothing.\n\n"
    for spec in EVENTS:
        yield from _event(spec)


def _event(spec: EventSpec) -> Iterator[str]:
    yield f"### {spec.name}\n\n{WHEN[spec.name]}\n\n"
    names: dict[str, list[str]] = {}
    for host in AGENTS.values():
        names.setdefault(_names_in(host.name, spec), []).append(host.title)
    told = "; ".join(f"{name} in {', '.join(titles)}" for name, titles in names.items() if name)
    facts = [
        ("agents tell of it as", told or "none of them does"),
        ("a matcher is tested against", _target(spec)),
        ("a block means", sentence(spec.block)),
    ]
    if spec.name in OUTPUT_FIELDS:
        facts.append(("`modified_output` replaces", f"`{OUTPUT_FIELDS[spec.name]}`, in what the model sees"))
    if spec.array_block:
        facts.append(("in the array format", sentence(spec.array_block)))
    effects: dict[Effect, list[str]] = {}
    for family in ("folder", "table", "array", *FORMATS):
        if family not in FORMATS or spec.name in dialect(family).events.values():
            effects.setdefault(spec.effect(family), []).append(_title(family))
    for effect, titles in effects.items():
        whose = ", ".join(titles) if len(effects) > 1 else "every format"
        facts.append((f"a hook of {whose}", _EFFECTS[effect]))
    yield table(("", ""), facts)
    yield from _fields(spec)


def _names_in(agent: str, spec: EventSpec) -> str:
    return codes(native for native in AGENTS[agent].events if spec.name in AGENTS[agent].meanings(native))


def _target(spec: EventSpec) -> str:
    if spec.has_tool:
        return "the tool's names (`tool`, `matcher`), and each value of its input (`pattern`)"
    what = f"`{spec.target}`" if spec.target else "the empty text"
    return f"{what}, in arrays and agents' settings; a matcher of a folder or a table never matches here"


def _fields(spec: EventSpec) -> Iterator[str]:
    array: dict[str, Column] = {}
    for column in spec.columns:  # a column with several sources stands beside the one that is a field
        shown = [source for source in column.sources if source in spec.fields] or column.sources[:1]
        array |= dict.fromkeys(shown, column)
    rows = []
    for name in dict.fromkeys((*spec.fields, *array)):
        ours = code(name) if name in spec.fields else ""
        rows.append((ours, _column(array.get(name)), FIELDS[name], _example(name)))
    yield table(("field", "in arrays", "meaning", "example"), rows)


def _column(column: Column | None) -> str:
    if column is None:
        return ""
    return code(column.name) + (f", {column.limit} characters" if column.limit else "")


def _example(name: str) -> str:
    value = sample_events.VALUES.get(name)
    return "" if value is None else code(json.dumps(value))


def _name(name: str | None) -> str:
    return code(name) if name else ""


def _title(family: str) -> str:
    return f"{AGENTS[FORMATS[family]].title}'s settings" if family in FORMATS else f"the {family} format"
