"""Wiring the events of current hooks in guarded agents, for commands that print what was changed."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from ..agents import AGENTS
from ..basics.processes import Lock
from . import event_wiring, interpreters, records, settings_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..agents.protocol import Agent
    from ..model import Hook

_REFUSAL = "refusal of tool calls if Tenterhook cannot answer"


class Changed(NamedTuple):
    """An agent with events that had to be wired: those that are now, and those that could not be."""

    agent: Agent
    wired: list[str]
    left: list[str]

    def __str__(self) -> str:
        if self.left:
            what = ", ".join(self.left)
            return f"not wired in {self.agent.title}: {what}; to see why: tenterhook install {self.agent.name}"
        what = ", ".join(self.wired) or _REFUSAL
        return f"wired in {self.agent.title}: {what}; restart it if it is running"


def wire(hooks: Iterable[Hook], *, root: str | None = None, closed: bool = False) -> list[Changed]:
    """Wire the events of hooks in every guarded agent. Return the agents in which something was missing.

    `root`: only installations for the user and for this project. `closed`: whether a fail-closed guard is in force.
    """
    hooks = list(hooks)
    changed = []
    for record in records.all_records():
        if record["host"] not in AGENTS or (root and record["root"] not in (None, root)):
            continue
        agent = AGENTS[record["host"]]
        _note_interpreters(agent, record, hooks)
        absent = event_wiring.missing(record, agent, hooks)
        if not absent and (record["closed"] or not closed):
            continue
        with settings_where_they_were(agent, record):
            settings_change.sync(record, absent, closed)
            now = records.read(records.file(agent, record["root"])) or record
        left = event_wiring.missing(now, agent, hooks)
        if closed and not now["closed"]:
            left.append(_REFUSAL)
        changed.append(Changed(agent, absent, left))
    return changed


def _note_interpreters(agent: Agent, record: dict[str, Any], hooks: Iterable[Hook]) -> None:
    """Record interpreters that new hooks name; those recorded before stay as they are."""
    known = record.get("interpreters", {})
    named = interpreters.named_by(hooks) - known.keys()
    found = interpreters.files(record.get("steering", {}).get("PATH", ""), named) if named else {}
    if found.keys() - known.keys():
        record["interpreters"] = {**found, **known}
        with Lock(os.path.join(records.directory(), "lock")):
            records.write(records.file(agent, record["root"]), record)


@contextmanager
def settings_where_they_were(agent: Agent, record: dict[str, Any]) -> Iterator[None]:
    """Set the variable that moves an agent's settings to its value at install."""
    if agent.variable is None:
        yield
        return
    before = os.environ.pop(agent.variable, None)
    os.environ.update(record.get("environment", {}))
    try:
        yield
    finally:
        os.environ.pop(agent.variable, None)
        if before is not None:
            os.environ[agent.variable] = before
