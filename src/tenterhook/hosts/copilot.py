"""Copilot CLI: camelCase, no event name in the payload, and answers at the top level."""

from __future__ import annotations

from ..basics import light_json
from ..model import Event
from . import wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVENTS = {
    "preToolUse": "pre-tool-call",
    "postToolUse": "post-tool-call",
    "postToolUseFailure": "post-tool-call-failure",
    "permissionRequest": "permission-request",
    "userPromptSubmitted": "pre-agent-turn",
    "agentStop": "pre-agent-turn-stop",
    "sessionStart": "pre-session",
    "sessionEnd": "post-session",
    "subagentStart": "pre-subagent",
    "subagentStop": "post-subagent",
    "preCompact": "pre-context-compact",
    "notification": "notification",
    "errorOccurred": "post-agent-turn-failure",
}
MANNERS = wire.Manners(
    "Copilot CLI",
    blocks=frozenset(("pre-tool-call", "permission-request", "pre-agent-turn", "pre-agent-turn-stop", "post-subagent")),
    context=frozenset(
        ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "post-tool-call-failure", "pre-subagent")
    ),
    asks=True,
    approves=True,
    modifies=True,
    answers_permission=True,
)
_FIELDS = {
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolInput": "tool_input",
    "toolResult": "tool_output",
    "toolCallId": "tool_use_id",
    "initialPrompt": "prompt",
    "agentName": "subagent_name",
    "agentType": "subagent_type",
    "agentDescription": "task_description",
    "stopReason": "stop_reason",
    "transcriptPath": "transcript_path",
    "notificationType": "notification_type",
    "message": "body",
}
_BASE = ("sessionId", "cwd", "timestamp", "name", "self", "work_dir", "context", "session_id", "hook_event_name")


def _read(agent: str, payload: dict[str, Any], native: str, events: Mapping[str, str]) -> wire.Received:
    cwd = payload.get("cwd")
    fields = {_FIELDS.get(key, key): value for key, value in payload.items() if key not in _BASE}
    if isinstance(fields.get("tool_input"), str):  # as JSON in a string, before some versions
        try:
            fields["tool_input"] = light_json.loads(fields["tool_input"])
        except (ValueError, RecursionError):
            pass
    # a subagent's events have a session of their own, which has no beginning that we saw
    session = payload.get("parentAgentId") or payload.get("sessionId")
    ours = events.get(native, wire.OTHER)
    if native == "agentStop" and payload.get("agentId"):  # a subagent's: its own event follows
        ours = wire.OTHER
    if ours == wire.OTHER:
        fields["agent_event"] = native
    event = Event(
        ours,
        session_id=session if isinstance(session, str) else "",
        work_dir=cwd if isinstance(cwd, str) and cwd else ".",
        **{str(key): value for key, value in fields.items()},
    )
    return wire.received(native, event, payload, agent)


def _body(said: wire.Said) -> dict[str, Any] | None:
    if said.event == "permission-request":
        if said.deny is not None:
            return {"behavior": "deny", "message": said.deny}
        return {"behavior": "allow"} if said.approve is not None else {}
    if said.event != "pre-tool-call" and said.deny is not None:
        return {"decision": "block", "reason": said.deny}
    told: dict[str, Any] = {}
    for decision, reason in (("deny", said.deny), ("ask", said.ask), ("allow", said.approve)):
        if reason is not None:
            told |= {"permissionDecision": decision, "permissionDecisionReason": reason}
    if said.tool_input is not None:
        told["modifiedArgs"] = said.tool_input
    if said.context is not None:
        told["additionalContext"] = said.context
    return told


CODEC = wire.Codec("copilot", EVENTS, MANNERS, _body, reads=_read)
