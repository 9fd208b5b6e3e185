"""The payload that a hook gets on stdin: one JSON object with the names of its format."""

from __future__ import annotations

from ..basics import light_json
from ..basics.light_json import prompt_text
from ..events import AGENT_FORMATS, EVENTS
from ..model import Event, Hook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Fields whose values are used for missing fields.
_ALTERNATIVES = {
    "tool_call_id": "tool_use_id",
    "id": "permission_request_id",
    "permission_request_id": "id",
    "task_description": "prompt",  # the array format's name of a subagent's prompt
}


def payload(hook: Hook, event: Event) -> dict[str, Any]:
    """Return a hook's payload: the event's name as declared, the fields of its format, and all unknown fields."""
    if hook.format in AGENT_FORMATS:
        from .. import agents
        from . import agent_payloads

        return agent_payloads.write(agents.dialect(hook.format), hook.declared, event)
    return _array(hook.declared, event) if hook.format == "array" else _folder(hook.declared, event)


def _folder(name: str, event: Event) -> dict[str, Any]:
    sent: dict[str, Any] = {
        "event_type": name,
        "timestamp": event.timestamp,
        "session_id": event.session_id,
        "work_dir": event.work_dir,
        "context": event.context,
    }
    for field in event.spec.fields:
        value = _value(event, field)
        if value is not None:
            sent[field] = prompt_text(value) if field == "prompt" else value
    return sent | _unknown(event)


def _array(name: str, event: Event) -> dict[str, Any]:
    sent: dict[str, Any] = {"hook_event_name": name, "session_id": event.session_id, "cwd": event.work_dir}
    for column in event.spec.columns:
        for source in column.sources:
            value = _value(event, source)
            if value is not None:
                break
        else:
            continue
        if column.limit is not None:
            value = light_json.text(value)[: column.limit]
        elif column.name == "prompt" and event.canonical == "pre-agent-turn" and isinstance(value, str):
            value = [{"type": "text", "text": value}]
        sent[column.name] = value
    return sent | _unknown(event)


def _value(event: Event, field: str) -> Any:
    value = event.fields.get(field)
    return event.fields.get(_ALTERNATIVES.get(field, "")) if value is None else value


def _unknown(event: Event) -> dict[str, Any]:
    """Return the fields that no format defines: an agent's own, which are sent as they are."""
    known = _KNOWN[event.canonical]
    return {key: value for key, value in event.fields.items() if key not in known}


_KNOWN = {
    spec.name: {
        *spec.fields,
        "tool_use_id",
        *(name for column in spec.columns for name in (column.name, *column.sources)),
    }
    for spec in EVENTS
}
