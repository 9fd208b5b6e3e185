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
    context = specific(said, native, "additionalContext").get("additionalContext")
    if context and native in ("Stop", "SubagentStop"):  # it continues the turn
        return Does(block=context, message=message)
    heard = native in ("SessionStart", "UserPromptSubmit", "SubagentStart", *beside)
    return Does(context=context if heard else None, message=message)


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
    only(said, *DECISION, "modifiedArgs", "additionalContext", "decision", "reason")
    if said.get("decision") == "block":
        blocks = native in ("userPromptSubmitted", "agentStop", "subagentStop")
        return Does(block=said["reason"] if blocks else None)
    heard = native in (
        *("preToolUse", "postToolUse", "postToolUseFailure", "userPromptSubmitted", "sessionStart", "subagentStart"),
    )
    context = said.get("additionalContext") if heard else None
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


DOES: dict[str, Callable[[str, str, str, int], Does]] = {
    "claude-code": claude,
    "codex": codex,
    "gemini": gemini,
    "qwen": qwen,
    "copilot": copilot,
    "droid": droid,
    "kimi-code": kimi_code,
    "kimi-cli": kimi_cli,
}
