"""Recognizes the entries that `install` writes into an agent's settings; they start Tenterhook and are not hooks."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_ENTRY = re.compile(
    r't=\S.*tenterhook/launcher\.sh\'?; .*/bin/sh "\$t" [a-z-]+(@\S+)? [\w.]+ '
    r"(open|(closed|closed-everywhere) \|\| exit 2)",
    re.DOTALL,  # a path may have line breaks
)
_BRIDGE = "tenterhook/bridge.py"  # of version 0.1


def is_own_command(command: str) -> bool:
    """Whether a command is one that a version of `install` wrote, and not one that only mentions it."""
    if _ENTRY.fullmatch(command):
        return True
    return _BRIDGE in command and " --host " in command.partition(_BRIDGE)[2][:10]


def is_own_entry(entry: Any) -> bool:
    """Whether an entry of an agent's settings, or every entry of a group, was written by `install`."""
    if not isinstance(entry, dict):
        return False
    inner = entry.get("hooks")
    if isinstance(inner, list):
        return bool(inner) and all(is_own_entry(each) for each in inner)
    return any(is_own_command(command) for key in ("command", "bash") if isinstance(command := entry.get(key), str))


def own_groups(hooks: Mapping[str, Any]) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Return our groups of entries by event, each with its position among all groups of the event."""
    numbered = {event: enumerate(groups) for event, groups in hooks.items() if isinstance(groups, list)}
    found = {event: [each for each in groups if is_own_entry(each[1])] for event, groups in numbered.items()}
    return {event: groups for event, groups in found.items() if groups}
