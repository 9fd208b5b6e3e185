"""Gemini CLI. Its `ask` hangs a headless run for ever, so it is never said."""

from __future__ import annotations

from ..formats import agent_payloads
from . import claude_words, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OTHERS = ("BeforeModel", "AfterModel", "BeforeToolSelection")
EVENTS = {**agent_payloads.EVENTS_OF["gemini"], **dict.fromkeys(_OTHERS, wire.OTHER)}
MANNERS = wire.Manners(
    "Gemini CLI",
    blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop")),
    context=frozenset(("pre-session", "pre-agent-turn", "post-tool-call")),
    modifies=True,
    messages=True,
)


def _body(said: wire.Said) -> dict[str, Any] | None:
    if said.deny is not None:
        return None
    return claude_words.beside(said, {"tool_input": said.tool_input} if said.tool_input is not None else {})


CODEC = wire.Codec("gemini", EVENTS, MANNERS, _body)
