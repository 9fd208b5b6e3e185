"""The agents that are guarded, brought in step with the hooks that there are, while a person waits and is told."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from . import changes, records, wiring
from .agents import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model import Hook
    from .agents import Agent


def wire(hooks: Iterable[Hook], *, root: str | None = None, closed: bool = False) -> list[str]:
    """Lead the events of hooks to us in every agent that is guarded; say where it was done, and where it could not be.

    `root`: they are a project's, and matter to what guards every project and to what guards this one. `closed`: whether
    a guard is in force that would rather block than be absent.
    """
    hooks = list(hooks)
    said = []
    for record in records.all_records():
        if record["host"] not in AGENTS or (root and record["root"] not in (None, root)):
            continue
        agent = AGENTS[record["host"]]
        absent = wiring.missing(record, agent.events, hooks)
        if not absent and (record["closed"] or not closed):
            continue
        with settings_where_they_were(agent, record):
            changes.sync(record, absent, closed)
            now = records.read(records.file(agent, record["root"])) or record
        left = wiring.missing(now, agent.events, hooks)
        if left:
            said.append(f"not wired in {agent.title}: {', '.join(left)}; tenterhook install {agent.name} says why")
        elif absent:
            said.append(f"wired in {agent.title}: {', '.join(absent)}; restart it if it is running")
    return said


@contextmanager
def settings_where_they_were(agent: Agent, record: dict[str, Any]) -> Iterator[None]:
    """With the variable that moves an agent's settings as it was when they were changed."""
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
