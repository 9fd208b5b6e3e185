"""PROTOCOL 7 as a table: what the policy decides in each case, and what holds in all of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tenterhook.approvals.policy import ApprovalCase, Ruling, Step, decide, reason_to_ask
from tenterhook.approvals.rules import ANSWERS, Rule
from tenterhook.model import Action

NONE, ALLOW, ASK, APPROVE, DENY = Action.NONE, Action.ALLOW, Action.ASK, Action.APPROVE, Action.DENY
OPEN: tuple[Step, str] = (Step.ASK_HERE, "")
HUB: tuple[Step, str] = (Step.ASK_HUB, "")
LEFT: tuple[Step, str] = (Step.LEAVE, "")

# The gate at `pre-tool-call`: its own mode says whether a person would be asked.
GATE = {
    "deny refuses": ({"hooks": DENY, "asks": True}, (Step.REFUSE, "hook")),
    "deny refuses where an approve rule matches": ({"hooks": DENY, "rule": "approve"}, (Step.REFUSE, "hook")),
    "approve skips the question": ({"hooks": APPROVE, "asks": True}, (Step.RUN, "hook")),
    "approve skips the question of an ask rule": ({"hooks": APPROVE, "rule": "ask"}, (Step.RUN, "hook")),
    "approve never overrides a deny rule": ({"hooks": APPROVE, "rule": "deny"}, (Step.REFUSE, "rule")),
    "a deny rule outranks a session approval": ({"rule": "deny", "is_granted": True}, (Step.REFUSE, "rule")),
    "a deny rule outranks an ask": ({"hooks": ASK, "rule": "deny"}, (Step.REFUSE, "rule")),
    "ask forces the question": ({"hooks": ASK, "asks": False}, OPEN),
    "ask is not satisfied by an approve rule": ({"hooks": ASK, "rule": "approve", "asks": True}, OPEN),
    "ask is not satisfied by a session approval": ({"hooks": ASK, "is_granted": True, "asks": True}, OPEN),
    "an approve rule of the person answers a built-in guard": (
        {"hooks": ASK, "rule": "approve", "is_answered": True, "asks": True},
        (Step.RUN, "rule"),
    ),
    "what a guard asks is not answered by a session approval": ({"hooks": ASK, "is_granted": True}, OPEN),
    "otherwise an approve rule decides": ({"rule": "approve", "asks": True}, (Step.RUN, "rule")),
    "otherwise a session approval decides": ({"is_granted": True, "asks": True}, (Step.RUN, "session")),
    "a session approval answers an ask rule": ({"rule": "ask", "is_granted": True}, (Step.RUN, "session")),
    "an ask rule asks where the mode does not": ({"rule": "ask", "asks": False}, OPEN),
    "otherwise the mode asks": ({"asks": True}, OPEN),
    "otherwise the mode does not ask": ({"asks": False}, (Step.RUN, "mode")),
    "allow is no approval": ({"hooks": ALLOW, "asks": True}, OPEN),
    "with nobody to ask it is refused": ({"asks": True, "can_ask": False}, (Step.REFUSE, "nobody")),
    "a forced question with nobody to ask is refused": ({"hooks": ASK, "can_ask": False}, (Step.REFUSE, "nobody")),
}
# The bridge at `pre-tool-call`: the agent has yet to decide whether it asks.
BEFORE = {
    "the agent decides": ({}, LEFT),
    "allow leaves it to the agent": ({"hooks": ALLOW, "has_hub": True}, LEFT),
    "an approve rule is applied": ({"rule": "approve"}, (Step.RUN, "rule")),
    "a session approval is applied": ({"is_granted": True}, (Step.RUN, "session")),
    "an approval waits for an agent that asks us": ({"rule": "approve", "can_approve": False}, LEFT),
    "so does a session approval": ({"is_granted": True, "can_approve": False}, LEFT),
    "and one that answers an ask rule": ({"rule": "ask", "is_granted": True, "can_approve": False}, LEFT),
    "a denial waits for nothing": ({"rule": "deny", "can_approve": False}, (Step.REFUSE, "rule")),
    "an ask rule makes the agent ask": ({"rule": "ask"}, OPEN),
    "an agent that asks us is made to ask first": ({"hooks": ASK, "asks_us_first": True, "has_hub": True}, OPEN),
    "else the hub is asked": ({"hooks": ASK, "has_hub": True}, HUB),
    "the hub is asked for an agent that cannot ask": ({"rule": "ask", "can_ask": False, "has_hub": True}, HUB),
    "without a hub an agent that cannot ask refuses": ({"rule": "ask", "can_ask": False}, (Step.REFUSE, "nobody")),
    "a call that a person allowed runs": ({"hooks": ASK, "can_ask": False, "is_allowed": True}, (Step.RUN, "allow")),
    "it runs without asking the hub": ({"hooks": ASK, "has_hub": True, "is_allowed": True}, (Step.RUN, "allow")),
    "an ask rule is answered so, too": ({"rule": "ask", "can_ask": False, "is_allowed": True}, (Step.RUN, "allow")),
    "a hook's deny is not": ({"hooks": DENY, "is_allowed": True}, (Step.REFUSE, "hook")),
    "nor is a deny rule": ({"hooks": ASK, "rule": "deny", "is_allowed": True}, (Step.REFUSE, "rule")),
    "what needs no answer uses no approval": ({"is_allowed": True}, LEFT),
    "a rule answers a guard before the call": (
        {"hooks": ASK, "rule": "approve", "is_answered": True},
        (Step.RUN, "rule"),
    ),
    "and again when the agent asks": (
        {"hooks": ASK, "rule": "approve", "is_answered": True, "can_approve": False},
        LEFT,
    ),
}
# The bridge at `permission-request`: the agent is about to ask its person.
ASKING = {
    "the hub is asked, too": ({"has_hub": True}, HUB),
    "without a hub the person is asked": ({}, OPEN),
    "an approve rule spares the question": ({"rule": "approve", "has_hub": True}, (Step.RUN, "rule")),
    "a session approval spares the question": ({"is_granted": True, "has_hub": True}, (Step.RUN, "session")),
    "neither spares one forced before the call": ({"rule": "approve", "was_forced": True, "has_hub": True}, HUB),
    "neither spares one that a hook forces now": ({"hooks": ASK, "rule": "approve", "has_hub": True}, HUB),
    "nor does a session approval": ({"hooks": ASK, "is_granted": True}, OPEN),
    "a hook answers a forced question": ({"hooks": APPROVE, "was_forced": True}, (Step.RUN, "hook")),
    "a hook's approval never overrides a deny rule": ({"hooks": APPROVE, "rule": "deny"}, (Step.REFUSE, "rule")),
}
ROWS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("gate", {}, GATE),
    ("before", {}, BEFORE),
    ("asking", {"asks": True}, ASKING),
]
TABLE = [
    pytest.param({"hooks": NONE, **more, **case}, Ruling(*expected), id=f"{where}: {title}")
    for where, more, rows in ROWS
    for title, (case, expected) in rows.items()
]
BOTH = (False, True)
_VALUES: dict[str, tuple[Any, ...]] = dict.fromkeys(ApprovalCase._fields, BOTH)
_VALUES |= {"hooks": tuple(Action), "rule": (None, *ANSWERS), "asks": (None, *BOTH)}
EVERY = [ApprovalCase(*case) for case in product(*_VALUES.values())]


@pytest.mark.parametrize(("case", "expected"), TABLE)
def test_a_case_has_its_ruling(case: dict[str, Any], expected: Ruling) -> None:
    assert decide(ApprovalCase(**case)) == expected


def test_no_call_runs_against_a_hook_or_a_rule_that_denies() -> None:
    denied = [case for case in EVERY if case.hooks is DENY or case.rule == "deny"]
    assert {decide(case).step for case in denied} == {Step.REFUSE}


def test_a_forced_question_is_never_skipped() -> None:
    """Only a hook that approves, or a refusal, can stand in place of a person's answer, also one that was typed."""
    forced = [decide(case) for case in EVERY if case.is_forced]
    assert {ruling.by for ruling in forced if ruling.step is Step.RUN} == {"hook", "allow"}
    assert Step.LEAVE not in {ruling.step for ruling in forced}


