"""What released agents do with an answer, each as it was observed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Does(NamedTuple):
    """What an agent does. `block` and `ask` hold the reason, `instead` replaces a tool's result."""

    block: str | None = None
    ask: str | None = None
    approve: bool = False
    input: dict[str, Any] | None = None
    context: str | None = None
    instead: str | None = None
    message: str | None = None


class NotUnderstood(AssertionError):
    """The agent refuses this, shows it as text, or hangs."""


def parsed(stdout: str) -> dict[str, Any] | None:
    """The JSON object in an answer, if it is one."""
    try:
        value = json.loads(stdout)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def only(given_: dict[str, Any], *known: str) -> None:
    if set(given_) - set(known):
        raise NotUnderstood(f"unknown keys: {set(given_) - set(known)}")


def specific(said: dict[str, Any], native: str, *known: str) -> dict[str, Any]:
    """`hookSpecificOutput`, which must name its event."""
    inner: dict[str, Any] = said.get("hookSpecificOutput", {})
    if "hookSpecificOutput" in said and inner.get("hookEventName") != native:
        raise NotUnderstood("hookSpecificOutput without its event's name")
    only(inner, "hookEventName", *known)
    return inner


TOP = ("continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput")
DECISION = ("permissionDecision", "permissionDecisionReason")


def _permission(said: dict[str, Any], native: str) -> Does:
    decision = specific(said, native, "decision").get("decision", {})
    only(decision, "behavior", "message", "updatedInput")
    if decision.get("behavior") == "deny":
        return Does(block=decision.get("message"))
    return Does(approve=decision.get("behavior") == "allow", message=said.get("systemMessage"))


def claude(native: str, stdout: str, stderr: str, status: int) -> Does:
    blocks = ("PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact")
    beside = ("PostToolUse", "PostToolUseFailure")
    if status == 2:  # with the whole command line before the reason: ugly, and no denial of a permission
        return Does(block=stderr) if native in blocks else Does(context=stderr) if native in beside else Does()
    said = parsed(stdout)
    if said is None:
        plain = native in ("UserPromptSubmit", "SessionStart", "PreCompact") and stdout.strip()
        return Does(context=stdout) if plain else Does()
    only(said, *TOP)
    message = said.get("systemMessage")
    if native == "PermissionRequest":
        return _permission(said, native)
    if said.get("decision") == "block":
        reason = said["reason"]
        return Does(block=reason, message=message) if native in blocks else Does(context=reason, message=message)
    if native == "PreToolUse":
        inner = specific(said, native, *DECISION, "updatedInput", "additionalContext")
        decision, reason = inner.get("permissionDecision"), inner.get("permissionDecisionReason")
        return Does(
            block=reason if decision == "deny" else None,
            ask=reason if decision == "ask" else None,
            approve=decision == "allow",
            input=inner.get("updatedInput"),
            context=inner.get("additionalContext"),
            message=message,
        )
    outputs = ("updatedToolOutput", "updatedMCPToolOutput") if native == "PostToolUse" else ()
    inner = specific(said, native, "additionalContext", *outputs)
    context, output = inner.get("additionalContext"), inner.get("updatedToolOutput")
    if context and native in ("Stop", "SubagentStop"):  # it continues the turn
        return Does(block=context, message=message)
    heard = native in ("SessionStart", "UserPromptSubmit", "SubagentStart", *beside)
    instead = None if output is None else json.dumps(output)  # in the tool's own shape, else it shows the original
    return Does(context=context if heard else None, message=message, instead=instead)


def codex(native: str, stdout: str, stderr: str, status: int) -> Does:
    blocks = ("PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop")
    if status == 2:
        if not stderr.strip():
            return Does()  # the tool runs
        return Does(instead=stderr) if native == "PostToolUse" else Does(block=stderr if native in blocks else None)
    said = parsed(stdout)
    if said is None:
        plain = native in ("UserPromptSubmit", "SessionStart", "SubagentStart") and stdout.strip()
        return Does(context=stdout) if plain else Does()
    only(said, *TOP)  # one more and the tool runs
    message = said.get("systemMessage")
    if native == "PermissionRequest":
        return _permission(said, native)
    if native == "SessionStart" and said.get("continue") is False:
        return Does(block=said["stopReason"], message=message)
    if said.get("decision") == "block" and native == "PostToolUse":
        return Does(instead=said["reason"], message=message)
    if said.get("decision") == "block":
        return Does(block=said["reason"] if native in blocks else None, message=message)
    if native == "PreToolUse":
        inner = specific(said, native, *DECISION, "updatedInput", "additionalContext")
        decision = inner.get("permissionDecision")
        if decision == "deny" and inner.get("permissionDecisionReason"):
            return Does(block=inner["permissionDecisionReason"], message=message)
        if ("updatedInput" in inner) != (decision == "allow") or decision == "ask":
            raise NotUnderstood("the hook counts as failed, the tool runs as it was")
        # this allow skips no question
        return Does(input=inner.get("updatedInput"), context=inner.get("additionalContext"), message=message)
    context = specific(said, native, "additionalContext").get("additionalContext")
    if context and native not in ("SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart"):
        raise NotUnderstood("additionalContext marks the hook as failed")
    return Does(context=context, message=message)


