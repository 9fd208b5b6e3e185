"""Real installations in agents' settings: where they are, what `install` wrote there, and events sent to it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tomllib
import uuid
from pathlib import Path
from typing import Any

from hosts.recorded import placed
from support import tenterhook
from tenterhook.agents import AGENTS
from tenterhook.install import plugin_editor

DATA = Path(__file__).parent.parent / "hosts" / "data"
SETTINGS = {
    "claude-code": ".claude/settings.json",
    "kimi-code": ".kimi-code/config.toml",
    "kimi-cli": ".kimi/config.toml",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json",
    "copilot": ".copilot/hooks/tenterhook.json",
    "droid": ".factory/settings.json",
    "vibe": ".vibe/hooks.toml",
    "openhands": ".openhands/hooks.json",
    "cursor": ".cursor/hooks.json",
    "goose": ".agents/plugins/tenterhook/hooks/hooks.json",
}
# Plug-ins that are written whole, for agents without settings for hooks.
PLUGINS = {
    "pi": ".pi/agent/extensions/tenterhook.ts",
    "hermes": ".hermes/plugins/tenterhook/__init__.py",
    "cline": ".cline/plugins/tenterhook.js",
    "opencode": ".config/opencode/plugins/tenterhook.js",
}
FILES = {**SETTINGS, **PLUGINS}

FLAT = ("copilot", "cursor")  # their events have entries, not groups of them

# The agent's names of: a session's start, a tool call, a prompt, a stop.
NAMES = {
    **dict.fromkeys(FILES, ("SessionStart", "PreToolUse", "UserPromptSubmit", "Stop")),
    "gemini": ("SessionStart", "BeforeTool", "BeforeAgent", "AfterAgent"),
    "copilot": ("sessionStart", "preToolUse", "userPromptSubmitted", "agentStop"),
    "pi": ("session_start", "tool_call", "input", "agent_before_settle"),
    "vibe": ("pre_tool", "pre_tool", "pre_tool", "post_agent"),  # it has no others: the first event is a tool call
    "cursor": ("sessionStart", "preToolUse", "beforeSubmitPrompt", "stop"),
    "openhands": ("session_start", "pre_tool_use", "user_prompt_submit", "stop"),
    "hermes": ("on_session_start", "pre_tool_call", "pre_llm_call", "pre_verify"),
    "opencode": ("session.created", "tool.execute.before", "chat.message", "session.idle"),
}

EDITED = {agent: NAMES[agent] for agent in SETTINGS}  # those of agents whose settings are edited


def install(*arguments: str, **options: Any) -> str:
    ended = tenterhook("install", *arguments, **options)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def wired(home: Path, agent: str) -> dict[str, str]:
    """Our lines in an agent's settings, by its name of the event; each is there once."""
    path = home / FILES[agent]
    found: list[tuple[str, str]] = []
    if path.suffix == ".toml":
        key = AGENTS[agent].event_key
        found = [(hook[key], hook["command"]) for hook in tomllib.loads(path.read_text())["hooks"]]
    elif path.suffix != ".json":  # a plug-in of ours
        found = [(event, entry["command"]) for event, entry in plugin_editor.entries_of(path.read_bytes()).items()]
    else:
        settings = json.loads(path.read_text())
        for event, groups in settings.get("hooks", settings).items():
            hooks = groups if agent in FLAT else [hook for group in groups for hook in group["hooks"]]
            found += [(event, hook.get("bash") or hook["command"]) for hook in hooks]
    ours = [(event, line) for event, line in found if "/tenterhook/launcher.sh" in line]
    assert len(dict(ours)) == len(ours)
    return dict(ours)


def fire(agent: str, event: str, line: str, *, shell: str = "/bin/sh", **options: Any) -> Any:
    """Run a line as the agent would, with what the agent would send, in a session of its own."""
    payload = json.loads((DATA / agent / f"{event}.json").read_text())
    session = {"copilot": "sessionId", "cursor": "conversation_id"}
    payload[session.get(agent, "session_id")] = str(uuid.uuid4())
    if "sessionContext" in payload:  # Cline nests
        payload["sessionContext"]["rootSessionId"] = payload["session_id"]
    payload = placed(payload, options.setdefault("cwd", os.getcwd()))
    arguments = [shell, "sh", "-c", line] if shell.endswith("busybox") else [shell, "-c", line]
    return subprocess.run(arguments, input=json.dumps(payload), capture_output=True, text=True, timeout=60, **options)


def is_blocked(ended: Any, reason: str = "not with me") -> bool:
    """Whether the agent was told to refuse a tool call, in one of the ways that agents understand."""
    if ended.returncode == 2:
        return reason in ended.stderr
    answer = json.loads(ended.stdout or "{}")
    answer = answer.get("hookSpecificOutput", answer)
    if "deny" in answer:
        return reason in answer["deny"]
    decision = answer.get("permissionDecision", answer.get("permission", answer.get("decision")))
    said = answer.get("permissionDecisionReason", answer.get("agent_message", answer.get("reason")))
    return decision == "deny" and reason in said


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def log(home: Path) -> list[str]:
    path = home / ".local/state/tenterhook/bridge.log"
    return path.read_text().splitlines() if path.exists() else []


BRIDGE = b"tenterhook/launcher.sh"

# What is ours alone, outside of anybody's settings.
OWN = (".local/state/tenterhook", ".cache/tenterhook")


def kept(home: Path) -> dict[str, tuple[str, int, bytes]]:
    """Everything below a test's folder, links not followed, without what is ours alone: kind, mode, content."""
    found = {}
    top = home.parent
    for directory, folders, files in os.walk(top):
        for name in [*folders, *files]:
            path = Path(directory, name)
            if str(path.relative_to(home) if path.is_relative_to(home) else "").startswith(OWN):
                continue
            state = path.lstat()
            if path.is_symlink():
                found[str(path.relative_to(top))] = ("link", 0, os.fsencode(os.readlink(path)))
            elif path.is_dir():
                found[str(path.relative_to(top))] = ("folder", stat.S_IMODE(state.st_mode), b"")
            else:
                found[str(path.relative_to(top))] = ("file", stat.S_IMODE(state.st_mode), path.read_bytes())
    for parent in ("home/.local/state", "home/.local", "home/.cache"):  # the way to what is ours
        found.pop(parent, None)
    return found


def changed(before: dict[str, tuple[str, int, bytes]], after: dict[str, tuple[str, int, bytes]]) -> set[str]:
    return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


def put(home: Path, agent: str, content: bytes) -> Path:
    path = home / SETTINGS[agent]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def records(home: Path) -> list[str]:
    return sorted(path.name for path in (home / ".local/state/tenterhook/installed").glob("*.json"))


def uninstall(*arguments: str) -> str:
    ended = tenterhook("uninstall", *arguments, "--yes")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def refused(*arguments: str) -> str:
    """What a command said that refused its work."""
    ended = tenterhook(*arguments)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert ended.stdout == ""
    assert ended.stderr.startswith("tenterhook: ")
    assert "Traceback" not in ended.stderr
    assert ended.stderr.count("\n  ") == 1, "a remedy on a line of its own"
    return ended.stderr


def events(home: Path) -> dict[str, set[str]]:
    return {agent: set(wired(home, agent)) for agent in SETTINGS}
