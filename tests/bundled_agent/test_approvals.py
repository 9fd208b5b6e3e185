"""PROTOCOL 7, sentence by sentence: who is asked about a call, and whose answer counts.

The docstring of a test is the sentence, or the part of it, that the test shows. Without a terminal nobody is there to
be asked, so that a question nobody else answers is a refusal; the last tests have a person at a terminal.
"""

from __future__ import annotations

import re
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import answer, block, permission, shell, task, tool, when
from support import alive, tenterhook, until

if TYPE_CHECKING:
    from bundled_agent.playing import Answer, Heard, Play

pytestmark = pytest.mark.slow

NOBODY = "There is nobody to ask"
FAMILIES = ["folder pre-tool-call", "array PreToolUse"]


def commands(heard: Heard) -> list[str]:
    """The command lines that a hook was asked about."""
    return [sent["tool_input"]["command"] for sent in heard.all]


def each(*calls: dict[str, Any]) -> list[Answer]:
    """Calls one after another, and a last word."""
    return [*([call] for call in calls), "Done."]


# ------------------------------------------------------------------ who is asked


@pytest.mark.parametrize("hook", FAMILIES)
def test_pre_tool_call_runs_first(play: Play, hook: str) -> None:
    """`pre-tool-call` runs first. A deny refuses the call. An approve skips the question."""
    play.hook(hook, "\n".join([when("touch never", block("never this")), when("touch vetted", permission("approve"))]))
    asked = play.hook("folder permission-request")
    session = play.run(*each(shell("touch never"), shell("touch vetted"), shell("touch other")), mode="ask")
    assert not play.ran("never")
    assert play.ran("vetted")
    assert not play.ran("other")
    refused, nobody = session.last.failed
    assert refused == "never this"
    assert NOBODY in nobody
    assert commands(asked) == ["touch other"]


def test_allow_is_no_objection_and_skips_nothing(play: Play) -> None:
    """Only `permissionDecision: allow`/`approve` is **approve** (6): otherwise the agent's mode and rules decide"""
    play.hook("folder pre-tool-call", answer(decision="allow"))
    asked = play.hook("folder permission-request")
    session = play.run(*each(shell("touch other")), mode="ask")
    assert not play.ran("other")
    assert NOBODY in session.last.failed[0]
    assert len(asked.all) == 1


@pytest.mark.parametrize("hook", [FAMILIES[0], pytest.param(FAMILIES[1], marks=pytest.mark.thorough)])
def test_ask_forces_the_question(play: Play, hook: str) -> None:
    """An ask forces it: allow rules, session approvals and an auto-approve mode do not answer it."""
    play.rules.append({"tool": "Shell", "command": "touch ruled", "answer": "approve"})
    # the first time it has no objection, and a session approval is given; the second time it asks
    again = f"if test -e ran; then {answer(decision='ask', reason='sure?')}; fi"
    play.hook(hook, when("echo x", again) + "\n" + when("touch ruled", answer(decision="ask")))
    once = f"test -e ran || {permission('approve', scope='session')}"
    asked = play.hook("array PermissionRequest", when("echo x", once))
    forced = play.run(*each(shell("echo x >> ran"), shell("echo x >> ran"), shell("touch ruled")), mode="ask")
    assert commands(asked) == ["echo x >> ran", "echo x >> ran", "touch ruled"]
    assert (play.project / "ran").read_text() == "x\n"
    assert not play.ran("ruled")
    assert len(forced.last.failed) == 2
    automatic = play.run(*each(shell("touch ruled"), shell("touch free")), mode="yolo")
    assert commands(asked)[3:] == ["touch ruled"]
    assert not play.ran("ruled")
    assert play.ran("free")
    assert NOBODY in automatic.last.failed[0]


