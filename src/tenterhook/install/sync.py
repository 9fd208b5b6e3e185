"""The agents that are guarded, brought in step with the hooks that there are, while a person waits and is told."""

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


class Changed(NamedTuple):
    """An agent whose settings did not do what they must: what they do now, and what they still do not."""

    agent: Agent
    wired: list[str]
    left: list[str]

    def __str__(self) -> str:
        if self.left:
            what = ", ".join(self.left)
            return f"not wired in {self.agent.title}: {what}; tenterhook install {self.agent.name} says why"
        what = ", ".join(self.wired) or "a refusal where nobody answers"
        return f"wired in {self.agent.title}: {what}; restart it if it is running"


def wire(hooks: Iterable[Hook], *, root: str | None = None, closed: bool = False) -> list[Changed]:
    """Lead the events of hooks to us in every agent that is guarded; return those where something had to be done.

    `root`: they are a project's, and matter to what guards every project and to what guards this one. `closed`: whether
    a guard is in force that would rather block than be absent.
    """
    hooks = list(hooks)
    changed = []
    for record in records.all_records():
        if record["host"] not in AGENTS or (root and record["root"] not in (None, root)):
            continue
        agent = AGENTS[record["host"]]
        _note_interpreters(agent, record, hooks)
        absent = event_wiring.missing(record, agent.events, hooks)
        if not absent and (record["closed"] or not closed):
            continue
        with settings_where_they_were(agent, record):
            settings_change.sync(record, absent, closed)
            now = records.read(records.file(agent, record["root"])) or record
        left = event_wiring.missing(now, agent.events, hooks)
        if closed and not now["closed"]:
            left.append("a refusal where nobody answers")
        changed.append(Changed(agent, absent, left))
    return changed


def _note_interpreters(agent: Agent, record: dict[str, Any], hooks: Iterable[Hook]) -> None:
    """Record the interpreters that new hooks name, as they are found now; what is recorded stays as it is."""
    known = record.get("interpreters", {})
    named = interpreters.named_by(hooks) - known.keys()
    found = interpreters.files(record.get("steering", {}).get("PATH", ""), named) if named else {}
    if found.keys() - known.keys():
        record["interpreters"] = {**found, **known}
        with Lock(os.path.join(records.directory(), "lock")):
            records.write(records.file(agent, record["root"]), record)


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
