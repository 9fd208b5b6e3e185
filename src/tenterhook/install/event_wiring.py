"""Which events of an agent must lead to us: those that have hooks, that rules or a hub are for, or that carry state."""

from __future__ import annotations

import os

from ..approvals import presence
from ..basics import places, processes
from ..errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from ..model import Hook

_STATE = ("pre-session",)
_CLOSED = "pre-tool-call"


def needed(events: Mapping[str, str], hooks: Iterable[Hook]) -> dict[str, str]:
    """The agent's events that must be wired, each with ours."""
    wanted = {*_STATE, *(hook.event for hook in hooks), *_others(events)}
    return {native: ours for native, ours in events.items() if ours in wanted}


def _others(events: Mapping[str, str]) -> tuple[str, ...]:
    """The events at which rules or a hub have a say, or learn that the person has said yes to the agent itself."""
    if not presence.is_any():
        return ()
    learns = presence.is_joined() and "permission-request" in events.values()
    return (*presence.EVENTS, *presence.AFTER) if learns else presence.EVENTS


def in_force_in(record: Mapping[str, Any], hooks: Iterable[Hook]) -> list[Hook]:
    """Those of some hooks that one installation runs: of folders, and of the files that were named for it."""
    configs = set(map(places.file_identity, record["configs"]))
    return [hook for hook in hooks if hook.layer != "config" or places.file_identity(hook.source) in configs]


def without_event(events: Mapping[str, str], hooks: Iterable[Hook]) -> list[Hook]:
    """Hooks on events that the agent does not have."""
    return [hook for hook in hooks if hook.event not in events.values()]


def must_close(hooks: Iterable[Hook]) -> bool:
    """Whether a guard is in force that would rather block than be absent."""
    return any(hook.fail_closed and not hook.is_shadow and hook.event == _CLOSED for hook in hooks)


def closes(event: str, closed: bool) -> bool:
    """Whether the line of an event blocks when nobody answers. At a stop that would keep the agent from ever ending."""
    return closed and event in (_CLOSED, "permission-request")


def missing(record: Mapping[str, Any], events: Mapping[str, str], hooks: Iterable[Hook]) -> list[str]:
    """The agent's events that have hooks and are not wired."""
    return [native for native in needed(events, hooks) if native not in record["events"]]


def problems(hooks: Iterable[Hook], root: str) -> list[Problem]:
    """Hooks of a project that do not run in an agent that is guarded there: its settings do not lead to us yet."""
    from ..agents import AGENTS
    from . import records

    found = []
    hooks = list(hooks)
    for record in records.all_records():
        if record["host"] not in AGENTS or record["root"] not in (None, root):
            continue
        agent = AGENTS[record["host"]]
        there = in_force_in(record, hooks)
        for native in missing(record, agent.events, there):
            names = (
                ", ".join(hook.name for hook in there if hook.event == agent.events[native]) or "your rules, the hub"
            )
            message = f"{native} is not wired in {agent.title}: {names}"
            remedy = f"tenterhook install {record['host']}, and restart it if it is running"
            found.append(Problem("not-wired", record["settings"], None, None, message, remedy))
    return found


def keep_in_step(
    record: Mapping[str, Any], events: Mapping[str, str], hooks: Iterable[Hook], *, closed: bool
) -> list[str]:
    """Have what is missing wired, by a process that the agent does not wait for; return what was missing.

    What an older version wrote is renewed too. `closed`: whether a guard is in force that would rather block than be
    absent.
    """
    from . import launcher

    hooks = list(hooks)
    absent = missing(record, events, hooks)
    is_current = record.get("launcher") == launcher.VERSION and os.path.exists(launcher.path())
    if not absent and is_current and (record["closed"] or not closed):
        return []
    environment = {
        **record.get("environment", {}),
        "HOME": record["home"],
        "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    }
    environment |= {"XDG_CONFIG_HOME": record["config"], "XDG_STATE_HOME": os.path.dirname(record["state"])}
    environment |= {"XDG_CACHE_HOME": os.path.dirname(record["cache"])}
    try:
        arguments = (dict(record), absent, closed)
        processes.start_detached("tenterhook.install.settings_change:sync", *arguments, env=environment)
    except OSError:  # no process to be had: the next session tries again
        pass
    return absent
