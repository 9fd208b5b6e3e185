"""Kimi CLI: like Kimi Code, with fewer events, and nothing but a block is heard."""

from __future__ import annotations

from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model import Verdict

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


def read_event(payload: dict[str, Any], native: str) -> wire.Received:
    return wire.read_array("kimi-cli", payload, native, EVENTS)


def write_verdict(received: wire.Received, verdict: Verdict) -> wire.Answer:
    return wire.write(MANNERS, received, verdict, wire.plain_text)
