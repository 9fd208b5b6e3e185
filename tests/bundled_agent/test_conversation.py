"""PROTOCOL 8, sentence by sentence: what hooks mean for the agent around them.

The docstring of a test is the sentence, or the part of it, that the test shows. What needs a person's answer is shown
in test_approvals.py.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.life import ROWS
from bundled_agent.playing import answer, block, permission, shell, task, tool, when
from support import folder_hook, tenterhook, user_hooks

if TYPE_CHECKING:
    from bundled_agent.life import Life
    from bundled_agent.playing import Answer, Play

pytestmark = pytest.mark.slow

ASYNC: dict[str, Any] = {"async": True}
BLOCKED = "[Hook blocked stop: not yet]"
LIMIT = "stop-hook limit reached ({} per turn); letting the agent stop"


# ------------------------------------------------------------------ stopping


@pytest.mark.parametrize("hook", ["folder pre-agent-turn-stop", "table before_stop"])
def test_folder_and_table_hooks_may_continue_a_turn_three_times(play: Play, hook: str) -> None:
    """Stop: folder and table hooks may continue a turn three times; at the fourth stop they are not asked. … The
    reason enters the conversation as `[Hook blocked stop: <reason>]` … the agent says when a limit was reached."""
    heard = play.hook(hook, block("not yet"))
    session = play.run("One.", "Two.", "Three.", "Four.", "Never said.")
    assert [request.users[1:] for request in session.by()] == [[BLOCKED] * number for number in range(4)]
    assert [sent["stop_hook_active"] for sent in heard.all] == [False, True, True]
    assert session.report["outcome"] == "success"
    assert session.answer.endswith("Four.")
    assert session.shown.count(LIMIT.format(3)) == 1


def test_array_hooks_may_continue_a_turn_once(play: Play) -> None:
    """Array hooks may continue it once. After that they are asked again with `stop_hook_active: true`, and a block is
    ignored … The reason enters the conversation … as a bare user message (array)."""
    heard = play.hook("array Stop", block("not yet"))
    session = play.run("One.", "Two.", "Never said.")
    assert [request.users[1:] for request in session.by()] == [[], ["not yet"]]
    assert [sent["stop_hook_active"] for sent in heard.all] == [False, True]
    assert session.answer.endswith("Two.")
    assert session.shown.count(LIMIT.format(1)) == 1


def test_families_count_separately_and_start_anew_with_each_user_turn(play: Play) -> None:
    """The format families are counted separately, and the counts start again with each user turn."""
    folder, array = play.hook("folder pre-agent-turn-stop", block("not yet")), play.hook("array Stop", block("bare"))
    words = [f"{number}." for number in range(6)]
    first = play.run(*words)
    users = first.last.users[1:]
    assert sorted(users) == [BLOCKED] * 3 + ["bare"]
    assert len(folder.all) == 3
    assert array.all[-1]["stop_hook_active"] is True
    assert [first.shown.count(LIMIT.format(most)) for most in (3, 1)] == [1, 1]  # at the last stop only
    second = play.run(*words, prompt="go on", options=["--resume"])
    assert second.id == first.id
    assert len(second.by()) == len(first.by()) == 5
    assert len(folder.all) == 6
    assert second.last.users.count(BLOCKED) == 6


def test_max_steps_fires_but_is_not_overridden(play: Play) -> None:
    """`tool_rejected` and `max_steps` fire but are not overridden."""
    play.settings["max_steps"] = 2
    folder, array = play.hook("folder pre-agent-turn-stop", block("not yet")), play.hook("array Stop", block("bare"))
    session = play.run(*[[shell("echo x >> ran")]] * 4, "Never said.", exits=1)
    assert len(session.by()) == 2
    assert folder.once["stop_reason"] == "max_steps"
    assert len(array.all) <= 1
    assert session.report["outcome"] == "failed"


@pytest.mark.parametrize("said", ["I look.", ""])
def test_at_max_steps_a_block_is_shown_as_ignored_and_the_final_message_is_the_assistants(
    play: Play, said: str
) -> None:
    """`stop_reason` (… `max_steps`), `final_message`: the assistant's (6); `max_steps` fire but are not overridden"""
    play.settings["max_steps"] = 2
    stop, over = play.hook("folder pre-agent-turn-stop", block("not yet")), play.hook("folder post-session")
    turn = play.hook("folder post-agent-turn")
    calls: Answer = {"text": said, "calls": [shell("true")]}
    session = play.run([shell("true")], calls, "Never said.", exits=1)
    assert stop.once.get("final_message") == ({"role": "assistant", "content": said} if said else None)
    assert turn.once["response"] == said
    (verdict,) = session.verdicts("pre-agent-turn-stop")
    assert (verdict["decision"], verdict["runs"][0]["outcome"]) == ("none", "ok")
    assert "max_steps" in str(verdict["runs"][0]["notes"])
    assert "✗ h01" not in session.shown
    assert re.search(r"no step left \(max_steps\), the block is ignored: not yet", session.shown)
    assert over.once["exit_reason"] == "max_steps"
    assert session.report["reason"] == "Stopped after 2 steps"


