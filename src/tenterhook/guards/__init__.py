"""The built-in guards: functions over the shell reader that judge a tool call, run in our own process.

A hook folder names its guard under `metadata.guard`, with the guard's settings beside it. A guard is a module with
`RULES` and a function `judge(call)`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType
    from typing import Any

    from .calls import GuardedCall, Objection

GUARDS = {
    "block-dangerous-commands": "dangerous_commands",
    "infrastructure": "infrastructure",
    "protect-hooks": "protect_hooks",
    "protect-secrets": "secrets",
    "stay-in-project": "stay_in_project",
}


class UnknownGuard(Exception):
    """A hook names a guard that this version does not have."""


def judge(name: object, call: GuardedCall) -> Objection | None:
    """Return what a guard objects to in a call, or None if nothing."""
    objection: Objection | None = _module(name).judge(call)
    return objection


def setting_problems(name: object, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the key, what is wrong and a remedy for each setting of a guard that has no effect as it is written."""
    from . import calls

    yield from calls.setting_problems(settings, getattr(_module(name), "RULES", {}))


def _module(name: object) -> ModuleType:
    if name not in GUARDS:
        raise UnknownGuard(f"there is no guard {name!r}; this version has: {', '.join(GUARDS)}")
    module = f"{__name__}.{GUARDS[str(name)]}"
    __import__(module)  # `importlib` imports more than this needs
    return sys.modules[module]
