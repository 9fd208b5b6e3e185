"""What a hook may say, and what it means: each row of the table in section 6 of the contract."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import any_text, json_values
from support import array_hook, decide, folder_hook, shell_call, table_hook, user_hooks, write_config
from tenterhook import Action, Engine, Event, Hook, Outcome, Run, Verdict
from tenterhook.engine.decisions import read_decision
from tenterhook.engine.verdicts import merge
from tenterhook.events import EVENTS
from tenterhook.model import Failure

if TYPE_CHECKING:
    from pathlib import Path

FORMATS = ("folder", "table", "array")


def said(project: Path, script: str, *, format_: str = "table", event: str = "pre-tool-call", **fields: Any) -> Verdict:
    """The verdict on one hook that runs this script."""
    fired = Event(event, **{"tool_name": "Shell", "tool_input": {"command": "ls"}, **fields})
    if format_ == "folder":
        folder_hook(user_hooks(project.parent / "home"), "hook", script, trigger=event)
        return Engine.load().decide(fired)
    make = table_hook if format_ == "table" else array_hook
    return decide(write_config(project / "hooks.toml", make(script, event=event)), fired)


def printed(project: Path, answer: object, **options: Any) -> Verdict:
    """The verdict on one hook that prints this, as JSON, and exits with 0."""
    (project / "answer").write_text(answer if isinstance(answer, str) else json.dumps(answer))
    return said(project, "cat answer", **options)


def notes_of(run: Run) -> str:
    return " | ".join((*run.notes, *run.decision.notes))


# ---- exit 2


@pytest.mark.parametrize("format_", FORMATS)
def test_exit_two_is_a_block_with_stderr_as_its_reason(project: Path, format_: str) -> None:
    verdict = said(project, "echo ' not that ' >&2; exit 2", format_=format_)
    assert (verdict.decision, verdict.reason) == ("deny", "not that")
    assert (verdict.runs[0].outcome, verdict.runs[0].exit_code) == (Outcome.BLOCKED, 2)


@pytest.mark.parametrize(
    "answer",
    [
        {"reason": "said so"},
        {"decision": "allow", "reason": "said so"},
        {"hookSpecificOutput": {"permissionDecisionReason": "said so"}},
    ],
)
def test_without_stderr_the_reason_of_exit_two_is_the_one_in_json_on_stdout(project: Path, answer: object) -> None:
    (project / "answer").write_text(json.dumps(answer))
    verdict = said(project, "cat answer; exit 2")
    assert (verdict.decision, verdict.reason) == ("deny", "said so")


def test_stderr_goes_before_the_reason_on_stdout(project: Path) -> None:
    assert said(project, """echo '{"reason": "out"}'; echo err >&2; exit 2""").reason == "err"


def test_nothing_but_the_reason_is_read_of_stdout_at_exit_two(project: Path) -> None:
    answer = {
        "decision": "allow",
        "reason": "why",
        "modified_input": {"command": "rm"},
        "additional_context": "context",
        "message": "message",
        "hookSpecificOutput": {"permissionDecision": "allow", "scope": "session"},
    }
    (project / "answer").write_text(json.dumps(answer))
    verdict = said(project, "cat answer; exit 2")
    assert verdict.decision == "deny"
    assert (verdict.modified_input, verdict.additional_context, verdict.messages, verdict.scope) == (None, (), (), None)


@pytest.mark.parametrize("out", ["", "plain text", "{", "[]", '{"reason": ""}', '{"reason": null}', "\\377"])
@pytest.mark.parametrize("declared", ["pre-tool-call", "before_tool", "PreToolUse"])
def test_a_block_without_a_reason_names_the_event_as_the_hook_does(project: Path, out: str, declared: str) -> None:
    verdict = said(project, f"printf '{out}'; exit 2", event=declared)
    assert (verdict.decision, verdict.reason) == ("deny", f"Blocked by {declared} hook")


# ---- exit 0 and an object


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        ({"decision": "allow"}, "allow"),
        ({"decision": "deny"}, "deny"),
        ({"decision": "block"}, "deny"),
        ({"decision": "ask"}, "ask"),
        ({"hookSpecificOutput": {"permissionDecision": "allow"}}, "approve"),
        ({"hookSpecificOutput": {"permissionDecision": "approve"}}, "approve"),
        ({"hookSpecificOutput": {"permissionDecision": "deny"}}, "deny"),
        ({"hookSpecificOutput": {"permissionDecision": "ask"}}, "ask"),
        ({}, "none"),
        ({"decision": None}, "none"),
        ({"hookSpecificOutput": None}, "none"),
        ({"hookSpecificOutput": {}}, "none"),
        ({"hookSpecificOutput": {"permissionDecision": None}}, "none"),
        ({"reason": "only that"}, "none"),
        ({"decision": "allow", "colour": "green", "continue": False}, "allow"),
    ],
)
@pytest.mark.parametrize("format_", FORMATS)
def test_both_vocabularies_are_understood_in_every_format(
    project: Path, answer: object, meaning: str, format_: str
) -> None:
    verdict = printed(project, answer, format_=format_)
    assert verdict.decision == meaning
    assert notes_of(verdict.runs[0]) in ("", 'it gave no reason: its answer has no "reason"')


@pytest.mark.parametrize(
    ("decision", "permission", "meaning"),
    [("allow", "deny", "deny"), ("deny", "allow", "deny"), ("allow", "allow", "approve"), ("ask", "approve", "ask")],
)
def test_of_two_words_in_one_answer_the_stronger_counts(
    project: Path, decision: str, permission: str, meaning: str
) -> None:
    answer = {"decision": decision, "hookSpecificOutput": {"permissionDecision": permission}}
    assert printed(project, answer).decision == meaning


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "deny", "reason": "because"},
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "because"}},
        {"hookSpecificOutput": {"permissionDecision": "deny", "reason": "because"}},
    ],
)
def test_the_reason_is_read_in_both_vocabularies(project: Path, answer: object) -> None:
    assert printed(project, answer).reason == "because"


def test_a_deny_without_a_reason_has_the_placeholder(project: Path) -> None:
    assert printed(project, {"decision": "deny"}, event="PreToolUse").reason == "Blocked by PreToolUse hook"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ({"decision": "maybe"}, "maybe"),
        ({"decision": "approve"}, "approve"),
        ({"decision": "DENY"}, "DENY"),
        ({"decision": True}, "true"),
        ({"decision": ["deny"]}, "deny"),
        ({"hookSpecificOutput": {"permissionDecision": "block"}}, "block"),
        ({"hookSpecificOutput": {"permissionDecision": 1}}, "1"),
        ({"hookSpecificOutput": "allow"}, "hookSpecificOutput"),
        ({"hookSpecificOutput": []}, "hookSpecificOutput"),
    ],
)
def test_other_values_are_failures_that_decide_nothing(project: Path, answer: object, word: str) -> None:
    verdict = printed(project, answer)
    assert verdict.decision == "none"
    run = verdict.runs[0]
    assert (run.outcome, run.failure) == (Outcome.FAILED, Failure.UNREADABLE)
    assert run.why is not None
    assert run.why.startswith("unreadable answer: ")
    assert word in run.why


def test_an_unknown_decision_names_the_known_ones(project: Path) -> None:
    run = printed(project, {"decision": "denied"}).runs[0]
    assert run.why == 'unreadable answer: unknown decision "denied"; expected allow, deny, block or ask'


@pytest.mark.parametrize("decision", ["deny", "ask"])
@pytest.mark.parametrize("beside", [7, {"permissionDecision": "sure"}])
def test_a_valid_deny_or_ask_counts_whatever_stands_beside_it(project: Path, decision: str, beside: object) -> None:
    verdict = printed(project, {"decision": decision, "reason": "kept", "hookSpecificOutput": beside})
    assert (verdict.decision, verdict.reason) == (decision, "kept")
    assert "expected" in notes_of(verdict.runs[0])


@pytest.mark.parametrize("text", ['{"decision": "deny",}', '{"decision": "denied"}', "[]"])
@pytest.mark.parametrize("format_", ["folder", "array"])
def test_an_answer_that_cannot_be_read_blocks_if_its_hook_fails_closed(
    project: Path, home: Path, text: str, format_: str
) -> None:
    (project / "answer").write_text(text)
    if format_ == "folder":
        folder_hook(user_hooks(home), "guard", "cat answer", metadata={"on_failure": "block"})
        verdict = Engine.load().decide(shell_call("ls"))
    else:
        config = array_hook("cat answer", fail_mode="closed")
        verdict = decide(write_config(project / "hooks.toml", config), shell_call("ls"))
    assert verdict.decision == "deny"
    assert "unreadable answer" in (verdict.reason or "")
    assert verdict.runs[0].outcome == Outcome.FAILED


def test_an_answer_that_cannot_be_read_does_not_lose_the_block_of_another(project: Path) -> None:
    config = array_hook('echo \'{"decision": "deny",}\'') + array_hook("echo no >&2; exit 2")
    verdict = decide(write_config(project / "hooks.toml", config), shell_call("ls"))
    assert (verdict.decision, verdict.reason) == ("deny", "no")
    assert [run.outcome for run in verdict.runs] == [Outcome.FAILED, Outcome.BLOCKED]


def test_what_a_function_returns_must_be_an_answer_too() -> None:
    engine = Engine()
    engine.on("pre-tool-call")(lambda _: "deny")
    run = engine.decide(shell_call("ls")).runs[0]
    assert (run.failure, run.why) == (Failure.UNREADABLE, 'unreadable answer: "deny" is not a JSON object')


def test_a_modified_input_replaces_the_whole_input(project: Path) -> None:
    verdict = printed(project, {"modified_input": {"path": "x"}})
    assert (verdict.decision, verdict.modified_input) == ("none", {"path": "x"})


@pytest.mark.parametrize(
    ("value", "reported"), [({}, False), (None, False), ("text", True), ([1], True), (3, True), (False, True)]
)
def test_a_modified_input_that_is_no_object_leaves_the_input_as_it_is(
    project: Path, value: object, reported: bool
) -> None:
    verdict = printed(project, {"decision": "allow", "modified_input": value})
    assert (verdict.decision, verdict.modified_input) == ("allow", None)
    assert ("modified_input" in notes_of(verdict.runs[0])) is reported


def test_a_deny_with_a_modified_input_modifies_nothing(project: Path) -> None:
    assert printed(project, {"decision": "deny", "modified_input": {"a": 1}}).modified_input is None


@pytest.mark.parametrize("event", ["post-tool-call", "permission-request"])
def test_the_input_is_modified_before_the_call_only(project: Path, event: str) -> None:
    verdict = printed(project, {"modified_input": {"a": 1}}, event=event, format_="folder")
    assert verdict.modified_input is None
    assert "cannot be modified" in notes_of(verdict.runs[0])


@pytest.mark.parametrize("value", ["[redacted]", "", {"stdout": "x"}, {}, [1], False, 0])
@pytest.mark.parametrize("event", ["post-tool-call", "post-tool-call-failure"])
def test_a_modified_output_is_any_json_value(project: Path, value: object, event: str) -> None:
    verdict = printed(project, {"modified_output": value}, event=event, format_="folder")
    assert verdict.decision == "none"
    assert verdict.modified_output == value
    assert verdict.as_json()["modified_output"] == value


def test_a_modified_output_of_null_leaves_the_output_as_it_is(project: Path) -> None:
    verdict = printed(project, {"modified_output": None}, event="post-tool-call", format_="folder")
    assert verdict.modified_output is None


@pytest.mark.parametrize("key", ["updatedToolOutput", "updatedMCPToolOutput"])
def test_claude_codes_names_for_a_modified_output_are_read_in_every_format(project: Path, key: str) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PostToolUse", key: "x"}}
    assert printed(project, answer, event="post-tool-call", format_="folder").modified_output == "x"


@pytest.mark.parametrize("event", ["pre-tool-call", "permission-request", "pre-agent-turn-stop"])
def test_the_output_is_modified_after_the_call_only(project: Path, event: str) -> None:
    verdict = printed(project, {"modified_output": "x"}, event=event, format_="folder")
    assert verdict.modified_output is None
    assert "the output cannot be modified" in notes_of(verdict.runs[0])


def test_a_table_hook_observes_the_output_and_modifies_nothing(project: Path) -> None:
    verdict = printed(project, {"modified_output": "x"}, event="post-tool-call", format_="table")
    assert verdict.modified_output is None
    assert "observe" in (verdict.runs[0].decision.ignored or "")


def test_a_modified_output_that_nests_too_deeply_is_reported(project: Path) -> None:
    value: object = "x"
    for _ in range(400):
        value = [value]
    verdict = printed(project, {"modified_output": value}, event="post-tool-call", format_="folder")
    assert verdict.modified_output is None
    assert "modified_output cannot be used" in notes_of(verdict.runs[0])


def test_a_deny_with_a_modified_output_does_both(project: Path) -> None:
    answer = {"decision": "deny", "reason": "a secret", "modified_output": "[redacted]"}
    verdict = printed(project, answer, event="post-tool-call", format_="folder")
    assert (verdict.decision, verdict.reason, verdict.modified_output) == ("deny", "a secret", "[redacted]")


@pytest.mark.parametrize(("value", "text"), [("more", "more"), ("", None), (None, None), ({"a": 1}, '{"a": 1}')])
def test_additional_context_is_kept_as_text(project: Path, value: object, text: str | None) -> None:
    assert printed(project, {"additional_context": value}).additional_context == ((text,) if text else ())


@pytest.mark.parametrize(
    "answer", [{"message": "hello"}, {"hookSpecificOutput": {"message": "hello"}}], ids=["plain", "hookSpecificOutput"]
)
def test_a_message_is_read_in_both_places(project: Path, answer: object) -> None:
    assert printed(project, answer).messages == ("hello",)


def test_log_goes_to_the_debug_output_and_changes_nothing(project: Path) -> None:
    (project / "answer").write_text('{"log": "seen"}')
    lines: list[str] = []
    config = write_config(project / "hooks.toml", table_hook("cat answer"))
    verdict = Engine.load(configs=[config], debug=lines.append).decide(shell_call())
    assert (verdict.decision, verdict.runs[0].decision.log) == ("none", "seen")
    assert any("seen" in line for line in lines)


@pytest.mark.parametrize("scope", ["forever", 1, ["session"], {}])
def test_a_scope_nobody_knows_is_reported_and_is_once(project: Path, scope: object) -> None:
    answer = {"hookSpecificOutput": {"permissionDecision": "allow", "scope": scope}}
    verdict = printed(project, answer)
    assert (verdict.decision, verdict.scope) == ("approve", "once")
    assert "scope" in notes_of(verdict.runs[0])


# ---- exit 0 and text


@pytest.mark.parametrize("text", ["fine", "two\nlines", "deny", '"deny"', "3", "true", "null"])
@pytest.mark.parametrize("format_", FORMATS)
def test_text_is_no_decision(project: Path, text: str, format_: str) -> None:
    verdict = printed(project, text, format_=format_)
    assert (verdict.decision, verdict.messages) == ("none", ())
    assert verdict.runs[0].outcome == Outcome.OK


def test_text_of_an_array_prompt_hook_is_its_message(project: Path) -> None:
    verdict = printed(project, " remember\nthe tests \n", format_="array", event="UserPromptSubmit", prompt="hi")
    assert (verdict.decision, verdict.messages) == ("none", ("remember\nthe tests",))


@pytest.mark.parametrize("format_", ["folder", "table"])
def test_text_of_other_prompt_hooks_is_none(project: Path, format_: str) -> None:
    assert printed(project, "remember", format_=format_, event="before_agent", prompt="hi").messages == ()


def test_no_output_is_nothing_said_which_is_not_allow(project: Path) -> None:
    assert said(project, "true").decision == "none"
    assert said(project, "printf ' \\n\\n '").decision == "none"


# ---- text, then an object


@pytest.mark.parametrize("format_", FORMATS)
def test_an_object_as_the_last_line_is_used_and_the_stray_text_reported(project: Path, format_: str) -> None:
    text = 'loading…\n{"decision": "deny", "reason": "r"}\n'
    verdict = printed(project, text, format_=format_)
    assert (verdict.decision, verdict.reason) == ("deny", "r")
    assert "text before the JSON object" in notes_of(verdict.runs[0])


# ---- exit 0 and something broken


@pytest.mark.parametrize("format_", FORMATS)
def test_what_begins_like_an_object_but_does_not_parse_is_a_failure(project: Path, format_: str) -> None:
    verdict = printed(project, "{'decision': 'deny'}", format_=format_)
    assert verdict.decision == "none"
    run = verdict.runs[0]
    assert (run.outcome, run.failure) == (Outcome.FAILED, Failure.UNREADABLE)
    assert run.why is not None
    assert run.why.startswith("unreadable answer: stdout is not valid JSON")


@pytest.mark.parametrize("text", ["[", "[1, 2", "[guard] all is well", "[INFO] {}"])
@pytest.mark.parametrize("format_", FORMATS)
def test_what_begins_with_a_bracket_is_text_unless_it_parses(project: Path, text: str, format_: str) -> None:
    verdict = printed(project, text, format_=format_)
    assert (verdict.decision, verdict.runs[0].outcome, notes_of(verdict.runs[0])) == ("none", Outcome.OK, "")


def test_text_in_brackets_is_the_message_of_a_prompt_hook(project: Path) -> None:
    verdict = printed(project, "[todo] 3 left", format_="array", event="UserPromptSubmit", prompt="hi")
    assert verdict.messages == ("[todo] 3 left",)


@pytest.mark.parametrize("text", ["[]", '["deny"]', '[{"decision": "deny"}]'])
def test_json_that_is_no_object_is_a_failure(project: Path, text: str) -> None:
    verdict = printed(project, text)
    assert (verdict.decision, verdict.runs[0].outcome) == ("none", Outcome.FAILED)
    assert "is not a JSON object" in (verdict.runs[0].why or "")


def test_broken_output_of_a_prompt_hook_is_not_its_message(project: Path) -> None:
    verdict = printed(project, "{oops", format_="array", event="UserPromptSubmit", prompt="hi")
    assert verdict.messages == ()


# ---- other exit codes


@pytest.mark.parametrize("end", ["exit 1", "exit 127", "kill -9 $$"])
@pytest.mark.parametrize("format_", FORMATS)
def test_a_failure_is_no_decision_whatever_it_printed(project: Path, end: str, format_: str) -> None:
    (project / "answer").write_text('{"decision": "deny", "additional_context": "c", "modified_input": {"a": 1}}')
    verdict = said(project, f"cat answer; {end}", format_=format_)
    assert (verdict.decision, verdict.additional_context, verdict.modified_input) == ("none", (), None)
    assert verdict.runs[0].outcome == Outcome.FAILED


# ---- the words at a permission request


@pytest.mark.parametrize(
    ("answer", "meaning"),
    [
        ({"decision": "allow"}, "approve"),
        ({"decision": "approve"}, "approve"),
        ({"decision": "deny"}, "deny"),
        ({"decision": "block"}, "deny"),
        ({"decision": "ask"}, "ask"),
        ({"hookSpecificOutput": {"permissionDecision": "allow"}}, "approve"),
        ({"hookSpecificOutput": {"permissionDecision": "deny"}}, "deny"),
    ],
)
@pytest.mark.parametrize("format_", FORMATS)
def test_at_a_permission_request_decision_allow_is_approve(
    project: Path, answer: object, meaning: str, format_: str
) -> None:
    assert printed(project, answer, format_=format_, event="permission-request").decision == meaning


@pytest.mark.parametrize(
    ("answer", "scope"),
    [
        ({"decision": "allow"}, "once"),
        ({"decision": "allow", "scope": "once"}, "once"),
        ({"decision": "allow", "scope": "session"}, "session"),
        ({"hookSpecificOutput": {"permissionDecision": "allow", "scope": "session"}}, "session"),
        ({"decision": "deny", "scope": "session"}, None),
        ({"scope": "session"}, None),
    ],
)
def test_an_approval_has_a_scope(project: Path, answer: object, scope: str | None) -> None:
    assert printed(project, answer, event="permission-request").scope == scope


answers = st.fixed_dictionaries(
    {},
    optional={
        "decision": st.sampled_from(["allow", "deny", "block", "ask", "approve"]) | json_values,
        "reason": json_values,
        "modified_input": json_values,
        "additional_context": json_values,
        "message": json_values,
        "scope": st.sampled_from(["once", "session"]) | json_values,
        "log": json_values,
        "hookSpecificOutput": json_values
        | st.fixed_dictionaries(
            {}, optional={"permissionDecision": st.sampled_from(["allow", "deny"]) | json_values, "reason": json_values}
        ),
    },
)


printed_texts = (
    st.binary(max_size=200).map(lambda data: data.decode("utf-8", "replace"))
    | any_text
    | json_values.map(json.dumps)
    | answers.map(json.dumps)
    | st.tuples(any_text, answers.map(json.dumps)).map("\n".join)
    | st.integers(1, 100_000).map(lambda depth: "[" * depth)
    | st.integers(1, 100_000).map(lambda depth: '{"a":' * depth + "1" + "}" * depth)
)


@given(
    stdout=printed_texts,
    stderr=any_text,
    code=st.sampled_from([0, 2]),
    event=st.sampled_from(EVENTS),
    family=st.sampled_from(["folder", "table", "array"]),
)
@settings(max_examples=120)
def test_no_output_of_a_hook_raises(stdout: str, stderr: str, code: int, event: Any, family: str) -> None:
    run = Run(Hook("h", event.name, event.name, family), exit_code=code, stdout=stdout, stderr=stderr)
    decision = read_decision(run)
    assert (decision.action is Action.DENY) or code == 0
    if decision.action is Action.DENY:
        assert decision.reason
    json.dumps(merge(Event(event.name), [run._replace(decision=decision)]).as_json())


@given(stdout=printed_texts, why=st.sampled_from(list(Failure)), closed=st.booleans())
@settings(max_examples=60)
def test_a_failure_decides_nothing_unless_the_hook_fails_closed(stdout: str, why: Failure, closed: bool) -> None:
    hook = Hook("h", "pre-tool-call", "PreToolUse", "array", fail_closed=closed)
    decision = read_decision(Run(hook, failure=why, why=str(why), exit_code=0, stdout=stdout))
    assert decision.action is (Action.DENY if closed else Action.NONE)


@given(answer=answers)
@settings(max_examples=60)
def test_only_permission_decisions_skip_the_question_of_a_call(answer: dict[str, Any]) -> None:
    run = Run(Hook("h", "pre-tool-call", "PreToolUse", "array"), exit_code=0, stdout=json.dumps(answer))
    if read_decision(run).action is Action.APPROVE:
        assert answer["hookSpecificOutput"]["permissionDecision"] in ("allow", "approve")
