"""What this machine reports to the hub that it has joined: which agents ask there, and which do not and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..approvals import configured
from ..basics.display_text import one_line
from ..errors import HookError
from ..install import sources
from . import status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..agents.protocol import Agent
    from ..hub_client.membership import Membership

_MAX_TEXT = 500  # characters
_NOT_INSTALLED = "it does not call Tenterhook"


def report(joined: Membership | None = None) -> list[dict[str, Any]]:
    """Report the agents of this machine to the hub, if one was joined and is reachable; return them."""
    if not configured.is_joined():
        return []
    from ..hub_client import membership
    from ..hub_client.connection import HubConnection

    joined = joined or membership.read()
    if joined is None:
        return []
    found = agents_here()
    try:
        HubConnection(joined).call("PUT", "/machine", {"agents": found})
    except HookError:  # unreachable, or an earlier version: `hub status` says so
        pass
    return found


def agents_here() -> list[dict[str, Any]]:
    """Return the agents that are found on this machine, each with whether it asks at the hub."""
    return [_about(state) for state in status.agent_states(sources.here().catalog)]


def when_it_asks(agent: Agent) -> str:
    """Return what an agent asks at the hub about."""
    always = agent.capabilities.answers_permission
    return "before each call that it would ask its user about" if always else "where a hook or a rule says ask"


def not_connected(agents: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line for each agent that does not ask at the hub: why, and how to connect it."""
    lacking = [each for each in agents if not each["connected"]]
    whys = ["" if each["why"] == _NOT_INSTALLED else f" ({each['why']})" for each in lacking]
    return [
        one_line(f"{each['title']} is not connected yet{why}: {each['remedy']}")
        for each, why in zip(lacking, whys, strict=True)
    ]


def _about(state: status.AgentState) -> dict[str, Any]:
    agent = state.agent
    if state.is_installed:
        more: dict[str, Any] = {"connected": True, "why": when_it_asks(agent), "remedy": ""}
    elif state.is_unguarded:
        more = {"connected": False, "why": _NOT_INSTALLED, "remedy": f"tenterhook install {agent.name}"}
    else:
        why = f"{state.word}: {state.more}"[:_MAX_TEXT]
        more = {"connected": False, "why": why, "remedy": f"tenterhook doctor {agent.name}"}
    return {"name": agent.name, "title": agent.title, **more}
