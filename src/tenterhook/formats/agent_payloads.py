"""Reads and writes the payloads of Claude Code, and of agents that adopted its JSON, with a `Dialect` for each agent.

`read` returns the event in a payload; `write` returns the payload for a hook in the agent's settings. They are
inverse: an unknown key is kept under the agent's own name.
"""

from __future__ import annotations

import os

from ..agents.claude_json import FAILURE_FIELDS, RESULT_FIELDS, TOOL_FIELDS
from ..agents.codec import session_and_directory
from ..basics import light_json
from ..basics.light_json import prompt_text
from ..errors import UnknownEvent
from ..events import EVENTS, MCP_SPELLING, STOPS, TOOL_NAMES, tool_names
from ..model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..agents.claude_json import Dialect
    from ..model import Hook

# Our fields, with Claude Code's names. Other fields of ours are not sent; unknown ones are sent as they are.
_FIELDS: dict[str, dict[str, str]] = {
    "pre-session": {"source": "source", "model": "model"},
    "post-session": {"reason": "reason"},
    "pre-agent-turn": {"prompt": "prompt"},
    "pre-agent-turn-stop": {"stop_hook_active": "stop_hook_active", "final_message": "last_assistant_message"},
    "post-agent-turn-failure": {"error_type": "error", "error_message": "error_details"},
    "pre-tool-call": TOOL_FIELDS,
    "post-tool-call": RESULT_FIELDS,
    "post-tool-call-failure": FAILURE_FIELDS,
    "permission-request": {"tool_name": "tool_name", "tool_input": "tool_input"},
    "pre-subagent": {"subagent_name": "agent_type"},
    "post-subagent": {
        "subagent_name": "agent_type",
        "response": "last_assistant_message",
        "stop_hook_active": "stop_hook_active",
    },
    "pre-context-compact": {"trigger": "trigger"},
    "post-context-compact": {"trigger": "trigger"},
    "notification": {"notification_type": "notification_type", "title": "title", "body": "message"},
    "interrupt": {"reason": "reason"},
}
_DEFAULTS: dict[str, dict[str, Any]] = {event: {"stop_hook_active": False} for event in STOPS}  # always sent
_OURS = {
    spec.name: {*spec.fields, *(name for column in spec.columns for name in (column.name, *column.sources))}
    for spec in EVENTS
}
_OUR_TOOLS = frozenset(names[0] for names in TOOL_NAMES)
_BASE = ("hook_event_name", "session_id", "cwd", "timestamp")
_TAKEN = ("name", "self", "work_dir", "context")  # parameters of Event


def read(dialect: Dialect, payload: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> Event:
    """Return the event in an agent's payload. Raises `UnknownEvent` for one that has no counterpart here."""
    native = payload.get("hook_event_name")
    event = dialect.events.get(native) if isinstance(native, str) else None
    if event is None:
        raise UnknownEvent(f"{dialect.format} has an event {native!r} that nothing here corresponds to")
    ours = {name: field for field, name in _fields(dialect, event).items()}
    stamp = payload.get("timestamp")
    return Event(
        event,
        **session_and_directory(payload),
        timestamp=stamp if isinstance(stamp, str) else None,
        context=context,
        **{ours.get(key, key): value for key, value in payload.items() if key not in (*_BASE, *_TAKEN)},
    )


def write(dialect: Dialect, declared: str, event: Event) -> dict[str, Any]:
    """Return the payload that the agent would send its own hooks.

    The payload of an event from the same agent (`agent.name` and `agent.payload` in `context`) is sent as it was
    received, with the tool's current input. If it is partial, the rest is written as for any other event.
    """
    original = _original_payload(dialect.format, event)
    if "hook_event_name" in original:
        return original
    names = _fields(dialect, event.canonical)
    sent: dict[str, Any] = {"session_id": event.session_id, "cwd": event.work_dir, "hook_event_name": declared}
    if dialect.has_timestamp:
        sent["timestamp"] = event.timestamp
    sent.update(_DEFAULTS.get(event.canonical, {}), **dialect.defaults.get(event.canonical, {}))
    ours = _OURS[event.canonical]
    is_original = bool(original)  # if so, all values are in the agent's form already
    for field, value in event.fields.items():
        name = names.get(field, field if field not in ours else None)
        if name is not None:
            is_native = is_original and (field != "tool_name" or value not in _OUR_TOOLS)
            sent[name] = value if is_native else _shaped(dialect, field, value)
    if event.tool_kind and "tool_name" in sent and not is_original:
        sent["tool_name"] = next((each for each in event.tool_names if each in dialect.tools), event.tool_name)
    if event.mcp_names and "tool_name" in sent and not is_original:
        sent["tool_name"] = _mcp_spelling(dialect, event)
    if "tool_call_id" in names and "tool_use_id" in sent:
        sent.setdefault("tool_call_id", sent["tool_use_id"])
    if "subagent_name" in names and "agent_type" not in sent and "subagent_type" in event.fields:
        sent["agent_type"] = event.fields["subagent_type"]
    return {**sent, **original}


def _original_payload(agent: str, event: Event) -> dict[str, Any]:
    origin = event.context.get("agent")
    if not isinstance(origin, dict) or origin.get("name") != agent or not isinstance(origin.get("payload"), dict):
        return {}
    original: dict[str, Any] = {**origin["payload"]}
    if "tool_input" in original and event.tool_input is not None:
        original["tool_input"] = event.tool_input
    return original


def _fields(dialect: Dialect, event: str) -> Mapping[str, str]:
    return dialect.fields.get(event) or _FIELDS[event]


def _shaped(dialect: Dialect, field: str, value: Any) -> Any:
    """Return a field's value in the agent's form."""
    if field == "tool_name":
        return tool(dialect, light_json.text(value))
    if field == "tool_output":
        return dialect.tool_response(value)
    if field == "prompt":
        return prompt_text(value)
    if field in ("final_message", "response"):
        return prompt_text(value.get("content", value)) if isinstance(value, dict) else prompt_text(value)
    if field == "error":
        return light_json.text(value.get("message", value) if isinstance(value, dict) else value)
    return value


def tool(dialect: Dialect, name: str) -> str:
    """Return the agent's name of a tool; the name itself for a tool it does not have."""
    return next((each for each in tool_names(name) if each in dialect.tools), name)


def _mcp_spelling(dialect: Dialect, event: Event) -> str:
    """Return the agent's spelling of the name of an MCP server's tool."""
    from ..agents import AGENTS, FORMATS

    prefix, separator = AGENTS[FORMATS[dialect.format]].mcp_spelling or MCP_SPELLING
    server, _, tool = event.mcp_names[0].removeprefix("mcp:").partition("/")
    return f"{prefix}{server}{separator}{tool}"


def variables(dialect: Dialect, hook: Hook, event: Event, env_file: str = "") -> dict[str, str]:
    """Return the variables that a hook in an agent's settings expects; `env_file` is the session's."""
    session_id = light_json.printable(event.session_id).replace("\0", "\ufffd")
    values = {"work_dir": event.work_dir, "session_id": session_id}
    if hook.event == "pre-session" and env_file:
        values["env_file"] = env_file
    found = {name: values[what] for name, what in dialect.variables.items() if what in values}
    plugin, name = os.path.split(os.path.dirname(hook.source))
    if dialect.plugin_variable and name == "hooks" and hook.source.endswith("/hooks.json"):
        found[dialect.plugin_variable] = plugin
    return {**found, **hook.metadata.get("env", {})}
