"""Claude Code. After exit status 2 it shows our whole command line with the reason, so blocks are JSON answers."""

from __future__ import annotations

import os

from . import claude_json, codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

_MANAGED = "/etc/claude-code/managed-settings.json"
_OTHERS = (
    *("PostToolBatch", "UserPromptExpansion", "PreModelSwitch", "PostModelSwitch", "PermissionDenied", "Setup"),
    *("TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange"),
    *("InstructionsLoaded", "CwdChanged", "DirectoryAdded", "MessageDisplay"),
)
_BLOCKS = (
    *("pre-tool-call", "permission-request", "pre-agent-turn", "pre-agent-turn-stop", "post-subagent"),
    "pre-context-compact",
)
_HEARD = ("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "post-tool-call-failure", "pre-subagent")


class ClaudeCode(protocol.Agent):
    name = "claude-code"
    title = "Claude Code"

    events: ClassVar = {**claude_json.EVENTS, **dict.fromkeys(_OTHERS, codec.OTHER)}
    capabilities = codec.Capabilities(
        blocks=frozenset(_BLOCKS),
        context=frozenset(_HEARD),
        asks=True,
        approves=True,
        modifies=True,
        answers_permission=True,
        messages=True,
        replaces_output=True,
    )
    dialect = claude_json.Dialect(
        "claude",
        claude_json.EVENTS,
        defaults={"pre-context-compact": {"custom_instructions": None}},
        variables={"CLAUDE_PROJECT_DIR": "work_dir", "CLAUDE_ENV_FILE": "env_file"},
        plugin_variable="CLAUDE_PLUGIN_ROOT",
        text_is_context=("pre-session", "pre-agent-turn"),
        approves=True,
        defers=True,
        whole_names=r"[\w, |-]+",
    )
    tools = (
        *("AskUserQuestion", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree"),
        *("ExitPlanMode", "ExitWorktree", "KillBash", "KillShell", "LS", "LSP", "ListMcpResourcesTool", "Monitor"),
        *("MultiEdit", "NotebookEdit", "NotebookRead", "PowerShell", "ReadMcpResourceTool", "SendMessage", "Skill"),
        *("SlashCommand", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate", "TeamCreate"),
        *("TeamDelete", "TodoRead", "TodoWrite", "ToolSearch"),
    )
    env_file = ("CLAUDE_ENV_FILE", "session-env")
    unattended = (b"CLAUDE_CODE_SESSION_ATTENDED", b"0")

    def native_output(self, received: codec.Received, output: Any) -> Any | None:
        from . import claude_outputs

        return claude_outputs.shaped(received.event.tool_output, output)

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        if reply.deny is None or reply.event == "permission-request":
            return claude_json.answer(reply)
        message = {"systemMessage": reply.message} if reply.message is not None else {}
        if reply.event != "pre-tool-call":
            return {"decision": "block", "reason": reply.deny, **message}
        specific = {"permissionDecision": "deny", "permissionDecisionReason": reply.deny}
        return {"hookSpecificOutput": {"hookEventName": reply.native, **specific}, **message}

    executables = ("claude",)
    variable_prefix = "CLAUDE"
    directory = ".claude"
    variable = "CLAUDE_CONFIG_DIR"
    project_file = ".claude/settings.local.json"
    reloads_hooks = True
    managed: ClassVar = {"file": _MANAGED, "beside": {"env": {"CLAUDE_CODE_SHELL_PREFIX": ""}}}

    env_settings = (".claude/settings.json", ".claude/settings.local.json")
    shell_variables = ("CLAUDE_CODE_SHELL_PREFIX",)  # a program that runs every command line, including ours

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import disabled_hooks

        yield from disabled_hooks(settings, os.path.join(root, self.directory), _MANAGED)

    headless_settings = ".claude/settings.json"

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, drop_credentials, edited_json

        with edited_json(home / self.headless_settings) as settings:
            drop(settings, "model", "apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper")
            drop(settings, "forceLoginMethod", "forceLoginOrgUUID", "availableModels")
            drop_credentials(settings)

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": protocol.KEY,
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # needed to skip permissions as root
        }

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        plain = ["--permission-mode", "default", "--allowed-tools=Bash,Read,Write,Edit,Agent"]
        flags = plain if mode == protocol.PLAIN else ["--dangerously-skip-permissions"]
        flags += ["--continue"] if resume else []
        return [str(executable), *flags, "--print", prompt]


AGENT = ClaudeCode()
