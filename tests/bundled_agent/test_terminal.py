"""The interactive session on a real terminal: lines in, turns out, questions answered by a key, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import termios
import time
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from bundled_agent.playing import answer, block, shell, task, tool, when
from support import alive, folder_hook, project_hooks, until, user_hooks

if TYPE_CHECKING:
    from bundled_agent.playing import Play, Terminal

OPEN = "once · s for this session · n no · f no, and say why"  # the question's keys: from now on they count
LONG = 60  # seconds: longer than any test may take
CTRL_C, CTRL_D = "\x03", "\x04"
# A command that has begun when both files are there: itself, and what it has started.
BUSY = f"sleep {LONG} & echo $! > child; echo $$ > self; wait"
ASYNC: dict[str, Any] = {"async": True}


def press(terminal: Terminal, key: str) -> None:
    terminal.child.send(key)


def opens(terminal: Terminal) -> str:
    """Wait for a question whose keys count; return what was shown up to then."""
    return terminal.sees(OPEN)


def begun(play: Play, *names: str) -> list[int]:
    """The processes that have written their numbers down, once they have."""
    files = [play.project / name for name in names or ("child", "self")]
    until(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files))
    return [int(file.read_text()) for file in files]


def gone(processes: list[int]) -> None:
    for process in processes:
        until(lambda process=process: not alive(process), 10)  # type: ignore[misc]  # a lambda with a default


def ended(terminal: Terminal) -> int | None:
    """Wait for the agent's end; return its exit status."""
    terminal.child.expect(pexpect.EOF, timeout=20)
    terminal.child.wait()
    status: int | None = terminal.child.exitstatus
    return status


def told(terminal: Terminal) -> list[list[str]]:
    """What the agent's model was told as by the user, request by request."""
    return [request.users for request in terminal.by()]


# ------------------------------------------------------------------ prompts and answers


def test_a_prompt_and_its_answer_and_another(play: Play) -> None:
    with play.terminal("Hello.\nHow are you?", "Fine.") as terminal:
        shown = terminal.sees("Ctrl-D ends")
        assert "script1.yaml" in shown
        assert "session_" in shown
        terminal.say("hi there")
        assert "Hello.\r\n" in terminal.sees("How are you\\?")
        terminal.say("and again")
        terminal.sees("Fine\\.")
        press(terminal, CTRL_D)
        assert ended(terminal) == 0
        assert told(terminal) == [["hi there"], ["hi there", "and again"]]


def test_an_empty_line_is_no_prompt(play: Play) -> None:
    heard = play.hook("folder pre-agent-turn")
    with play.terminal("Hello.") as terminal:
        terminal.say("")
        terminal.say("   ")
        terminal.say("real")
        terminal.sees("Hello\\.")
        assert heard.once["prompt"] == "real"


def test_what_the_model_says_cannot_drive_the_terminal(play: Play) -> None:
    with play.terminal(
        "a\x1b[2Kb\x1b]0;title\x07c \u202e end", [shell("printf '\\033[2J'")], "Done.", mode="yolo"
    ) as terminal:
        terminal.say("go")
        terminal.sees(re.escape("a\\x1b[2Kb\\x1b]0;title\\x07c \\u202e end"))
        terminal.say("more")
        terminal.sees(re.escape("\\x1b[2J"))
        terminal.sees("Done\\.")


def test_a_failed_turn_is_said_and_the_session_lives(play: Play) -> None:
    with play.terminal({"error": {"status": 503, "message": "overloaded"}}, "Better.") as terminal:
        terminal.say("go")
        assert "503" in terminal.sees("overloaded")
        terminal.say("again")
        terminal.sees("Better\\.")


def test_a_refused_prompt_is_said_and_the_session_lives(play: Play) -> None:
    play.hook("folder pre-agent-turn", when("deploy", block("not on Fridays")))
    with play.terminal("Hello.") as terminal:
        terminal.say("deploy it")
        terminal.sees("not on Fridays")
        terminal.say("hello")
        terminal.sees("Hello\\.")
        assert told(terminal) == [["hello"]]


def test_a_refused_session_does_not_start(play: Play) -> None:
    play.hook("folder pre-session", block("not today"))
    with play.terminal("Never said.") as terminal:
        terminal.sees("not today")
        assert ended(terminal) == 2


