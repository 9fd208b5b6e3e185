"""PROTOCOL 1, row by row: when each event happens in a session, what its matcher is tested against, what a block means.

The docstring of a test is the row, or the part of it, that the test shows. Each is a session through the real command.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from bundled_agent.life import ENDS, OBSERVED, PROMPT, ROWS
from bundled_agent.playing import OVERLOADED, answer, block, permission, shell, tool, when
from support import alive, until

if TYPE_CHECKING:
    from typing import Any

    from bundled_agent.life import Life
    from bundled_agent.playing import Answer, Play


# ------------------------------------------------------------------ observers, all in one session


def test_a_session_of_observers_that_all_object_is_as_one_without_them(life: Life) -> None:
    """*Observer* means that the hook's answer changes nothing."""
    assert life.session.report["outcome"] == "success"
    assert life.session.answer in ENDS
    assert (life.play.project / "made.txt").read_text() == "made\n"
    assert all("objection" not in request.text for request in life.session.requests)


@pytest.mark.parametrize(("event", "family"), OBSERVED)
def test_an_observers_deny_is_shown_with_a_note_and_the_verdict_is_none(life: Life, event: str, family: str) -> None:
    """*Observer*: … a `deny` is shown on the run with a note, and the verdict is `none`."""
    (row,) = (row for row in ROWS if row.folder == event)
    assert life.sent(event, family)
    kept = life.session.verdicts(event)
    if event == "post-session":  # the session was flushed before it
        return
    assert kept
    assert {verdict["decision"] for verdict in kept} == {"none"}
    runs = [run for verdict in kept for run in verdict["runs"] if f"/{family}.toml" in run["source"]]
    if family == "folder":
        runs = [run for verdict in kept for run in verdict["runs"] if run["source"].endswith("HOOK.md")]
    assert runs
    for run in runs:
        assert run["event_name"] == getattr(row, family)
        if run["async"]:
            assert run["outcome"] == "started"
        else:
            assert (run["outcome"], run["decision"]) == ("ok", "deny")
            assert any("observe" in note for note in run["notes"])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.folder)
def test_a_hook_is_sent_the_event_under_the_name_it_declared_itself(life: Life, row: Any) -> None:
    """All names in a row mean the same event … A hook is sent the event under **the name it declared**."""
    assert {sent["event_type"] for sent in life.sent(row.folder, "folder")} == {row.folder}
    assert {sent["event_type"] for sent in life.sent(row.folder, "table")} == {row.table}
    assert {sent["hook_event_name"] for sent in life.sent(row.folder, "array")} == {row.array}


# ------------------------------------------------------------------ the session


@pytest.mark.parametrize("hook", ["folder pre-session", "table session_start"])
def test_pre_session_a_block_means_the_session_does_not_start(play: Play, hook: str) -> None:
    """`pre-session`, `session_start`: a block means: the session does not start"""
    heard = play.hook(hook, block("not today"))
    turn = play.hook("folder pre-agent-turn")
    session = play.run("Hello.", exits=2)
    assert session.requests == []
    assert turn.all == []
    assert (session.report["outcome"], session.report["reason"]) == ("refused", "not today")
    assert "not today" in session.shown
    assert heard.once["source"] == "startup"


def test_pre_session_an_array_hook_is_awaited_its_answer_ignored(play: Play) -> None:
    """`SessionStart`: matcher is tested against `startup` / `resume`; array: awaited, answer ignored"""
    begun = play.hook("array SessionStart", f"sleep 0.4; touch over; {block('not today')}", matcher="^startup$")
    resumed = play.hook("array SessionStart", matcher="^resume$")
    play.hook("folder pre-agent-turn", f"test -e over || {{ {block('it was not awaited')}; }}")
    first = play.run("Hello.")
    assert first.answer == "Hello."
    assert "not today" not in first.last.text
    assert begun.once["source"] == "startup"
    assert resumed.all == []
    second = play.run("Hello again.", prompt="go on", options=["--resume"])
    assert (second.answer, second.id) == ("Hello again.", first.id)
    assert resumed.once["source"] == "resume"
    assert len(begun.all) == 1


