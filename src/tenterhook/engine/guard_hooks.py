"""Hooks that name a built-in guard (`metadata.guard`): it runs in our process, without an interpreter of its own.

The run is the one that the hook's script would have: exit code 2 with the reason on stderr, or a decision as JSON.
"""

from __future__ import annotations

import os
import time

from .. import guards
from ..basics import light_json
from ..guards.calls import DENY, GuardedCall
from ..model import Failure, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..guards.calls import Objection
    from ..model import Event, Hook


def run(hook: Hook, event: Event, variables: Mapping[bytes, bytes]) -> Run:
    """Judge an event by the guard of a hook, with the variables that its script would have."""
    begun = time.monotonic()
    environment = {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()}
    call = GuardedCall(event.tool_name or "", event.tool_input, event.work_dir, environment, hook.metadata)
    failure, why, objection = None, None, None
    try:
        objection = guards.judge(hook.metadata["guard"], call)
    except guards.UnknownGuard as error:
        failure, why = Failure.CANNOT_START, str(error)
    except Exception as error:  # noqa: BLE001  # RecursionError and MemoryError too: this hook has failed, no other
        failure, why = Failure.RAISED, f"{type(error).__name__}: {error}"
    code, stdout, stderr = (None, "", "") if failure else printed(objection)
    duration = (time.monotonic() - begun) * 1000
    findings = () if objection is None else objection.findings
    return Run(hook, failure, why, True, False, code, duration, stdout, stderr, saw=event.tool_input, findings=findings)


def printed(objection: Objection | None) -> tuple[int, str, str]:
    """Return the exit code, stdout and stderr by which a script says what the guard objects to."""
    if objection is None:
        return 0, "", ""
    if objection.decision == DENY:
        return 2, "", objection.reason + "\n"
    return 0, light_json.dumps({"decision": objection.decision, "reason": objection.reason}) + "\n", ""
