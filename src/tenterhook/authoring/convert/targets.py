"""The formats that hooks can be converted to: one row for each, with what it supports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from ...agents import AGENTS as KNOWN_AGENTS
from ...agents import dialect
from ...events import AGENT_FORMATS
from ...formats import agent_payloads, expressions

if TYPE_CHECKING:
    from ...model import Hook


class Target(NamedTuple):
    """One row. Timeouts are `per_second` to the second, from `shortest` to `longest` seconds."""

    name: str
    title: str  # whose definitions these are, in a sentence
    keys: frozenset[str]  # of what a hook may have beyond event, matcher, command and timeout
    per_second: int
    whole: bool
    shortest: float
    longest: float
    default: float
    product: str = ""  # the agent that reads them itself
    dialect: str = expressions.PYTHON

    @property
    def is_agent(self) -> bool:
        return self.name in AGENT_FORMATS

    @property
    def has_one_matcher(self) -> bool:
        return self.name == "array" or self.is_agent

    @property
    def is_document(self) -> bool:
        return self.name != "folder"


_JS = expressions.JAVASCRIPT
_NEVER = 10**9 - 1.0
TARGETS = {
    target.name: target
    for target in (
        Target(
            "folder",
            "the folder format",
            frozenset(("name", "description", "async", "priority", "metadata", "fail closed", "pattern", "order")),
            *(1000, True, 0.1, 600.0, 30.0),
        ),
        Target(
            "table",
            "the table format",
            frozenset(("name", "description", "async", "pattern", "order")),
            *(1000, True, 0.1, 600.0, 30.0),
        ),
        Target(
            "array",
            "the array format",
            frozenset(("fail closed",)),
            *(1, True, 1.0, 600.0, 30.0),
            product="Kimi Code",
            dialect=_JS,
        ),
        Target(
            "claude",
            "Claude Code's settings",
            frozenset(("async",)),
            *(1, False, 0.001, _NEVER, 600.0),
            product="Claude Code",
            dialect=_JS,
        ),
        Target("codex", "Codex's settings", frozenset(), *(1, True, 1.0, _NEVER, 600.0), product="Codex"),
        Target(
            "gemini",
            "Gemini CLI's settings",
            frozenset(("name", "description", "order", "env")),
            *(1000, True, 0.001, _NEVER / 1000, 60.0),
            product="Gemini CLI",
            dialect=_JS,
        ),
    )
}
FORMS = {
    **{name: target.title for name, target in TARGETS.items()},
    "qwen": "Qwen Code's settings",
}


def target_for(name: str, out: str | None) -> Target:
    """Return the row of a format; array hooks in a `.kimi` folder are Kimi CLI's, whose expressions are Python's."""
    target = TARGETS[name]
    folder = os.path.basename(os.path.dirname(os.path.abspath(out))) if out else ""
    if name == "array" and folder == ".kimi":
        return target._replace(dialect=expressions.PYTHON, product="Kimi CLI")
    return target


def event_name(hook: Hook, target: Target) -> str | None:
    """Return the target's name of a hook's event; None if it has no such event."""
    spec = hook.spec
    if hook.format == target.name or (hook.format in ("folder", "table") and not target.has_one_matcher):
        return hook.declared
    if target.is_agent:
        events = dialect(target.name).events
        return next((native for native, ours in events.items() if ours == spec.name), None)
    if target.name == "array":
        return spec.array_name
    return (spec.table_name or spec.name) if target.name == "table" else spec.name


def refuses_event(target: Target, event: str) -> bool:
    """Return whether the agent that reads an array file itself would refuse the file because of an event's name."""
    agent = KNOWN_AGENTS["kimi-cli" if target.dialect == expressions.PYTHON else "kimi-code"]
    return target.name == "array" and event not in agent.events


def own_tool_names(target: Target, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of a tool's names that the agent that reads the target uses."""
    if not target.has_one_matcher:
        return ()
    if target.name == "array" and target.dialect == expressions.PYTHON:
        return names[:1]
    agent = target.name if target.is_agent else "claude"  # Kimi Code's tools have Claude Code's names
    called = {name: agent_payloads.tool(dialect(agent), name) for name in names}
    if all(name == own for name, own in called.items()):
        return ()  # it has no such tool
    return tuple(name for name, own in called.items() if name == own)
