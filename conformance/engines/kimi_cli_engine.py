"""The adapter of kimi-cli's own hook engine; run it with the interpreter of an environment that has kimi-cli.

Its loader of configuration, its `HookEngine` and its builders of payloads do the work. What the engine's callers do
before and after is done here as they do it, and each table names the files it was read from (kimi-cli 1.49.0).
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Payload = dict[str, Any]

# What a block says that has no reason, where a block counts: soul/toolset.py, soul/kimisoul.py. A Stop hook that blocks
# without a reason is not heard there.
WITHOUT_REASON = {
    "PreToolUse": "Blocked by PreToolUse hook",
    "UserPromptSubmit": "Prompt blocked by hook.",
    "Stop": "",
}
# The field a matcher is searched in: the calls of `trigger` in cli/, soul/ and subagents/.
TARGETS = {
    **dict.fromkeys(("PreToolUse", "PostToolUse", "PostToolUseFailure"), "tool_name"),
    "UserPromptSubmit": "prompt",
    "Stop": None,
    "StopFailure": "error_type",
    "SessionStart": "source",
    "SessionEnd": "reason",
    **dict.fromkeys(("SubagentStart", "SubagentStop"), "agent_name"),
    **dict.fromkeys(("PreCompact", "PostCompact"), "trigger"),
    "Notification": "notification_type",
}
# What callers cut before the engine sees it: the same calls.
CUT = {("PostToolUse", "tool_output"): 2000, ("SubagentStart", "prompt"): 500, ("SubagentStop", "response"): 500}
# Events whose hooks run in a task that is not awaited: the same calls.
NOT_AWAITED = ("PostToolUse", "PostToolUseFailure", "StopFailure", "SubagentStop", "PostCompact", "Notification")


async def main() -> None:
    request = json.load(sys.stdin)
    reason = unsupported(request)
    if reason:
        tell({"unsupported": reason})
        return
    from kimi_cli.config import load_config  # type: ignore[import-not-found]
    from kimi_cli.exception import ConfigError  # type: ignore[import-not-found]
    from kimi_cli.hooks.engine import HookEngine  # type: ignore[import-not-found]

    try:
        hooks = load_config(Path(request["config"])).hooks
    except ConfigError as error:
        problem = {"file": request["config"], "message": str(error)}
        tell({"decision": "none", "reason": None, "problems": [problem]})
        return
    engine = HookEngine(hooks, cwd=request["project"])
    for event in request["earlier"]:
        await fire(engine, request, event)
    if request["event"] in NOT_AWAITED:
        tell(verdict(request["event"], []))
        await fire(engine, request, request)
    else:
        tell(verdict(request["event"], await fire(engine, request, request)))


def tell(answer: Payload) -> None:
    print(json.dumps(answer), flush=True)


def unsupported(request: Payload) -> str | None:
    """What it has no notion of."""
    if request["format"] != "array":
        told = {"folder": "HOOK.md folders", "table": "[[hooks.<event>]] tables"}
        return f"kimi-cli reads no {told[request['format']]}"
    for event in (*request["earlier"], request):
        if event["event"] not in TARGETS:
            return f"kimi-cli has no event {event['event']}"
    return None


async def fire(engine: Any, request: Payload, event: Payload) -> list[Any]:
    from kimi_cli.hooks import events  # type: ignore[import-not-found]

    name, payload = event["event"], event["payload"]
    if name == "Stop" and payload.get("stop_hook_active"):
        return []  # soul/kimisoul.py: hooks are asked once
    builder: Callable[..., Payload] = getattr(events, snake(name))
    taken = {
        key: value[: CUT.get((name, key))] if isinstance(value, str) else value
        for key, value in payload.items()
        if key in inspect.signature(builder).parameters
    }
    sent = builder(session_id=request["session_id"], cwd=request["project"], **taken)
    target = TARGETS[name]
    results: list[Any] = await engine.trigger(name, matcher_value=payload[target] if target else "", input_data=sent)
    return results


def snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)[1:]


def verdict(event: str, results: list[Any]) -> Payload:
    """What the engine's caller makes of the results: the first block counts, where any does."""
    for result in results:
        default = WITHOUT_REASON.get(event)
        if result.action == "block" and default is not None and (result.reason or default):
            return {"decision": "deny", "reason": result.reason or default, "problems": []}
    return {"decision": "none", "reason": None, "problems": []}


asyncio.run(main())