def test_nothing_runs_that_neither_hook_nor_rule_nor_session_nor_mode_nor_person_approves() -> None:
    approving = {"hook", "rule", "session", "mode", "allow"}
    assert {decide(case).by for case in EVERY if decide(case).step is Step.RUN} == approving
    asking = [case for case in EVERY if case.asks and case.rule is None and not case.is_granted and not case.is_allowed]
    assert {decide(case).by for case in asking if decide(case).step is Step.RUN} == {"hook"}


def test_a_hub_is_asked_only_where_there_is_one() -> None:
    assert Step.ASK_HUB not in {decide(case).step for case in EVERY if not case.has_hub}


def test_without_an_answer_of_the_hub_the_person_at_the_agent_is_asked_or_the_call_refused() -> None:
    unanswered = [case._replace(has_hub=False) for case in EVERY if decide(case).step is Step.ASK_HUB]
    assert {decide(case).step for case in unanswered} == {Step.ASK_HERE, Step.REFUSE}


@pytest.mark.parametrize(
    ("said", "rule", "expected"),
    [
        ("look at it", Rule("ask", reason="somebody looks"), "look at it"),
        ("", Rule("ask", reason="somebody looks"), "somebody looks"),
        (None, Rule("approve", reason="vetted"), None),
        (None, None, None),
    ],
)
def test_a_person_is_told_why_they_are_asked(said: str | None, rule: Rule | None, expected: str | None) -> None:
    assert reason_to_ask(said, rule) == expected
