"""`~/.config/tenterhook/config.toml`: what the person has set for the agent, and their rules."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..approvals import rules
from ..approvals.requests import MODES
from ..basics import places
from ..errors import HookError

_KINDS = {"model": str, "base_url": str, "mode": str, "compact_above": int, "max_steps": int}


class AgentSettings(NamedTuple):
    """The `[agent]` table, and the rules for approvals: the managed ones first."""

    model: str | None = None
    base_url: str | None = None
    mode: str = "ask"
    compact_above: int = 120_000
    max_steps: int = 100
    rules: tuple[rules.Rule, ...] = ()


def load() -> AgentSettings:
    """What the file says; without one, the defaults. A file that cannot be read is an error: it may hold denials."""
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
            raise HookError(f"{path}: agent.{key} = {value!r} is no setting", f"use {', '.join(_KINDS)}")
    if found.get("mode", "ask") not in MODES:
        raise HookError(f"{path}: agent.mode is {found['mode']!r}", f"use one of {', '.join(MODES)}")
    return found
