"""opencode: it has no settings for hooks, so our plug-in (plugins/opencode.js) sends events to the launcher."""

from __future__ import annotations

import os

from ..basics import light_json, places
from . import claude_json, codec, plugin_json, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall

# opencode's names; for a subagent's session, a failed call and an interruption, which have none, names of our own.
_EVENTS = {
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
}
_OTHERS = ("command.executed", "todo.updated")


class OpenCode(plugin_json.PluginAgent):
    name = "opencode"
    title = "opencode"

    events: ClassVar = {**_EVENTS, **dict.fromkeys(_OTHERS, codec.OTHER)}
    capabilities = codec.Capabilities(
        blocks=frozenset(
            (
                *("pre-session", "pre-agent-turn", "pre-tool-call", "permission-request", "pre-agent-turn-stop"),
                *("pre-subagent", "post-subagent"),
            )
        ),
        context=frozenset(
            (
                *("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "post-tool-call-failure"),
                *("pre-subagent", "pre-context-compact"),
            )
        ),
        approves=True,
        modifies=True,
        answers_permission=True,
        messages=True,
        replaces_output=True,
        replaces_error=True,
    )
    dialect = claude_json.Dialect(
        "opencode",
        _EVENTS,
        fields={
            "pre-subagent": {"subagent_name": "agent_type", "task_description": "prompt"},
            "permission-result": {"decision": "decision"},
        },
        tool_response=claude_json.text_response,
    )
    input_keys: ClassVar = {"file_path": "filePath"}
    tools = (
        *("execute", "invalid", "list_mcp_resource_templates", "list_mcp_resources", "lsp", "plan_exit", "question"),
        *("read_mcp_resource", "skill", "todowrite"),
    )

    mcp_spelling = ("", "_")

    def native_output(self, received: codec.Received, output: Any) -> Any:
        """Return the output as text or, for a tool of an MCP server, as an object with `content`."""
        text = light_json.text(output)
        if not isinstance(received.event.tool_output, dict):
            return text
        is_content = isinstance(output, dict) and isinstance(output.get("content"), list)
        return output if is_content else {"content": [{"type": "text", "text": text}]}

    executables = ("opencode",)
    variable_prefix = "OPENCODE_"
    directory = ".config/opencode"
    file = "plugins/tenterhook.js"
    project_file = ".opencode/plugins/tenterhook.js"
    plugin = "opencode.js"

    def home(self) -> str:
        return os.path.join(places.config_home(), "opencode")

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        if not os.path.isdir(os.path.join(self.home(), "node_modules", "@opencode-ai", "plugin")):
            yield (
                "with a plug-in, opencode waits at each start until npm has installed @opencode-ai/plugin beside it, "
                "70 seconds where no registry is reached; there: npm config set fetch-retries 0"
            )

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        if _is_on("OPENCODE_PURE"):
            yield "OPENCODE_PURE is set: opencode leaves out every plug-in, ours too", "unset OPENCODE_PURE"
        if settings != self.settings() and _is_on("OPENCODE_DISABLE_PROJECT_CONFIG"):
            what = "OPENCODE_DISABLE_PROJECT_CONFIG is set: opencode leaves out the project's plug-ins"
            yield what, "unset it, or: tenterhook install opencode"

    headless_settings = ".config/opencode/opencode.json"
    shell_tool = "bash"
    write_tool = "write"
    subagent_tool = "task"
    subagent_type = "general"

    def prepare(self, home: Path, url: str) -> None:
        import json

        from .headless import edited_json

        with edited_json(home / self.headless_settings) as settings:
            settings.clear()  # nothing in it concerns our plug-in
            settings["$schema"] = "https://opencode.ai/config.json"  # else opencode adds it
            model = {"name": protocol.MODEL, "limit": {"context": 200_000, "output": 20_000}}
            settings["model"] = settings["small_model"] = f"{protocol.PROVIDER}/{protocol.MODEL}"
            settings["provider"] = {
                protocol.PROVIDER: {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": protocol.PROVIDER,
                    "options": {"baseURL": f"{url}/v1", "apiKey": protocol.KEY},
                    "models": {protocol.MODEL: model},
                }
            }

        # else opencode installs this package in every settings folder
        folder = home / self.directory
        (folder / "node_modules").mkdir(exist_ok=True)
        locked = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
        (folder / "package-lock.json").write_text(json.dumps(locked))

    def environment(self, home: Path, url: str) -> dict[str, str]:
        switches = ("AUTOUPDATE", "LSP_DOWNLOAD", "MODELS_FETCH", "SHARE")
        return {
            **{f"OPENCODE_DISABLE_{name}": "1" for name in switches},
            "npm_config_offline": "true",
        }

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        flags = ["--auto"] if mode == protocol.AUTO_APPROVE else []
        flags += ["--continue"] if resume else []
        return [str(executable), "run", *flags, prompt]

    def shell_call(self, command: str) -> ScriptedCall:
        return protocol.call(self.shell_tool, {"command": command, "description": "scripted"})


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("1", "true")


AGENT = OpenCode()
