"""Tenterhook runs a person's hooks at every step of a coding agent's session: any hook format, any agent."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    _reason = "Tenterhook does not run on Windows itself; install it in WSL, the Windows Subsystem for Linux."
    # A command ends with this sentence, without a traceback; a program that imports us can catch an ImportError.
    _program = sys.argv[0].replace("\\", "/").rpartition("/")[2]
    if _program.startswith("tenterhook") or (_program == "-m" and "tenterhook" in sys.orig_argv):
        raise SystemExit(_reason)
    raise ImportError(_reason)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .approvals.gate import Gate, Permit, Surface
    from .approvals.requests import Answer, Call, Request
    from .approvals.rules import Rule
    from .engine.engine import Engine
    from .errors import HookError, Problem, UnknownEvent
    from .model import Action, Decision, Event, Hook, Outcome, Run, Verdict

__version__ = "0.2.0"

_MODULES = {
    "Answer": "approvals.requests",
    "Call": "approvals.requests",
    "Gate": "approvals.gate",
    "Permit": "approvals.gate",
    "Request": "approvals.requests",
    "Rule": "approvals.rules",
    "Surface": "approvals.gate",
    "Engine": "engine.engine",
    "HookError": "errors",
    "Problem": "errors",
    "UnknownEvent": "errors",
    "Action": "model",
    "Decision": "model",
    "Event": "model",
    "Hook": "model",
    "Outcome": "model",
    "Run": "model",
    "Verdict": "model",
}
__all__ = [
    "Action",
    "Answer",
    "Call",
    "Decision",
    "Engine",
    "Event",
    "Gate",
    "Hook",
    "HookError",
    "Outcome",
    "Permit",
    "Problem",
    "Request",
    "Rule",
    "Run",
    "Surface",
    "UnknownEvent",
    "Verdict",
    "__version__",
]


def __getattr__(name: str) -> object:
    # A command that an agent waits for imports this package too: load what is used, when it is used.
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module 'tenterhook' has no attribute {name!r}")
