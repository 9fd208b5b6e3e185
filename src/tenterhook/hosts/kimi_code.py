"""Kimi Code: it sends what the array format sends, and takes exit status 2 as a block. JSON it would show as text."""

from __future__ import annotations

from . import kimi_cli, wire

# One event that is not among these, and it drops every hook.
EVENTS = {
    **kimi_cli.EVENTS,
    "PermissionRequest": "permission-request",
    "PermissionResult": "permission-result",
    "UserPromptQueued": "prompt-queued",
    "TurnStarted": "turn-started",
    "TaskStarted": "task-started",
    "Interrupt": "interrupt",
    "SessionHeartbeat": "session-heartbeat",
}
MANNERS = wire.Manners(
    "Kimi Code",
    blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop")),
    context=frozenset(("pre-agent-turn",)),
)

CODEC = wire.Codec("kimi-code", EVENTS, MANNERS, wire.plain_text, reads=wire.read_array)
