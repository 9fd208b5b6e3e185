"""The JSON that Claude Code, Codex, Gemini CLI and Qwen Code send to hooks: one codec for each, both ways.

`read` makes an event of what such an agent sent; `write` sends an event to a hook of its settings. Each undoes the
other: what an agent sent and nobody here knows is kept under the agent's own name.
"""

from __future__ import annotations

import os

from ..basics import jsonable
from ..basics.texts import prompt_text
from ..errors import UnknownEvent
from ..events import BY_NAME, EVENTS, tool_names
from ..model import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..model import Hook

_CLAUDE_EVENTS = {
    name: BY_NAME[name].name
    for name in (
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "Stop",
        "StopFailure",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionRequest",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
    )
}
_NOT_CODEX = ("PostToolUseFailure", "StopFailure", "Notification")
# The events of each agent that have a counterpart here.
EVENTS_OF: dict[str, dict[str, str]] = {
    "claude": _CLAUDE_EVENTS,
    "codex": {
        **{name: event for name, event in _CLAUDE_EVENTS.items() if name not in _NOT_CODEX},
        "Interrupt": "interrupt",
    },
    "gemini": {
        "SessionStart": "pre-session",
        "SessionEnd": "post-session",
        "BeforeAgent": "pre-agent-turn",
        "AfterAgent": "pre-agent-turn-stop",
        "BeforeTool": "pre-tool-call",
        "AfterTool": "post-tool-call",
        "PreCompress": "pre-context-compact",
        "Notification": "notification",
    },
    "qwen": _CLAUDE_EVENTS,
}

# What each agent calls the tools that all of them have.
_CLAUDE_TOOLS = ("Bash", "Write", "Read", "Edit", "Glob", "Grep", "Agent", "Task", "WebFetch", "WebSearch")
_TOOLS = {
    "claude": _CLAUDE_TOOLS,
    "codex": _CLAUDE_TOOLS,
    "gemini": (
        "run_shell_command",
        "write_file",
        "read_file",
        "replace",
        "glob",
        "grep_search",
        "search_file_content",
        "web_fetch",
        "google_web_search",
    ),
    "qwen": (
        "run_shell_command",
        "write_file",
        "read_file",
        "edit",
        "glob",
        "grep_search",
        "agent",
        "task",
        "web_fetch",
        "web_search",
    ),
}

