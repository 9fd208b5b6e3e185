"""Carried hooks as the text of one file: TOML for the table and array formats, JSON (or Codex's TOML) for agents."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import tomlkit
from tomlkit.items import AoT, InlineTable, String, StringType, Table, Trivia

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .carrying import Carried, Conversion


def text_of(conversion: Conversion, *, toml: bool = False) -> str:
    """The whole file; `toml` asks for Codex's hooks as TOML."""
    if conversion.target.is_agent:
        events = _grouped(conversion.hooks, conversion)
        return _codex(events) if toml else json.dumps({"hooks": events}, indent=2, ensure_ascii=False) + "\n"
    return _table(conversion) if conversion.target.name == "table" else _array(conversion)


def _table(conversion: Conversion) -> str:
    events: dict[str, AoT] = {}
    for each in conversion.hooks:
        entry = tomlkit.table()
        if each.name is not None:
            entry["name"] = _string(each.name)
        if each.description:
            entry["description"] = _string(each.description)
        matcher: InlineTable = tomlkit.inline_table()
        if each.matchers.tool:
            matcher["tool"] = _string(each.matchers.tool, one_line=True)
        if each.matchers.pattern:
            matcher["pattern"] = _string(each.matchers.pattern, one_line=True)
        if matcher:
            entry["matcher"] = matcher
        entry["command"] = _string(each.command)
        if each.timeout != conversion.target.default * conversion.target.per_second:
            entry["timeout"] = each.timeout
        if each.async_:
            entry["async_"] = True
        events.setdefault(each.event, tomlkit.aot()).append(entry)
    document = tomlkit.document()
    hooks = tomlkit.table(is_super_table=True)
    for event, tables in events.items():
        hooks[event] = tables
    document["hooks"] = hooks if events else tomlkit.table()
    return _readable(document)


def _array(conversion: Conversion) -> str:
    tables = tomlkit.aot()
    for each in conversion.hooks:
        entry = tomlkit.table()
        entry["event"] = each.event
        if each.matchers.one:
            entry["matcher"] = _string(each.matchers.one, one_line=True)
        entry["command"] = _string(each.command)
        if each.timeout != conversion.target.default:
            entry["timeout"] = each.timeout
        if each.fail_closed:
            entry["fail_mode"] = "closed"
        tables.append(entry)
    document = tomlkit.document()
    if not conversion.hooks:
        return "hooks = []\n"
    document["hooks"] = tables
    return _readable(document)


def _readable(document: tomlkit.TOMLDocument) -> str:
    """With an empty line before each table but the first."""
    text = tomlkit.dumps(document)
    spaced = text.replace("\n[[", "\n\n[[").replace("\n\n\n[[", "\n\n[[").lstrip("\n")
    return spaced if tomllib.loads(spaced) == tomllib.loads(text) else text


def _grouped(hooks: Iterable[Carried], conversion: Conversion) -> dict[str, list[dict[str, Any]]]:
    """Agents' form: events, each with groups, each with a matcher and handlers."""
    target = conversion.target
    events: dict[str, list[dict[str, Any]]] = {}
    for each in hooks:
        handler: dict[str, Any] = {"type": "command", "command": each.command}
        if each.name is not None:
            handler = {"name": each.name, **handler}
        if each.description:
            handler["description"] = each.description
        if each.timeout != target.default * target.per_second:
            handler["timeout"] = each.timeout
        if each.async_:
            handler["async"] = True
        if each.env:
            handler["env"] = dict(each.env)
        head: dict[str, Any] = {"matcher": each.matchers.one} if each.matchers.one else {}
        if each.sequential:
            head["sequential"] = True
        groups = events.setdefault(each.event, [])
        if groups and {key: value for key, value in groups[-1].items() if key != "hooks"} == head:
            groups[-1]["hooks"].append(handler)
        else:
            groups.append({**head, "hooks": [handler]})
    return events


def _codex(events: dict[str, list[dict[str, Any]]]) -> str:
    hooks: Table = tomlkit.table(is_super_table=True)
    for event, groups in events.items():
        tables = tomlkit.aot()
        for group in groups:
            table = tomlkit.table()
            if "matcher" in group:
                table["matcher"] = _string(group["matcher"], one_line=True)
            handlers = tomlkit.aot()
            for handler in group["hooks"]:
                entry = tomlkit.table()
                for key, value in handler.items():
                    entry[key] = _string(value) if isinstance(value, str) else value
                handlers.append(entry)
            table["hooks"] = handlers
            tables.append(table)
        hooks[event] = tables
    document = tomlkit.document()
    document["hooks"] = hooks if events else tomlkit.table()
    return _readable(document)


def _string(value: str, *, one_line: bool = False) -> String:
    """A text as a person would write it: over several lines if it has some, without escapes where it can be."""
    literal = not any((ord(char) < 32 and char not in "\n\t") or ord(char) == 127 for char in value)
    if "\n" in value and literal and not one_line and "'''" not in value and not value.endswith("'"):
        return String(StringType.MLL, value, "\n" + value, Trivia())
    if ("\\" in value or '"' in value) and literal and "'" not in value and "\n" not in value:
        return tomlkit.string(value, literal=True)
    return String(
        StringType.SLB, value, json.dumps(value, ensure_ascii=False)[1:-1].replace("\x7f", "\\u007f"), Trivia()
    )
