"""Cursor, by its documentation (cursor.com/docs/hooks): camelCase events, and answers at the top level."""

from __future__ import annotations

from ..basics import light_json
from . import codec, protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar

_FIELDS = {
    "error_message": "error",
    "subagent_id": "subagent_name",
    "task": "task_description",
    "summary": "response",
    "context_tokens": "token_count",
}
_MCP = "MCP:"  # begins the names of MCP servers' tools, which do not contain the server
_ALLOWED = '{"permission":"allow"}'


class Cursor(protocol.Agent):
    name = "cursor"
    title = "Cursor"
    proven = False

    # Without the events for one kind of tool (`beforeShellExecution` and others): `preToolUse` covers every tool, and
    # hooks would run twice for the same call.
    events: ClassVar = {
        "preToolUse": "pre-tool-call",
        "postToolUse": "post-tool-call",
        "postToolUseFailure": "post-tool-call-failure",
        "beforeSubmitPrompt": "pre-agent-turn",
        "stop": "pre-agent-turn-stop",
        "sessionStart": "pre-session",
        "sessionEnd": "post-session",
        "subagentStart": "pre-subagent",
        "subagentStop": "post-subagent",
        "preCompact": "pre-context-compact",
    }
    variants: ClassVar = {"stop": "post-agent-turn-failure"}
    capabilities = codec.Capabilities(
        blocks=frozenset(("pre-tool-call", "pre-agent-turn", "pre-agent-turn-stop", "pre-subagent", "post-subagent")),
        context=frozenset(("pre-session", "post-tool-call")),
        modifies=True,
        replaces_output=True,
    )
    tools = ("Delete",)
    mcp_prefix = _MCP
    # according to users, a call is blocked if its hook prints nothing, or an object without `permission`
    no_decision: ClassVar = {
        "preToolUse": _ALLOWED,
        "subagentStart": _ALLOWED,
        "beforeSubmitPrompt": '{"continue":true}',
    }

    def mcp_names(self, tool: str, payload: dict[str, Any]) -> list[str]:
        return [f"mcp:unknown/{tool[len(_MCP) :]}"] if tool.startswith(_MCP) else []

    def read_event(self, payload: dict[str, Any], native: str) -> codec.Received:
        meant, renamed = self.events, {_FIELDS.get(key, key): value for key, value in payload.items()}
        renamed["session_id"] = payload.get("conversation_id") or payload.get("session_id")
        status, loops = payload.get("status"), payload.get("loop_count")
        if native == "stop" and status in ("aborted", "error"):  # a hook cannot send the agent back here
            meant, renamed["error_type"] = self.variants, status
        elif native in ("stop", "subagentStop"):
            renamed["stop_hook_active"] = isinstance(loops, int) and loops > 0
        if native == "stop":
            renamed["stop_reason"] = status
        return self.received(codec.read_array(renamed, native, meant), native, payload)

    def native_output(self, received: codec.Received, output: Any) -> dict[str, Any] | None:
        if not (received.event.tool_name or "").startswith(_MCP):
            return None  # Cursor does not replace the output of its own tools
        text = {"content": [{"type": "text", "text": light_json.text(output)}]}
        return output if isinstance(output, dict) else text

    def answer(self, reply: codec.Reply) -> dict[str, Any]:
        if reply.event in ("pre-agent-turn-stop", "post-subagent"):
            return {} if reply.deny is None else {"followup_message": reply.deny}
        if reply.deny is not None:
            if reply.event == "pre-agent-turn":
                return {"continue": False, "user_message": reply.deny}
            return {"permission": "deny", "user_message": reply.deny, "agent_message": reply.deny}
        content: dict[str, Any] = {}
        if reply.tool_input is not None:
            content |= {"permission": "allow", "updated_input": reply.tool_input}
        if reply.output is not None:
            content["updated_mcp_tool_output"] = reply.output
        if reply.context is not None:
            content["additional_context"] = reply.context
        return content

    executables = ("cursor-agent", "cursor")
    variable_prefix = "CURSOR_"
    directory = ".cursor"
    file = "hooks.json"
    project_file = ".cursor/hooks.json"
    beside: ClassVar = {"version": 1}
    needs_project_trust = True

    def entry(self, event: str, line: str, seconds: int) -> dict[str, Any]:
        return {"command": line, "timeout": seconds}

    def install_notes(self, *, in_project: bool) -> Iterator[str]:
        yield from super().install_notes(in_project=in_project)
        yield "not known: whether our answer `allow`, where no hook objects, skips Cursor's own question; try it first"

    modes = ()
    missing_modes: ClassVar = dict.fromkeys(protocol.MODES, protocol.UNPROVEN)
    shell_tool = "Shell"
    subagent_tool = "Task"
    subagent_type = "generalPurpose"


AGENT = Cursor()