def test_what_is_typed_during_a_turn_waits_and_runs_next(play: Play) -> None:
    """`UserPromptQueued`/`prompt-queued` prompt → `prompt_id, prompt, queue_length` (1)"""
    folder, array = play.hook("folder prompt-queued"), play.hook("array UserPromptQueued", matcher="second")
    with play.terminal(
        [shell("touch begun; until test -e go; do sleep 0.02; done")], "One.", "Two.", "Three.", mode="yolo"
    ) as terminal:
        terminal.say("first")
        until(lambda: play.ran("begun"))
        terminal.say("second")
        folder.times(1)
        terminal.say("third")
        folder.times(2)
        assert len(terminal.by()) == 1
        (play.project / "go").touch()
        terminal.sees("Three\\.")
        assert [users[-1] for users in told(terminal)] == ["first", "first", "second", "third"]
        assert [sent["prompt"] for sent in folder.all] == ["second", "third"]
        assert [sent["queue_length"] for sent in folder.all] == [1, 2]
        assert len({sent["prompt_id"] for sent in folder.all}) == 2
        assert array.once["prompt"] in ("second", [{"type": "text", "text": "second"}])


def test_a_background_task_reports_while_nobody_types(play: Play) -> None:
    """if the agent is idle it starts a turn of its own"""
    turns = play.hook("folder turn-started")
    worker = [[shell("until test -e go; do sleep 0.02; done")], "worked well"]
    with play.terminal(
        [task("worker", background=True)], "Under way.", "Good to hear.", mode="yolo", tasks={"worker": worker}
    ) as terminal:
        terminal.say("start it")
        terminal.sees("Under way\\.")
        (play.project / "go").touch()
        terminal.sees("Good to hear\\.")
        assert [sent["origin_kind"] for sent in turns.all] == ["user", "notification"]
        assert 'type="task.completed"' in terminal.last.users[-1]
        assert "worked well" in terminal.last.users[-1]


# ------------------------------------------------------------------ questions


def test_a_question_is_answered_by_a_key(play: Play) -> None:
    result = play.hook("folder permission-result")
    with play.terminal([shell("touch ran")], "Done.") as terminal:
        terminal.say("go")
        shown = opens(terminal)
        assert f"Shell wants to run command in {play.project}" in shown
        assert "    touch ran" in shown
        assert not play.ran("ran")
        press(terminal, "y")
        terminal.sees("Done\\.")
        assert play.ran("ran")
        assert (result.once["decision"], result.once["answered_by"], result.once["scope"]) == (
            "approved",
            "terminal",
            "once",
        )


def test_once_is_once(play: Play) -> None:
    with play.terminal([shell("echo x >> ran")], [shell("echo x >> ran")], "Done.") as terminal:
        terminal.say("go")
        for _ in range(2):
            opens(terminal)
            press(terminal, "y")
        terminal.sees("Done\\.")
        assert (play.project / "ran").read_text() == "x\nx\n"


def test_for_the_session_covers_the_same_command_and_nothing_else(play: Play) -> None:
    asked = play.hook("folder permission-request")
    lines = ["echo x >> a", "echo x >> a", "echo x >> b", "echo x >> a"]
    with play.terminal(*([shell(line)] for line in lines[:3]), "One.", [shell(lines[3])], "Two.") as terminal:
        terminal.say("go")
        assert "echo x >> a" in opens(terminal)
        press(terminal, "s")
        assert "echo x >> b" in opens(terminal)
        assert (play.project / "a").read_text() == "x\nx\n"
        press(terminal, "y")
        terminal.sees("One\\.")
        terminal.say("again")  # a later turn is the same session
        terminal.sees("Two\\.")
        assert [sent["tool_input"]["command"] for sent in asked.all] == ["echo x >> a", "echo x >> b"]
        assert (play.project / "a").read_text() == "x\nx\nx\n"


def test_no_ends_the_turn_and_the_session_lives(play: Play) -> None:
    stop, failed = play.hook("folder pre-agent-turn-stop", block("go on")), play.hook("folder post-tool-call-failure")
    with play.terminal([shell("touch ran")], "Never mind.") as terminal:
        terminal.say("go")
        opens(terminal)
        press(terminal, "n")
        assert stop.times(1)[0]["stop_reason"] == "tool_rejected"
        terminal.sees("refused")
        terminal.say("then not")
        terminal.sees("Never mind\\.")
        first, second = terminal.by()[:2]
        assert len(first.messages) == 1
        assert second.users[-1] == "then not"
        assert "refused" in second.failed[0]
        assert "refused" in failed.once["error"]
        assert not play.ran("ran")