def test_post_session_is_an_observer_that_is_awaited(play: Play) -> None:
    """`post-session`, `session_end`, `SessionEnd`: the reason, `exit`: observer (awaited)"""
    late = "sleep 0.3; echo over >> over; " + block("no")
    folder, table = play.hook("folder post-session", late), play.hook("table session_end", late)
    array = play.hook("array SessionEnd", late, matcher="^exit$")
    other = play.hook("array SessionEnd", late, matcher="^clear$")
    session = play.run("Bye.")
    assert (play.project / "over").read_text() == "over\n" * 3  # it is there when the process is gone
    assert session.report["outcome"] == "success"
    assert folder.once["exit_reason"] == table.once["exit_reason"]
    assert array.once["reason"] == "exit"
    assert other.all == []


# ------------------------------------------------------------------ the turn


@pytest.mark.parametrize("hook", ["folder pre-agent-turn", "table before_agent", "array UserPromptSubmit"])
def test_pre_agent_turn_a_block_means_no_model_call_and_the_reason_is_the_answer(play: Play, hook: str) -> None:
    """`pre-agent-turn`, `before_agent`, `UserPromptSubmit`: no model call; the reason is the answer"""
    heard = play.hook(hook, block("we do not deploy on Fridays"))
    elsewhere = play.hook("array UserPromptSubmit", block("never reached"), matcher="^merge")
    session = play.run("Never said.", prompt="deploy it", exits=2)
    assert session.requests == []
    assert (session.answer, session.report["outcome"]) == ("we do not deploy on Fridays", "refused")
    prompt = [{"type": "text", "text": "deploy it"}] if hook.startswith("array") else "deploy it"
    assert heard.once["prompt"] == prompt
    assert elsewhere.all == []


def test_pre_agent_turn_an_array_matcher_is_tested_against_the_prompts_text(play: Play) -> None:
    """`UserPromptSubmit`: matcher is tested against the prompt's text"""
    heard = play.hook("array UserPromptSubmit", block("not on Fridays"), matcher="^deploy (it|all)$")
    assert play.run("Never said.", prompt="deploy it", exits=2).answer == "not on Fridays"
    assert play.run("Merged.", prompt="merge it, then deploy it").answer == "Merged."
    assert len(heard.all) == 1


def test_post_agent_turn_is_told_of_the_turn_when_it_is_over(life: Life) -> None:
    """`post-agent-turn`, `after_agent`: observer"""
    for family in ("folder", "table"):
        sent = life.first("post-agent-turn", family)
        assert (sent["prompt"], sent["response"]) == (PROMPT, "All is done.")


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        ("folder pre-agent-turn-stop", "[Hook blocked stop: the tests fail]"),
        ("table before_stop", "[Hook blocked stop: the tests fail]"),
        ("array Stop", "the tests fail"),
    ],
)
def test_pre_agent_turn_stop_a_block_means_the_agent_goes_on(play: Play, hook: str, message: str) -> None:
    """`pre-agent-turn-stop`, `before_stop`, `Stop`: the agent goes on, with the reason in its context"""
    heard = play.hook(hook, f"test -e fixed || {{ {block('the tests fail')}; }}")
    session = play.run("I am done.", [shell("touch fixed")], "Now I am.")
    assert [request.users[1:] for request in session.by()] == [[], [message], [message]]
    assert session.answer.endswith("Now I am.")
    assert play.ran("fixed")
    assert len(heard.all) == 2


def test_pre_agent_turn_stop_an_array_matcher_is_tested_against_the_empty_string(play: Play) -> None:
    """`Stop`: matcher is tested against: empty string"""
    empty, other = play.hook("array Stop", matcher="^$"), play.hook("array Stop", block("no"), matcher=".")
    assert play.run("Done.").answer == "Done."
    assert empty.once["stop_hook_active"] is False
    assert other.all == []


def test_post_agent_turn_stop_comes_when_the_agent_has_stopped(life: Life) -> None:
    """`post-agent-turn-stop`, `after_stop`: observer"""
    for family in ("folder", "table"):
        sent = life.first("post-agent-turn-stop", family)
        assert sent["stop_reason"] == "no_tool_calls"
        assert "All is done." in str(sent["final_message"])