@pytest.mark.parametrize("hook", ["folder pre-agent-turn-stop", pytest.param("array Stop", marks=pytest.mark.thorough)])
def test_a_block_after_the_last_step_is_ignored_and_the_hook_runs_once(play: Play, hook: str) -> None:
    play.settings["max_steps"] = 1
    stop, over = play.hook(hook, block("not yet")), play.hook("folder post-agent-turn-stop")
    turn = play.hook("folder post-agent-turn")
    session = play.run("Done.", "Never said.", exits=1)
    assert (len(session.by()), len(stop.all)) == (1, 1)
    (verdict,) = session.verdicts("pre-agent-turn-stop")
    assert (verdict["decision"], verdict["runs"][0]["outcome"]) == ("none", "ok")
    assert len(re.findall(r"no step left \(max_steps\), the block is ignored: not yet", session.shown)) == 1
    assert (over.once["stop_reason"], turn.once["response"]) == ("max_steps", "Done.")
    assert session.report["reason"] == "Stopped after 1 steps"


def test_a_turn_that_nobody_blocks_may_end_with_its_last_step(play: Play) -> None:
    play.settings["max_steps"] = 1
    stop, over = play.hook("folder pre-agent-turn-stop"), play.hook("folder post-agent-turn-stop")
    assert play.run("Done.").answer == "Done."
    assert (stop.once["stop_reason"], over.once["stop_reason"]) == ("no_tool_calls", "no_tool_calls")


def test_context_beside_a_result_does_not_have_a_turn_go_on_that_is_over(play: Play) -> None:
    """`tool_rejected` and `max_steps` fire but are not overridden; … otherwise with the next request"""
    play.settings["max_steps"] = 1
    play.hook("folder post-tool-call", answer(additional_context="it is hot"))
    first = play.run([shell("true")], "Never said.", exits=1)
    assert len(first.by()) == 1
    second = play.run("Back.", prompt="go on", options=["--resume"])
    assert second.last.users == ["go", "go on", '<hook_context event="post-tool-call">it is hot</hook_context>']


def test_a_session_says_how_its_last_turn_ended(play: Play) -> None:
    """`exit_reason` (`user_exit` …)"""
    over = play.hook("folder post-session")
    play.hook("folder pre-agent-turn", when("secret", block("not that")))
    play.run("Done.")
    play.run({"error": {"status": 500}}, exits=1)
    play.run("Never said.", prompt="a secret", exits=2)
    assert [sent["exit_reason"] for sent in over.all] == ["user_exit", "failed", "refused"]


# ------------------------------------------------------------------ refused calls


