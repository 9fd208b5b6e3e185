"""Rules applied to an agent's calls by the bridge, as far as that agent can be told; hooks decide first."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from support import shell_call, write_config
from tenterhook import Action, Event, Verdict
from tenterhook.agents import AGENTS
from tenterhook.basics.callers import THIS
from tenterhook.dispatch import approvals
from tenterhook.journal.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

RULES = """
    [[approvals.rules]]
    answer = "approve"
    command = "make test"

    [[approvals.rules]]
    answer = "deny"
    pattern = "prod"
    reason = "never there"

    [[approvals.rules]]
    answer = "ask"
    command = "make deploy"
    reason = "a person looks"
"""


@pytest.fixture(autouse=True)
def settings(home: Path) -> Path:
    return write_config(home / ".config" / "tenterhook" / "config.toml", RULES)


def settled(
    command: str,
    agent: str = "claude-code",
    event: str = "pre-tool-call",
    said: Action = Action.NONE,
    has_question: bool = False,
) -> Verdict:
    """The verdict on a call of a shell tool, after hooks have said this."""
    happened: Event = shell_call(command, event=event, session_id="s")
    return approvals.apply_policy(
        happened,
        Verdict(happened.canonical, said, "hooks" if said is not Action.NONE else None),
        AGENTS[agent],
        has_question=has_question,
        deadline=time.monotonic() + 60,
        journal=Journal(agent, tells=False),
        caller=THIS,
    )


@pytest.mark.parametrize("agent", AGENTS)
def test_a_rule_denies_in_every_agent_even_what_a_hook_approves(agent: str) -> None:
    for said in (Action.NONE, Action.ALLOW, Action.APPROVE):
        verdict = settled("deploy prod", agent, said=said)
        assert (verdict.decision, verdict.reason) == (Action.DENY, "never there")


@pytest.mark.parametrize("agent", AGENTS)
def test_a_rule_approves_where_the_agent_takes_an_approval_and_else_leaves_it_to_the_agent(agent: str) -> None:
    verdict = settled("make test", agent)
    takes_it = AGENTS[agent].capabilities.approves
    assert verdict.decision is (Action.APPROVE if takes_it else Action.NONE)


def test_a_rule_that_asks_forces_the_question_and_an_agent_that_cannot_ask_refuses() -> None:
    verdict = settled("make deploy")
    assert (verdict.decision, verdict.reason) == (Action.ASK, "a person looks")
    refused = settled("make deploy", "codex")
    assert refused.decision is Action.DENY
    assert (refused.reason or "").startswith("a person looks\n")


@pytest.mark.parametrize("has_question", [False, True])
def test_where_nobody_is_there_the_refusal_names_the_command_that_allows_the_call(
    has_question: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`claude -p` refuses by itself what a hook asks about: its permission request never reaches us."""
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ATTENDED", "0")
    refused = settled("make deploy", has_question=has_question)
    assert refused.decision is Action.DENY
    assert "tenterhook allow" in (refused.reason or "")


def test_a_refusal_that_cannot_be_recorded_is_one_all_the_same(home: Path) -> None:
    write_config(home / ".local/state/tenterhook/single-use", "in the way")
    verdict = settled("make deploy", "codex")
    assert (verdict.decision, verdict.reason) == (Action.ASK, "a person looks")  # which its module makes a refusal


def test_a_call_that_no_rule_is_for_is_as_hooks_decided() -> None:
    assert settled("ls") == Verdict("pre-tool-call")
    assert settled("make test", said=Action.DENY).reason == "hooks"


def test_a_question_that_a_hook_forced_is_not_answered_by_a_rule_when_the_agent_asks() -> None:
    assert settled("make test", event="permission-request").decision is Action.APPROVE
    assert settled("make test", said=Action.ASK).decision is Action.ASK
    assert settled("make test", event="permission-request").decision is Action.NONE
    assert settled("make test").decision is Action.APPROVE  # the next such call is a new one
    assert settled("make test", event="permission-request").decision is Action.APPROVE


def test_a_permission_request_that_hooks_cannot_answer_is_left_alone() -> None:
    assert settled("deploy prod", "kimi-code", "permission-request") == Verdict("permission-request")


def test_rules_that_cannot_be_read_change_nothing_and_say_so(settings: Path) -> None:
    settings.write_text("[[approvals.rules]]\nanswer = 'perhaps'\n")
    verdict = settled("make test", said=Action.ALLOW)
    assert (verdict.decision, verdict.reason) == (Action.ALLOW, "hooks")
    assert "your rules are not in force" in verdict.messages[0]
