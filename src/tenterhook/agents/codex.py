"""Codex. It runs the tool if an answer has an unknown key."""

from __future__ import annotations

from . import claude_json, codec, codex_settings, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

_NOT_ITS_EVENTS = ("PostToolUseFailure", "StopFailure", "Notification")
_EVENTS = {name: ours for name, ours in claude_json.EVENTS.items() if name not in _NOT_ITS_EVENTS}
_EVENTS["Interrupt"] = "interrupt"


class Codex(codex_settings.CodexSettings):
    name = "codex"
    title = "Codex"

    events: ClassVar = {**_EVENTS, "PreModelRequest": codec.OTHER}
    capabilities = codec.Capabilities(
        blocks=frozenset(
            (
                *("pre-session", "pre-tool-call", "permission-request", "pre-agent-turn", "pre-agent-turn-stop"),
                "post-subagent",
            )
        ),
        context=frozenset(("pre-session", "pre-agent-turn", "pre-tool-call", "post-tool-call", "pre-subagent")),
        modifies=True,
        answers_permission=True,
        messages=True,
        replaces_output=True,  # by a block
    )
    dialect = claude_json.Dialect(
        "codex",
        _EVENTS,
        tools=(*claude_json.TOOLS, "spawn_agent"),
        tool_response=claude_json.text_response,
        text_is_context=("pre-session", "pre-agent-turn", "pre-subagent"),
        input_needs_allow=True,
        has_toml=True,
        whole_names=r"[\w|]+",
        has_python_expressions=True,
    )
    tools = (
        *("close_agent", "grep_files", "list_dir", "list_mcp_resources", "read_mcp_resource", "request_user_input"),
        *("resume_agent", "send_input", "update_plan", "view_image", "wait_agent", "write_stdin"),
    )

    def answer(self, reply: codec.Reply) -> dict[str, Any] | None:
        if reply.event == "pre-session" and reply.deny is not None:
            return {"continue": False, "stopReason": reply.deny}
        if reply.output is not None:
            return claude_json.block_with_output(reply)
        content = claude_json.answer(reply)
        if content and reply.tool_input is not None:
            # Codex uses a changed input only with an `allow`, which does not skip its own question.
            content["hookSpecificOutput"]["permissionDecision"] = "allow"
        return content

    executables = ("codex",)
    variable_prefix = "CODEX_"
    directory = ".codex"
    variable = "CODEX_HOME"
    file = "hooks.json"
    project_file = ".codex/hooks.json"
    timeouts: ClassVar = {"SessionEnd": 3, "Interrupt": 3}
    also_read = ("config.toml",)
    trust_table = protocol.TrustTable("config.toml", "hooks.state", "trusted_hash")
    managed: ClassVar = {
        "file": f"{codex_settings.MACHINE}/requirements.toml",
        "beside": {"features": {"hooks": True}},  # else the user's config.toml could switch hooks off
        "event_tables": True,
    }


AGENT = Codex()
