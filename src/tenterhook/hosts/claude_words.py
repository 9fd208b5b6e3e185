"""The answer that Claude Code, Codex and Qwen Code read: `hookSpecificOutput`, with the event's name in it.

Only keys that the agent knows may be sent: one more, and Codex runs the tool.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .wire import Said


def body(said: Said) -> dict[str, Any] | None:
    """The JSON for what is said; None where exit status 2 says it."""
    if said.event == "permission-request":
        return _permission(said)
    if said.deny is not None:
        return None
    specific: dict[str, Any] = {}
    if said.ask is not None:
        specific |= {"permissionDecision": "ask", "permissionDecisionReason": said.ask}
    if said.approve is not None:
        specific |= {"permissionDecision": "allow", "permissionDecisionReason": said.approve}
    if said.tool_input is not None:
        specific["updatedInput"] = said.tool_input
    return beside(said, specific)


def beside(said: Said, specific: dict[str, Any]) -> dict[str, Any]:
    """The answer with what is said to the model, and to the person, beside its own keys."""
    if said.context is not None:
        specific["additionalContext"] = said.context
    told: dict[str, Any] = {}
    if said.message is not None:
        told["systemMessage"] = said.message
    if specific:
        told["hookSpecificOutput"] = {"hookEventName": said.native, **specific}
    return told


def _permission(said: Said) -> dict[str, Any]:
    """Answered here even for a deny: exit status 2 would not carry its reason."""
    if said.deny is not None:
        decision: dict[str, Any] = {"behavior": "deny", "message": said.deny}
    elif said.approve is not None:
        decision = {"behavior": "allow"}
    else:
        return {}
    return {"hookSpecificOutput": {"hookEventName": said.native, "decision": decision}}
