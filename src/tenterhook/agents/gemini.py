"""Gemini CLI. An answer `ask` hangs a headless run, so it is never given."""

from __future__ import annotations

from . import claude_json, codec, gemini_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

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
_OTHERS = ("BeforeModel", "AfterModel", "BeforeToolSelection")


class Gemini(gemini_settings.GeminiSettings):
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


AGENT = Gemini()
