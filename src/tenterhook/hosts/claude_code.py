"""Claude Code."""

from __future__ import annotations

from ..formats import agent_payloads
from . import claude_words, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ..model import Verdict

EVENTS = agent_payloads.EVENTS_OF["claude"]
MANNERS = wire.Manners(
    "Claude Code",
    blocks=frozenset(
        (
            *("pre-tool-call", "permission-request", "post-tool-call", "post-tool-call-failure", "pre-agent-turn"),
            *("pre-agent-turn-stop", "post-subagent", "pre-context-compact"),
        )
    ),
    context=frozenset(
        ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "post-tool-call-failure", "pre-subagent")
    ),
    asks=True,
    approves=True,
    modifies=True,
    answers_permission=True,
    messages=True,
)


def read_event(payload: dict[str, Any], native: str) -> wire.Received:
    return wire.read("claude", payload, native, EVENTS)


def write_verdict(received: wire.Received, verdict: Verdict) -> wire.Answer:
    return wire.write(MANNERS, received, verdict, lambda said: claude_words.body(said, beside_result=True))
