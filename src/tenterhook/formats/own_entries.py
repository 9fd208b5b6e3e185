"""The entries that `install` writes into an agent's settings: they lead to Tenterhook and are never hooks."""

from __future__ import annotations

_BRIDGE = "tenterhook/bridge.py"


def is_own_command(command: str) -> bool:
    """Whether a command is the one that `install` writes, and not just one that mentions it."""
    return _BRIDGE in command and " --host " in command.partition(_BRIDGE)[2][:10]
