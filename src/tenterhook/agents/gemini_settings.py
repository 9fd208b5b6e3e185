"""Gemini CLI's settings: what switches hooks off, and how it is run headless, which is partly that of Qwen Code."""

from __future__ import annotations

import os

from . import protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall, Turn

_SYSTEM = "/etc/gemini-cli/settings.json"
# Without auto-approval, it refuses the shell tool before hooks run; its flag to allow the tool excludes redirections.
_POLICY = """\
[[rule]]
toolName = ["run_shell_command", "write_file", "invoke_agent"]
decision = "allow"
priority = 900
allowRedirection = true
"""


class GeminiLike(protocol.Agent):
    """The part that Gemini CLI and its fork Qwen Code have in common."""

    tools = (
        *("activate_skill", "ask_user", "ask_user_question", "codebase_investigator", "complete_task"),
        *("delegate_to_agent", "enter_plan_mode", "exit_plan_mode", "get_internal_docs", "invoke_agent"),
        *("list_directory", "lsp", "read_many_files", "save_memory", "skill", "todo_write", "write_todos"),
    )

    auth_type: str
    model: str
    shell_tool = "run_shell_command"
    write_tool = "write_file"

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, drop_credentials, edited_json, table

        with edited_json(home / self.headless_settings) as settings:
            drop(settings, "mcpServers", "modelProviders")
            drop_credentials(settings)
            auth = table(settings, "security", "auth")
            auth.clear()
            auth["selectedType"] = self.auth_type
            table(settings, "security", "folderTrust")["enabled"] = False
            table(settings, "privacy")["usageStatisticsEnabled"] = False
            table(settings, "general").update(enableAutoUpdate=False, disableAutoUpdate=True)
            table(settings, "telemetry").clear()
            table(settings, "model")["name"] = self.model
            self.adjust(settings)

    def adjust(self, settings: dict[str, Any]) -> None:
        """Make the changes to headless settings that only one of the two agents needs."""


class GeminiSettings(GeminiLike):
    """The part of Gemini CLI that reads and writes its settings."""

    executables = ("gemini",)
    variable_prefix = "GEMINI_"
    directory = ".gemini"
    project_file = ".gemini/settings.json"
    needs_project_trust = True
    managed: ClassVar = {
        "file": _SYSTEM,
        "beside": {"hooksConfig": {"enabled": True}},
        "moved_by": "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    }

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        return super().entry(event, line, seconds * 1000)

    env_files = (".gemini/.env", ".env")

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from ..formats.own_entries import is_own_command
        from .settings_files import read_json

        for file in (settings, os.path.join(root, ".gemini/settings.json"), _SYSTEM):
            switches = read_json(file).get("hooksConfig")
            if not isinstance(switches, dict):
                continue
            if switches.get("enabled") is False:
                yield f"hooksConfig.enabled in {file} switches every hook off", "remove it"
            disabled = switches.get("disabled")
            if isinstance(disabled, list) and any(isinstance(each, str) and is_own_command(each) for each in disabled):
                yield f"hooksConfig.disabled in {file} names our line", "remove it: /hooks enable"

    headless_settings = ".gemini/settings.json"
    auth_type = "gemini-api-key"
    model = "gemini-2.5-flash"  # it must be one that Gemini CLI knows

    def prepare(self, home: Path, url: str) -> None:
        super().prepare(home, url)
        policies = home / ".gemini" / "policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "tenterhook-trial.toml").write_text(_POLICY)

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": protocol.KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = [] if mode == protocol.PLAIN else ["--yolo"]
        flags += ["--resume", "latest"] if resume else []
        return [str(executable), "--model", self.model, *flags, "--prompt", prompt]

    def subagent_call(self) -> ScriptedCall:
        return protocol.call("invoke_agent", {"agent_name": "generalist", "prompt": protocol.TASK})

    def subagent_end(self) -> Turn:
        from ..basics.model_script import Turn

        return Turn(calls=(protocol.call("complete_task", {"result": {"response": protocol.DONE}}),))
