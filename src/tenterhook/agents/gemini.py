"""Gemini CLI. An answer `ask` hangs a headless run, so it is never given."""

from __future__ import annotations

import os

from . import claude_json, codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall, Turn

_EVENTS = {
    "SessionStart": "pre-session",
    "SessionEnd": "post-session",
    "BeforeAgent": "pre-agent-turn",
    "AfterAgent": "pre-agent-turn-stop",
    "BeforeTool": "pre-tool-call",
    "AfterTool": "post-tool-call",
    "PreCompress": "pre-context-compact",
    "Notification": "notification",
}
_SYSTEM = "/etc/gemini-cli/settings.json"
_OTHERS = ("BeforeModel", "AfterModel", "BeforeToolSelection")
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


class Gemini(GeminiLike):
    name = "gemini"
    title = "Gemini CLI"

    events: ClassVar = {**_EVENTS, **dict.fromkeys(_OTHERS, codec.OTHER)}
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop")),
        context=frozenset(("pre-session", "pre-agent-turn", "post-tool-call")),
        modifies=True,
        messages=True,
        replaces_output=True,  # by a block
    )
    dialect = claude_json.Dialect(
        "gemini",
        _EVENTS,
        tools=(
            *("run_shell_command", "write_file", "read_file", "replace", "glob", "grep_search", "search_file_content"),
            *("web_fetch", "google_web_search"),
        ),
        fields={  # its tools have no ids
            "pre-agent-turn-stop": {"stop_hook_active": "stop_hook_active", "final_message": "prompt_response"},
            "pre-tool-call": {"tool_name": "tool_name", "tool_input": "tool_input"},
            "post-tool-call": {"tool_name": "tool_name", "tool_input": "tool_input", "tool_output": "tool_response"},
        },
        has_timestamp=True,
        tool_response=claude_json.llm_response,
        variables={
            "GEMINI_PROJECT_DIR": "work_dir",
            "GEMINI_CWD": "work_dir",
            "GEMINI_SESSION_ID": "session_id",
            "CLAUDE_PROJECT_DIR": "work_dir",
        },
        text_is_message=True,
        input_key="tool_input",
        merges_input=True,
        timeout=60.0,
        milliseconds_from=0,
        strips_matchers=True,
        compares_matchers=True,
    )

    mcp_spelling = ("mcp_", "_")

    def mcp_names(self, tool: str, payload: dict[str, Any]) -> list[str]:
        named = payload.get("mcp_context")  # the configured names, which the tool's own name is ambiguous about
        if isinstance(named, dict) and isinstance(named.get("server_name"), str):
            return [f"mcp:{named['server_name']}/{named.get('tool_name') or tool}"]
        return super().mcp_names(tool, payload)

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        if reply.deny is not None:
            return None
        if reply.output is not None:
            return claude_json.block_with_output(reply)
        return claude_json.with_texts(reply, {"tool_input": reply.tool_input} if reply.tool_input is not None else {})

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


AGENT = Gemini()