def gemini(native: str, stdout: str, stderr: str, status: int) -> Does:
    blocks = ("BeforeTool", "BeforeAgent", "AfterAgent")
    if status:
        if not stderr.strip():
            return Does()  # the tool runs
        return Does(instead=stderr) if native == "AfterTool" else Does(block=stderr if native in blocks else None)
    said = parsed(stdout)
    if said is None:
        return Does(message=stderr or None)
    only(said, "decision", "reason", "systemMessage", "continue", "stopReason", "suppressOutput", "hookSpecificOutput")
    if said.get("decision") == "ask":
        raise NotUnderstood("a headless run hangs for ever")
    message = said.get("systemMessage")
    if said.get("decision") in ("block", "deny") and native == "AfterTool":
        return Does(instead=said["reason"], message=message)
    if said.get("decision") in ("block", "deny"):
        return Does(block=said["reason"] if native in blocks else None, message=message)
    inner = specific(said, native, "tool_input", "additionalContext")
    heard = native in ("SessionStart", "BeforeAgent", "AfterTool")
    return Does(
        input=inner.get("tool_input") if native == "BeforeTool" else None,
        context=inner.get("additionalContext") if heard else None,
        message=message,
    )


def qwen(native: str, stdout: str, stderr: str, status: int) -> Does:
    blocks = ("PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop")
    if status == 2:
        return Does(block=stderr if native in blocks and stderr.strip() else None)
    said = parsed(stdout)
    if said is None:
        return Does(context=stdout if native in ("UserPromptSubmit", "SessionStart") and stdout.strip() else None)
    only(said, *TOP)
    if native == "PostToolUse" and said.get("continue") is False:  # it goes on, with this as the tool's result
        return Does(instead=said["stopReason"])
    inner = specific(said, native, *DECISION, "additionalContext")
    decision, reason = inner.get("permissionDecision"), inner.get("permissionDecisionReason")
    if native == "PreToolUse":
        return Does(block=reason if decision == "deny" else None, ask=reason if decision == "ask" else None)
    heard = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PreCompact")
    return Does(context=inner.get("additionalContext") if native in heard else None)


def droid(native: str, stdout: str, stderr: str, status: int) -> Does:
    if status == 2:
        blocks = ("PreToolUse", "UserPromptSubmit", "Stop", "PreCompact")
        return Does(block=stderr) if native in blocks else Does(context=stderr if native == "PostToolUse" else None)
    said = parsed(stdout)
    heard = ("SessionStart", "UserPromptSubmit")
    if said is None:
        return Does(context=stdout if native in heard and stdout.strip() else None)
    only(said, *TOP)
    inner = specific(said, native, *DECISION, "updatedInput", "additionalContext")
    if native == "PreToolUse":
        decision, reason = inner.get("permissionDecision"), inner.get("permissionDecisionReason")
        if decision == "ask":
            raise NotUnderstood("it runs the tool")
        block = reason if decision == "deny" else None
        return Does(block=block, approve=decision == "allow", input=inner.get("updatedInput"))
    return Does(context=inner.get("additionalContext") if native in (*heard, "PostToolUse") else None)