def test_a_refused_call_counts_as_failed_and_its_reason_is_shown(play: Play) -> None:
    """A call refused by a hook, a rule or a person counts as failed: `post-tool-call-failure` fires with the reason,
    `post-tool-call` does not. The reason is shown to the user too."""
    play.rules.append({"tool": "Shell", "pattern": "ruled", "answer": "deny", "reason": "the rule says no"})
    play.hook("folder pre-tool-call", when("touch hooked", block("the hook says no")))
    play.hook("array PermissionRequest", when("touch asked", block("the answer is no")))
    failed, succeeded = play.hook("folder post-tool-call-failure"), play.hook("folder post-tool-call")
    array = play.hook("array PostToolUseFailure")
    words = ["hooked", "ruled", "asked", "nobody"]
    session = play.run(*([shell(f"touch {word}")] for word in words), "Done.", mode="ask")
    assert not any(play.ran(word) for word in words)
    assert succeeded.all == []
    errors = [sent["error"] for sent in failed.all]
    assert errors == session.last.failed
    for error, reason in zip(errors, ["the hook", "the rule", "the answer", "nobody to ask"], strict=True):
        assert reason in error
        assert reason in session.shown
    assert sorted(sent["error"] for sent in array.times(4)) == sorted(errors)


def test_a_command_that_exits_with_non_zero_counts_as_failed(play: Play) -> None:
    """A shell command that exits with a non-zero status also counts as failed: `error` is what it printed, `exit_code`
    its status … The model gets output and status as a result."""
    heard = {
        name: play.hook(name)
        for name in ("folder after_tool_failure", "table after_tool_failure", "array PostToolUseFailure")
    }
    succeeded = [play.hook(name) for name in ("folder after_tool", "table after_tool", "array PostToolUse")]
    session = play.run([shell("echo on stdout; echo on stderr >&2; exit 3")], [shell("true")], "Done.")
    for each in heard.values():
        assert (each.once["exit_code"], each.once["error"]) == (3, "on stdout\non stderr\n[exit status 3]")
        assert "tool_output" not in each.once
    assert [each.once["tool_input"] for each in succeeded] == [{"command": "true"}] * 3
    assert [result["content"] for result in session.last.results] == [
        "on stdout\non stderr\n[exit status 3]",
        "[no output]",
    ]
    assert session.last.failed == []  # the output reaches the model as a result, not wrapped as an error


def test_a_hooks_words_about_a_command_that_failed_go_beside_its_output(play: Play) -> None:
    """`additional_context` is sent: … of tool hooks beside the result"""
    play.hook("folder post-tool-call-failure", answer(additional_context="try make -k"))
    session = play.run([shell("exit 2")], "Done.")
    assert "try make -k" in session.last.text


FAILING = (
    tool("ReadFile", file_path="missing.txt"),
    tool("StrReplaceFile", file_path="missing.txt", old_string="a", new_string="b"),
    tool("WriteFile", file_path="a-directory/", content="x"),
    tool("Glob", pattern="*.py", path="missing"),
    tool("Grep", pattern="x", path="missing"),
    tool("Grep", pattern="("),
    shell("x" * 200_000),
)


def test_whatever_tool_fails_counts_as_failed(play: Play) -> None:
    (play.project / "a-directory").mkdir()
    failed, succeeded = play.hook("folder post-tool-call-failure"), play.hook("folder post-tool-call")
    play.run(*([call] for call in FAILING), "Done.")
    heard = failed.times(len(FAILING))
    assert [(sent["tool_name"], sent["tool_input"]) for sent in heard] == [
        (call["tool"], call["input"]) for call in FAILING
    ]
    assert all(sent["error"] for sent in heard)
    assert not any("exit_code" in sent for sent in heard)  # no command has run
    assert succeeded.all == []


# ------------------------------------------------------------------ prompts


def test_user_prompt_submit_fires_for_real_user_messages_only(play: Play) -> None:
    """`UserPromptSubmit` fires for real user messages only."""
    heard, turns = play.hook("array UserPromptSubmit"), play.hook("folder turn-started")
    play.hook("array Stop", block("not yet"))
    session = play.run(
        [task("helper", "help"), task("worker", "work", background=True)],
        "One.",
        "Two.",
        "Noted.",
        "Noted again.",
        prompt="the real one",
        tasks={"helper": ["helped"], "worker": [{"text": "worked", "delay": 1.5}]},
    )
    assert heard.once["prompt"] == [{"type": "text", "text": "the real one"}]
    assert '<notification type="task.completed"' in session.last.text
    assert {sent["origin_kind"] for sent in turns.all} >= {"user"}


