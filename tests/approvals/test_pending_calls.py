"""Calls about which the hub is being asked: the end of a call reaches its question, and no other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tenterhook.approvals import configured, pending_calls
from tenterhook.approvals.pending_calls import CallStatus, PendingCall
from tenterhook.approvals.requests import Call

if TYPE_CHECKING:
    from pathlib import Path


def call(command: str = "make", session: str = "s-1", work_dir: str = "/work") -> Call:
    return Call("Shell", {"command": command}, work_dir, session)


@pytest.mark.parametrize("status", [CallStatus.MADE, CallStatus.OVER])
def test_the_end_of_a_call_reaches_its_question_from_any_directory(home: Path, status: CallStatus) -> None:
    with PendingCall(call(), "r-1") as pending:
        assert pending.status() is CallStatus.OPEN
        pending_calls.report(call(work_dir="/elsewhere"), status)
        assert pending.status() is status


@pytest.mark.parametrize("other", [call("make install"), call(session="s-2")])
def test_another_call_or_session_ends_no_question(home: Path, other: Call) -> None:
    with PendingCall(call(), "r-1") as pending:
        pending_calls.report(other, CallStatus.MADE)
        assert pending.status() is CallStatus.OPEN


def test_of_two_equal_calls_the_end_of_each_is_reported_to_the_oldest_that_is_open(home: Path) -> None:
    with PendingCall(call(), "r-2") as first:
        (file,) = os.scandir(configured.asked_about("s-1"))
        os.utime(file.path, (1, 1))
        with PendingCall(call(), "r-1") as second:
            pending_calls.report(call(), CallStatus.MADE)
            assert (first.status(), second.status()) == (CallStatus.MADE, CallStatus.OPEN)
            pending_calls.report(call(), CallStatus.OVER)
            assert (first.status(), second.status()) == (CallStatus.MADE, CallStatus.OVER)


def test_nothing_is_left_when_the_last_question_has_ended(home: Path) -> None:
    with PendingCall(call(), "r-1"):
        with PendingCall(call("other"), "r-2"):
            pass
        assert os.path.isdir(configured.asked_about("s-1"))
    assert not os.path.exists(configured.asked_about("s-1"))
    pending_calls.report(call(), CallStatus.MADE)
    assert not os.path.exists(configured.asked_about("s-1"))


def test_where_nothing_can_be_written_the_question_stays_open(home: Path) -> None:
    place = home / ".local/state/tenterhook"
    place.mkdir(parents=True)
    (place / "sessions").write_text("")
    with PendingCall(call(), "r-1") as pending:
        pending_calls.report(call(), CallStatus.MADE)
        assert pending.status() is CallStatus.OPEN
