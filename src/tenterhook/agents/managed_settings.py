"""Settings of an agent that belong to the machine's administrator and that a user cannot override."""

from __future__ import annotations

from ..basics.named_tuples import NamedTuple
from ..errors import HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .protocol import Agent


class ManagedSettings(NamedTuple):
    """The file of an agent's managed settings, and what it needs besides the hooks."""

    file: str
    beside: Mapping[str, Mapping[str, Any]] = {}  # other keys, without which a user could switch hooks off
    event_tables: bool = False  # TOML with a table `[[hooks.EVENT]]` for each entry
    moved_by: str | None = None  # a variable with which a user can make the agent read another file instead


def of(agent: Agent) -> ManagedSettings:
    """Return the managed settings of an agent. Raises `HookError` if it has none."""
    if agent.managed is None:
        raise HookError(
            f"{agent.title} has no managed settings: each person can change all that it reads",
            f"leave it out; each person installs it: tenterhook install {agent.name}",
        )
    return ManagedSettings(**agent.managed)


def for_machine(agent: Agent) -> Agent:
    """Return a copy of an agent whose settings are the managed ones. Raises `HookError` if it has none."""
    import copy

    managed = of(agent)
    machine = copy.copy(agent)
    machine.settings = lambda root=None: managed.file  # type: ignore[method-assign]  # only of this object
    machine.beside = managed.beside  # type: ignore[misc]  # likewise
    machine.event_tables = managed.event_tables
    machine.trust_table = machine.enabled_in = None  # managed hooks need neither
    return machine
