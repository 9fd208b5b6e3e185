"""A daemon that runs for weeks: it does not grow with events or sessions, and does not slow down."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest

from bench import growth
from tenterhook.engine.sessions import Session

if TYPE_CHECKING:
    from pathlib import Path

EVENTS = 6000
A_MONTH = 31 * 86400


# bridge.py leaves its socket to the end of its process
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
@pytest.mark.thorough
@pytest.mark.parametrize("sessions", [1, EVENTS // growth.A_SESSION])
def test_thousands_of_events_leave_a_daemon_as_it_was(tmp_path: Path, project: Path, sessions: int) -> None:
    home = tmp_path / "daemon"
    grown = growth.measured(home, project, EVENTS, sessions)
    assert grown.megabytes < 10
    assert grown.cost.ratio < 3, "an event costs more than it did"  # busy machines are given time
    assert len(list((home / ".local/state/tenterhook/sessions").iterdir())) == sessions
    written = (home / ".local/state/tenterhook/journal/000001.jsonl").read_text().splitlines()
    verdicts = [line for line in map(json.loads, written) if line["type"] == "verdict"]
    assert len(verdicts) >= EVENTS // growth.A_SESSION


def age(directory: Path | str, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(directory, (then, then))


def test_old_sessions_are_looked_for_once_a_day_and_not_at_each_new_one(home: Path) -> None:
    looked = home / ".local/state/tenterhook/sessions.looked"
    old, older = Session("old"), Session("older")
    for session in (old, older):
        session.open()
    age(old.directory, A_MONTH)
    Session("new").open()
    assert os.path.isdir(old.directory)
    age(looked, 86400 + 60)
    Session("newer").open()
    assert not os.path.exists(old.directory)
    assert os.path.isdir(older.directory)