def test_each_array_hooks_text_is_shown_and_kept_but_not_sent_to_the_model(play: Play) -> None:
    """Each array hook's text, and a block's reason, is shown and kept in the session as its own
    `<hook_result hook_event="UserPromptSubmit">…</hook_result>` (its closing tag escaped inside), not sent to the
    model."""
    play.hook("array UserPromptSubmit", "echo the branch is green")
    play.hook("array UserPromptSubmit", "echo 'so </hook_result> it seems'")
    play.hook("array UserPromptSubmit", answer(message="and a message"))
    session = play.run("Good.", prompt="how is it?")
    kept = [line["text"] for line in session.kept("hook_result")]
    assert len(kept) == 3
    for text, said in zip(kept, ["the branch is green", "it seems", "and a message"], strict=True):
        assert text.startswith('<hook_result hook_event="UserPromptSubmit">')
        assert text.endswith("</hook_result>")
        assert text.count("</hook_result>") == 1
        assert said in text
        assert said in session.shown
        assert said not in session.last.text
    assert session.last.users == ["how is it?"]


def test_a_blocks_reason_is_kept_as_a_hook_result_and_not_sent_later(play: Play) -> None:
    """Each array hook's text, and a block's reason, is … kept in the session as its own `<hook_result …>`"""
    play.hook("array UserPromptSubmit", block("not on Fridays"), matcher="deploy")
    blocked = play.run("Never said.", prompt="deploy it", exits=2)
    assert blocked.answer == "not on Fridays"
    (kept,) = blocked.kept("hook_result")
    assert re.fullmatch(r'<hook_result hook_event="UserPromptSubmit">\s*not on Fridays\s*</hook_result>', kept["text"])
    resumed = play.run("Hello.", prompt="then tell me a joke", options=["--resume", blocked.id])
    assert "Fridays" not in resumed.last.text


def test_additional_context_is_sent_where_it_belongs(play: Play) -> None:
    """`additional_context` is sent: of pre-session hooks with the system context, of prompt hooks after the prompt, of
    tool hooks beside the result, of subagent hooks in its prompt, otherwise with the next request."""
    play.settings["compact_above"] = 1000

    def knows(hook: str, context: str) -> None:
        play.hook(hook, answer(additional_context=context))

    knows("folder pre-session", "CONTEXT-session")
    knows("table session_start", "CONTEXT-second-session")
    knows("array SessionStart", "IGNORED-session")
    knows("folder pre-agent-turn", "CONTEXT-prompt")
    knows("array UserPromptSubmit", "CONTEXT-array-prompt")
    knows("folder pre-tool-call", "CONTEXT-before-tool")
    knows("array PreToolUse", "CONTEXT-array-before-tool")
    knows("folder post-tool-call", "CONTEXT-after-tool")
    knows("array PostToolUse", "IGNORED-after-tool")
    knows("folder pre-subagent", "CONTEXT-subagent")
    knows("array SubagentStart", "IGNORED-subagent")
    knows("folder pre-context-compact", "CONTEXT-compact")
    session = play.run(
        [tool("Glob", pattern="*")],
        {"calls": [task("helper", "help me")], "tokens": {"input": 5000, "output": 1}},
        "Done.",
        prompt="begin",
        tasks={"helper": ["helped"]},
        summaries=["They began."],
    )
    first, second, third = session.by()
    assert "CONTEXT-session" in first.instructions
    assert "CONTEXT-second-session" in first.instructions
    assert first.users[0].startswith("begin")
    prompt = "\n".join(first.users)
    assert (
        prompt.index("begin") < prompt.index('<hook_context event="pre-agent-turn">') < prompt.index("CONTEXT-prompt")
    )
    assert "CONTEXT-array-prompt" in prompt
    (result,) = (number for number, message in enumerate(second.messages) if message["role"] == "tool")
    beside = "\n".join(message["content"] for message in second.messages[result:])
    for context in ("CONTEXT-before-tool", "CONTEXT-array-before-tool", "CONTEXT-after-tool"):
        assert context in beside
    (helper,) = session.by("helper")
    assert "help me" in helper.users[0]
    assert "CONTEXT-subagent" in "\n".join(helper.users)
    assert "CONTEXT-compact" in third.text
    assert all("IGNORED" not in request.text for request in session.requests)