def test_post_agent_turn_failure_observes_the_error(play: Play) -> None:
    """`post-agent-turn-failure`, `StopFailure`: the error type: observer"""
    heard, array = play.hook("folder post-agent-turn-failure", block("no")), play.hook("array StopFailure", block("no"))
    stopped = play.hook("folder pre-agent-turn-stop")
    session = play.run([shell("touch before")], OVERLOADED, exits=1)
    assert session.report["outcome"] == "failed"
    assert "overloaded" in session.report["reason"]
    assert play.ran("before")
    sent = heard.once
    assert sent["error_type"]
    assert "overloaded" in sent["error_message"]
    assert (array.once["error_type"], array.once["error_message"]) == (sent["error_type"], sent["error_message"])
    assert stopped.all == []
    found = play.hook("array StopFailure", matcher=f"^{sent['error_type']}$")
    other = play.hook("array StopFailure", matcher="^NoSuchError$")
    play.run(OVERLOADED, exits=1)
    assert found.once["error_type"] == sent["error_type"]
    assert other.all == []


def test_post_agent_turn_failure_is_not_fired_on_cancellation_but_interrupt_is(play: Play) -> None:
    """`StopFailure`: observer; not fired on cancellation. `Interrupt`/`interrupt` empty → `reason`"""
    failure, interrupt = play.hook("folder post-agent-turn-failure"), play.hook("folder interrupt", block("no"))
    array = play.hook("array Interrupt", block("no"), matcher="^$")
    ended = play.hook("folder post-session")
    running = play.start([shell("echo $$ > pid; sleep 60")], "Never said.")
    try:
        pid = int(until(lambda: play.ran("pid") and (play.project / "pid").read_text().strip()))
        running.process.send_signal(signal.SIGINT)
        session = running.end(130)
    finally:
        running.process.kill()
    assert session.report["outcome"] == "interrupted"
    until(lambda: not alive(pid))
    assert interrupt.once["reason"]
    assert array.once["reason"] == interrupt.once["reason"]
    assert failure.all == []
    assert len(ended.all) == 1
    assert len(session.by()) == 1


def test_a_second_interrupt_ends_the_hooks_of_the_sessions_end_too(play: Play) -> None:
    """Exit status: 130 interrupted; `--json`: stdout is exactly one JSON object at the end. (docs/agent.md)"""
    play.hook("folder post-session", "echo $$ > pid; sleep 60")
    running = play.start([shell("touch begun; sleep 60")], "Never said.")
    try:
        until(lambda: play.ran("begun"))
        running.process.send_signal(signal.SIGINT)
        pid = int(until(lambda: play.ran("pid") and (play.project / "pid").read_text().strip()))
        running.process.send_signal(signal.SIGINT)
        session = running.end(130)
    finally:
        running.process.kill()
    assert session.report["outcome"] == "interrupted"
    until(lambda: not alive(pid))


# ------------------------------------------------------------------ tools


@pytest.mark.parametrize("hook", ["folder pre-tool-call", "table before_tool", "array PreToolUse"])
def test_pre_tool_call_a_block_means_the_tool_does_not_run(play: Play, hook: str) -> None:
    """`pre-tool-call`, `before_tool`, `PreToolUse`: tool name (and input, `pattern`): the tool does not run; the model
    gets a failed result with the reason"""
    matcher: Any = "^Shell$" if hook.startswith("array") else {"tool": "^Shell$", "pattern": "forbidden"}
    heard = play.hook(hook, when("touch forbidden", block("not here")), matcher=matcher)
    session = play.run(
        [shell("touch forbidden")],
        [tool("WriteFile", file_path="allowed.txt", content="forbidden words")],
        [shell("touch harmless")],
        "Done.",
    )
    assert not play.ran("forbidden")
    assert play.ran("allowed.txt")
    assert play.ran("harmless")
    assert session.by()[1].failed == ["not here"]
    assert session.last.failed == ["not here"]
    asked = [sent["tool_input"]["command"] for sent in heard.all]
    assert asked == ["touch forbidden", *(["touch harmless"] if hook.startswith("array") else [])]
    assert {sent["tool_name"] for sent in heard.all} == {"Shell"}


def test_post_tool_call_a_folder_hooks_reason_goes_to_the_model_beside_the_result(play: Play) -> None:
    """`post-tool-call`: folder: the reason goes to the model beside the result; table, array: observer"""
    matched: Any = {"matcher": {"pattern": "marker"}}
    folder = play.hook(
        "folder post-tool-call", block("it is badly formatted"), priority=50, **matched
    )  # it is the last
    table = play.hook("table after_tool", block("objection"), **matched)
    array = play.hook("array PostToolUse", block("objection"), matcher="^Shell$")
    session = play.run([shell("echo a marker")], [tool("Glob", pattern="*")], "Done.")
    messages = session.by()[1].messages
    (result,) = (number for number, message in enumerate(messages) if message["role"] == "tool")
    assert "a marker" in messages[result]["content"]
    assert not messages[result].get("failed")
    beside = messages[result + 1]
    assert beside["role"] == "user"
    assert '<hook_context event="post-tool-call">' in beside["content"]
    assert "it is badly formatted" in beside["content"]
    assert "objection" not in session.last.text
    assert folder.once["tool_name"] == table.once["tool_name"] == array.once["tool_name"] == "Shell"
    assert "a marker" in folder.once["tool_output"]