@pytest.mark.parametrize(
    ("mode", "asked_about"),
    [("ask", ["Shell", "WriteFile", "StrReplaceFile", "Task"]), ("auto", ["Shell"]), ("yolo", [])],
)
def test_otherwise_the_agents_mode_decides(play: Play, mode: str, asked_about: list[str]) -> None:
    """otherwise the agent's mode and rules decide"""
    asked = play.hook("folder permission-request")
    (play.project / "old.txt").write_text("old")
    session = play.run(
        *each(
            shell("touch ran"),
            tool("WriteFile", file_path="new.txt", content="new"),
            tool("StrReplaceFile", file_path="old.txt", old_string="old", new_string="changed"),
            task("helper"),
            tool("ReadFile", file_path="old.txt"),
            tool("Glob", pattern="*.txt"),
            tool("Grep", pattern="old"),
        ),
        mode=mode,
        tasks={"helper": ["helped"]},
    )
    assert [sent["tool_name"] for sent in asked.all] == asked_about
    assert [NOBODY in reason for reason in session.last.failed] == [True] * len(asked_about)
    assert play.ran("ran") == ("Shell" not in asked_about)
    assert play.ran("new.txt") == ("WriteFile" not in asked_about)
    assert ((play.project / "old.txt").read_text() == "changed") == ("StrReplaceFile" not in asked_about)
    assert bool(session.by("helper")) == ("Task" not in asked_about)


def test_otherwise_the_agents_rules_decide(play: Play) -> None:
    """otherwise the agent's mode and rules decide"""
    play.rules += [
        {"tool": "Shell", "pattern": "^touch (one|two)$", "answer": "approve", "reason": "vetted"},
        {"tool": "Shell", "command": "touch two", "answer": "deny", "reason": "never two"},
        {"tool": "^Write", "directory": str(play.project), "answer": "approve"},
        {"tool": "^Task$", "directory": "/nowhere", "answer": "approve"},
    ]
    asked = play.hook("folder permission-request")
    session = play.run(
        *each(
            shell("touch one"),
            shell("touch two"),
            shell("touch one two three"),
            tool("WriteFile", file_path="a.txt", content="a"),
            task("helper"),
        ),
        mode="ask",
        tasks={"helper": ["helped"]},
    )
    assert play.ran("one")
    assert play.ran("a.txt")
    assert not play.ran("two")
    two, three, helper = session.last.failed
    assert "never two" in two
    assert NOBODY in three
    assert NOBODY in helper
    assert [sent["tool_name"] for sent in asked.all] == ["Shell", "Task"]


def test_approve_never_overrides_a_deny_rule(play: Play) -> None:
    """Approve never overrides a deny rule."""
    play.rules.append({"tool": "Shell", "pattern": "never", "answer": "deny", "reason": "the rule says no"})
    heard = play.hook("array PreToolUse", permission("approve"))
    asked = play.hook("array PermissionRequest", permission("approve"))
    session = play.run(*each(shell("touch never"), shell("touch fine")), mode="ask")
    assert not play.ran("never")
    assert play.ran("fine")
    assert len(session.last.failed) == 1
    assert "the rule says no" in session.last.failed[0]
    assert commands(heard) == ["touch never", "touch fine"]
    assert asked.all == []


# ------------------------------------------------------------------ hooks that answer


def test_permission_request_carries_what_is_asked(play: Play) -> None:
    """`permission-request`, with `permission_request_id` (also as `id`), `tool_name`, `tool_input`, `tool_call_id`,
    `action` and `display` (the real command or path, and the directory)"""
    folder, array = play.hook("folder permission-request"), play.hook("array PermissionRequest")
    play.run(*each(shell("touch a"), tool("WriteFile", file_path="b.txt", content="b")), mode="ask")
    assert len(folder.all) == len(array.all) == 2
    for sent in (*folder.all, *array.all):
        assert sent["id"] == sent["permission_request_id"] != ""
        assert sent["tool_call_id"]
        assert isinstance(sent["action"], str)
        shown = str(sent["display"])
        assert sent["tool_input"].get("command", "b.txt") in shown
        assert str(play.project) in shown
    assert [sent["tool_name"] for sent in array.all] == ["Shell", "WriteFile"]
    assert len({sent["id"] for sent in array.all}) == 2


