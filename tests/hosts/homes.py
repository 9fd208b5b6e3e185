"""Homes of agents with settings in them, made ready for a scripted model."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:1"
HOOK = {"type": "command", "command": "guard", "timeout": 5}
HOOKS = {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]}


def write(home: Path, name: str, text: str) -> Path:
    """Write an agent's own settings."""
    file = home / AGENTS[name].headless_settings
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def prepared(home: Path, name: str, text: str) -> dict[str, Any]:
    """The settings after a home with this text was made ready."""
    file = write(home, name, text)
    AGENTS[name].prepare(home, URL)
    after = file.read_text()
    parsed: dict[str, Any] = tomllib.loads(after) if file.suffix == ".toml" else json.loads(after)
    return parsed