def test_post_tool_call_failure_a_folder_hooks_reason_goes_to_the_model_beside_the_error(play: Play) -> None:
    """`post-tool-call-failure`, `after_tool_failure`, `PostToolUseFailure`: the same"""
    folder = play.hook(
        "folder post-tool-call-failure", block("look in the other folder"), priority=50
    )  # it is the last
    table = play.hook("table after_tool_failure", block("objection"))
    array = play.hook("array PostToolUseFailure", block("objection"), matcher="^ReadFile$")
    succeeded = play.hook("folder post-tool-call")
    session = play.run([tool("ReadFile", file_path="missing.txt")], "Done.")
    messages = session.last.messages
    (result,) = (number for number, message in enumerate(messages) if message["role"] == "tool")
    assert messages[result]["failed"]
    beside = messages[result + 1]
    assert beside["role"] == "user"
    assert '<hook_context event="post-tool-call-failure">' in beside["content"]
    assert "look in the other folder" in beside["content"]
    assert "objection" not in session.last.text
    assert folder.once["error"] == table.once["error"] == array.once["error"] == messages[result]["content"]
    assert succeeded.all == []


def test_post_tool_call_failure_a_call_that_the_tool_does_not_take_has_failed_too(play: Play) -> None:
    """`post-tool-call-failure`, `PostToolUseFailure`: fires after a tool call fails (S1), and the session goes on"""
    heard = play.hook("folder post-tool-call-failure")
    wrong = tool("Shell", cmd="touch ran")
    session = play.run([wrong], [wrong], [wrong], [tool("NoSuchTool")], [shell("touch ran")], "Done.")
    assert len(session.last.failed) == 4
    assert play.ran("ran")
    assert [sent["tool_name"] for sent in heard.all] == ["Shell", "Shell", "Shell", "NoSuchTool"]


@pytest.mark.parametrize("hook", ["folder pre-tool-call", "array PreToolUse"])
def test_pre_tool_call_a_modified_input_is_what_runs(play: Play, hook: str) -> None:
    """`modified_input` (replaces the whole input) (6): what is asked about, what runs and what is told afterwards"""
    play.hook(hook, when("touch one", answer(modified_input={"command": "touch two"})))
    asked = play.hook("folder permission-request", permission("approve"))
    after = play.hook("folder post-tool-call")
    session = play.run([shell("touch one")], "Done.", mode="ask")
    assert not play.ran("one")
    assert play.ran("two")
    assert asked.once["tool_input"] == after.once["tool_input"] == {"command": "touch two"}
    assert "touch two" in asked.once["display"]["command"]
    assert "touch two" in session.shown


@pytest.mark.parametrize("status", [0, 3], ids=["success", "failure"])
def test_a_modified_output_is_all_that_the_model_and_the_session_have_of_a_result(play: Play, status: int) -> None:
    """`modified_output` is all that the model, the session and the session's record have of a result or an error (8)"""
    for event in ("post-tool-call", "post-tool-call-failure"):
        play.hook(f"folder {event}", answer(modified_output="KEY=[redacted]", additional_context="a key was here"))
    session = play.run([shell(f"printf '%s%s' se cret; exit {status}")], "Done.")
    results = [message for message in session.last.messages if message["role"] == "tool"]
    assert [result["content"] for result in results] == ["KEY=[redacted]"]
    assert "a key was here" in session.last.text
    assert "secret" not in session.last.text
    assert "secret" not in session.shown
    assert "the output was modified" in session.shown


def test_a_modified_output_replaces_the_reason_of_a_refused_call_and_the_error_of_an_unknown_one(play: Play) -> None:
    """The reason of a refused call is an error in this sense (8)"""
    play.hook("folder pre-tool-call", when("touch forbidden", block("a secret reason")))
    play.hook("folder post-tool-call-failure", answer(modified_output="another error"))
    session = play.run([shell("touch forbidden")], [tool("NoSuchTool")], "Done.")
    assert session.last.failed == ["another error", "another error"]


