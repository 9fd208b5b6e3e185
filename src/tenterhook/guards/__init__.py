"""The built-in guards: modules that object to a tool call or replace its output, run in our own process.

A hook folder names its guard under `metadata.guard`, with the guard's settings beside it. A guard is a module with a
function `judge(call)`, and with `RULES` or a function `setting_problems(settings)`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType
    from typing import Any

    from .calls import GuardedCall, Objection, Replacement

GUARDS = {
    "block-dangerous-commands": "block_dangerous_commands",
    "infrastructure": "infrastructure",
    "protect-hooks": "protect_hooks",
    "protect-secrets": "protect_secrets",
    "redact-secrets": "redact_secrets",
    "redact-secrets-in-errors": "redact_secrets",
    "stay-in-project": "stay_in_project",
}


class UnknownGuard(Exception):
    """A hook names a guard that this version does not have."""


def judge(name: object, call: GuardedCall) -> Objection | Replacement | None:
    """Return a guard's objection to a call, or its replacement of the call's output; None if there is neither."""
    said: Objection | Replacement | None = _module(name).judge(call)
    return said


def setting_problems(name: object, settings: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the key, a message and a remedy for each setting of a guard that has no effect as it is written."""
    from . import calls

    module = _module(name)
    if hasattr(module, "setting_problems"):
        yield from module.setting_problems(settings)
    else:
        yield from calls.setting_problems(settings, module.RULES)


def _module(name: object) -> ModuleType:
    if name not in GUARDS:
        raise UnknownGuard(f"there is no guard {name!r}; this version has: {', '.join(GUARDS)}")
    module = f"{__name__}.{GUARDS[str(name)]}"
    __import__(module)  # `importlib` imports more than this needs
    return sys.modules[module]
