"""Factory Droid: Claude Code's JSON. It does not support `ask`, and has no limit for stop hooks."""

from __future__ import annotations

import os

from . import claude_json, codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall

_NAMES = ("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PreToolUse", "PostToolUse", "SubagentStop")
_EVENTS = {name: claude_json.EVENTS[name] for name in (*_NAMES, "PreCompact", "Notification")}
_SUBAGENT = {"subagent_name": "task_name", "response": "task_result", "stop_hook_active": "stop_hook_active"}
_MODEL_ID = "custom:scripted-0"


class Droid(protocol.Agent):
    name = "droid"
    title = "Factory Droid"

    events: ClassVar = _EVENTS
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop", "pre-context-compact")),
        context=frozenset(("pre-session", "pre-agent-turn", "post-tool-call")),
        approves=True,
        modifies=True,
    )
    dialect = claude_json.Dialect(
        "droid",
        _EVENTS,
        fields={
            "post-subagent": _SUBAGENT,
            "pre-context-compact": {"trigger": "trigger", "token_count": "estimated_tokens"},
        },
        tool_response=claude_json.text_response,
    )
    tools = ("LS", "Skill", "TaskOutput", "TaskStop", "ToolSearch")
    mcp_spelling = ("", "___")
    env_file = ("CLAUDE_ENV_FILE", "temp/env")

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        return claude_json.answer(reply)

    executables = ("droid",)
    variable_prefix = "FACTORY_"
    directory = ".factory"
    variable = "FACTORY_HOME_OVERRIDE"
    variable_adds = "/.factory"
    project_file = ".factory/settings.json"

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import read_json

        beside = os.path.join(os.path.dirname(settings), "hooks.json")
        if _hooks_of(beside):
            yield f"{beside} replaces the hooks of {settings}", f"move its hooks below `hooks` in {settings}, remove it"
        project = os.path.join(root, self.directory)
        for file in dict.fromkeys((settings, os.path.join(project, "settings.json"))):
            hooks = read_json(file).get("hooks")
            if isinstance(hooks, dict) and hooks.get("hooksDisabled"):
                yield f"hooks.hooksDisabled in {file} switches every hook off", "remove it"
        for file in dict.fromkeys((beside, os.path.join(project, "hooks.json"))):
            if _hooks_of(file).get("hooksDisabled"):
                yield f"hooksDisabled in {file} switches every hook off", "remove it"

    headless_settings = ".factory/settings.json"
    write_tool = "Create"
    modes = (protocol.PLAIN, protocol.AUTO_APPROVE, protocol.SUBAGENT)
    missing_modes: ClassVar = {protocol.RESUMED: "it resumes a session only from Factory's servers"}

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, edited_json

        with edited_json(home / self.headless_settings) as settings:
            drop(settings, "model", "reasoningEffort", "sessionDefaultSettings", "apiKey")
            model = {
                "model": protocol.MODEL,
                "id": _MODEL_ID,
                "index": 0,
                "displayName": protocol.MODEL,
                "maxOutputTokens": 4096,
            }
            at = {"baseUrl": f"{url}/v1", "apiKey": protocol.KEY, "provider": "generic-chat-completion-api"}
            settings["customModels"] = [{**model, **at}]

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"FACTORY_AIRGAP_ENABLED": "1"}  # no account, no network

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        # below `high`, and in subagents with skipped permissions, it asks about a command that a hook has changed
        flags = ["--skip-permissions-unsafe"] if mode == protocol.AUTO_APPROVE else ["--auto", "high"]
        return [str(executable), "exec", *flags, "--model", _MODEL_ID, prompt]

    def shell_call(self, command: str) -> ScriptedCall:
        about = {"riskLevel": "low", "riskLevelReason": "scripted", "timeout": 10, "summary": "scripted"}
        return protocol.call("Execute", {"command": command, **about})

    def subagent_call(self) -> ScriptedCall:
        about = {"description": "scripted", "complexity": "light", "await": True}
        return protocol.call("Task", {"prompt": protocol.TASK, "subagent_type": "worker", **about})


def _hooks_of(file: str) -> dict[str, Any]:
    """Return the hooks in a `hooks.json`; empty if Droid ignores it: it is broken, or has them below a key `hooks`."""
    from .settings_files import read_json

    found = read_json(file)
    return {} if "hooks" in found else found


AGENT = Droid()
