"""Decisions to one verdict: precedence, reasons, what is kept in order, and which events hear which formats."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import array_hook, decide, folder_hook, shell_call, table_hook, until, user_hooks, write_config
from tenterhook import Action, Decision, Engine, Event, Hook, Outcome, Run, Verdict
from tenterhook.engine.verdicts import merge
from tenterhook.events import EVENTS, EventSpec
from tenterhook.model import PRECEDENCE, Failure

if TYPE_CHECKING:
    from pathlib import Path

SAYS: dict[str, dict[str, Any]] = {
    "deny": {"decision": "deny", "reason": "deny"},
    "ask": {"decision": "ask", "reason": "ask"},
    "approve": {"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "approve"}},
    "allow": {"decision": "allow", "reason": "allow"},
    "none": {},
}


def echo(answer: object) -> str:
    return f"echo {json.dumps(json.dumps(answer))}"


def array(project: Path, *lines: str, event: Event | None = None, name: str = "PreToolUse") -> Verdict:
    """The verdict on array hooks with these commands."""
    hooks = "".join(array_hook(f"{line} # {n}", event=name) for n, line in enumerate(lines))
    return decide(write_config(project / "hooks.toml", hooks), event)


# ---- precedence


@pytest.mark.parametrize(("strong", "weak"), list(itertools.combinations(SAYS, 2)))
@pytest.mark.parametrize("weak_first", [True, False])
def test_deny_before_ask_before_approve_before_allow_before_none(
    project: Path, strong: str, weak: str, weak_first: bool
) -> None:
    lines = [echo(SAYS[strong]), echo(SAYS[weak])]
    verdict = array(project, *(reversed(lines) if weak_first else lines))
    assert (verdict.decision, verdict.reason) == (strong, strong)


def test_no_hooks_say_none() -> None:
    verdict = Engine().decide(shell_call())
    assert (verdict.decision, verdict.reason, verdict.runs) == ("none", None, ())
    assert not verdict.denied


def test_the_reason_is_the_first_of_those_that_decided(project: Path) -> None:
    verdict = array(project, echo(SAYS["ask"]), "echo one >&2; exit 2", "echo two >&2; exit 2")
    assert verdict.reason == "one"


def test_only_a_deny_is_denied(project: Path) -> None:
    assert [array(project, echo(answer)).denied for answer in SAYS.values()] == [True, False, False, False, False]


@pytest.mark.parametrize("failing", ["exit 1", "echo '{'", "kill -9 $$", "echo text"])
@pytest.mark.parametrize("said", ["deny", "ask", "approve", "allow"])
def test_a_failure_takes_nothing_from_what_others_said(project: Path, failing: str, said: str) -> None:
    assert array(project, failing, echo(SAYS[said]), failing).decision == said


def test_contexts_and_messages_are_all_kept_in_order(project: Path) -> None:
    lines = [echo({"additional_context": f"c{n}", "message": f"m{n}"}) for n in range(3)]
    verdict = array(project, f"sleep 0.2; {lines[0]}", lines[1], "exit 1", lines[2])
    assert verdict.additional_context == ("c0", "c1", "c2")
    assert verdict.messages == ("m0", "m1", "m2")


def test_contexts_and_messages_survive_a_block(project: Path) -> None:
    verdict = array(project, echo({"additional_context": "c", "message": "m"}), "exit 2")
    assert (verdict.additional_context, verdict.messages) == (("c",), ("m",))


def test_each_prompt_hooks_text_is_a_message_of_its_own(project: Path) -> None:
    lines = ["echo one", echo({"message": "two"}), "true", "printf 'th\\nree'"]
    verdict = array(project, *lines, event=Event("UserPromptSubmit", prompt="hi"), name="UserPromptSubmit")
    assert verdict.messages == ("one", "two", "th\nree")


def test_a_verdict_leaves_the_house_as_json(project: Path) -> None:
    shown = array(project, "echo no >&2; exit 2", "exit 1", event=shell_call("\ud800 é")).as_json()
    assert json.loads(json.dumps(shown)) == shown
    assert (shown["schema"], shown["event"], shown["decision"], shown["reason"]) == (1, "pre-tool-call", "deny", "no")
    blocked, failed = shown["runs"]
    assert (blocked["outcome"], blocked["exit_code"], blocked["event_name"]) == ("blocked", 2, "PreToolUse")
    assert (failed["outcome"], failed["why"], failed["decision"]) == ("failed", "exit 1", "none")
    assert {"schema", "event", "decision", "reason", "modified_input", "additional_context", "messages"} < set(shown)


# ---- permission requests


APPROVE = echo({"decision": "allow"})
REQUEST = Event("permission-request", tool_name="Shell", tool_input={"command": "ls"}, permission_request_id="1")


@pytest.mark.parametrize(
    ("lines", "decision"),
    [
        ([APPROVE], "approve"),
        ([APPROVE, "true"], "approve"),
        ([APPROVE, "echo text"], "approve"),
        ([APPROVE, APPROVE], "approve"),
        ([APPROVE, "exit 1"], "none"),
        (["kill -9 $$", APPROVE], "none"),
        ([APPROVE, "nosuchcommand"], "none"),
        ([APPROVE, "sleep 60"], "none"),
        ([APPROVE, "echo '{'"], "none"),
        ([APPROVE, "echo '[]'"], "none"),
        ([APPROVE, echo({"decision": "yes"})], "none"),
        ([APPROVE, echo({"hookSpecificOutput": "allow"})], "none"),
        ([APPROVE, "exit 2"], "deny"),
        ([APPROVE, "exit 1", "exit 2"], "deny"),
        ([APPROVE, echo({"decision": "ask"})], "ask"),
        ([APPROVE, "exit 1", echo({"decision": "ask"})], "ask"),
        (["exit 1"], "none"),
        ([], "none"),
    ],
)
def test_an_approval_counts_only_if_every_hook_ended_well(project: Path, lines: list[str], decision: str) -> None:
    hooks = "".join(array_hook(f"{line} # {n}", event="PermissionRequest", timeout=1) for n, line in enumerate(lines))
    verdict = decide(write_config(project / "hooks.toml", hooks), REQUEST)
    assert verdict.decision == decision
    assert (verdict.scope is None) is (decision != "approve")


@pytest.mark.parametrize(
    ("scopes", "scope"),
    [
        (["session"], "session"),
        (["session", "session"], "session"),
        (["session", "once"], "once"),
        (["session", None], "once"),
        (["nonsense"], None),
    ],
)
def test_the_scope_is_that_of_the_narrowest_approval(
    project: Path, scopes: list[str | None], scope: str | None
) -> None:
    lines = [echo({"decision": "allow", "scope": each}) for each in scopes]
    assert array(project, *lines, event=REQUEST, name="PermissionRequest").scope == scope


def test_an_approval_of_a_call_is_not_lost_by_a_failure_elsewhere(project: Path) -> None:
    assert array(project, echo(SAYS["approve"]), "exit 1").decision == "approve"


def test_a_permission_hook_that_fails_closed_refuses(project: Path) -> None:
    hooks = array_hook(APPROVE, event="PermissionRequest")
    hooks += array_hook("exit 1", event="PermissionRequest", fail_mode="closed")
    assert decide(write_config(project / "hooks.toml", hooks), REQUEST).decision == "deny"


# ---- which events hear which formats


# The table of section 1, by hand: d decides, o is awaited and observes, b is started and forgotten.
HEARD = {  # folder, table, array
    "pre-session": "ddo",
    "post-session": "ooo",
    "pre-agent-turn": "ddd",
    "post-agent-turn": "oob",
    "pre-agent-turn-stop": "ddd",
    "post-agent-turn-stop": "oob",
    "post-agent-turn-failure": "oob",
    "pre-tool-call": "ddd",
    "post-tool-call": "dob",
    "post-tool-call-failure": "dob",
    "permission-request": "ddd",
    "permission-result": "oob",
    "pre-subagent": "ddo",
    "post-subagent": "ddb",
    "pre-context-compact": "ddo",
    "post-context-compact": "oob",
    "notification": "oob",
    "prompt-queued": "oob",
    "turn-started": "oob",
    "task-started": "oob",
    "interrupt": "oob",
    "session-heartbeat": "oob",
    "agent-event": "oob",
}
FORMATS = ("folder", "table", "array")


def test_the_table_above_knows_every_event() -> None:
    assert set(HEARD) == {spec.name for spec in EVENTS}


@pytest.mark.parametrize("spec", EVENTS, ids=[spec.name for spec in EVENTS])
@pytest.mark.parametrize("format_", FORMATS)
def test_a_block_means_what_the_table_of_events_says(home: Path, project: Path, spec: EventSpec, format_: str) -> None:
    name = (spec.array_name if format_ == "array" else spec.table_name) or spec.name
    script = """echo '{"reason": "no", "additional_context": "c"}'; touch ran; exit 2"""
    if format_ == "folder":
        folder_hook(user_hooks(home), "hook", script, trigger=name)
        engine = Engine.load()
    else:
        make = table_hook if format_ == "table" else array_hook
        engine = Engine.load(configs=[write_config(project / "hooks.toml", make(script, event=name))])
    verdict = engine.decide(Event(spec.name, tool_name="Shell", tool_input={}))
    (run,) = verdict.runs
    heard = HEARD[spec.name][FORMATS.index(format_)]
    if heard == "d":
        assert (verdict.decision, verdict.reason, run.outcome) == ("deny", "no", Outcome.BLOCKED)
        return
    assert (verdict.decision, verdict.reason, verdict.additional_context) == ("none", None, ())
    if heard == "o":
        assert (run.outcome, run.decision.action, run.decision.reason) == (Outcome.OK, "deny", "no")
        assert run.decision.ignored
        assert any("changes nothing" in note for note in verdict.as_json()["runs"][0]["notes"])
        assert (project / "ran").exists()  # awaited
    else:
        assert run.outcome == Outcome.STARTED
        until((project / "ran").exists)


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "ask", "reason": "r"},
        {"additional_context": "c"},
        {"message": "m"},
        {"modified_input": {"a": 1}},
        {"modified_output": "x"},
        {"hookSpecificOutput": {"permissionDecision": "allow", "scope": "session"}},
    ],
)
def test_nothing_an_observer_says_changes_anything(project: Path, answer: object) -> None:
    config = write_config(project / "hooks.toml", table_hook(echo(answer), event="after_tool"))
    verdict = decide(config, shell_call(event="post-tool-call"))
    assert verdict._replace(runs=()) == Verdict("post-tool-call")


def test_what_an_observer_says_does_not_stop_the_hooks_after_it(project: Path) -> None:
    hooks = table_hook("exit 2", event="after_tool") + table_hook("touch ran", event="after_tool")
    verdict = decide(write_config(project / "hooks.toml", hooks), shell_call(event="post-tool-call"))
    assert [run.outcome for run in verdict.runs] == [Outcome.OK, Outcome.OK]
    assert (project / "ran").exists()


def test_an_array_stop_block_is_ignored_once_the_turn_was_continued(project: Path) -> None:
    config = write_config(project / "hooks.toml", array_hook("echo go on >&2; exit 2", event="Stop"))
    engine = Engine.load(configs=[config])
    assert engine.decide(Event("Stop")).reason == "go on"
    verdict = engine.decide(Event("Stop", stop_hook_active=True))
    assert verdict.decision == "none"
    assert "stop-hook limit reached" in (verdict.runs[0].decision.ignored or "")


@pytest.mark.parametrize("stop", [False, True])
def test_a_table_stop_block_counts_whether_or_not_the_turn_was_continued(project: Path, stop: bool) -> None:
    config = write_config(project / "hooks.toml", table_hook("exit 2", event="before_stop"))
    assert decide(config, Event("before_stop", stop_hook_active=stop)).denied


# ---- the pure part


def run_saying(decision: Decision) -> Run:
    return Run(Hook("h", "pre-tool-call", "pre-tool-call", "table"), decision=decision)


def test_an_ignored_decision_does_not_count() -> None:
    runs = [run_saying(Decision(Action.DENY, "no", ignored="why")), run_saying(Decision(Action.ALLOW))]
    assert merge(shell_call(), runs).decision == "allow"


def test_a_denied_call_has_no_modified_input() -> None:
    runs = [run_saying(Decision(Action.DENY, "no"))]
    assert merge(shell_call(), runs, {"a": 1}).modified_input is None
    assert merge(shell_call(), [], {"a": 1}).modified_input == {"a": 1}


def test_a_deny_keeps_the_modified_output() -> None:
    runs = [run_saying(Decision(Action.DENY, "no"))]
    assert merge(shell_call(event="post-tool-call"), runs, modified_output="x").modified_output == "x"


decisions = st.builds(
    Decision,
    action=st.sampled_from(list(Action)),
    reason=st.none() | st.text(max_size=5),
    scope=st.sampled_from([None, "once", "session"]),
    ignored=st.sampled_from([None, None, None, "observer"]),
    unreadable=st.booleans(),
)


outcomes = st.sampled_from([None, None, None, Failure.EXIT, Failure.TIMED_OUT])


@st.composite
def runs(draw: st.DrawFn, event: str = "pre-tool-call") -> Run:
    hook = Hook("h", event, event, "array")
    failure = draw(outcomes)
    return Run(hook, failure=failure, decision=Decision() if failure else draw(decisions))


@pytest.mark.parametrize("name", ["pre-tool-call", "permission-request"])
@given(data=st.data())
@settings(max_examples=60)
def test_the_decision_does_not_depend_on_the_order_of_hooks(name: str, data: st.DataObject) -> None:
    said = data.draw(st.lists(runs(name), max_size=6))
    other = data.draw(st.permutations(said))
    event = Event(name, tool_name="Shell", tool_input={})
    one, two = merge(event, said), merge(event, other)
    assert (one.decision, one.scope) == (two.decision, two.scope)


@given(said=st.lists(runs(), max_size=6))
@settings(max_examples=60)
def test_the_verdict_is_the_strongest_decision_that_counts(said: list[Run]) -> None:
    counted = [run.decision.action for run in said if run.decision.ignored is None]
    strongest = next((action for action in PRECEDENCE if action in counted), Action.NONE)
    assert merge(Event("pre-tool-call"), said).decision is strongest


@given(said=st.lists(runs("permission-request"), max_size=6))
@settings(max_examples=60)
def test_nothing_is_approved_unless_a_hook_approved_and_none_failed(said: list[Run]) -> None:
    verdict = merge(Event("permission-request"), said)
    if verdict.decision is Action.APPROVE:
        assert any(run.decision.action is Action.APPROVE and run.decision.ignored is None for run in said)
        assert not any(run.failed or run.decision.unreadable for run in said)
        assert not any(run.decision.action is Action.DENY and run.decision.ignored is None for run in said)