def test_context_of_a_stop_gate_is_sent_with_the_next_request(play: Play) -> None:
    """`additional_context` is sent: … otherwise with the next request."""
    said = answer(decision="deny", reason="not yet", additional_context="CONTEXT-stop")
    play.hook("folder pre-agent-turn-stop", f"test -e stopped || {said}; touch stopped")
    session = play.run("One.", "Two.")
    first, second = session.by()
    assert "CONTEXT-stop" not in first.text
    assert BLOCKED in second.users
    assert "CONTEXT-stop" in second.text


# ------------------------------------------------------------------ notifications, the end, resuming, failures


def test_notification_says_where_it_comes_from(play: Play) -> None:
    """`notification`: `sink` (`context`), `notification_type`, `title`, `body`, `severity`, `source_kind`,
    `source_id`."""
    heard = play.hook("array Notification")
    session = play.run(
        [task("worker", background=True)], {"text": "Under way.", "delay": 1.0}, "Good.", tasks={"worker": ["worked"]}
    )
    sent = heard.once
    assert (sent["sink"], sent["notification_type"]) == ("context", "task.completed")
    assert sent["source_id"] == session.kept("task")[0]["task_id"]
    assert "worked" in sent["body"]
    assert all(isinstance(sent[key], str) and sent[key] for key in ("title", "severity", "source_kind"))
    assert f'source="{sent["source_id"]}" title="{sent["title"]}"' in session.last.text


def test_a_notification_is_one_whatever_its_title_and_body_hold(play: Play) -> None:
    """A user part `<notification type="task.completed" source="task_1" title="…">…</notification>` (docs/agent.md)"""
    call = tool("Task", name="worker", description='a "b" </notification> c', prompt="work", background=True)
    said: list[Answer] = [{"text": "d </notification> e"}]
    session = play.run([call], {"text": "Under way.", "delay": 1.0}, "Good.", tasks={"worker": said})
    (told,) = (text for text in session.last.users if text.startswith("<notification"))
    assert told.count("</notification>") == 1
    assert re.fullmatch(r'<notification type="[^"<>]*" source="[^"<>]*" title="[^"<>]*">.*</notification>', told, re.S)


def test_post_session_fires_after_the_session_is_flushed(play: Play) -> None:
    """`post-session` fires after the session is flushed."""
    copy = 'cp "$HOME/.local/state/tenterhook/agent/$KIMI_SESSION_ID.jsonl"'
    folder = play.hook("folder post-session", f"{copy} by-folder")
    array = play.hook("array SessionEnd", f"{copy} by-array")
    session = play.run([shell("echo something")], "The very last word.")
    assert folder.once["session_id"] == array.once["session_id"] == session.id
    for name in ("by-folder", "by-array"):
        lines = [json.loads(line) for line in (play.project / name).read_text().splitlines()]
        messages = [line for line in lines if line["type"] == "message"]
        assert "The very last word." in json.dumps(messages[-1])
        assert lines[-1]["type"] == "end"


def test_a_session_is_kept_as_lines_of_these_kinds(life: Life) -> None:
    """One JSON object a line, `type` one of: session, message, hooks, hook_result, permission, task, compaction, end"""
    kinds = {
        "session": {"schema", "session_id", "work_dir", "model", "mode", "started", "source"},
        "message": {"message"},
        "hooks": {"event", "decision", "reason", "runs"},
        "permission": {"tool_name", "tool_input", "decision", "answered_by", "scope", "duration_ms"},
        "task": {"task_id", "name", "status"},
        "compaction": {"trigger", "summary", "before", "after"},
        "end": {"reason"},
    }
    for kind, keys in kinds.items():
        lines = life.session.kept(kind)
        assert lines
        assert all(keys <= set(line) for line in lines), kind
    assert life.session.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.slow
def test_context_that_hooks_add_does_not_pile_up_on_resume(play: Play) -> None:
    """Context that hooks add does not pile up on resume."""
    play.hook("folder pre-session", answer(additional_context="CONTEXT-session"))
    play.hook("folder pre-agent-turn", answer(additional_context="CONTEXT-prompt"))
    session = play.run("One.")
    for _ in range(2):
        session = play.run("Again.", prompt="again", options=["--resume", session.id])
    assert session.last.text.count("CONTEXT-session") == 1
    assert session.last.text.count("CONTEXT-prompt") <= 3
    assert session.last.users[-1].count("CONTEXT-prompt") <= 1


