"""Which events of an agent must be wired: those with hooks, those for rules or a hub, and the first of a session."""

from __future__ import annotations

import os

from ..approvals import configured
from ..basics import places, processes
from ..errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ..agents.protocol import Agent
    from ..model import Hook

_CLOSED = "pre-tool-call"


def needed(agent: Agent, hooks: Iterable[Hook]) -> dict[str, str]:
    """Return the agent's events that must be wired, each with our name for it."""
    wanted = {first(agent), *(hook.event for hook in hooks), *_others(agent.events)}
    return {native: ours for native, ours in agent.events.items() if not wanted.isdisjoint(agent.meanings(native))}


def first(agent: Agent) -> str:
    """Return the event that is always wired: it begins a session's state, and the wiring of its project's hooks."""
    return "pre-session" if "pre-session" in agent.events.values() else _CLOSED


def _others(events: Mapping[str, str]) -> tuple[str, ...]:
    """Return the events at which rules or a hub decide, or learn that the user approved a call in the agent."""
    if not configured.is_any():
        return ()
    learns = configured.is_joined() and "permission-request" in events.values()
    return (*configured.EVENTS, *configured.AFTER) if learns else configured.EVENTS


def in_force_in(record: Mapping[str, Any], hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks that one installation runs: those of folders, and those of its `--config` files."""
    configs = set(map(places.file_identity, record["configs"]))
    return [hook for hook in hooks if hook.layer != "config" or places.file_identity(hook.source) in configs]


def is_guarded(agent: Agent, record: Mapping[str, Any], hooks: Iterable[Hook]) -> bool:
    """Return whether one installation consults hooks, rules or a hub; `hooks` are those in force."""
    known = {name for native in record["events"] if native in agent.events for name in agent.meanings(native)}
    return configured.is_any() or any(hook.event in known for hook in in_force_in(record, hooks))


def without_event(agent: Agent, hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks on events that the agent does not have."""
    known = {name for native in agent.events for name in agent.meanings(native)}
    return [hook for hook in hooks if hook.event not in known]


def must_close(hooks: Iterable[Hook]) -> bool:
    """Return whether a fail-closed hook on tool calls is among them."""
    return any(hook.fail_closed and not hook.is_shadow and hook.event == _CLOSED for hook in hooks)


def closes(event: str, closed: bool) -> bool:
    """Return whether an event is refused if Tenterhook cannot answer. A stop never is: the agent could not end."""
    return closed and event in (_CLOSED, "permission-request")


def missing(record: Mapping[str, Any], agent: Agent, hooks: Iterable[Hook]) -> list[str]:
    """Return the agent's events that must be wired but are not."""
    return [native for native in needed(agent, hooks) if native not in record["events"]]


def problems(hooks: Iterable[Hook], root: str) -> list[Problem]:
    """Return a problem for each event that has hooks and is not wired in a guarded agent."""
    from ..agents import AGENTS
    from . import records

    found = []
    hooks = list(hooks)
    for record in records.all_records():
        if record["host"] not in AGENTS or record["root"] not in (None, root):
            continue
        agent = AGENTS[record["host"]]
        there = in_force_in(record, hooks)
        for native in missing(record, agent, there):
            meant = agent.meanings(native)
            names = ", ".join(hook.name for hook in there if hook.event in meant) or "your rules, the hub"
            message = f"{native} is not wired in {agent.title}: {names}"
            remedy = f"tenterhook install {record['host']}, and restart it if it is running"
            found.append(Problem("not-wired", record["settings"], None, None, message, remedy))
    return found


def keep_in_step(record: Mapping[str, Any], agent: Agent, hooks: Iterable[Hook], *, closed: bool) -> list[str]:
    """Wire missing events in a background process, and return them.

    Entries of an older version are renewed too. `closed`: whether a fail-closed guard is in force.
    """
    from . import launcher

    hooks = list(hooks)
    absent = missing(record, agent, hooks)
    is_current = record.get("launcher") == launcher.VERSION and os.path.exists(launcher.path())
    if not absent and is_current and (record["closed"] or not closed):
        return []
    environment = {
        **record.get("environment", {}),
        "HOME": record["home"],
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
        "XDG_CONFIG_HOME": record["config"],
        "XDG_STATE_HOME": os.path.dirname(record["state"]),
        "XDG_CACHE_HOME": os.path.dirname(record["cache"]),
    }
    sync = "tenterhook.install.settings_change:sync"
    try:
        processes.start_detached(sync, dict(record), absent, closed, env=environment)
    except OSError:  # the next session tries again
        pass
    return absent