def test_a_hook_answers_with_either_word_and_a_scope(play: Play) -> None:
    """Hooks answer with `permissionDecision` (or `decision`; here both approve) and `scope`, `once` (default) or
    `session`."""
    said = {
        "one": permission("approve"),
        "two": permission("allow"),
        "three": answer(decision="allow"),
        "four": answer(decision="approve", scope="session"),
        "five": permission("deny", permissionDecisionReason="not five"),
        "six": answer(decision="deny", reason="not six"),
    }
    asked = play.hook(
        "array PermissionRequest", "\n".join(when(f"touch {word}", script) for word, script in said.items())
    )
    result = play.hook("folder permission-result")
    session = play.run(*each(*(shell(f"touch {word}") for word in said), shell("touch four")), mode="ask")
    assert {word: play.ran(word) for word in said} == {word: word not in ("five", "six") for word in said}
    assert session.last.failed == ["not five", "not six"]
    assert len(asked.all) == 6
    told = [(sent["decision"], sent.get("scope")) for sent in result.all]
    assert told[:4] == [("approved", "once")] * 3 + [("approved", "session")]
    assert [decision for decision, _ in told[4:6]] == ["rejected", "rejected"]


def test_any_deny_wins_at_once(play: Play) -> None:
    """Any deny wins, at once"""
    play.hook("array PermissionRequest", permission("approve"))
    play.hook("array PermissionRequest", f"while ! test -s slow; do sleep 0.05; done; {block('no, at once')}")
    play.hook("array PermissionRequest", f"echo $$ > slow; sleep 60; {permission('approve')}", timeout=100)
    begun = time.monotonic()
    session = play.run(*each(shell("touch ran")), mode="ask")
    assert time.monotonic() - begun < 30
    assert not play.ran("ran")
    assert session.last.failed == ["no, at once"]
    assert not alive(int((play.project / "slow").read_text()))


def test_an_approval_counts_only_when_all_have_ended_and_none_failed(play: Play) -> None:
    """An approval counts only when all hooks have ended and none failed."""
    play.hook("array PermissionRequest", permission("approve"))
    trouble = [
        when("touch late", "sleep 0.5; touch over"),
        when("touch crash", "exit 1"),
        when("touch garbled", "echo '{nonsense'"),
        when("touch odd", answer(decision="perhaps")),
    ]
    play.hook("array PermissionRequest", "\n".join(trouble))
    play.hook("array PermissionRequest", when("touch slow", "sleep 20"), timeout=1)
    words = ["crash", "slow", "garbled", "odd"]
    late = shell("test -e over && touch late")
    session = play.run(*each(late, *(shell(f"touch {word}") for word in words)), mode="ask")
    assert play.ran("late")
    assert [play.ran(word) for word in words] == [False] * 4
    assert [NOBODY in reason for reason in session.last.failed] == [True] * 4


@pytest.mark.parametrize("hook", ["folder permission-request", "array PermissionRequest"])
def test_without_an_answer_the_person_is_asked_and_if_nobody_is_there_it_is_refused(play: Play, hook: str) -> None:
    """No answer, timeout, crash, unreadable answer: **the person is asked** … If nobody can be asked (headless), the
    call is refused, with the reason. There is never an implicit approval and never a hang."""
    script = [
        when("touch crash", "kill -9 $$"),
        when("touch slow", "sleep 60"),
        when("touch garbled", "echo '{nonsense'"),
    ]
    heard = play.hook(hook, "\n".join(script), timeout=1 if hook.startswith("array") else 1000)
    words = ["silent", "slow", "crash", "garbled"]
    begun = time.monotonic()
    session = play.run(*each(*(shell(f"touch {word}") for word in words)), mode="ask")
    assert time.monotonic() - begun < 30
    assert [play.ran(word) for word in words] == [False] * 4
    assert [NOBODY in reason for reason in session.last.failed] == [True] * 4
    assert NOBODY in session.shown
    assert commands(heard) == [f"touch {word}" for word in words]


def test_a_call_that_was_refused_without_a_person_runs_once_after_tenterhook_allow(play: Play) -> None:
    """A refusal because nobody could be asked ends with `tenterhook allow ID`."""
    first = play.run(*each(shell("echo x >> ran")), mode="ask")
    name = first.last.failed[0].rpartition("tenterhook allow ")[2]
    assert tenterhook("allow", name, "--yes").returncode == 0
    calls = each(shell("echo x >> ran"), shell("echo x >> ran"))
    play.run(*calls, mode="ask", prompt="go on", options=["--resume", first.id])
    assert (play.project / "ran").read_text() == "x\n"


