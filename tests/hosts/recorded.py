"""What released agents sent, as it was recorded, and each recording as an event."""

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
    from tenterhook.agents.wire import HookOutput, Received


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
}


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
