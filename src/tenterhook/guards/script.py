"""A guard as the script of a hook: the payload of an event on stdin, the decision as exit status and output."""

from __future__ import annotations

import os

from ..basics import light_json
from .calls import DENY, GuardedCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from .calls import Objection


def run(
    judge: Callable[[GuardedCall], Objection | None],
    payload: bytes,
    environment: Mapping[str, str],
    settings: Mapping[str, Any],
) -> tuple[int, str, str]:
    """Return the exit status, stdout and stderr. A guard that fails refuses the call if `on_failure` is `block`."""
    try:
        event = light_json.loads(payload.decode())
        work_dir = str(event.get("work_dir") or event.get("cwd") or os.getcwd())
        tool = str(event.get("tool_name", ""))
        return printed(judge(GuardedCall(tool, event.get("tool_input"), work_dir, environment, settings)))
    except Exception as error:  # noqa: BLE001  # whatever it is, the program that runs the hook must be told
        status = 1 if settings.get("on_failure", "open") == "open" else 2
        return status, "", light_json.printable(f"the guard failed: {failure(error)}\n")


def failure(error: Exception) -> str:
    """Return the kind and the message of an error."""
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def printed(objection: Objection | None) -> tuple[int, str, str]:
    """Return the exit status, stdout and stderr by which a script says what a guard objects to."""
    if objection is None:
        return 0, "", ""
    if objection.decision == DENY:
        return 2, "", light_json.printable(objection.reason) + "\n"
    return 0, light_json.dumps({"decision": objection.decision, "reason": objection.reason}) + "\n", ""
