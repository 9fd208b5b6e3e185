"""`~/.config/tenterhook/config.toml`: what the person has set for the agent, and their rules."""

from __future__ import annotations

import os
import tomllib
from typing import Any, NamedTuple

from .. import places
from ..approvals import rules
from ..approvals.requests import MODES
from ..errors import HookError

_KINDS = {"model": str, "base_url": str, "mode": str, "compact_above": int, "max_steps": int}


class Settings(NamedTuple):
    """The `[agent]` table, and the approvals' rules beside it."""

    model: str | None = None
    base_url: str | None = None
    mode: str = "ask"
    compact_above: int = 120_000
    max_steps: int = 100
    rules: tuple[rules.Rule, ...] = ()


def file() -> str:
    return os.path.join(places.config_home(), "tenterhook", "config.toml")


def load() -> Settings:
    """What the file says; without one, the defaults. A file that cannot be read is an error: it may hold denials."""
    path = file()
    try:
        with open(path, "rb") as stream:
            found = tomllib.load(stream)
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise HookError(f"{error.strerror}: {path}", "your rules stand there: make it readable") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise HookError(f"{path}: {error}", "your rules stand there: correct it, or move it away") from None
    approvals = found.get("approvals", {})
    if not isinstance(approvals, dict):
        raise HookError(f"{path}: approvals is not a table", "write rules below [[approvals.rules]]")
    agent = _agent(found.get("agent", {}), path)
    return Settings(**agent, rules=tuple(rules.read(approvals.get("rules"), path)))


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
