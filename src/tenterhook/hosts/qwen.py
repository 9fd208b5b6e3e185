"""Qwen Code. It asks where a hook wants it, but no hook can change an input."""

from __future__ import annotations

from ..formats import agent_payloads
from . import claude_words, wire

_OTHERS = (
    *("PostToolBatch", "UserPromptExpansion", "SessionDelete", "MessageDisplay", "PermissionDenied", "TodoCreated"),
    *("TodoCompleted", "InstructionsLoaded"),
)
EVENTS = {**agent_payloads.EVENTS_OF["qwen"], **dict.fromkeys(_OTHERS, wire.OTHER)}
MANNERS = wire.Manners(
    "Qwen Code",
    blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop", "post-subagent")),
    context=frozenset(
        ("pre-session", "pre-agent-turn", "post-tool-call", "post-tool-call-failure", "pre-context-compact")
    ),
    asks=True,
)

CODEC = wire.Codec("qwen", EVENTS, MANNERS, claude_words.body)
