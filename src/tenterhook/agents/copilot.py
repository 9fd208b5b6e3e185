"""Copilot CLI: camelCase, no event name in the payload, and answers at the top level."""

from __future__ import annotations

import os

from ..basics import light_json
from ..model import Event
from . import codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any, ClassVar

    from ..basics.model_script import ScriptedCall

_FIELDS = {
    "toolName": "tool_name",
    "toolArgs": "tool_input",
    "toolInput": "tool_input",
    "toolResult": "tool_output",
    "toolCallId": "tool_use_id",
    "initialPrompt": "prompt",
    "agentName": "subagent_name",
    "agentType": "subagent_type",
    "agentDescription": "task_description",
    "stopReason": "stop_reason",
    "transcriptPath": "transcript_path",
    "notificationType": "notification_type",
    "message": "body",
}
_BASE = ("sessionId", "cwd", "timestamp", "name", "self", "work_dir", "context", "session_id", "hook_event_name")


class Copilot(protocol.Agent):
    name = "copilot"
    title = "Copilot CLI"

    events: ClassVar = {
        "preToolUse": "pre-tool-call",
        "postToolUse": "post-tool-call",
        "postToolUseFailure": "post-tool-call-failure",
        "permissionRequest": "permission-request",
        "userPromptSubmitted": "pre-agent-turn",
        "agentStop": "pre-agent-turn-stop",
        "sessionStart": "pre-session",
        "sessionEnd": "post-session",
        "subagentStart": "pre-subagent",
        "subagentStop": "post-subagent",
        "preCompact": "pre-context-compact",
        "notification": "notification",
        "errorOccurred": "post-agent-turn-failure",
    }
    capabilities = codec.Capabilities(
        blocks=frozenset(
            ("pre-tool-call", "permission-request", "pre-agent-turn", "pre-agent-turn-stop", "post-subagent")
        ),
        context=frozenset(
            (
                *("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "post-tool-call-failure"),
                "pre-subagent",
            )
        ),
        asks=True,
        approves=True,
        modifies=True,
        answers_permission=True,
        replaces_output=True,
    )
    input_keys: ClassVar = {"file_path": "path", "content": "file_text"}
    tools = (
        *("fetch_copilot_cli_documentation", "list_agents", "list_bash", "powershell", "read_agent", "read_bash"),
        *("report_intent", "show_file", "sql", "stop_bash", "store_memory", "update_todo", "write_bash"),
    )

    mcp_spelling = ("", "-")

    def mcp_names(self, tool: str, payload: dict[str, Any]) -> list[str]:
        if "/" in tool:  # `server/tool`, in a permission request
            return [f"mcp:{tool}"]
        return super().mcp_names(tool, payload)[::-1]  # `github-mcp-server-list_issues`: the last reading is likeliest

    def read_event(self, payload: dict[str, Any], native: str) -> codec.Received:
        cwd = payload.get("cwd")
        fields = {_FIELDS.get(key, key): value for key, value in payload.items() if key not in _BASE}
        if isinstance(fields.get("tool_input"), str):  # some versions send JSON in a string
            try:
                fields["tool_input"] = light_json.loads(fields["tool_input"])
            except (ValueError, RecursionError):
                pass
        # a subagent has a session of its own, without a session-start event
        session = payload.get("parentAgentId") or payload.get("sessionId")
        ours = self.events.get(native, codec.OTHER)
        if native == "agentStop" and payload.get("agentId"):  # a subagent's: `subagentStop` follows
            ours = codec.OTHER
        if ours == codec.OTHER:
            fields["agent_event"] = native
        event = Event(
            ours,
            session_id=session if isinstance(session, str) else "",
            work_dir=cwd if isinstance(cwd, str) and cwd else ".",
            **{str(key): value for key, value in fields.items()},
        )
        return self.received(event, native, payload)

    def native_output(self, received: codec.Received, output: Any) -> dict[str, Any]:
        if isinstance(output, dict) and isinstance(output.get("textResultForLlm"), str):
            return output
        return {"resultType": "success", "textResultForLlm": light_json.text(output)}

    def answer(self, reply: codec.Reply) -> dict[str, Any]:
        if reply.event == "permission-request":
            if reply.deny is not None:
                return {"behavior": "deny", "message": reply.deny}
            return {"behavior": "allow"} if reply.approve is not None else {}
        if reply.event != "pre-tool-call" and reply.deny is not None:
            return {"decision": "block", "reason": reply.deny}
        content: dict[str, Any] = {}
        for decision, reason in (("deny", reply.deny), ("ask", reply.ask), ("allow", reply.approve)):
            if reason is not None:
                content |= {"permissionDecision": decision, "permissionDecisionReason": reason}
        if reply.tool_input is not None:
            content["modifiedArgs"] = reply.tool_input
        if reply.output is not None:
            content["modifiedResult"] = reply.output
        if reply.context is not None:
            content["additionalContext"] = reply.context
        return content

    executables = ("copilot",)
    variable_prefix = "COPILOT_"
    directory = ".copilot"
    variable = "COPILOT_HOME"
    file = "hooks/tenterhook.json"
    project_file = ".github/hooks/tenterhook.json"
    beside: ClassVar = {"version": 1}
    open_status = 0
    needs_project_trust = True

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        return {"type": "command", "bash": line, "timeoutSec": seconds}

    def switches(self, settings: str, root: str) -> Iterator[tuple[str, str]]:
        from .settings_files import read_json

        if read_json(settings).get("disableAllHooks"):
            yield f"disableAllHooks in {settings} switches this file off", "remove it"
        if settings != self.settings() and not self._trusts(root):
            what = f"Copilot CLI does not trust {root}: run with -p, it ignores the project's hooks"
            yield what, "start it there and trust the folder, or: tenterhook install copilot"

    def _trusts(self, root: str) -> bool:
        """Whether the user has trusted a folder or one of its parents in Copilot CLI."""
        from .settings_files import read_json

        known = read_json(os.path.join(self.home(), "config.json"))
        folders = known.get("trustedFolders", known.get("trusted_folders"))
        trusted = [each for each in folders if isinstance(each, str)] if isinstance(folders, list) else []
        return any(f"{root}/".startswith(f"{each.rstrip('/')}/") for each in trusted)

    headless_settings = ".copilot/settings.json"
    shell_tool = "bash"
    write_tool = "create"

    def prepare(self, home: Path, url: str) -> None:
        from .headless import drop, edited_json

        own = home / ".copilot"
        own.mkdir(parents=True, exist_ok=True)
        (own / "mcp-config.json").unlink(missing_ok=True)
        # the model is in the environment; the other keys may hold a login
        for file in (home / self.headless_settings, own / "config.json"):
            if file.exists():
                with edited_json(file) as settings:
                    drop(settings, "model", "copilotTokens", "copilot_tokens")
                    drop(settings, "loggedInUsers", "logged_in_users", "lastLoggedInUser", "last_logged_in_user")

    def copy_trust(self, home: Path, root: str | None, project: Path) -> None:
        import json

        if root is not None and self._trusts(root):
            copy = home / self.directory
            copy.mkdir(parents=True, exist_ok=True)
            (copy / "config.json").write_text(json.dumps({"trustedFolders": [str(project)]}))

    def environment(self, home: Path, url: str) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_MODEL": protocol.MODEL,
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": protocol.KEY,
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_HOME": str(home / ".copilot"),
            # else it would unpack hundreds of megabytes into the temporary home
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
        }

    def command(self, executable: Path, prompt: str, project: Path, mode: str, *, resume: bool = False) -> list[str]:
        tools = ["--allow-tool=shell", "--allow-tool=write", "--allow-all-paths"]
        flags = tools if mode == protocol.PLAIN else ["--allow-all"]
        flags += ["--continue"] if resume else []
        return [str(executable), "--no-auto-update", *flags, "--prompt", prompt]

    def shell_call(self, command: str) -> ScriptedCall:
        return protocol.call(self.shell_tool, {"command": command, "description": "scripted"})

    def subagent_call(self) -> ScriptedCall:
        given = {"name": "scripted", "description": "scripted", "prompt": protocol.TASK}
        return protocol.call("task", {**given, "agent_type": "general-purpose"})


AGENT = Copilot()
