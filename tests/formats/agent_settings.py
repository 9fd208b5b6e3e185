"""Hooks in agents' own settings, written and fired."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from support import decide, until

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Event

NAMES = {
    "claude": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
}
SAVE = "cat > part; mv part sent"


def write(folder: Path, agent: str, hooks: dict[str, Any], **beside: Any) -> Path:
    """An agent's settings with these hooks: event to groups, or to a command that runs for all."""
    events = {
        event: [{"hooks": [{"type": "command", "command": groups}]}] if isinstance(groups, str) else groups
        for event, groups in hooks.items()
    }
    file = folder / NAMES[agent]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({**beside, "hooks": events}, indent=2))
    return file


def command(line: str, **keys: Any) -> dict[str, Any]:
    return {"type": "command", "command": line, **keys}


def group(*handlers: dict[str, Any], **keys: Any) -> list[dict[str, Any]]:
    return [{**keys, "hooks": list(handlers)}]


def says(answer: dict[str, Any]) -> str:
    return "cat > /dev/null; printf '%s' '" + json.dumps(answer).replace("'", "'\\''") + "'"


def sent(project: Path, agent: str, declared: str, event: Event) -> dict[str, Any]:
    """What a hook of an agent's settings finds on stdin."""
    (project / "sent").unlink(missing_ok=True)
    decide(write(project, agent, {declared: SAVE}), event)
    until((project / "sent").exists)
    got: dict[str, Any] = json.loads((project / "sent").read_text())
    return got
