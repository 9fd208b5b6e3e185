"""Runs a guard as the script of a hook: the event's payload on stdin, the decision as exit status and output."""

from __future__ import annotations

import os

from ..basics import light_json
from ..events import NAMES_OF_TOOL
from .calls import DENY, GuardedCall, Replacement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .calls import Objection


_OUTPUT_KEYS = ("tool_output", "tool_response", "error")


def run(
    judge: Callable[[GuardedCall], Objection | Replacement | None],
    payload: bytes,
    environment: Mapping[str, str],
    settings: Mapping[str, Any],
) -> tuple[int, str, str]:
    """Return the exit status, stdout and stderr of a guard. If it fails, it blocks unless `on_failure` is `open`."""
    try:
        event = light_json.loads(payload.decode())
        work_dir = str(event.get("work_dir") or event.get("cwd") or os.getcwd())
        kind = event.get("tool_kind")  # of a custom tool
        tool = str(kind if kind in NAMES_OF_TOOL else event.get("tool_name", ""))
        output = next((event[key] for key in _OUTPUT_KEYS if event.get(key) is not None), None)
        call = GuardedCall(tool, event.get("tool_input"), work_dir, environment, settings, output)
        return printed(judge(call))
    except Exception as error:  # noqa: BLE001  # any failure must be reported to the program that runs the hook
        status = 1 if settings.get("on_failure", "open") == "open" else 2
        return status, "", light_json.printable(f"the guard failed: {failure(error)}\n")


def failure(error: Exception) -> str:
    """Return the kind and the message of an error."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def printed(said: Objection | Replacement | None) -> tuple[int, str, str]:
    """Return the exit status, stdout and stderr of a hook's script for a guard's answer."""
    if said is None:
        return 0, "", ""
    if isinstance(said, Replacement):
        return 0, light_json.dumps({"modified_output": said.output, "reason": said.reason}) + "\n", ""
    if said.decision == DENY:
        return 2, "", light_json.printable(said.reason) + "\n"
    return 0, light_json.dumps({"decision": said.decision, "reason": said.reason}) + "\n", ""
