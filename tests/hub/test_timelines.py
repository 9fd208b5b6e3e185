"""A session's records as a person reads them, whatever an agent wrote into them."""

from __future__ import annotations

from typing import Any

import pytest

from tenterhook.hub import timelines


def entry(confirmed: bool | None = None, **record: Any) -> timelines.TimelineEntry:
    return timelines.entry({"time": 1.0, "record": record, "confirmed": confirmed})


def test_an_approval_says_who_answered() -> None:
    given: dict[str, Any] = {"type": "approval", "event": "permission-request", "answered_by": "anna (hub)"}
    assert entry(confirmed=True, **given, decision="approve").outcome == "approve by anna (hub)"
    assert entry(**given, decision="none").outcome == "no answer by anna (hub)"
    assert entry(type="verdict", decision="none").outcome == ""


def test_an_answer_that_the_hub_does_not_know_is_shown_as_a_claim() -> None:
    claim = entry(confirmed=False, type="approval", answered_by="anna (hub)", decision="approve").outcome
    assert claim == "approve by anna (hub): claimed by the machine; this hub has no such answer"


def test_a_text_that_is_no_decision_is_not_shown_as_one() -> None:
    """It would look like the answer of a person."""
    assert entry(type="approval", decision="approve by anna (hub)").outcome == "no answer"
    assert entry(type="verdict", decision="approve by anna (hub)").outcome == ""
    assert entry(type="verdict", decision="deny").outcome == "deny"


def test_a_failed_hook_has_its_stderr_as_the_reason_and_a_successful_one_has_not() -> None:
    failed, ok = entry(
        runs=[
            {"hook": "guard", "meaning": "failed", "why": "exit 3", "stderr": "no such file\n"},
            {"hook": "quiet", "meaning": "no_decision", "stderr": "noise\n"},
        ]
    ).runs
    assert (failed.hook, failed.tone, failed.reason) == ("guard", "bad", "exit 3: no such file")
    assert (ok.meaning, ok.tone, ok.reason) == ("no decision", "", "")


def test_the_end_of_an_asynchronous_hook_is_a_run_by_itself() -> None:
    (run,) = entry(type="async", hook="later", meaning="timed_out", duration_ms=250).runs
    assert (run.hook, run.meaning, run.tone, run.duration) == ("later", "timed out", "bad", 250.0)


def test_a_long_command_is_cut() -> None:
    line = entry(tool_name="Shell", fields={"tool_name": "Shell", "tool_input": {"command": "x" * 5000}}).line
    assert line.endswith("x…")
    assert len(line) < 1000


@pytest.mark.parametrize("odd", [None, 3, [], {}, [None, 3], ["x"], pytest.param(2**1024 - 1, id="huge")])
def test_a_record_with_anything_in_it_is_an_entry(odd: Any) -> None:
    keys = ("type", "event", "decision", "tool_name", "waited_ms", "reason", "runs", "fields", "answered_by")
    found = entry(**dict.fromkeys(keys, odd))
    assert (found.event, found.tool, found.reason, found.runs) == ("", "", "", [])


def test_a_duration_that_none_can_have_is_left_out() -> None:
    found = entry(waited_ms=2**1024 - 1, runs=[{"hook": "h", "duration_ms": 1e300}])
    assert (found.waited, found.runs[0].duration) == (None, 0.0)
