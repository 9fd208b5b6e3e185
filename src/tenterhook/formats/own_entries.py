"""The entries that `install` writes into an agent's settings: they lead to Tenterhook and are never hooks."""

from __future__ import annotations

import re

_LAUNCHER = "tenterhook/launcher.sh"
_LAUNCHED = re.compile(r'/bin/sh \S.*?["\']? [a-z-]+(@\S+)? \w+ (open|closed|closed-everywhere)( \|\| exit 2)?')
_BRIDGE = "tenterhook/bridge.py"  # of version 0.1


def is_own_command(command: str) -> bool:
    """Whether a command is the one that `install` writes, or wrote, and not just one that mentions it."""
    if _LAUNCHER in command:
        return _LAUNCHED.search(command) is not None
    return _BRIDGE in command and " --host " in command.partition(_BRIDGE)[2][:10]
