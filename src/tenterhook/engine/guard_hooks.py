"""Runs hooks that name a built-in guard (`metadata.guard`) in our own process.

The `Run` is the same as that of the hook's script: exit code 2 with the reason on stderr, or a decision as JSON. A
guard cannot be interrupted; the shell reader and the search for secrets have a step budget instead.
"""

from __future__ import annotations

import os
import time

from .. import guards
from ..events import OTHER_TOOL
from ..guards.calls import GuardedCall, Objection
from ..model import Failure, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..guards.calls import Replacement
    from ..model import Event, Hook


def run(hook: Hook, event: Event, variables: Mapping[bytes, bytes]) -> Run:
    """Run a hook's guard on an event; `variables` is the environment that all hooks of the event share."""
    begun = time.monotonic()
    environment = {os.fsdecode(name): os.fsdecode(value) for name, value in variables.items()}
    tool = event.tool_name if event.tool_kind in (None, OTHER_TOOL) else event.tool_kind
    call = GuardedCall(tool or "", event.tool_input, event.work_dir, environment, hook.metadata, event.tool_output)
    said: Objection | Replacement | None = None
    failure, why, code, stdout, stderr = None, None, None, "", ""
    try:
        said = guards.judge(hook.guard, call)
        code = 0
        if said is not None:
            from ..guards import script

            code, stdout, stderr = script.printed(said)
    except guards.UnknownGuard as error:
        failure, why = Failure.CANNOT_START, f"cannot start: {error}"
    except Exception as error:  # noqa: BLE001  # also RecursionError and MemoryError: only this hook fails
        failure, why = Failure.RAISED, f"its guard failed: {type(error).__name__}: {error}".removesuffix(": ")
    seconds = time.monotonic() - begun
    if seconds > hook.timeout and not (code or stdout):  # a late objection still counts
        failure, why, code = Failure.TIMED_OUT, f"no end within {hook.timeout:g} s", None
    findings = said.findings if isinstance(said, Objection) else ()
    return Run(
        hook, failure, why, True, False, code, seconds * 1000, stdout, stderr, saw=event.tool_input, findings=findings
    )
