"""The built-in guards: functions over the shell reader that judge a tool call, run in our own process.

A hook folder names its guard under `metadata.guard`, with the guard's settings beside it. A guard is a module with a
function `judge(call)`.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .calls import GuardedCall, Objection

GUARDS = {
    "block-dangerous-commands": "dangerous_commands",
    "infrastructure": "infrastructure",
    "protect-hooks": "protect_hooks",
    "protect-secrets": "secrets",
}


class UnknownGuard(Exception):
    """A hook names a guard that this version does not have."""


def judge(name: str | None, call: GuardedCall) -> Objection | None:
    """Return what a guard objects to in a call, or None if nothing."""
    if name is None or name not in GUARDS:
        raise UnknownGuard(f"there is no guard {name!r}; this version has: {', '.join(GUARDS)}")
    objection: Objection | None = import_module(f"{__name__}.{GUARDS[name]}").judge(call)
    return objection
