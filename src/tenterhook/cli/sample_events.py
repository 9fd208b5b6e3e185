"""A sample value for each documented field of an event: `show` prints them, `trigger` sends those not given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..approvals.requests import Call, Request
from ..events import tool_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..events import EventSpec

VALUES: dict[str, Any] = {
    "tool_name": "Shell",
    "tool_input": {"command": "ls -la"},
    "tool_use_id": "tool_123",
    "tool_output": "total 0",
    "error": "ls: cannot access 'src': No such file or directory\n[exit status 2]",
    "exit_code": 2,
    "prompt": "Fix the failing test",
    "response": "The test passes now.",
    "model": "kimi-latest",
    "args": {"ui": "shell", "agent": "default"},
    "source": "startup",
    "reason": "exit",
    "duration_seconds": 3600,
    "total_steps": 25,
    "exit_reason": "user_exit",
    "stop_reason": "no_tool_calls",
    "step_count": 5,
    "final_message": {"role": "assistant", "content": "Done."},
    "stop_hook_active": False,
    "error_type": "APIError",
    "error_message": "rate limited",
    "permission_request_id": "perm_1",
    "action": "run command",
    "display": {"kind": "command", "command": "ls -la", "cwd": "/home/me/project"},
    "decision": "approved",
    "answered_by": "terminal",
    "scope": "once",
    "duration_ms": 1200,
    "subagent_name": "code-reviewer",
    "subagent_type": "coder",
    "task_description": "Review the login module",
    "trigger": "manual",
    "token_count": 120000,
    "estimated_token_count": 8000,
    "sink": "context",
    "notification_type": "task.completed",
    "title": "Task completed",
    "body": "The tests pass.",
    "severity": "info",
    "source_kind": "task",
    "source_id": "task_1",
    "prompt_id": "prompt_1",
    "queue_length": 1,
    "turn_id": "turn_1",
    "origin_kind": "user",
    "origin_name": "terminal",
    "task_id": "task_1",
    "kind": "agent",
    "description": "Review the login module",
    "detached": True,
    "uptime_ms": 60000,
    "agent_event": "PostToolBatch",
}
# Fields with another meaning than at other events.
_AT = {"interrupt": {"reason": "user"}, "pre-subagent": {"prompt": "Review the login module and report what you find"}}

_FILE = {"file_path": "src/app.py"}
# By our name of the tool.
_INPUTS: dict[str, dict[str, Any]] = {
    "Shell": VALUES["tool_input"],
    "WriteFile": {**_FILE, "content": "print('hello')\n"},
    "ReadFile": _FILE,
    "StrReplaceFile": {**_FILE, "old_string": "hello", "new_string": "goodbye"},
    "Glob": {"pattern": "**/*.py"},
    "Grep": {"pattern": "TODO"},
    "Task": {"name": "reviewer", "description": "Review the login module", "prompt": "Review src/login.py"},
    "FetchURL": {"url": "https://example.com/"},
    "SearchWeb": {"query": "python argparse"},
}


def fields(spec: EventSpec, given: Mapping[str, Any], work_dir: str) -> dict[str, Any]:
    """Return every documented field of an event: as given, else a sample that fits the given fields."""
    samples = {**VALUES, **_AT.get(spec.name, {})}
    sources = (source for column in spec.columns for source in column.sources)
    filled = {field: samples[field] for field in (*spec.fields, *sources) if field in samples}
    if spec.has_tool:
        filled |= _call(spec, given, work_dir)
    return {**filled, **{field: value for field, value in given.items() if value is not None}}


def _call(spec: EventSpec, given: Mapping[str, Any], work_dir: str) -> dict[str, Any]:
    """Return the fields of a tool call, which depend on each other."""
    tool = str(given.get("tool_name") or VALUES["tool_name"])
    tool_input = given.get("tool_input")
    if tool_input is None:
        tool_input = next((_INPUTS[name] for name in tool_names(tool) if name in _INPUTS), {})
    use_id = str(given.get("tool_use_id") or given.get("tool_call_id") or VALUES["tool_use_id"])
    asked = str(given.get("permission_request_id") or given.get("id") or VALUES["permission_request_id"])
    call = Call(tool, tool_input if isinstance(tool_input, dict) else {}, work_dir, tool_use_id=use_id)
    if "permission_request_id" in spec.fields:
        return Request(asked, call).fields
    return {"tool_name": tool, "tool_input": tool_input, "tool_use_id": use_id}
