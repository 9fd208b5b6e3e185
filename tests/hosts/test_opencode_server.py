"""opencode in its own server, which its interface uses as well: there it goes on where it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hosts.opencode_server import ServedOpencode
from hosts.real import shown, told
from tenterhook.agents.protocol import DONE, PROMPT
from tenterhook.basics.model_script import Turn

if TYPE_CHECKING:
    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600), pytest.mark.parametrize("name", ["opencode"])]


def test_a_stop_gate_sends_it_back_three_times_and_the_person_is_told_of_the_limit(name: str, guarded: Guarded) -> None:
    guarded.hook("gate", "echo the report is missing >&2; exit 2", "pre-agent-turn-stop")
    guarded.install()
    guarded = guarded._replace(live=ServedOpencode())
    came = guarded.run(Turn(text="I stop here.", sticky=True))
    assert len([request for request in came.requests if request.turn is not None]) == 4, shown(came)
    assert told(came, "the report is missing"), shown(came)
    assert "stop-hook limit reached" in came.stdout


def test_a_prompt_that_is_held_back_is_shown_with_the_reason(name: str, guarded: Guarded) -> None:
    guarded.hook("not-now", "echo not now >&2; exit 2", "pre-agent-turn")
    guarded.install()
    guarded = guarded._replace(live=ServedOpencode())
    came = guarded.run(Turn(text=DONE, sticky=True))
    assert not told(came, PROMPT), shown(came)
    assert "not now" in came.stdout
