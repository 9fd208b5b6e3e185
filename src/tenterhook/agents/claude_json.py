"""The JSON of Claude Code's hooks, which Codex, Gemini CLI, Qwen Code and Droid use as well.

`Dialect` has the differences in payloads, answers and settings; the codec for hooks in such settings is in `formats/`.
The functions below write answers to agents. They may only use keys that the agent knows: Codex runs the tool if there
is another.
"""

from __future__ import annotations

from ..basics import light_json
from ..basics.named_tuples import NamedTuple
from .codec import output_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .codec import Reply

EVENTS = {
    "SessionStart": "pre-session",
    "SessionEnd": "post-session",
    "UserPromptSubmit": "pre-agent-turn",
    "Stop": "pre-agent-turn-stop",
    "StopFailure": "post-agent-turn-failure",
    "PreToolUse": "pre-tool-call",
    "PostToolUse": "post-tool-call",
    "PostToolUseFailure": "post-tool-call-failure",
    "PermissionRequest": "permission-request",
    "SubagentStart": "pre-subagent",
    "SubagentStop": "post-subagent",
    "PreCompact": "pre-context-compact",
    "PostCompact": "post-context-compact",
    "Notification": "notification",
}
TOOLS = ("Bash", "Write", "Read", "Edit", "Glob", "Grep", "Agent", "Task", "WebFetch", "WebSearch")

TOOL_FIELDS = {"tool_name": "tool_name", "tool_input": "tool_input", "tool_use_id": "tool_use_id"}
RESULT_FIELDS = {**TOOL_FIELDS, "tool_output": "tool_response"}
FAILURE_FIELDS = {**TOOL_FIELDS, "error": "error"}


def _object_response(output: Any) -> Any:
    """Return a tool's output in the form of Claude Code's shell tool."""
    if isinstance(output, str):
        return {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    is_foreign = isinstance(output, dict) and "llmContent" in output
    return {"stdout": text_response(output), "stderr": "", "interrupted": False} if is_foreign else output


def text_response(output: Any) -> str:
    """Return the text in a tool's output, from any agent."""
    if isinstance(output, dict):
        for key in ("llmContent", "stdout", "output", "content"):
            if isinstance(output.get(key), str):
                return str(output[key])
    return light_json.text(output)


def llm_response(output: Any) -> Any:
    """Return a tool's output in the form of Gemini CLI."""
    if isinstance(output, dict) and "llmContent" in output:
        return output
    text = text_response(output)
    return {"llmContent": text, "returnDisplay": text}


class Dialect(NamedTuple):
    """How one agent's JSON and settings differ from Claude Code's; `format` names the format of its settings."""

    format: str
    events: Mapping[str, str]  # our event, by the agent's name; only those with a counterpart here
    # payloads
    tools: tuple[str, ...] = TOOLS
    fields: Mapping[str, Mapping[str, str]] = {}  # by event: our field, with its name for it
    defaults: Mapping[str, Mapping[str, Any]] = {}  # by event: keys that are always sent
    has_timestamp: bool = False
    tool_response: Callable[[Any], Any] = _object_response
    variables: Mapping[str, str] = {}  # the value of each: `work_dir`, `session_id`; at a session's start `env_file`
    plugin_variable: str = ""  # the variable with the folder of a hook's plug-in
    # answers
    text_is_context: tuple[str, ...] = ()  # events at which plain text reaches the model
    text_is_message: bool = False  # plain text is shown to the user
    approves: bool = False  # `allow` skips the question for a tool call
    defers: bool = False  # `defer` leaves a call to the program that runs the agent
    input_key: str = "updatedInput"  # the key of a changed input
    merges_input: bool = False  # a changed input has only the changed keys
    input_needs_allow: bool = False  # a changed input counts only with an `allow`
    # settings
    has_toml: bool = False  # they may also be TOML
    timeout: float = 600.0  # seconds, if none is given
    milliseconds_from: float | None = None  # a timeout of this or more is in milliseconds
    whole_names: str = ""  # an expression for matchers that are lists of whole names, not expressions
    has_python_expressions: bool = False  # else JavaScript's
    strips_matchers: bool = False
    compares_matchers: bool = False  # compared as text if the event has no tool, or if it is not an expression
    splits_matchers: bool = False  # split at each `|`; a part `*` or `.*` matches everything


def answer(reply: Reply) -> dict[str, Any] | None:
    """Return the answer in `hookSpecificOutput`; None for a block, which exit status 2 expresses."""
    if reply.event == "permission-request":
        return _permission(reply)
    if reply.deny is not None:
        return None
    specific: dict[str, Any] = {}
    if reply.ask is not None:
        specific |= {"permissionDecision": "ask", "permissionDecisionReason": reply.ask}
    if reply.approve is not None:
        specific |= {"permissionDecision": "allow", "permissionDecisionReason": reply.approve}
    if reply.tool_input is not None:
        specific["updatedInput"] = reply.tool_input
    if reply.output is not None:
        specific["updatedToolOutput"] = reply.output
    return with_texts(reply, specific)


def with_texts(reply: Reply, specific: dict[str, Any]) -> dict[str, Any]:
    """Return the answer with the texts for the model and the user added."""
    if reply.context is not None:
        specific["additionalContext"] = reply.context
    content: dict[str, Any] = {}
    if reply.message is not None:
        content["systemMessage"] = reply.message
    if specific:
        content["hookSpecificOutput"] = {"hookEventName": reply.native, **specific}
    return content


def output_and_context(reply: Reply) -> str:
    """Return a replaced output as one text, with the context after it."""
    return "\n\n".join(filter(None, (output_text(reply.output), reply.context)))


def block_with_output(reply: Reply) -> dict[str, Any]:
    """Return a block after a tool call, whose reason the agent shows its model as the tool's result."""
    message = {} if reply.message is None else {"systemMessage": reply.message}
    return {"decision": "block", "reason": output_and_context(reply), **message}


def _permission(reply: Reply) -> dict[str, Any]:
    """Return the answer to a permission request; also for a deny, whose reason exit status 2 would lose."""
    if reply.deny is not None:
        decision: dict[str, Any] = {"behavior": "deny", "message": reply.deny}
    elif reply.approve is not None:
        decision = {"behavior": "allow"}
    else:
        return {}
    return {"hookSpecificOutput": {"hookEventName": reply.native, "decision": decision}}