# ------------------------------------------------------------------ permissions


@pytest.mark.parametrize("hook", ["folder permission-request", "array PermissionRequest"])
def test_permission_request_a_block_means_the_call_is_refused(play: Play, hook: str) -> None:
    """`permission-request`, `PermissionRequest`: tool name: the call is refused"""
    matcher: Any = "^Shell$" if hook.startswith("array") else {"tool": "^Shell$"}
    heard = play.hook(hook, block("ask me tomorrow"), matcher=matcher)
    other = play.hook("array PermissionRequest", permission("approve"), matcher="^WriteFile$")
    session = play.run(
        [shell("touch forbidden")], [tool("WriteFile", file_path="a.txt", content="a")], "Done.", mode="ask"
    )
    assert not play.ran("forbidden")
    assert play.ran("a.txt")
    assert session.last.failed == ["ask me tomorrow"]
    assert heard.once["tool_input"] == {"command": "touch forbidden"}
    assert other.once["tool_name"] == "WriteFile"


def test_permission_result_tells_what_was_answered(life: Life) -> None:
    """`permission-result`, `PermissionResult`: tool name: observer"""
    for family in ("folder", "table"):
        decisions = [(sent["tool_name"], sent["decision"]) for sent in life.sent("permission-result", family)]
        assert decisions == [("Shell", "approved"), ("Task", "approved"), ("Task", "approved")]


# ------------------------------------------------------------------ background tasks and the newer events


def test_turn_started_tells_where_the_turn_comes_from(life: Life) -> None:
    """`TurnStarted`/`turn-started` origin kind → `turn_id, origin_kind, origin_name, prompt`"""
    for family in ("folder", "table"):
        sent = life.first("turn-started", family)
        assert (sent["origin_kind"], sent["prompt"]) == ("user", PROMPT)
        assert sent["turn_id"]


def test_session_heartbeat_beats_while_the_session_lives(play: Play) -> None:
    """`SessionHeartbeat`/`session-heartbeat` empty → `uptime_ms`, every 60 s and only if configured."""
    play.env["TENTERHOOK_HEARTBEAT"] = "0.2"  # seconds, for this test
    folder = play.hook("folder session-heartbeat", block("objection"))
    array = play.hook("array SessionHeartbeat", block("objection"), matcher="^$")
    session = play.run({"text": "Done.", "delay": 1.5})
    uptimes = [sent["uptime_ms"] for sent in folder.all]
    assert len(uptimes) >= 2
    assert uptimes == sorted(uptimes)
    assert len(array.times(2)) >= 2
    assert session.answer == "Done."
    assert "objection" not in session.last.text


def test_prompt_queued_and_a_manual_compaction(play: Play) -> None:
    """`UserPromptQueued`/`prompt-queued` prompt → `prompt_id, prompt, queue_length`. `PreCompact`, `PostCompact`:
    `manual`"""
    queued = play.hook("folder prompt-queued", block("objection"))
    array = play.hook("array UserPromptQueued", block("objection"), matcher="^and then this$")
    before = play.hook("array PreCompact", matcher="^manual$")
    after = play.hook("folder post-context-compact")
    said: tuple[Answer, ...] = ([shell("touch begun; sleep 1.5")], "First.", "Second.")
    with play.terminal(*said, mode="yolo", summaries=["They greeted."]) as terminal:
        terminal.say("do this")
        until(lambda: play.ran("begun"))
        terminal.say("and then this")
        sent = queued.once
        terminal.sees("Second\\.")
        terminal.say("/compact")
        assert after.once["trigger"] == "manual"
        terminal.leave()
        assert (sent["prompt"], sent["queue_length"]) == ("and then this", 1)
        assert array.once["prompt_id"] == sent["prompt_id"]
        assert before.once["trigger"] == "manual"
        assert terminal.by()[-1].users[-1] == "and then this"
        assert len(terminal.by("summary")) == 1


def test_any_other_name_is_an_error_that_lists_close_matches(play: Play) -> None:
    """Any other name is an error that lists close matches."""
    play.hook("array PreToolUze", block("never"))
    play.hook("folder pre-tool-cal", block("never"))
    session = play.run([shell("touch ran")], "Done.")
    assert play.ran("ran")
    assert "'PreToolUse'" in session.shown
    assert "'pre-tool-call'" in session.shown