def test_no_with_feedback_goes_to_the_model(play: Play) -> None:
    with play.terminal([shell("touch a")], [shell("touch b")], "Done.") as terminal:
        terminal.say("go")
        opens(terminal)
        press(terminal, "f")
        terminal.sees("why not\\?")
        terminal.say("")  # nothing said yet
        terminal.say("yes, but use b")  # y and s are letters now
        opens(terminal)
        press(terminal, "y")
        terminal.sees("Done\\.")
        assert not play.ran("a")
        assert play.ran("b")
        assert ["yes, but use b" in reason for reason in terminal.last.failed] == [True]
        assert told(terminal) == [["go"]] * 3


def test_keys_answer_nothing_while_a_line_is_half_typed(play: Play) -> None:
    with play.terminal({"calls": [shell("touch ran")], "delay": 1}, "Done.") as terminal:
        terminal.say("go")
        until(terminal.by)
        press(terminal, "say")  # before the question is there
        terminal.sees("allow\\? first clear this line")
        press(terminal, "synf")
        terminal.sees("synf")
        assert terminal.kept("permission") == []
        assert not play.ran("ran")
        press(terminal, CTRL_C)  # clears the line, and interrupts nothing
        opens(terminal)
        press(terminal, "y")
        terminal.sees("Done\\.")
        assert play.ran("ran")
        assert [line["answered_by"] for line in terminal.kept("permission")] == ["terminal"]


def test_a_half_typed_line_can_be_finished_and_waits(play: Play) -> None:
    with play.terminal({"calls": [shell("touch ran")], "delay": 1}, "Done.", "Next.") as terminal:
        terminal.say("go")
        until(terminal.by)
        press(terminal, "and th")
        terminal.sees("allow\\? first clear this line")
        terminal.say("en yes")
        opens(terminal)
        assert terminal.kept("permission") == []
        assert not play.ran("ran")
        press(terminal, "y")
        terminal.sees("Next\\.")
        assert play.ran("ran")
        assert terminal.last.users == ["go", "and then yes"]


def test_other_keys_answer_nothing(play: Play) -> None:
    with play.terminal([shell("touch ran")], "Done.") as terminal:
        terminal.say("go")
        opens(terminal)
        press(terminal, "\r")
        press(terminal, "Y\x7f")
        press(terminal, "q\x7f")
        assert terminal.kept("permission") == []
        assert not play.ran("ran")
        press(terminal, "y")
        terminal.sees("Done\\.")
        assert play.ran("ran")


def test_two_questions_come_one_after_another(play: Play) -> None:
    with play.terminal([shell("touch a"), shell("touch b")], "Done.") as terminal:
        terminal.say("go")
        first = opens(terminal)
        asked = [each for each in ("touch a", "touch b") if f"    {each}" in first]
        assert len(asked) == 1
        press(terminal, "y")
        second = opens(terminal)
        assert sum(f"    touch {each}" in second for each in "ab") == 1
        press(terminal, "f")
        terminal.sees("why not\\?")
        terminal.say("one is enough")
        terminal.sees("Done\\.")
        assert play.ran("a") != play.ran("b")
        assert len(terminal.last.failed) == 1


def test_what_a_question_shows_is_escaped(play: Play) -> None:
    """Whatever is shown to a person for deciding has control, ANSI and bidirectional characters escaped (7)."""
    trick = "echo safe \x1b[2K\x1b[1A\x9b8m \u202egnp.exe\u2069 \x07\r"
    with play.terminal([shell(trick)], [tool("WriteFile", file_path="a\x1b[2Kb", content=trick)], "Done.") as terminal:
        terminal.say("go")
        for shown in ("echo safe \\x1b[2K\\x1b[1A\\u009b8m \\u202egnp.exe\\u2069 \\x07\\r", "a\\x1b[2Kb"):
            terminal.child.expect(OPEN)
            raw = str(terminal.child.before)
            assert shown in raw
            assert not set(raw) & set("\u202e\u2069\x9b\x07")
            assert "safe \x1b" not in raw
            assert "a\x1b[2Kb" not in raw
            press(terminal, "f")
            terminal.sees("why not\\?")
            terminal.say("no tricks")
        terminal.sees("Done\\.")


