"""What every adapter's session has in common: how a turn ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tenterhook import Engine
from tenterhook.adapters.agent_session import AgentSession

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Event, Verdict


def test_a_call_that_is_allowed_when_the_turn_has_ended_does_not_run(project: Path) -> None:
    def end_the_turn(event: Event, verdict: Verdict) -> None:  # before the caller that waits for the permit continues
        asyncio.get_running_loop().call_soon(session.turn.reject, "Enough.")

    session = AgentSession(Engine(), told=end_the_turn)
    permit = asyncio.run(session.permit(session.call("note", {"name": "made"}, "call_1")))
    assert not permit.allowed
    assert "ended the turn" in (permit.reason or "")


def test_nothing_is_asked_after_the_turn_has_ended(project: Path) -> None:
    heard: list[str] = []
    session = AgentSession(Engine(), told=lambda event, verdict: heard.append(event.canonical))
    session.turn.reject("Enough.")
    assert not asyncio.run(session.permit(session.call("note", {}, "call_1"))).allowed
    assert heard == []


def test_a_persons_no_is_why_a_turn_ended_even_after_its_last_step() -> None:
    session = AgentSession(Engine(), max_steps=1)
    session.turn.steps = 1
    session.turn.reject("I say no.")
    assert session.is_cut_off()
    assert (session.turn.stop_reason, session.turn.answer) == ("tool_rejected", "I say no.")
