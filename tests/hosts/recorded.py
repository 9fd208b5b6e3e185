"""What released agents sent, as it was recorded, and each recording as an event.

The payloads of agents that are not proven are written from their documentation.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook import Event, Hook
from tenterhook.agents import AGENTS
from tenterhook.basics import light_json
from tenterhook.formats import payloads

if TYPE_CHECKING:
    from tenterhook import Verdict
    from tenterhook.agents.codec import HookOutput, Received


PROVEN = [name for name in AGENTS if AGENTS[name].proven]  # seen at work; the others are by documentation
DATA = Path(__file__).parent / "data"
RECORDED = sorted(DATA.glob("*/*.json"))

# What each agent's events are, independent of the tables in the package.
LIKE_CLAUDE = {
    "SessionStart": "pre-session",
    "SessionEnd": "post-session",
    "UserPromptSubmit": "pre-agent-turn",
    "Stop": "pre-agent-turn-stop",
    "StopFailure": "post-agent-turn-failure",
    "PreToolUse": "pre-tool-call",
    "PostToolUse": "post-tool-call",
    "PostToolUseFailure": "post-tool-call-failure",
    "PermissionRequest": "permission-request",
    "SubagentStart": "pre-subagent",
    "SubagentStop": "post-subagent",
    "PreCompact": "pre-context-compact",
    "PostCompact": "post-context-compact",
    "Notification": "notification",
}


MEANS: dict[str, dict[str, str]] = {
    "goose": LIKE_CLAUDE,
    "claude-code": LIKE_CLAUDE,
    "codex": LIKE_CLAUDE,
    "qwen": LIKE_CLAUDE,
    "droid": LIKE_CLAUDE,
    "kimi-cli": LIKE_CLAUDE,
    "kimi-code": {
        **LIKE_CLAUDE,
        "PermissionResult": "permission-result",
        "TaskStarted": "task-started",
        "TurnStarted": "turn-started",
    },
    "pi": {
        "session_start": "pre-session",
        "session_shutdown": "post-session",
        "input": "pre-agent-turn",
        "tool_call": "pre-tool-call",
        "tool_result": "post-tool-call",
        "tool_error": "post-tool-call-failure",
        "agent_before_settle": "pre-agent-turn-stop",
        "message_end": "post-agent-turn-failure",
        "session_before_compact": "pre-context-compact",
        "session_compact": "post-context-compact",
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
    "copilot": {
        "sessionStart": "pre-session",
        "sessionEnd": "post-session",
        "userPromptSubmitted": "pre-agent-turn",
        "agentStop": "pre-agent-turn-stop",
        "errorOccurred": "post-agent-turn-failure",
        "preToolUse": "pre-tool-call",
        "postToolUse": "post-tool-call",
        "postToolUseFailure": "post-tool-call-failure",
        "permissionRequest": "permission-request",
        "subagentStart": "pre-subagent",
        "subagentStop": "post-subagent",
        "preCompact": "pre-context-compact",
        "notification": "notification",
    },
    "vibe": {
        "pre_tool": "pre-tool-call",
        "post_tool": "post-tool-call",
        "post_agent": "pre-agent-turn-stop",
    },
    "openhands": {
        "session_start": "pre-session",
        "session_end": "post-session",
        "user_prompt_submit": "pre-agent-turn",
        "stop": "pre-agent-turn-stop",
        "pre_tool_use": "pre-tool-call",
        "post_tool_use": "post-tool-call",
    },
    "hermes": {
        "on_session_start": "pre-session",
        "on_session_finalize": "post-session",
        "pre_llm_call": "pre-agent-turn",
        "post_llm_call": "post-agent-turn",
        "pre_verify": "pre-agent-turn-stop",
        "api_request_error": "post-agent-turn-failure",
        "pre_tool_call": "pre-tool-call",
        "post_tool_call": "post-tool-call",
        "post_tool_call_error": "post-tool-call-failure",
        "pre_approval_request": "permission-request",
        "post_approval_response": "permission-result",
        "subagent_start": "pre-subagent",
        "subagent_stop": "post-subagent",
    },
    "opencode": {
        "session.created": "pre-session",
        "dispose": "post-session",
        "chat.message": "pre-agent-turn",
        "session.idle": "pre-agent-turn-stop",
        "session.error": "post-agent-turn-failure",
        "session.aborted": "interrupt",
        "tool.execute.before": "pre-tool-call",
        "tool.execute.after": "post-tool-call",
        "tool.execute.error": "post-tool-call-failure",
        "permission.asked": "permission-request",
        "permission.replied": "permission-result",
        "subagent.created": "pre-subagent",
        "subagent.idle": "post-subagent",
        "experimental.session.compacting": "pre-context-compact",
        "session.compacted": "post-context-compact",
    },
    "cline": LIKE_CLAUDE,
    "cursor": {
        "sessionStart": "pre-session",
        "sessionEnd": "post-session",
        "beforeSubmitPrompt": "pre-agent-turn",
        "stop": "pre-agent-turn-stop",
        "preToolUse": "pre-tool-call",
        "postToolUse": "post-tool-call",
        "postToolUseFailure": "post-tool-call-failure",
        "subagentStart": "pre-subagent",
        "subagentStop": "post-subagent",
        "preCompact": "pre-context-compact",
    },
}
# What single recordings are instead, by what is in them.
MEANS_HERE = {
    "copilot/agentStop-in-subagent": "agent-event",  # a subagent's own event follows: no gate of the agent
    "vibe/post_tool-failure": "post-tool-call-failure",
    "vibe/post_tool-mcp-failure": "post-tool-call-failure",
    "vibe/post_agent-in-subagent": "post-subagent",
    "openhands/post_tool_use-error": "post-tool-call-failure",
    "cline/PostToolUse-failed-command": "post-tool-call-failure",
    "cline/PostToolUse-read_files": "post-tool-call-failure",
    "cline/PostToolUse-refused": "post-tool-call-failure",
    "cursor/stop-aborted": "post-agent-turn-failure",
    "cursor/stop-error": "post-agent-turn-failure",
}
WITHOUT = {"vibe": {"pre-session", "pre-agent-turn"}}  # events that decide, in agents that do not have them


# What an agent's settings are called as a format of ours; the others' hooks are array hooks, or none of ours.
FORMATS = {"claude-code": "claude", "codex": "codex", "gemini": "gemini", "qwen": "qwen"}


FORMATS |= {"kimi-cli": "array", "kimi-code": "array"}


each_agent = pytest.mark.parametrize("agent", AGENTS)


def recorded(agent: str) -> list[Path]:
    return [file for file in RECORDED if file.parent.name == agent]


def native_name(file: Path) -> str:
    return file.stem.partition("-")[0]


def sent(file: Path) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(file.read_text())
    return payload


def plain(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload with Claude Code's names for the session, the place and the call, which Cline nests."""
    if "sessionContext" not in payload:
        return payload
    call = payload.get("tool_call") or payload["tool_result"]
    place = {"session_id": payload["sessionContext"]["rootSessionId"], "cwd": payload["workspaceRoots"][0]}
    return {**payload, **place, "tool_name": call["name"], "tool_input": call["input"]}


def placed(payload: dict[str, Any], folder: Path | str) -> dict[str, Any]:
    """A payload from a project in this folder."""
    if "sessionContext" in payload:
        return {**payload, "workspaceRoots": [str(folder)]}
    return {**payload, "working_dir" if "working_dir" in payload else "cwd": str(folder)}


def read(file: Path, **more: Any) -> Received:
    return AGENTS[file.parent.name].read_event({**sent(file), **more}, native_name(file))


def as_hook(format_: str, event: Event, declared: str) -> Hook:
    return Hook("hook", event.canonical, declared, format_)


def told(received: Received, format_: str = "folder") -> dict[str, Any]:
    """What a hook of a format is sent, through the very bytes."""
    declared = received.event.canonical if format_ == "folder" else received.native
    sent_to_it = payloads.payload(as_hook(format_, received.event, declared), received.event)
    decoded: dict[str, Any] = json.loads(light_json.encode(sent_to_it))
    return decoded


def answer(file: str, verdict: Verdict) -> HookOutput:
    """What an agent is told at a recorded event, `agent/Event`, if hooks decide so."""
    received = read(DATA / f"{file}.json")
    return AGENTS[file.partition("/")[0]].write_verdict(received, verdict._replace(event=received.event.canonical))