# ------------------------------------------------------------------ what an approval covers


def test_an_approval_is_bound_to_the_exact_tool_and_input(play: Play) -> None:
    """An approval is bound to the exact tool and input; a changed input is a new question."""
    changed = answer(modified_input={"command": "touch changed"})
    play.hook("folder pre-tool-call", f"if test -e first; then {changed}; fi", matcher={"tool": "Shell"})
    asked = play.hook("array PermissionRequest", when("touch first", permission("approve", scope="session")))
    session = play.run(*each(shell("touch first"), shell("touch first")), mode="ask")
    assert commands(asked) == ["touch first", "touch changed"]
    assert not play.ran("changed")
    assert NOBODY in session.last.failed[0]


def test_an_approval_that_skips_the_question_is_not_for_an_input_changed_since(play: Play) -> None:
    """An approval is bound to the exact tool and input; a changed input is a new question."""
    play.hook("folder pre-tool-call", when("touch first", permission("approve")), priority=200)
    changed = answer(modified_input={"command": "touch changed"})
    play.hook("folder pre-tool-call", when("touch first", changed), priority=100)
    asked = play.hook("array PermissionRequest")
    session = play.run(*each(shell("touch first")), mode="ask")
    assert commands(asked) == ["touch changed"]
    assert not play.ran("first")
    assert not play.ran("changed")
    assert NOBODY in session.last.failed[0]


def test_session_scope_of_shell_is_the_exact_command(play: Play) -> None:
    """An approval for the `session` … covers, for Shell, the exact command and directory; … never the `action`
    label."""
    asked = play.hook("array PermissionRequest", permission("approve", scope="session"))
    lines = ["echo x >> a", "echo x >> a", "echo x  >> a", "echo x >> b", "echo x >> a"]
    play.run(*each(*map(shell, lines)), mode="ask")
    assert commands(asked) == ["echo x >> a", "echo x  >> a", "echo x >> b"]
    assert len({sent["action"] for sent in asked.all}) == 1
    assert (play.project / "a").read_text() == "x\n" * 4


def test_session_scope_of_file_tools_is_the_tool_and_the_resolved_path(play: Play) -> None:
    """file tools: tool and resolved path"""
    (play.project / "sub").mkdir()
    (play.project / "link.txt").symlink_to("a.txt")
    asked = play.hook("array PermissionRequest", permission("approve", scope="session"))
    play.run(
        *each(
            tool("WriteFile", file_path="a.txt", content="1"),
            tool("WriteFile", file_path="sub/../a.txt", content="2"),
            tool("WriteFile", file_path=str(play.project / "a.txt"), content="3"),
            tool("WriteFile", file_path="link.txt", content="4"),
            tool("StrReplaceFile", file_path="a.txt", old_string="4", new_string="5"),
            tool("WriteFile", file_path="sub/a.txt", content="6"),
        ),
        mode="ask",
    )
    told = [(sent["tool_name"], sent["tool_input"]["file_path"]) for sent in asked.all]
    assert told == [("WriteFile", "a.txt"), ("StrReplaceFile", "a.txt"), ("WriteFile", "sub/a.txt")]
    assert (play.project / "a.txt").read_text() == "5"


def test_session_scope_of_other_tools_is_the_exact_input(play: Play) -> None:
    """others: the exact input"""
    asked = play.hook("array PermissionRequest", permission("approve", scope="session"))
    calls = (task("helper", "one"), task("helper", "one"), task("helper", "two"))
    session = play.run(*each(*calls), mode="ask", tasks={"helper": ["helped", "helped", "helped"]})
    assert [sent["tool_input"]["prompt"] for sent in asked.all] == ["one", "two"]
    assert len(session.by("helper")) == 3


