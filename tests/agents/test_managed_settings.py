"""Managed settings of agents."""

from __future__ import annotations

import pytest

from tenterhook.agents import AGENTS
from tenterhook.agents.managed_settings import for_machine, of
from tenterhook.errors import HookError

MANAGED = [agent.name for agent in AGENTS.values() if agent.managed is not None]


@pytest.mark.parametrize("name", MANAGED)
def test_an_agent_of_the_machine_has_other_settings_and_the_agent_itself_keeps_its_own(name: str) -> None:
    agent = AGENTS[name]
    machine = for_machine(agent)
    assert machine.settings() == of(agent).file
    assert machine.settings().startswith("/etc/")
    assert agent.settings() != machine.settings()
    assert machine.events == agent.events
    assert machine.trust_table is None


def test_an_agent_without_managed_settings_says_so() -> None:
    agent = next(agent for agent in AGENTS.values() if agent.managed is None)
    with pytest.raises(HookError, match="no managed settings") as raised:
        for_machine(agent)
    assert agent.name in raised.value.remedy
