"""Kimi CLI: like Kimi Code, with fewer events, and nothing but a block is heard."""

from __future__ import annotations

from . import wire

# It refuses to start with an event that is not among these.
EVENTS = {
    "PreToolUse": "pre-tool-call",
    "PostToolUse": "post-tool-call",
    "PostToolUseFailure": "post-tool-call-failure",
    "UserPromptSubmit": "pre-agent-turn",
    "Stop": "pre-agent-turn-stop",
    "StopFailure": "post-agent-turn-failure",
    "SessionStart": "pre-session",
    "SessionEnd": "post-session",
    "SubagentStart": "pre-subagent",
    "SubagentStop": "post-subagent",
    "PreCompact": "pre-context-compact",
    "PostCompact": "post-context-compact",
    "Notification": "notification",
}
MANNERS = wire.Manners(
    "Kimi CLI",
    blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop")),
    context=frozenset(),
)

CODEC = wire.Codec("kimi-cli", EVENTS, MANNERS, wire.plain_text, reads=wire.read_array)
