"""The entries that `install` writes into an agent's settings: they lead to Tenterhook and are never hooks."""

from __future__ import annotations

import re

_ENTRY = re.compile(
    r't=\S.*tenterhook/launcher\.sh\'?; .*/bin/sh "\$t" [a-z-]+(@\S+)? \w+ '
    r"(open|(closed|closed-everywhere) \|\| exit 2)",
    re.DOTALL,  # a path may have line breaks
)
_BRIDGE = "tenterhook/bridge.py"  # of version 0.1


def is_own_command(command: str) -> bool:
    """Whether a command is the one that `install` writes, or wrote, and not just one that mentions it."""
    if _ENTRY.fullmatch(command):
        return True
    return _BRIDGE in command and " --host " in command.partition(_BRIDGE)[2][:10]