def test_session_scope_is_not_restored_on_resume(play: Play) -> None:
    """for the life of the process … not restored on resume"""
    once = f"test -e ran || {permission('approve', scope='session')}"
    asked = play.hook("array PermissionRequest", once)
    first = play.run(*each(shell("echo x >> ran"), shell("echo x >> ran")), mode="ask")
    assert len(asked.all) == 1
    second = play.run(*each(shell("echo x >> ran")), mode="ask", prompt="go on", options=["--resume", first.id])
    assert second.id == first.id
    assert len(asked.all) == 2
    assert NOBODY in second.last.failed[0]
    assert (play.project / "ran").read_text() == "x\n" * 2


# ------------------------------------------------------------------ what came of it


def test_permission_result_carries_who_decided_what(play: Play) -> None:
    """`permission-result` then carries `decision` (`approved`, `rejected`, `cancelled`), `answered_by`, `scope`,
    `duration_ms`."""
    script = [
        when("touch yes", permission("approve")),
        when("touch no", block("no")),
        when("touch slow", "touch begun; sleep 60"),
    ]
    play.hook("array PermissionRequest", "\n".join(script), timeout=100)
    folder, array = play.hook("folder permission-result"), play.hook("array PermissionResult")
    calls = each(shell("touch yes"), shell("touch no"), shell("touch other"), shell("touch slow"))
    running = play.start(*calls, mode="ask")
    try:
        until(lambda: play.ran("begun"))
        running.process.send_signal(signal.SIGINT)
        session = running.end(130)
    finally:
        running.process.kill()
    assert [sent["decision"] for sent in folder.all] == ["approved", "rejected", "rejected", "cancelled"]
    assert sorted(sent["decision"] for sent in array.times(4)) == ["approved", "cancelled", "rejected", "rejected"]
    for sent in folder.all:
        assert isinstance(sent["answered_by"], str)
        assert sent["duration_ms"] >= 0
        assert sent["tool_name"] == "Shell"
    approved, rejected, *_ = folder.all
    assert "hook" in approved["answered_by"]
    assert approved["scope"] == "once"
    assert "hook" in rejected["answered_by"]
    kept = session.kept("permission")
    assert [line["decision"] for line in kept] == ["approved", "rejected", "rejected", "cancelled"]
    assert kept[0]["tool_input"] == {"command": "touch yes"}


def test_what_is_shown_is_escaped_also_without_a_terminal(play: Play) -> None:
    """Whatever is shown to a person for deciding has control, ANSI and bidirectional characters escaped."""
    session = play.run(*each(shell("echo \x1b[2Khidden \u202etxt.exe \x07")), mode="ask")
    assert NOBODY in session.shown
    assert "hidden" in session.shown
    assert not re.search("[\x1b\u202e\x07]", session.shown)


# ------------------------------------------------------------------ a person at a terminal


def test_the_question_opens_beside_slow_hooks_and_a_persons_answer_ends_them(play: Play) -> None:
    """the terminal's question opens after at most 300 ms and need not wait for the hooks; a person's answer ends
    them."""
    play.hook("array PermissionRequest", f"echo $$ > slow; sleep 60; {permission('deny')}", timeout=100)
    result = play.hook("folder permission-result")
    with play.terminal(*each(shell("touch ran"))) as terminal:
        terminal.say("go")
        slow = int(until(lambda: play.ran("slow") and (play.project / "slow").read_text().strip()))
        shown = terminal.is_asked(15)
        assert alive(slow)
        assert "touch ran" in shown
        terminal.child.send("y")
        terminal.sees("Done\\.")
        assert play.ran("ran")
        until(lambda: not alive(slow), 5)
        assert (result.once["decision"], result.once["scope"]) == ("approved", "once")
        assert "hook" not in result.once["answered_by"]
        assert result.once["duration_ms"] < 50_000


def test_a_hooks_answer_withdraws_the_question(play: Play) -> None:
    """The first valid answer wins wherever it comes from (hook, rule, terminal, page, API); the other surfaces
    withdraw."""
    asked = play.hook(
        "array PermissionRequest",
        f"while ! test -e answered; do sleep 0.05; done; rm answered; {when('touch ran', permission('approve'))}",
    )
    result = play.hook("folder permission-result")
    with play.terminal(*each(shell("touch ran"), shell("touch other"))) as terminal:
        terminal.say("go")
        terminal.is_asked()
        assert not play.ran("ran")
        (play.project / "answered").touch()
        asked.times(2)  # the next question has begun: the first is answered
        assert play.ran("ran")
        assert "hook" in result.once["answered_by"]
        (play.project / "answered").touch()  # no answer: the person is asked
        terminal.is_asked()
        terminal.child.send("y")
        terminal.sees("Done\\.")
        assert play.ran("other")