def copilot(native: str, stdout: str, stderr: str, status: int) -> Does:
    if native == "preToolUse" and status:
        return Does(block="denied by a hook")  # whatever the status is; what it printed is dropped
    said = parsed(stdout)
    if status or said is None:
        return Does()
    if native == "permissionRequest":
        only(said, "behavior", "message")
        denied = said.get("behavior") == "deny"
        return Does(block=said["message"] if denied else None, approve=said.get("behavior") == "allow")
    only(said, *DECISION, "modifiedArgs", "modifiedResult", "additionalContext", "decision", "reason")
    if said.get("decision") == "block":
        blocks = native in ("userPromptSubmitted", "agentStop", "subagentStop")
        return Does(block=said["reason"] if blocks else None)
    heard = native in (
        *("preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "sessionStart", "subagentStart"),
    )
    context = said.get("additionalContext") if heard else None
    if native == "postToolUse" and "modifiedResult" in said:
        only(said["modifiedResult"], "resultType", "textResultForLlm")
        return Does(context=context, instead=said["modifiedResult"]["textResultForLlm"])
    if native != "preToolUse":
        return Does(context=context)
    decision, reason = said.get("permissionDecision"), said.get("permissionDecisionReason")
    return Does(
        block=reason if decision == "deny" else None,
        ask=reason if decision == "ask" else None,
        approve=decision == "allow",
        input=said.get("modifiedArgs"),
        context=context,
    )


def kimi_code(native: str, stdout: str, stderr: str, status: int) -> Does:
    if status == 2:
        return Does(block=stderr if native in ("PreToolUse", "UserPromptSubmit", "Stop") else None)
    if parsed(stdout) is not None:
        raise NotUnderstood("JSON is shown to the model as it is")
    return Does(context=stdout if native == "UserPromptSubmit" and stdout.strip() else None)


def kimi_cli(native: str, stdout: str, stderr: str, status: int) -> Does:
    return kimi_code(native, stdout, stderr, status)._replace(context=None)


def pi(native: str, stdout: str, stderr: str, status: int) -> Does:
    """What our extension does, and pi with what it returns."""
    blocks = ("tool_call", "input", "agent_before_settle", "session_before_compact")
    heard = ("session_start", "input", "tool_call", "tool_result", "tool_error")
    if status == 2:
        return Does(block=stderr) if native in blocks else Does(context=stderr if native in heard else None)
    said = parsed(stdout) or {}
    only(said, "ask", "input", "output", "context")
    return Does(
        ask=said.get("ask") if native == "tool_call" else None,
        input=said.get("input") if native == "tool_call" else None,
        context=said.get("context") if native in heard else None,
        instead=said.get("output") if native in ("tool_result", "tool_error") else None,
    )


def vibe(native: str, stdout: str, stderr: str, status: int) -> Does:
    if status:  # a failure, which refuses in a strict entry; none but those exit with 2
        return Does(block=stderr if status == 2 and native == "pre_tool" else None)
    said = parsed(stdout)
    if said is None:
        if stdout.strip():
            raise NotUnderstood("text is a failure")
        return Does()
    only(said, "decision", "reason", "system_message", "hook_specific_output")
    inner = said.get("hook_specific_output", {})
    only(inner, {"pre_tool": "tool_input", "post_tool": "additional_context"}.get(native, ""))
    message, context = said.get("system_message"), inner.get("additional_context")
    if said.get("decision") == "deny":
        if native == "post_tool":
            return Does(instead=said["reason"], context=context, message=message)
        return Does(block=said["reason"], message=None if native == "pre_tool" else message)
    return Does(input=inner.get("tool_input"), context=context, message=message)


def openhands(native: str, stdout: str, stderr: str, status: int) -> Does:
    if status == 2:
        return Does(block=stderr if native in ("pre_tool_use", "user_prompt_submit", "stop") else None)
    said = parsed(stdout) or {}
    only(said, "decision", "reason", "additionalContext")
    denies = said.get("decision") == "deny"
    if denies and native == "user_prompt_submit" and "additionalContext" in said:
        raise NotUnderstood("the refusal is lost")
    context = said.get("additionalContext") if native == "user_prompt_submit" else None
    return Does(block=said.get("reason", "Blocked by hook") if denies else None, context=context)


def hermes(native: str, stdout: str, stderr: str, status: int) -> Does:
    """What our own plug-in makes Hermes do."""
    after = ("post_tool_call", "post_tool_call_error")
    if status == 2:
        blocks = ("pre_tool_call", "pre_verify")
        return Does(block=stderr) if native in blocks else Does(context=stderr if native in after else None)
    said = parsed(stdout) or {}
    only(said, "ask", "approve", "input", "output", "context")
    if native == "pre_tool_call":
        return Does(ask=said.get("ask"), input=said.get("input"), context=said.get("context"))
    heard = ("on_session_start", "pre_llm_call", "subagent_start", *after)
    instead = json.dumps(said["output"]) if native in after and "output" in said else None
    return Does(context=said.get("context") if native in heard else None, instead=instead)


def cline(native: str, stdout: str, stderr: str, status: int) -> Does:
    """What Cline does with the answer of a hook file, and our plug-in with all of it."""
    if native not in ("PreToolUse", "PostToolUse"):
        blocks = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStart")
        if status == 2:
            return Does(block=stderr if native in blocks else None)
        said = parsed(stdout) or {}
        only(said, "context")
        heard = ("SessionStart", "UserPromptSubmit", "SubagentStart")
        return Does(context=said.get("context") if native in heard else None)
    if status == 2:  # the hook file gives an answer of its own
        return Does(block="Tenterhook could not answer: this is refused") if native == "PreToolUse" else Does()
    said = parsed(stdout) or {}
    only(said, "deny", "approve", "input", "output", "context", "contextModification", "overrideInput")
    if "deny" in said:
        if native != "PreToolUse" or said["overrideInput"] != {"tenterhook_refused": said["deny"]}:
            raise NotUnderstood("without the plug-in, the tool would run")
        return Does(block=said["deny"])
    given = said.get("overrideInput")
    if given and isinstance(given.get("commands"), list):  # it runs them one after another
        given = {**{key: value for key, value in given.items() if key != "commands"}, "command": given["commands"][0]}
    return Does(
        approve="approve" in said,
        input=given,
        context=said.get("contextModification"),
        instead=said.get("output") if native == "PostToolUse" else None,
    )


def opencode(native: str, stdout: str, stderr: str, status: int) -> Does:
    """What our plug-in does; tests/agents/test_opencode.py runs it."""
    blocks = (
        *("session.created", "chat.message", "session.idle", "tool.execute.before", "permission.asked"),
        *("subagent.created", "subagent.idle"),
    )
    if status == 2:
        return Does(block=(stderr.strip() or "Blocked by a hook") if native in blocks else None)
    said = parsed(stdout)
    if said is None:
        return Does()
    only(said, "approve", "input", "output", "context", "systemMessage")
    heard = (
        *("session.created", "chat.message", "tool.execute.before", "tool.execute.after", "tool.execute.error"),
        *("subagent.created", "experimental.session.compacting"),
    )
    output = said.get("output") if native in ("tool.execute.after", "tool.execute.error") else None
    return Does(
        approve="approve" in said and native in ("tool.execute.before", "permission.asked"),
        input=said.get("input") if native == "tool.execute.before" else None,
        context=said.get("context") if native in heard else None,
        instead=None if output is None else json.dumps(output),
        message=said.get("systemMessage"),
    )


def cursor(native: str, stdout: str, stderr: str, status: int) -> Does:
    """What Cursor does by its documentation, and by reports of users."""
    gates = ("preToolUse", "subagentStart")
    if status == 2:
        return Does(block=stderr if native in (*gates, "beforeSubmitPrompt") else None)
    said = parsed(stdout)
    if said is None:
        if stdout.strip() or native in gates:
            raise NotUnderstood("what is no JSON blocks a call")
        return Does()
    if native in gates:
        only(
            said, "permission", "user_message", "agent_message", *(("updated_input",) if native == "preToolUse" else ())
        )
        if said["permission"] == "ask":
            raise NotUnderstood("it is not enforced")
        return Does(
            block=said["agent_message"] if said["permission"] == "deny" else None, input=said.get("updated_input")
        )
    if native == "beforeSubmitPrompt":
        only(said, "continue", "user_message")
        return Does(block=None if said["continue"] else said["user_message"])
    if native in ("stop", "subagentStop"):
        only(said, "followup_message")
        return Does(block=said.get("followup_message"))
    only(said, "additional_context", *(("updated_mcp_tool_output",) if native == "postToolUse" else ()))
    output = said.get("updated_mcp_tool_output")
    heard = native in ("sessionStart", "postToolUse")
    instead = None if output is None else json.dumps(output)
    return Does(context=said.get("additional_context") if heard else None, instead=instead)


def goose(native: str, stdout: str, stderr: str, status: int) -> Does:
    """What Goose does by its source: other events than a tool call's are only told of."""
    if native != "PreToolUse":
        return Does()
    if status == 2:
        return Does(block=stderr.strip() or "denied by plugin hook")
    said = parsed(stdout) or {}
    only(said, "decision", "reason")
    return Does(block=said["reason"] if said.get("decision") == "block" else None)


DOES: dict[str, Callable[[str, str, str, int], Does]] = {
    "claude-code": claude,
    "codex": codex,
    "gemini": gemini,
    "qwen": qwen,
    "copilot": copilot,
    "droid": droid,
    "kimi-code": kimi_code,
    "kimi-cli": kimi_cli,
    "pi": pi,
    "vibe": vibe,
    "openhands": openhands,
    "hermes": hermes,
    "cline": cline,
    "opencode": opencode,
    "cursor": cursor,
    "goose": goose,
}
