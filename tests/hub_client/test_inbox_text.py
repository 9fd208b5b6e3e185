"""The texts of the terminal inbox: how much time is left, and how a request ended."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hub import hubs
from tenterhook.hub_client import inbox_text
from tenterhook.hub_client.inbox_client import AnswerResult

ANNA = {"approved": True, "by": "anna\x1b", "via": "page", "scope": "once", "message": None}


def request(**more: Any) -> dict[str, Any]:
    return {**hubs.request("ls", why=None), "state": "open", "answer": None, "withdrawn": None, **more}


@pytest.mark.parametrize(
    ("seconds", "shown"), [(-5, "0 s"), (119.9, "119 s"), (121, "2 min"), (7300, "2 h"), (3 * 86400 + 9, "3 d")]
)
def test_the_time_that_is_left_is_in_one_unit(seconds: float, shown: str) -> None:
    assert inbox_text.time_left(request(expires=time.time() + seconds)) == shown


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({}, "waiting"),
        ({"state": "approved", "answer": ANNA}, r"approved once by anna\x1b"),
        (
            {"state": "approved", "answer": {**ANNA, "scope": "session"}},
            r"approved for this session by anna\x1b",
        ),
        (
            {"state": "denied", "answer": {**ANNA, "approved": False, "scope": "session", "message": "no\n!"}},
            r"denied by anna\x1b: no\n!",
        ),
        ({"state": "expired"}, "expired: nobody answered in time"),
        ({"state": "withdrawn"}, "withdrawn"),
        (
            {"state": "withdrawn", "withdrawn": {"by": "terminal", "approved": True}},
            "approved: in the terminal",
        ),
        (
            {"state": "withdrawn", "withdrawn": {"by": "terminal", "approved": None}},
            "withdrawn: in the terminal",
        ),
    ],
)
def test_how_a_request_ended_names_who_answered_with_nothing_hidden(given: dict[str, Any], shown: str) -> None:
    assert inbox_text.ending(request(**given)) == shown


def test_an_id_may_be_typed_with_or_without_its_prefix() -> None:
    asked = request(id="permission_abc123")
    assert inbox_text.short_id(asked) == "abc123"
    assert [inbox_text.is_called(asked, typed) for typed in ("abc", "permission_a", "123")] == [True, True, False]


def test_the_facts_leave_out_what_is_not_known() -> None:
    facts = dict(inbox_text.facts(request(machine="desk\x07")))
    assert "why" not in facts
    assert facts["machine"] == r"desk\x07"
    assert dict(inbox_text.facts(request(why="a rule")))["why"] == "a rule"


@pytest.mark.parametrize(
    ("won", "why", "begins"),
    [
        (True, None, "approved once by anna"),
        (False, "late", "not answered by you: approved once"),
        (False, "duplicate", "you had already answered: approved once"),
    ],
)
def test_the_result_says_whether_the_answer_counted(won: bool, why: str | None, begins: str) -> None:
    result = AnswerResult(won, why, request(state="approved", answer=ANNA))
    assert inbox_text.result_line(result).startswith(begins)