_TOOL = {"tool_name": "tool_name", "tool_input": "tool_input", "tool_use_id": "tool_use_id"}
# Our field to the agents' name for it; other fields of ours are not sent, unknown ones are sent as they are.
_FIELDS: dict[str, dict[str, str]] = {
    "pre-session": {"source": "source", "model": "model"},
    "post-session": {"reason": "reason"},
    "pre-agent-turn": {"prompt": "prompt"},
    "pre-agent-turn-stop": {"stop_hook_active": "stop_hook_active", "final_message": "last_assistant_message"},
    "post-agent-turn-failure": {"error_type": "error", "error_message": "error_details"},
    "pre-tool-call": _TOOL,
    "post-tool-call": {**_TOOL, "tool_output": "tool_response"},
    "post-tool-call-failure": {**_TOOL, "error": "error"},
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
_OTHER_FIELDS: dict[tuple[str, str], dict[str, str]] = {
    ("gemini", "pre-agent-turn-stop"): {"stop_hook_active": "stop_hook_active", "final_message": "prompt_response"},
    **{
        ("qwen", event): {**_FIELDS[event], "tool_call_id": "tool_call_id"}
        for event in ("pre-tool-call", "post-tool-call", "post-tool-call-failure")
    },
    **{  # it gives its tools no ids
        ("gemini", event): {ours: name for ours, name in _FIELDS[event].items() if ours != "tool_use_id"}
        for event in ("pre-tool-call", "post-tool-call")
    },
}
# What is always there.
_DEFAULTS: dict[tuple[str, str], dict[str, Any]] = {
    ("claude", "pre-context-compact"): {"custom_instructions": None},
    ("qwen", "pre-context-compact"): {"custom_instructions": ""},
    **{
        (agent, event): {"stop_hook_active": False}
        for agent in ("claude", "codex", "gemini", "qwen")
        for event in ("pre-agent-turn-stop", "post-subagent")
    },
}
_OURS = {
    spec.name: {*spec.fields, *(name for column in spec.columns for name in (column.name, *column.sources))}
    for spec in EVENTS
}
_BASE = ("hook_event_name", "session_id", "cwd", "timestamp")
_TAKEN = ("name", "self", "work_dir", "context")  # of Event itself
_STAMPED = ("gemini", "qwen")


def read(agent: str, payload: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> Event:
    """The event an agent told of; `UnknownEvent` for one that has no counterpart here."""
    native = payload.get("hook_event_name")
    event = EVENTS_OF[agent].get(native) if isinstance(native, str) else None
    if event is None:
        raise UnknownEvent(f"{agent} has an event {native!r} that nothing here corresponds to")
    ours = {name: field for field, name in _fields(agent, event).items()}
    cwd, stamp = payload.get("cwd"), payload.get("timestamp")
    return Event(
        event,
        session_id=jsonable.text(payload.get("session_id") or ""),
        work_dir=cwd if isinstance(cwd, str) and cwd else ".",
        timestamp=stamp if isinstance(stamp, str) else None,
        context=context,
        **{ours.get(key, key): value for key, value in payload.items() if key not in (*_BASE, *_TAKEN)},
    )


def write(agent: str, declared: str, event: Event) -> dict[str, Any]:
    """The event as the agent would tell its own hooks of it.

    An event that came from this very agent (`context` holds `agent.name` and `agent.payload`) is sent as it came, with
    the tool's input as it is by now. What a partial payload lacks is written as for any other event.
    """
    came = _as_it_came(agent, event)
    if "hook_event_name" in came:
        return came
    names = _fields(agent, event.canonical)
    sent: dict[str, Any] = {"session_id": event.session_id, "cwd": event.work_dir, "hook_event_name": declared}
    if agent in _STAMPED:
        sent["timestamp"] = event.timestamp
    sent.update(_DEFAULTS.get((agent, event.canonical), {}))
    ours = _OURS[event.canonical]
    is_its_own = bool(came)  # then every value has the agent's shape already
    for field, value in event.fields.items():
        name = names.get(field, field if field not in ours else None)
        if name is not None:
            sent[name] = value if is_its_own and field != "tool_name" else _shaped(agent, field, value)
    if "tool_call_id" in names and "tool_use_id" in sent:
        sent.setdefault("tool_call_id", sent["tool_use_id"])
    if "subagent_name" in names and "agent_type" not in sent and "subagent_type" in event.fields:
        sent["agent_type"] = event.fields["subagent_type"]
    return {**sent, **came}


def _as_it_came(agent: str, event: Event) -> dict[str, Any]:
    origin = event.context.get("agent")
    if not isinstance(origin, dict) or origin.get("name") != agent or not isinstance(origin.get("payload"), dict):
        return {}
    came: dict[str, Any] = {**origin["payload"]}
    if "tool_input" in came and event.tool_input is not None:
        came["tool_input"] = event.tool_input
    return came


def _fields(agent: str, event: str) -> dict[str, str]:
    return _OTHER_FIELDS.get((agent, event)) or _FIELDS[event]


def _shaped(agent: str, field: str, value: Any) -> Any:
    """A value in the form the agent gives it."""
    if field == "tool_name":
        return tool(agent, jsonable.text(value))
    if field == "tool_output":
        return _response(agent, value)
    if field == "prompt":
        return prompt_text(value)
    if field in ("final_message", "response"):
        return prompt_text(value.get("content", value)) if isinstance(value, dict) else prompt_text(value)
    if field == "error":
        return jsonable.text(value.get("message", value) if isinstance(value, dict) else value)
    return value


def tool(agent: str, name: str) -> str:
    """What an agent calls a tool; the name itself for a tool it does not have."""
    return next((each for each in tool_names(name) if each in _TOOLS[agent]), name)


def _response(agent: str, output: Any) -> Any:
    if agent in ("gemini", "qwen"):
        if isinstance(output, dict) and "llmContent" in output:
            return output
        text = _text(output)
        return {"llmContent": text, "returnDisplay": text}
    if agent == "codex":
        return _text(output)
    if isinstance(output, str):
        return {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    return {"stdout": _text(output), "stderr": "", "interrupted": False} if _is_foreign(output) else output


def _is_foreign(output: Any) -> bool:
    return isinstance(output, dict) and "llmContent" in output


def _text(output: Any) -> str:
    """The text in a tool's result, whichever agent's it is."""
    if isinstance(output, dict):
        for key in ("llmContent", "stdout", "output", "content"):
            if isinstance(output.get(key), str):
                return str(output[key])
    return jsonable.text(output)


def variables(hook: Hook, event: Event, env_file: str = "") -> dict[str, str]:
    """What a hook of an agent's settings expects in its environment; `env_file` is the session's."""
    root = event.work_dir
    found = {
        "claude": {"CLAUDE_PROJECT_DIR": root},
        "codex": {},
        "gemini": {
            "GEMINI_PROJECT_DIR": root,
            "GEMINI_CWD": root,
            "GEMINI_SESSION_ID": jsonable.printable(event.session_id).replace("\0", "\ufffd"),
            "CLAUDE_PROJECT_DIR": root,
        },
        "qwen": {"QWEN_PROJECT_DIR": root, "GEMINI_PROJECT_DIR": root, "CLAUDE_PROJECT_DIR": root},
    }.get(hook.format, {})
    if hook.format == "claude" and hook.event == "pre-session" and env_file:
        found["CLAUDE_ENV_FILE"] = env_file
    plugin, name = os.path.split(os.path.dirname(hook.source))
    if hook.format == "claude" and name == "hooks" and hook.source.endswith("/hooks.json"):
        found["CLAUDE_PLUGIN_ROOT"] = plugin
    return {**found, **hook.metadata.get("env", {})}
