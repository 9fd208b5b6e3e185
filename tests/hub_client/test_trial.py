"""A test request: asked as an agent asks, answered by a person, and written to the journal."""

from __future__ import annotations

import os
import signal
import threading
from typing import TYPE_CHECKING

import pytest

from hub_client.hubs import RealHub, joined
from support import until
from tenterhook.basics import places
from tenterhook.hub_client import membership, trial
from tenterhook.journal import segments
from tenterhook.journal.follower import Follower

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def nobody_delivers() -> Iterator[None]:
    """At the end the machine leaves the hub, so that no process goes on delivering records."""
    yield
    membership.delete()


@pytest.mark.parametrize("approved", [True, False])
def test_the_answer_comes_back_and_is_in_the_journal(home: Path, hub: RealHub, approved: bool) -> None:
    request = trial.new_request(joined(hub))
    outcomes: list[trial.TrialResult] = []
    thread = threading.Thread(target=lambda: outcomes.append(trial.ask(joined(hub), request)))
    thread.start()
    asked = until(lambda: next((each for each in hub.open_requests() if each["id"] == request.id), None))
    assert asked["agent"] == trial.AGENT
    assert "nothing is run" in asked["why"]
    hub.answer(asked, approved=approved)
    thread.join(30)
    (outcome,) = outcomes
    assert outcome.answer is not None
    assert (outcome.answer.approved, outcome.answer.by) == (approved, f"{hub.person} (hub)")
    records = [line.record or {} for line in Follower(places.journal(), {}).lines() if segments.is_ours(line)]
    (record,) = [record for record in records if record.get("type") == "approval"]
    assert record["request"] == request.id
    assert record["decision"] == ("approve" if approved else "deny")


def test_interrupted_it_is_withdrawn(home: Path, hub: RealHub) -> None:
    request = trial.new_request(joined(hub))

    def interrupt() -> None:
        until(lambda: any(each["id"] == request.id for each in hub.open_requests()))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        trial.ask(joined(hub), request, by="terminal")
    thread.join(30)
    assert all(each["id"] != request.id for each in hub.open_requests())


def test_no_session_grant_comes_of_it(hub: RealHub) -> None:
    sent = trial.new_request(joined(hub)).as_json("laptop", "process")
    assert sent["grant"] is None
