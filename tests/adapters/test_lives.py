"""What every adapter's session has in common: how a turn ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tenterhook import Engine
from tenterhook.life import Life

if TYPE_CHECKING:
    from pathlib import Path

    from tenterhook import Event, Verdict


def test_a_call_that_is_allowed_when_the_turn_has_ended_does_not_run(project: Path) -> None:
    def end_the_turn(event: Event, verdict: Verdict) -> None:  # before whoever waits for the permit goes on
        asyncio.get_running_loop().call_soon(life.turn.reject, "Enough.")

    life = Life(Engine(), told=end_the_turn)
    permit = asyncio.run(life.permit(life.call("note", {"name": "made"}, "call_1")))
    assert not permit.allowed
    assert "ended the turn" in (permit.reason or "")


def test_nothing_is_asked_after_the_turn_has_ended(project: Path) -> None:
    heard: list[str] = []
    life = Life(Engine(), told=lambda event, verdict: heard.append(event.canonical))
    life.turn.reject("Enough.")
    assert not asyncio.run(life.permit(life.call("note", {}, "call_1"))).allowed
    assert heard == []


def test_a_persons_no_is_why_a_turn_ended_even_after_its_last_step() -> None:
    life = Life(Engine(), max_steps=1)
    life.turn.steps = 1
    life.turn.reject("I say no.")
    assert life.is_cut_off()
    assert (life.turn.stop_reason, life.turn.answer) == ("tool_rejected", "I say no.")