def test_a_question_about_a_file_shows_the_difference(play: Play) -> None:
    (play.project / "a.txt").write_text("one\ntwo\nthree\n")
    with play.terminal(
        [tool("WriteFile", file_path="new.txt", content="first\nsecond\n")],
        [tool("StrReplaceFile", file_path="a.txt", old_string="two", new_string="2")],
        [tool("WriteFile", file_path="a.txt", content="one\ntwo\nthree\n")],
        "Done.",
    ) as terminal:
        terminal.say("go")
        shown = opens(terminal)
        assert f"    {play.project}/new.txt" in shown
        assert "    +first\r\n    +second" in shown
        press(terminal, "y")
        shown = opens(terminal)
        assert f"    {play.project}/a.txt" in shown
        assert "    -two\r\n    +2" in shown
        press(terminal, "y")
        assert "    -2\r\n    +two" in opens(terminal)
        press(terminal, "y")
        terminal.sees("Done\\.")
        assert (play.project / "new.txt").read_text() == "first\nsecond\n"


def test_a_forced_question_says_why(play: Play) -> None:
    play.hook("folder pre-tool-call", answer(decision="ask", reason="it leaves the machine"))
    with play.terminal([shell("touch ran")], "Done.", mode="yolo") as terminal:
        terminal.say("go")
        assert "because: it leaves the machine" in opens(terminal)
        press(terminal, "y")
        terminal.sees("Done\\.")
        assert play.ran("ran")


# ------------------------------------------------------------------ commands


def test_help_lists_the_commands(play: Play) -> None:
    with play.terminal() as terminal:
        terminal.say("/help")
        shown = terminal.sees("interrupts a turn")
        for command in ("/hooks", "/mode", "/compact", "/resume", "/help", "/exit"):
            assert f"{command} " in shown
        terminal.say("/nonsense")
        terminal.sees("unknown command /nonsense")


def test_hooks_shows_every_hook_by_layer_and_what_it_did(play: Play) -> None:
    """`/hooks`: directories, every hook by layer (trigger, mode, priority, matcher, trust), this session's runs,
    blocks, failures, p50/p95, and how to manage them (8)."""
    hooks = user_hooks(play.home)
    folder_hook(hooks, "guard", "exit 2", matcher={"tool": "Shell", "pattern": "never"}, priority=250)
    folder_hook(hooks, "broken", "exit 1", "post-tool-call")
    folder_hook(hooks, "logger", "exit 0", "post-tool-call", **ASYNC)
    folder_hook(hooks, "idle", "exit 0", "pre-context-compact")
    folder_hook(project_hooks(play.project), "foreign", "exit 0", "pre-tool-call")
    play.hook("array PreToolUse", matcher="Shell|Write")
    with play.terminal([shell("true")], [shell("echo never")], [shell("true")], "Done.", mode="yolo") as terminal:
        terminal.say("go")
        terminal.sees("Done\\.")
        terminal.say("/hooks")
        shown = terminal.sees("check, trust")
    rows = {line.split()[0]: line.split() for line in shown.split("\r\n") if line.startswith("  ")}
    assert " ".join(rows["hook"]) == "hook event runs blocks failed p50 p95 state mode priority matcher"
    guard, broken, logger, idle, foreign = (rows[name] for name in ("guard", "broken", "logger", "idle", "foreign"))
    assert guard[9:] == ["in", "force", "sync", "250", "tool", "Shell,", "pattern", "never"]
    assert [guard[2:5], broken[2:5], logger[2:5]] == [["1", "1", "0"], ["2", "0", "2"], ["2", "0", "0"]]
    assert re.fullmatch(r"\d+ ms \d+ ms", " ".join(guard[5:9]))
    assert (broken[1], logger[-3]) == ("post-tool-call", "async")
    assert idle[2:7] == ["0", "0", "0", "-", "-"]
    assert "untrusted" in foreign
    assert foreign[2:7] == ["0", "0", "0", "-", "-"]
    assert any("PreToolUse" in row and "Shell|Write" in row for row in rows.values())
    lines = shown.split("\r\n")
    user, project = (
        next(number for number, line in enumerate(lines) if re.search(rf"(^|›){layer}  ", line))
        for layer in ("user", "project")
    )
    assert "~/.config/agents/hooks" in lines[user]
    assert str(project_hooks(play.project)) in lines[project]
    assert user < project
    assert "tenterhook list, add, show NAME, check, trust" in shown


