"""The built-in guards: functions over the shell reader that judge a tool call, run in our own process.

A hook names its guard under `metadata.guard`, with its settings beside it. A guard is a module with a function `judge`.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import GuardedCall, Objection

GUARDS = {
    "block-dangerous-commands": "dangerous_commands",
    "protect-hooks": "protect_hooks",
}


def judge(name: str, call: GuardedCall) -> Objection | None:
    """Return what a guard has against a call, or None. Raises `KeyError` if there is no such guard."""
    objection: Objection | None = import_module(f"{__name__}.{GUARDS[name]}").judge(call)
    return objection
