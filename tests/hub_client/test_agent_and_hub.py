"""The bundled agent and the hub: a session at a terminal, and one that nobody sits at."""

from __future__ import annotations

import json
import re
import signal
from os import urandom
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import Play, shell
from hub_client import hubs
from hub_client.hubs import BadHub, RealHub, joined
from support import until
from tenterhook.hub_client import membership

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]

OPEN = "once · s for this session · n no · f no, and say why"


@pytest.fixture
def play(tmp_path: Path, home: Path, project: Path) -> Iterator[Play]:
    yield Play(tmp_path, home, project)
    membership.delete()  # ends the uploader


def approvals(home: Path) -> list[dict[str, Any]]:
    files = sorted((home / ".local/state/tenterhook/journal").glob("*.jsonl"))
    records = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [record for record in records if record["type"] == "approval"]


def command() -> str:
    """One that no other test waits for."""
    return f"touch ran; echo {urandom(6).hex()}"


def test_the_hub_answers_and_the_terminal_shows_who_did(play: Play, hub: RealHub) -> None:
    joined(hub)
    line = command()
    with play.terminal([shell(line)], "Done.") as terminal:
        terminal.say("go")
        terminal.sees(OPEN)
        hub.answer(hub.waiting(line), approved=True)
        terminal.sees(re.escape(f"Shell approved by {hub.person} (hub)"))
        terminal.sees("Done\\.")
        assert play.ran("ran")
        terminal.say("still here?")  # the keyboard is the prompt's again


def test_the_model_is_told_why_somebody_at_the_hub_refuses(play: Play, hub: RealHub) -> None:
    joined(hub)
    line = command()
    with play.terminal([shell(line)], "I see.") as terminal:
        terminal.say("go")
        terminal.sees(OPEN)
        hub.answer(hub.waiting(line), approved=False, message="not on Fridays")
        terminal.sees("I see\\.")
        assert not play.ran("ran")
        assert "not on Fridays" in terminal.last.failed[0]


def test_a_key_answers_and_the_hub_shows_that(play: Play, hub: RealHub) -> None:
    joined(hub)
    line = command()
    with play.terminal([shell(line)], "Done.") as terminal:
        terminal.say("go")
        terminal.sees(OPEN)
        request = hub.waiting(line)
        terminal.child.send("y")
        terminal.sees("Done\\.")
    told = hub.look(request)
    assert (told["state"], told["withdrawn"]["by"], told["withdrawn"]["approved"]) == ("withdrawn", "terminal", True)


def test_without_a_terminal_the_hub_is_asked(play: Play, hub: RealHub) -> None:
    joined(hub)
    line = command()
    running = play.start([shell(line)], "Done.", mode="ask")
    hub.answer(hub.waiting(line), approved=True)
    running.end(0)
    assert play.ran("ran")
    (record,) = approvals(play.home)
    assert (record["by"], record["decision"], record["answered_by"]) == ("agent", "approve", f"{hub.person} (hub)")
    session = record["session_id"]
    until(lambda: any(each.get("type") == "approval" for each in hub.records(session)))  # and the hub has it


def test_ended_it_takes_its_question_back(play: Play, hub: RealHub) -> None:
    joined(hub)
    line = command()
    running = play.start([shell(line)], "Done.", mode="ask")
    request = hub.waiting(line)
    running.process.send_signal(signal.SIGTERM)
    running.process.communicate(timeout=30)
    assert hub.look(request)["state"] == "withdrawn"
    assert not play.ran("ran")


@pytest.mark.parametrize("what", ["silent", "gone"])
def test_a_hub_that_is_no_help_lets_nothing_run(play: Play, bad_hub: BadHubs, what: str) -> None:
    bad = bad_hub(hubs.silent)
    if what == "gone":
        bad.stop()
    membership.save(bad.member())
    calls = [[shell("touch ran")]] * (1 if what == "silent" else 2)  # it is waited for each time
    ended = play.run(*calls, "Done.", mode="ask", exits=None)
    assert not play.ran("ran")
    assert "Nobody answered" in ended.last.failed[0]


def test_a_membership_that_is_not_to_be_believed_is_said_and_work_goes_on(play: Play, hub: RealHub) -> None:
    joined(hub)
    (play.home / ".config/tenterhook/hub.json").chmod(0o644)
    ended = play.run([shell("touch ran")], "Done.", mode="yolo")
    assert play.ran("ran")
    assert "chmod 600" in ended.shown


def test_the_hubs_rules_hold_in_a_session_that_is_under_way(play: Play, tmp_path: Path) -> None:
    ruling = RealHub(tmp_path / "ruling")
    try:
        joined(ruling)
        ruling.api("POST", "/rules", {"answer": "approve", "tool": "Shell", "command": "touch ran"})
        ruling.api("POST", "/rules", {"answer": "deny", "pattern": "forbidden", "reason": "the team says no"})
        ended = play.run([shell("touch ran")], [shell("touch forbidden")], "Done.", mode="ask")
        assert play.ran("ran")
        assert not play.ran("forbidden")
        assert "the team says no" in ended.last.failed[0]
    finally:
        ruling.stop()
