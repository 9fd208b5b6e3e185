"""Converted hooks as the text of one file: TOML for the table and array formats, JSON (or Codex's TOML) for agents."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ...formats.toml_writing import array_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .carrying import Conversion, ConvertedHook
    from .targets import Target


def text_of(conversion: Conversion, *, toml: bool = False) -> str:
    """Return the whole file; `toml` asks for Codex's hooks as TOML."""
    target = conversion.target
    if target.is_agent:
        events = _grouped(conversion.hooks, target)
        return _codex(events) if toml else json.dumps({"hooks": events}, indent=2, ensure_ascii=False) + "\n"
    if target.name == "array":
        return (
            "\n".join(array_table(["hooks"], _array_entry(each, target)) for each in conversion.hooks) or "hooks = []\n"
        )
    tables: dict[str, list[str]] = {}
    for each in conversion.hooks:
        tables.setdefault(each.event, []).append(array_table(["hooks", each.event], _table_entry(each, target)))
    return "\n".join(table for of_event in tables.values() for table in of_event) or "[hooks]\n"


def _table_entry(each: ConvertedHook, target: Target) -> dict[str, Any]:
    matcher = {key: value for key, value in (("tool", each.matchers.tool), ("pattern", each.matchers.pattern)) if value}
    entry = {"name": each.name, "description": each.description, "matcher": matcher, "command": each.command}
    given = {key: value for key, value in entry.items() if value or key == "command"}
    return {**given, **_timeout(each, target), **({"async_": True} if each.async_ else {})}


def _array_entry(each: ConvertedHook, target: Target) -> dict[str, Any]:
    matcher = {"matcher": each.matchers.one} if each.matchers.one else {}
    closed = {"fail_mode": "closed"} if each.fail_closed else {}
    return {"event": each.event, **matcher, "command": each.command, **_timeout(each, target), **closed}


def _timeout(each: ConvertedHook, target: Target) -> dict[str, Any]:
    return {"timeout": each.timeout} if each.timeout != target.default * target.per_second else {}


def _grouped(hooks: Iterable[ConvertedHook], target: Target) -> dict[str, list[dict[str, Any]]]:
    """Return the groups of each event; neighbours with the same matcher share one."""
    events: dict[str, list[dict[str, Any]]] = {}
    for each in hooks:
        handler: dict[str, Any] = {"type": "command", "command": each.command}
        more = {"name": each.name, "description": each.description}
        handler.update({key: value for key, value in more.items() if value}, **_timeout(each, target))
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
    tables: list[str] = []
    for event, groups in events.items():
        for group in groups:
            tables.append(array_table(["hooks", event], {key: group[key] for key in group if key != "hooks"}))
            tables += [array_table(["hooks", event, "hooks"], handler) for handler in group["hooks"]]
    return "\n".join(tables) or "[hooks]\n"