def test_a_persons_yes_for_the_session_and_their_no(play: Play) -> None:
    """An approval for the `session` covers, for Shell, the exact command and directory (7). Stops with `tool_rejected`
    and `max_steps` fire but are not overridden (8)."""
    play.hook("array PermissionRequest", "exit 1")
    result, stop = play.hook("folder permission-result"), play.hook("folder pre-agent-turn-stop", block("go on"))
    failed, succeeded = play.hook("folder post-tool-call-failure"), play.hook("folder post-tool-call")
    said = each(shell("echo x >> a"), shell("echo x >> a"), shell("echo x >> b"))
    with play.terminal(*said, "Never said.") as terminal:
        terminal.say("go")
        assert "echo x >> a" in terminal.is_asked()
        terminal.child.send("s")
        assert "echo x >> b" in terminal.is_asked()
        assert (play.project / "a").read_text() == "x\n" * 2
        terminal.child.send("n")
        assert stop.once["stop_reason"] == "tool_rejected"
        assert stop.once.get("final_message") is None  # the model said nothing
        terminal.sees(r"tool_rejected\), the block is ignored: go on")
        terminal.leave()
        assert not play.ran("b")
        assert (result.all[0]["decision"], result.all[0]["scope"]) == ("approved", "session")
        assert result.all[-1]["decision"] == "rejected"
        assert failed.once["tool_input"] == {"command": "echo x >> b"}
        assert len(succeeded.all) == 2
        assert len(terminal.by()) == 3


def test_a_no_with_feedback_goes_to_the_model(play: Play) -> None:
    """A call refused by a hook, a rule or a person counts as failed: `post-tool-call-failure` fires with the reason."""
    failed = play.hook("folder post-tool-call-failure")
    with play.terminal(*each(shell("touch a"))) as terminal:
        terminal.say("go")
        terminal.is_asked()
        terminal.child.send("f")
        terminal.say("use the other one")
        terminal.sees("Done\\.")
        assert not play.ran("a")
        assert "use the other one" in terminal.last.failed[0]
        assert "use the other one" in failed.once["error"]


def test_a_persons_no_to_a_subagents_call_ends_the_turn(play: Play) -> None:
    """A call refused by … a person counts as failed (8); `SubagentStop` fires on success only (1); a no ends the turn,
    `tool_rejected`"""
    play.rules.append({"tool": "Task", "answer": "approve"})
    stop, done = play.hook("folder pre-agent-turn-stop"), play.hook("array SubagentStop")
    with play.terminal([task("helper")], "Never said.", tasks={"helper": [[shell("touch ran")], "Never."]}) as terminal:
        terminal.say("go")
        terminal.is_asked()
        terminal.child.send("n")
        assert stop.once["stop_reason"] == "tool_rejected"
        terminal.leave()
        assert not play.ran("ran")
        assert [request.who for request in terminal.requests] == ["agent", "helper"]
        assert done.all == []


def test_what_a_person_is_shown_is_escaped(play: Play) -> None:
    """Whatever is shown to a person for deciding has control, ANSI and bidirectional characters escaped."""
    hidden = "echo safe #\x1b[2K\x1b[8mrm \u202etxt.exe\x07 \r end"
    with play.terminal(*each(shell(hidden))) as terminal:
        terminal.say("go")
        terminal.child.expect(r"y\b.*\bn\b", timeout=20)
        shown = str(terminal.child.before)
        question = shown[shown.rindex("echo safe") :]
        assert "\\x1b[2K" in question
        assert "\\u202e" in question
        assert "\\x07" in question
        assert "\x1b[8m" not in shown
        assert "\u202e" not in shown
        terminal.child.send("y")
        terminal.sees("Done\\.")