def test_hooks_without_any_says_where_they_are_looked_for(play: Play) -> None:
    with play.terminal() as terminal:
        terminal.say("/hooks")
        shown = terminal.sees("check, trust")
        assert "~/.config/agents/hooks" in shown
        assert ".agents/hooks" in shown


def test_hooks_is_answered_during_a_turn(play: Play) -> None:
    folder_hook(user_hooks(play.home), "guard", "exit 0")
    with play.terminal([shell(BUSY)], "Done.", mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        terminal.say("/hooks")
        terminal.sees("guard")
        assert all(map(alive, processes))
        press(terminal, CTRL_C)
        gone(processes)


def test_mode_is_shown_and_changed(play: Play) -> None:
    with play.terminal(
        [shell("touch a")], "One.", [tool("WriteFile", file_path="b", content="")], "Two.", mode="ask"
    ) as terminal:
        terminal.say("/mode")
        terminal.sees("mode: ask")
        terminal.say("/mode careless")
        terminal.sees("mode: ask; careless is not a mode")
        terminal.say("/mode yolo")
        terminal.sees("mode: yolo")
        terminal.say("go")
        terminal.sees("One\\.")
        assert play.ran("a")
        terminal.say("/mode ask")
        terminal.sees("mode: ask")
        terminal.say("go")
        opens(terminal)
        press(terminal, "y")
        terminal.sees("Two\\.")


def test_compact_puts_a_summary_in_the_place_of_the_context(play: Play) -> None:
    before, after = play.hook("folder pre-context-compact"), play.hook("folder post-context-compact")
    with play.terminal("One.", "Two.", summaries=["They said one."]) as terminal:
        terminal.say("/compact")
        terminal.sees("the context was not compacted")
        assert before.all == []
        terminal.say("first")
        terminal.sees("One\\.")
        terminal.say("/compact")
        assert after.times(1)[0]["trigger"] == before.once["trigger"] == "manual"
        terminal.say("second")
        terminal.sees("Two\\.")
        assert "first" not in terminal.last.text
        assert "They said one." in terminal.last.text
        assert terminal.last.users[-1] == "second"


def test_exit_ends_the_session(play: Play) -> None:
    over = play.hook("folder post-session")
    with play.terminal() as terminal:
        terminal.say("/exit")
        assert ended(terminal) == 0
        assert over.once["exit_reason"] == "user_exit"


# ------------------------------------------------------------------ resuming


def test_resume_goes_on_with_a_session_by_its_id(play: Play) -> None:
    first = play.run("One.", prompt="the first")
    began, over = play.hook("folder pre-session"), play.hook("folder post-session")
    with play.terminal("Two.") as terminal:
        terminal.say(f"/resume {first.id}")
        terminal.sees(f"resumed {first.id}")
        terminal.say("the second")
        terminal.sees("Two\\.")
        assert terminal.last.users == ["the first", "the second"]
        press(terminal, CTRL_D)
        assert ended(terminal) == 0
    assert [sent["source"] for sent in began.all] == ["startup", "resume"]
    assert [sent["session_id"] for sent in began.all] == [sent["session_id"] for sent in over.all]
    assert began.all[1]["session_id"] == first.id


def test_resume_without_an_id_goes_on_with_the_last_one_before(play: Play) -> None:
    play.run("Zero.", prompt="long ago")
    first = play.run("One.", prompt="the first")
    with play.terminal("Two.") as terminal:
        terminal.sees("Ctrl-D ends")
        terminal.say("/resume")
        terminal.sees(f"resumed {first.id}")
        terminal.say("the second")
        terminal.sees("Two\\.")
        assert terminal.last.users == ["the first", "the second"]


def test_a_session_that_is_not_there_is_said_and_this_one_lives(play: Play) -> None:
    over = play.hook("folder post-session")
    with play.terminal("Hello.") as terminal:
        terminal.say("/resume session_of_nobody")
        terminal.sees("no session session_of_nobody")
        terminal.say("hi")
        terminal.sees("Hello\\.")
        assert over.all == []


def test_a_session_that_hooks_do_not_let_start_is_not_gone_on_with(play: Play) -> None:
    """`pre-session`: the session does not start (1), also if it is resumed from within another."""
    first = play.run("One.", prompt="the first")
    play.hook("folder pre-session", when("resume", block("not this one")))
    kept = first.file
    last = first.kept("message")[-1]
    with play.terminal("Said elsewhere.", mode="yolo") as terminal:
        terminal.say(f"/resume {first.id}")
        terminal.sees("not this one")
        terminal.say("the second")
        terminal.child.expect([pexpect.EOF, "Said elsewhere\\."], timeout=20)  # it ends, or the other one goes on
        assert "the first" not in json.dumps(told(terminal))
    assert json.dumps(last["message"]) in kept.read_text()
    assert kept.read_text().count('"type": "message"') == 2


def test_the_option_resumes_interactively(play: Play) -> None:
    first = play.run("One.", prompt="the first")
    with play.terminal("Two.", options=["--resume", first.id]) as terminal:
        terminal.say("the second")
        terminal.sees("Two\\.")
        assert terminal.last.users == ["the first", "the second"]


# ------------------------------------------------------------------ Ctrl-C


def test_ctrl_c_in_the_middle_of_a_tool_ends_its_processes_and_the_session_lives(play: Play) -> None:
    interrupt, failure = play.hook("folder interrupt"), play.hook("folder post-agent-turn-failure")
    with play.terminal([shell(BUSY)], "Then not.", mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        assert all(map(alive, processes))
        press(terminal, CTRL_C)
        gone(processes)
        terminal.sees("interrupted")
        assert interrupt.once["reason"] == "user"
        terminal.say("never mind")
        terminal.sees("Then not\\.")
        assert terminal.last.users == ["go", "never mind"]
        assert "Interrupted" in terminal.last.results[0]["content"]
        assert terminal.last.results[0]["failed"]
        assert failure.all == []  # not fired on cancellation
        press(terminal, CTRL_D)
        assert ended(terminal) == 0


def test_ctrl_c_ends_a_tool_that_does_not_want_to(play: Play) -> None:
    stubborn = (
        f"trap '' INT TERM HUP; (trap '' INT TERM HUP; sleep {LONG}; true) & echo $! > child; echo $$ > self; wait"
    )
    with play.terminal([shell(stubborn)], "Then not.", mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        press(terminal, CTRL_C)
        gone(processes)
        terminal.say("never mind")
        terminal.sees("Then not\\.")


@pytest.mark.parametrize("event", ["folder pre-tool-call", "folder pre-agent-turn", "array Stop"])
def test_ctrl_c_ends_hooks(play: Play, event: str) -> None:
    once = f"test -e self || {{ sleep {LONG} & echo $! > child; echo $$ > self; wait; }}"
    play.hook(event, once, timeout=600 if event.startswith("array") else 600_000)
    with play.terminal([shell("true")], "Done.", "Done.", mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        press(terminal, CTRL_C)
        gone(processes)
        terminal.sees("interrupted")
        terminal.say("again")
        terminal.sees("Done\\.")


def test_ctrl_c_while_the_model_thinks(play: Play) -> None:
    interrupt = play.hook("folder interrupt")
    with play.terminal({"text": "Never said.", "delay": LONG}, "At once.") as terminal:
        terminal.say("go")
        until(terminal.by)
        press(terminal, CTRL_C)
        terminal.sees("interrupted")
        assert interrupt.once
        terminal.say("be quick")
        terminal.sees("At once\\.")
        assert terminal.last.users == ["go", "be quick"]


def test_ctrl_c_at_a_question_withdraws_it(play: Play) -> None:
    """`permission-result` then carries `decision` (… `cancelled`) (7)"""
    result = play.hook("folder permission-result")
    with play.terminal([shell("touch ran")], "Then not.") as terminal:
        terminal.say("go")
        opens(terminal)
        press(terminal, CTRL_C)
        terminal.sees("interrupted")
        assert result.once["decision"] == "cancelled"
        terminal.say("yes")  # a line, no answer
        terminal.sees("Then not\\.")
        assert not play.ran("ran")
        assert terminal.last.users == ["go", "yes"]


def test_ctrl_c_ends_a_subagent_with_its_tools(play: Play) -> None:
    with play.terminal(
        [task("helper")], "Then not.", mode="yolo", tasks={"helper": [[shell(BUSY)], "Never said."]}
    ) as terminal:
        terminal.say("go")
        processes = begun(play)
        press(terminal, CTRL_C)
        gone(processes)
        terminal.say("never mind")
        terminal.sees("Then not\\.")
        assert [line["status"] for line in terminal.kept("task")] == ["started", "killed"]


def test_ctrl_c_twice_is_once(play: Play) -> None:
    interrupt = play.hook("folder interrupt", "sleep 0.3")
    with play.terminal([shell(BUSY)], "Then not.", mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        press(terminal, CTRL_C + CTRL_C)
        gone(processes)
        terminal.say("never mind")
        terminal.sees("Then not\\.")
        assert len(interrupt.all) == 1
        press(terminal, CTRL_D)
        assert ended(terminal) == 0


def test_ctrl_c_when_nothing_happens_ends_nothing(play: Play) -> None:
    with play.terminal("Hello.") as terminal:
        terminal.sees("›")
        press(terminal, CTRL_C)
        terminal.sees("press Ctrl-D to end the session")
        press(terminal, "half a line")
        terminal.sees("half a line")
        press(terminal, CTRL_C)
        terminal.say("hi")
        terminal.sees("Hello\\.")
        assert told(terminal) == [["hi"]]


def test_ctrl_c_keeps_what_waits(play: Play) -> None:
    """What was typed meanwhile is still meant."""
    queued = play.hook("folder prompt-queued")
    with play.terminal([shell(BUSY)], "Next.", mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        terminal.say("and then this")
        queued.times(1)
        press(terminal, CTRL_C)
        gone(processes)
        terminal.sees("Next\\.")
        assert terminal.last.users == ["go", "and then this"]


def test_ctrl_c_while_a_slow_hook_hears_of_a_queued_prompt(play: Play) -> None:
    """The prompt is always there: an observer of what is typed does not take the keyboard away."""
    play.hook("folder prompt-queued", f"sleep {LONG}", timeout=600_000)
    over = play.hook("folder post-session")
    with play.terminal([shell(BUSY)], "Next.", mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        terminal.say("and then this")
        until(lambda: len(list((play.root / "heard").glob("*prompt-queued*"))) == 1)
        press(terminal, CTRL_C)
        gone(processes)
        terminal.sees("Next\\.")
        assert over.all == []


# ------------------------------------------------------------------ the end


# The script of a post-session hook that keeps what was flushed by then.
FLUSHED = 'cp "$HOME/.local/state/tenterhook/agent/$KIMI_SESSION_ID.jsonl" flushed'


def test_ctrl_d_ends_the_session_and_post_session_comes_after_the_file_is_flushed(play: Play) -> None:
    over = play.hook("folder post-session", FLUSHED)
    with play.terminal([shell("true")], "The last word.", mode="yolo") as terminal:
        terminal.say("go")
        terminal.sees("The last word\\.")
        press(terminal, CTRL_D)
        assert ended(terminal) == 0
    assert over.once["total_steps"] == 2
    assert over.once["duration_seconds"] > 0
    lines = [json.loads(line) for line in (play.project / "flushed").read_text().splitlines()]
    assert lines[0]["type"] == "session"
    assert lines[-1]["type"] == "end"
    assert "The last word." in json.dumps([line for line in lines if line["type"] == "message"][-1])


def test_ctrl_d_before_the_first_prompt_ends_the_session(play: Play) -> None:
    """No prompt reads it then; as the terminal's end of input it would be consumed."""
    over = play.hook("folder post-session")
    play.hook("folder pre-session", f'touch "{play.root}/begun"; sleep 1')
    with play.terminal() as terminal:
        until((play.root / "begun").exists)
        press(terminal, CTRL_D)
        assert ended(terminal) == 0
        assert len(over.all) == 1


def test_ctrl_d_during_a_turn_leaves_no_process(play: Play) -> None:
    over = play.hook("folder post-session", FLUSHED)
    with play.terminal(
        [task("worker", background=True), shell(BUSY)],
        mode="yolo",
        tasks={"worker": [[shell(f"echo $$ > worker; sleep {LONG}")]]},
    ) as terminal:
        terminal.say("go")
        processes = begun(play, "child", "self", "worker")
        press(terminal, CTRL_D)
        assert ended(terminal) == 0
        gone(processes)
        assert over.once["exit_reason"] == "user_exit"
        assert [line["status"] for line in terminal.kept("task")] == ["started", "killed"]
    resumed = play.run("I see.", prompt="go on", options=["--resume", over.once["session_id"]])
    assert [result["failed"] for result in resumed.last.results if "Interrupted" in result["content"]]


def test_ctrl_d_at_a_question_is_no_yes(play: Play) -> None:
    result, over = play.hook("folder permission-result"), play.hook("folder post-session")
    with play.terminal([shell("touch ran")], "Never said.") as terminal:
        terminal.say("go")
        opens(terminal)
        press(terminal, CTRL_D)
        assert ended(terminal) == 0
    assert result.once["decision"] == "cancelled"
    assert over.once
    assert not play.ran("ran")


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM], ids=["terminal closed", "terminated"])
def test_an_agent_that_is_ended_from_outside_ends_its_tools(play: Play, number: signal.Signals) -> None:
    """A closed window, a shutdown: as Ctrl-D during a turn."""
    over = play.hook("folder post-session", "sleep 1; touch slept")
    with play.terminal([shell(BUSY)], mode="yolo") as terminal:
        terminal.say("go")
        processes = begun(play)
        try:
            if number == signal.SIGHUP:
                terminal.child.ptyproc.fileobj.close()  # type: ignore[attr-defined]  # not in the stubs
            for _ in range(3):  # a shell sends it again, which must not end the last hooks
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(terminal.child.pid or 0), number)
                time.sleep(0.1)
            gone(processes)
            assert over.once
            until(lambda: play.ran("slept"))
        finally:
            for process in filter(alive, processes):
                os.kill(process, signal.SIGKILL)


# ------------------------------------------------------------------ one turn, on a terminal


@pytest.mark.parametrize(
    ("key", "status"), [("y", 0), pytest.param("s", 0, marks=pytest.mark.thorough), ("n", 2), ("f", 0)]
)
def test_one_turn_asks_on_its_terminal(play: Play, key: str, status: int) -> None:
    with play.terminal([shell("touch ran")], "Done.", options=["go"]) as terminal:
        assert "    touch ran" in opens(terminal)
        press(terminal, key)
        if key == "f":
            terminal.sees("why not\\?")
            terminal.say("use another name")
        assert ended(terminal) == status
        assert play.ran("ran") == (key in "ys")
        if key == "f":
            assert "use another name" in terminal.last.failed[0]


def test_one_turn_is_interrupted_by_ctrl_c(play: Play) -> None:
    interrupt, over = play.hook("folder interrupt"), play.hook("folder post-session")
    with play.terminal([shell(BUSY)], mode="yolo", options=["go"]) as terminal:
        processes = begun(play)
        press(terminal, CTRL_C)
        assert ended(terminal) == 130
        gone(processes)
    assert interrupt.once
    assert over.once["exit_reason"] == "interrupted"


@pytest.mark.parametrize("feedback", [False, True], ids=["keys", "feedback"])
def test_ctrl_c_at_a_question_of_one_turn_interrupts_the_turn(play: Play, feedback: bool) -> None:
    result, interrupt = play.hook("folder permission-result"), play.hook("folder interrupt")
    with play.terminal([shell("touch ran")], "Never said.", options=["go"]) as terminal:
        opens(terminal)
        if feedback:
            press(terminal, "f")
            terminal.sees("why not\\?")
            press(terminal, "half a reason")
        press(terminal, CTRL_C)
        assert ended(terminal) == 130
        assert [line["decision"] for line in terminal.kept("permission")] == ["cancelled"]
    assert not play.ran("ran")
    assert result.once["decision"] == "cancelled"
    assert interrupt.once


def test_ctrl_d_at_a_question_of_one_turn_is_a_no(play: Play) -> None:
    with play.terminal([shell("touch ran")], "Never said.", options=["go"]) as terminal:
        opens(terminal)
        press(terminal, CTRL_D)
        assert ended(terminal) == 2
        assert not play.ran("ran")


def test_one_turn_is_interrupted_by_ctrl_c_also_after_a_question(play: Play) -> None:
    over = play.hook("folder post-session")
    with play.terminal([shell(BUSY)], options=["go"]) as terminal:
        opens(terminal)
        press(terminal, "y")
        processes = begun(play)
        press(terminal, CTRL_C)
        assert ended(terminal) == 130
        gone(processes)
    assert over.once["exit_reason"] == "interrupted"


def test_a_terminal_is_left_as_it_was_found(play: Play) -> None:
    def echoes() -> bool:
        return bool(termios.tcgetattr(terminal.child.child_fd)[3] & termios.ECHO)

    with play.terminal("Hello.") as terminal:
        terminal.sees("›")
        until(lambda: not echoes())
        press(terminal, CTRL_D)
        until(echoes)
        ended(terminal)
