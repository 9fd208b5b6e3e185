"""`~/.config/tenterhook/config.toml`: the settings of the bundled agent, and the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..approvals import rules
from ..approvals.requests import MODES
from ..basics import places
from ..errors import HookError
from ..events import tool_kinds

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = {"model": str, "base_url": str, "mode": str, "compact_above": int, "max_steps": int, "tools": dict}


class AgentSettings(NamedTuple):
    """The `[agent]` table, and the rules for approvals: the managed ones first."""

    model: str | None = None
    base_url: str | None = None
    mode: str = "ask"
    compact_above: int = 120_000
    max_steps: int = 100
    tools: Mapping[str, str] = {}  # which tool a tool of another name counts as
    rules: tuple[rules.Rule, ...] = ()


def load() -> AgentSettings:
    """Return the settings; without a file, the defaults. Raises if the file cannot be read: it may contain denials."""
    path = places.settings_file()
    found = rules.settings(path)
    agent = _agent(found.get("agent", {}), path)
    return AgentSettings(**agent, rules=(*rules.managed(), *rules.of_settings(found, path)))


def _agent(found: Any, path: str) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise HookError(f"{path}: agent is not a table", "write its settings below [agent]")
    for key, value in found.items():
        kind = _KINDS.get(key)
        if kind is None or not isinstance(value, kind) or isinstance(value, bool):
            raise HookError(f"{path}: agent.{key} = {value!r} is not a setting", f"use {', '.join(_KINDS)}")
    if found.get("mode", "ask") not in MODES:
        raise HookError(f"{path}: agent.mode is {found['mode']!r}", f"use one of {', '.join(MODES)}")
    try:
        tool_kinds(found.get("tools", {}))
    except HookError as error:
        raise HookError(f"{path}: agent.{error.message}", error.remedy) from None
    return found
