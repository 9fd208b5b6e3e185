"""Flattens payloads in which the session and the tool call are nested objects, as Cline sends them to hook files.

Imports nothing: an event that reaches no hook is answered with very little loaded.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "sessionContext"  # the key of a payload that nests
_NESTED = (MARK, "workspaceRoots", "tool_call", "tool_result", "preToolUse", "postToolUse")


def flat(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload with the keys that Claude Code uses; one that does not nest is returned as it is."""
    if MARK not in payload:
        return payload
    call = _object(payload.get("tool_call")) or _object(payload.get("tool_result"))
    given = call.get("input")
    roots = payload.get("workspaceRoots")
    found = {
        "session_id": _object(payload[MARK]).get("rootSessionId") or payload.get("taskId"),
        "cwd": roots[0] if isinstance(roots, list) and roots else None,
        "tool_name": call.get("name"),
        "tool_input": {"commands": given} if isinstance(given, list) else given,  # the shell tool also takes a list
        "tool_use_id": call.get("id"),
        "tool_response": call.get("output"),
        "error": call.get("error"),
    }
    rest = {key: value for key, value in payload.items() if key not in _NESTED}
    return {**rest, **{key: value for key, value in found.items() if value is not None}}


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