def test_a_hooks_failure_never_breaks_the_session(play: Play) -> None:
    """A hook's failure … never breaks the session."""
    trouble = ["exit 1", "kill -9 $$", "/no/such/program", r"printf '\377\376{'; exit 3", "head -c 3000000 /dev/zero"]
    for number, row in enumerate(ROWS):
        for offset, family in enumerate(("folder", "table", "array")):
            play.hook(row.declared(family), trouble[(number + offset) % len(trouble)])
    session = play.run(
        [shell("touch ran")],
        [tool("ReadFile", file_path="missing")],
        [task("helper")],
        "Done.",
        tasks={"helper": ["ok"]},
    )
    assert session.answer.endswith("Done.")
    assert play.ran("ran")
    assert sum(hook["failures"] for hook in session.report["hooks"]) > 10


@pytest.mark.parametrize("nowhere", ["sessions", "state"])
def test_the_recording_of_a_failure_never_breaks_the_session(play: Play, nowhere: str) -> None:
    """A hook's failure, or the recording of it, never breaks the session."""
    place = play.home / (".local/state/tenterhook/agent" if nowhere == "sessions" else ".local/state")
    place.parent.mkdir(parents=True)
    place.write_text("no directory, so that nothing can be written below it")
    play.hook("folder pre-tool-call", when("touch forbidden", block("not here")))
    play.hook("folder post-tool-call", "exit 1")
    session = play.run([shell("touch forbidden")], [shell("touch ran")], "Done.")
    assert session.answer.endswith("Done.")
    assert session.last.failed == ["not here"]
    assert play.ran("ran")
    assert not play.ran("forbidden")


# ------------------------------------------------------------------ looking at it


def test_the_hooks_command_shows_them_and_what_they_did(play: Play) -> None:
    """`/hooks`: directories, every hook by layer (trigger, mode, priority, matcher, trust), this session's runs,
    blocks, failures, p50/p95, and how to manage them."""
    hooks = user_hooks(play.home)
    folder_hook(hooks, "guard", "exit 2", matcher={"tool": "Shell", "pattern": "never"}, priority=250)
    folder_hook(hooks, "logger", "exit 1", "post-tool-call", **ASYNC)
    folder_hook(hooks, "broken", "exit 1", "post-tool-call")
    folder_hook(play.project / ".agents" / "hooks", "foreign", "exit 0", "pre-session")
    with play.terminal([shell("touch ran")], "Done.", mode="yolo") as terminal:
        terminal.say("go")
        terminal.sees("Done\\.")
        terminal.say("/hooks")
        terminal.sees("tenterhook list")
        shown = terminal.leave()
    assert str(hooks) in shown or "~/.config/agents/hooks" in shown
    for word in (
        "guard",
        "pre-tool-call",
        "250",
        "never",
        "logger",
        "async",
        "broken",
        "foreign",
        "trust",
        "p50",
        "p95",
    ):
        assert word in shown
    for word in ("user", "project", "runs", "blocks", "failed"):
        assert word in shown.lower()
    assert "tenterhook" in shown


def test_debug_shows_what_hooks_did(play: Play) -> None:
    """`--debug`: `[HOOK DEBUG] [SYNC] Starting command hook '…' for event '…'`, the input, `[HOOK DEBUG] [SYNC]
    Completed hook '…' in 45ms: success=True, decision=deny`, `[HOOK DEBUG] Reason: …`, `[HOOK DEBUG] [ASYNC] Hook '…'
    fired (running in background)`."""
    hooks = user_hooks(play.home)
    folder_hook(hooks, "guard", block("not here"))
    folder_hook(hooks, "logger", "", "post-tool-call-failure", **ASYNC)
    session = play.run([shell("touch forbidden")], "Done.", options=["--debug"])
    lines = session.shown.splitlines()
    start = lines.index("[HOOK DEBUG] [SYNC] Starting command hook 'guard' for event 'pre-tool-call'")
    assert '"command": "touch forbidden"' in "\n".join(lines[start:])
    completed = r"\[HOOK DEBUG\] \[SYNC\] Completed hook 'guard' in \d+ms: success=True, decision=deny"
    assert any(re.fullmatch(completed, line) for line in lines)
    assert "[HOOK DEBUG] Reason: not here" in lines
    assert "[HOOK DEBUG] [ASYNC] Hook 'logger' fired (running in background)" in lines
    quiet = play.run([shell("touch forbidden")], "Done.")
    assert "HOOK DEBUG" not in quiet.shown


