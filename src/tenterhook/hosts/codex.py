"""Codex. One key too many in an answer, and the tool runs."""

from __future__ import annotations

from ..formats import agent_payloads
from . import claude_words, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EVENTS = {**agent_payloads.EVENTS_OF["codex"], "PreModelRequest": wire.OTHER}
MANNERS = wire.Manners(
    "Codex",
    blocks=frozenset(
        (
            *("pre-session", "pre-tool-call", "permission-request", "pre-agent-turn", "pre-agent-turn-stop"),
            "post-subagent",
        )
    ),
    context=frozenset(("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "pre-subagent")),
    modifies=True,
    answers_permission=True,
    messages=True,
)


def _body(said: wire.Said) -> dict[str, Any] | None:
    if said.event == "pre-session" and said.deny is not None:
        return {"continue": False, "stopReason": said.deny}
    told = claude_words.body(said)
    if told and said.tool_input is not None:
        # A changed input counts only beside an `allow`, which skips no question here.
        told["hookSpecificOutput"]["permissionDecision"] = "allow"
    return told


CODEC = wire.Codec("codex", EVENTS, MANNERS, _body)
