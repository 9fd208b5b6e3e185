"""Qwen Code."""

from __future__ import annotations

from ..formats import agent_payloads
from . import claude_words, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model import Verdict

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


def read_event(payload: dict[str, Any], native: str) -> wire.Received:
    return wire.read("qwen", payload, native, EVENTS)


def write_verdict(received: wire.Received, verdict: Verdict) -> wire.Answer:
    return wire.write(MANNERS, received, verdict, claude_words.body)