def test_hooks_of_kimis_own_files_are_in_force(play: Play) -> None:
    """TOML files are read … by the bundled agent from `~/.kimi/config.toml` and `~/.kimi-code/config.toml` (2)."""
    play.hook("table before_tool", when("touch one", block("not one")))
    play.hook("array PreToolUse", when("touch two", block("not two")))
    for family, name in (("table", ".kimi"), ("array", ".kimi-code")):
        (play.home / name).mkdir()
        (play.root / f"{family}.toml").rename(play.home / name / "config.toml")
    session = play.run([shell("touch one")], [shell("touch two")], [shell("touch three")], "Done.")
    assert session.last.failed == ["not one", "not two"]
    assert play.ran("three")


def test_entries_that_install_wrote_into_kimis_settings_are_no_hooks(play: Play) -> None:
    """Entries that `install` wrote are never hooks. (2)"""
    heard = play.hook("folder pre-tool-call", "")
    assert tenterhook("install", "kimi-code").returncode == 0
    session = play.run([shell("touch one")], "Done.")
    assert len(heard.all) == 1
    assert [hook["hook"] for hook in session.report["hooks"]] == ["h01-pre-tool-call"]


def test_a_file_of_kimi_that_is_named_too_is_read_once(play: Play) -> None:
    """A file … that has two names, or is reached through a link, is read once. (2)"""
    heard = play.hook("table before_tool", "")
    (play.home / ".kimi").mkdir()
    file = play.home / ".kimi" / "config.toml"
    (play.root / "table.toml").rename(file)
    link = play.home / "link.toml"
    link.symlink_to(file)
    session = play.run([shell("touch one")], "Done.", options=["--config", str(file), "--config", str(link)])
    assert len(heard.all) == 1
    assert "warning" not in session.shown


def test_a_file_of_kimi_without_hooks_is_nothing_to_warn_about(play: Play) -> None:
    (play.home / ".kimi").mkdir()
    (play.home / ".kimi" / "config.toml").write_text('default_model = "k2"\n')
    assert "no-hooks" not in play.run("Done.").shown


def test_the_report_counts_what_hooks_did(play: Play) -> None:
    """this session's runs, blocks, failures: as `--json` has them"""
    play.hook("folder pre-tool-call", when("touch one", block("not one")))
    play.hook("array PreToolUse", when("touch two", "exit 1"))
    play.hook("array PermissionRequest", permission("approve"))
    session = play.run([shell("touch one")], [shell("touch two")], "Done.", mode="ask")
    assert set(session.report) == {
        "schema", "session_id", "outcome", "answer", "reason", "steps", "usage", "hooks",
    }  # fmt: skip
    counted = [(hook["runs"], hook["blocks"], hook["failures"]) for hook in session.report["hooks"]]
    assert sorted(counted) == [(1, 0, 0), (1, 0, 1), (2, 1, 0)]
    assert (session.report["schema"], session.report["steps"]) == (1, 3)


def test_context_of_a_stop_goes_with_the_next_request_also_of_another_process(play: Play) -> None:
    """`additional_context` is sent: … otherwise with the next request"""
    play.hook("folder pre-agent-turn-stop", answer(additional_context="for later"))
    context = '<hook_context event="pre-agent-turn-stop">for later</hook_context>'
    play.run("One.", prompt="first")
    assert play.run("Two.", prompt="second", options=["--resume"]).last.users == ["first", "second", context]
    third = play.run("Three.", prompt="third", options=["--resume"])
    assert third.last.users == ["first", "second", context, "third", context]
