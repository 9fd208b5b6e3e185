"""Subagents, in the foreground and in the background."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import OVERLOADED, block, shell, task, when
from support import until

if TYPE_CHECKING:
    from typing import Any

    from bundled_agent.playing import Play


@pytest.mark.parametrize("hook", ["folder post-subagent", "array SubagentStop"])
def test_a_subagent_without_a_step_left_is_asked_about_once_too(play: Play, hook: str) -> None:
    play.settings["max_steps"] = 2
    stop = play.hook(hook, block("not yet"))
    session = play.run([task("reviewer")], "Done.", tasks={"reviewer": [[shell("true")], "Looked.", "Never said."]})
    assert (len(session.by("reviewer")), stop.once["response"]) == (2, "Looked.")


def test_a_turn_that_a_background_task_starts_is_no_turn_of_a_person(play: Play) -> None:
    """`post-agent-turn` fires once for each `pre-agent-turn`; a turn that a notification starts has neither"""
    before, after = play.hook("folder pre-agent-turn"), play.hook("table after_agent")
    stop, started = play.hook("folder pre-agent-turn-stop"), play.hook("folder turn-started")
    late: dict[str, Any] = {"worker": [{"text": "worked", "delay": 1}]}
    session = play.run([task("worker", background=True)], "Under way.", "Good.", tasks=late)
    assert session.answer == "Good."
    assert [sent["origin_kind"] for sent in started.all] == ["user", "notification"]
    assert before.once["prompt"] == "go"
    assert after.once["response"] == "Under way."
    assert len(stop.all) == 2


def test_pre_tool_call_holds_for_a_subagents_calls(play: Play) -> None:
    """The same, subagents' tool calls included."""
    heard = play.hook("folder pre-tool-call", when("touch forbidden", block("not here")), matcher={"tool": "Shell"})
    after = play.hook("folder post-tool-call", matcher={"tool": "Shell"})
    session = play.run(
        [task("helper")],
        "Done.",
        tasks={"helper": [[shell("touch forbidden")], [shell("touch harmless")], "I was not let."]},
    )
    assert not play.ran("forbidden")
    assert play.ran("harmless")
    assert session.by("helper")[1].failed == ["not here"]
    assert "I was not let." in session.last.results[0]["content"]
    assert [sent["tool_input"]["command"] for sent in heard.all] == ["touch forbidden", "touch harmless"]
    assert after.once["tool_input"] == {"command": "touch harmless"}


@pytest.mark.parametrize("hook", ["folder pre-subagent", "table subagent_start"])
def test_pre_subagent_a_block_means_it_does_not_run_and_its_caller_gets_the_reason(play: Play, hook: str) -> None:
    """`pre-subagent`, `subagent_start`: the subagent does not run, its caller gets the reason"""
    heard = play.hook(hook, when("reviewer", block("no reviews today")))
    session = play.run(
        [task("reviewer")], [task("helper")], "Done.", tasks={"reviewer": ["reviewed"], "helper": ["helped"]}
    )
    assert session.by("reviewer") == []
    assert session.last.failed == ["no reviews today"]
    assert "helped" in session.last.results[1]["content"]
    assert [sent["subagent_name"] for sent in heard.all] == ["reviewer", "helper"]


def test_pre_subagent_an_array_hook_is_awaited_and_ignored(play: Play) -> None:
    """`SubagentStart`: subagent's name: array: awaited, ignored"""
    heard = play.hook("array SubagentStart", f"sleep 0.4; touch over; {block('objection')}", matcher="^reviewer$")
    other = play.hook("array SubagentStart", block("objection"), matcher="^helper$")
    session = play.run([task("reviewer")], "Done.", tasks={"reviewer": [[shell("cat over || echo early")], "fine"]})
    assert "early" not in session.by("reviewer")[-1].text
    assert session.last.failed == []
    assert "fine" in session.last.results[0]["content"]
    assert "objection" not in session.last.text
    assert heard.once["agent_name"] == "reviewer"
    assert other.all == []


@pytest.mark.parametrize("hook", ["folder post-subagent", "table subagent_stop"])
def test_post_subagent_a_block_means_the_subagent_goes_on_with_the_reason(play: Play, hook: str) -> None:
    """`post-subagent`, `subagent_stop`: the subagent goes on with the reason"""
    heard = play.hook(hook, f"test -e checked || {{ {block('check it first')}; }}")
    session = play.run([task("reviewer")], "Done.", tasks={"reviewer": ["fine", [shell("touch checked")], "checked"]})
    assert play.ran("checked")
    asked = session.by("reviewer")
    assert len(asked) == 3
    assert "check it first" in asked[1].users[-1]
    assert "checked" in session.last.results[0]["content"]
    assert [sent["response"] for sent in heard.all] == ["fine", "checked"]


def test_post_subagent_an_array_hook_observes_success_only(play: Play) -> None:
    """`SubagentStop`: subagent's name: array: observer, fires on success only"""
    heard = play.hook("array SubagentStop", block("objection"), matcher="^(reviewer|helper)$")
    session = play.run(
        [task("reviewer")], [task("helper")], "Done.", tasks={"reviewer": [OVERLOADED], "helper": ["helped"]}
    )
    assert heard.once["agent_name"] == "helper"
    assert len(session.by("helper")) == 1
    first, second = session.last.results
    assert first["failed"]
    assert "helped" in second["content"]
    assert "objection" not in session.last.text


def test_notification_observes_what_became_of_a_background_task(play: Play) -> None:
    """`notification`, `Notification`: the type, e.g. `task.completed`: observer"""
    folder = play.hook("folder notification", block("objection"))
    array = play.hook("array Notification", block("objection"), matcher=r"^task\.completed$")
    failed = play.hook("array Notification", block("objection"), matcher=r"^task\.failed$")
    turns = play.hook("array TurnStarted", block("objection"), matcher="^notification$")
    submitted = play.hook("folder pre-agent-turn")
    session = play.run(
        [task("worker", background=True)],
        "It is under way.",
        "Good.",
        tasks={"worker": [{"text": "all worked", "delay": 1.5}]},
    )
    first, second, third = session.by()
    assert "all worked" not in second.text
    assert '<notification type="task.completed"' in third.users[-1]
    assert "all worked" in third.users[-1]
    assert "objection" not in third.text
    assert folder.once["notification_type"] == array.once["notification_type"] == "task.completed"
    assert failed.all == []
    assert turns.once["origin_kind"] == "notification"
    assert len(submitted.all) == 1
    assert [line["status"] for line in session.kept("task")] == ["started", "completed"]
    assert first.who == "agent"


def test_notification_tells_of_a_task_that_failed_and_of_one_that_was_lost(play: Play) -> None:
    """`notification`: the type: `task.failed`, and `task.lost` after a crash and resume"""
    heard = play.hook("folder notification")
    failing = play.run(
        [task("worker", background=True)], {"text": "Under way.", "delay": 1.5}, "Oh.", tasks={"worker": [OVERLOADED]}
    )
    assert heard.once["notification_type"] == "task.failed"
    assert '<notification type="task.failed"' in failing.last.text
    running = play.start(
        [task("worker", background=True)],
        [shell("touch begun; sleep 60")],
        tasks={"worker": [{"text": "never", "delay": 60}]},
    )
    try:
        until(lambda: play.ran("begun"))
    finally:
        running.process.kill()
        running.process.communicate()
    resumed = play.run("I see.", "I see.", prompt="go on", options=["--resume"])
    assert [sent["notification_type"] for sent in heard.all] == ["task.failed", "task.lost"]
    assert '<notification type="task.lost"' in resumed.last.text


def test_notification_tells_of_a_task_that_was_killed(play: Play) -> None:
    """`notification`: the type: `task.killed`, when the session ends before it"""
    heard = play.hook("folder notification")
    calls = [task("worker", background=True)], [shell("touch begun; sleep 60")]
    running = play.start(*calls, tasks={"worker": [{"text": "never", "delay": 60}]})
    try:
        until(lambda: play.ran("begun"))
        running.process.send_signal(signal.SIGINT)
        session = running.end(130)
    finally:
        running.process.kill()
    assert heard.once["notification_type"] == "task.killed"
    assert [line["status"] for line in session.kept("task")] == ["started", "killed"]


def test_task_started_tells_of_subagents(play: Play) -> None:
    """`TaskStarted`/`task-started` kind → `task_id, kind, description, detached`"""
    heard = play.hook("folder task-started", block("objection"))
    kinds = play.hook("array TaskStarted", block("objection"), matcher="^subagent$")
    session = play.run(
        [task("worker", background=True)],
        {"text": "Under way.", "delay": 1.0},
        "Good.",
        tasks={"worker": ["worked"]},
    )
    sent = heard.once
    assert sent["detached"] is True
    assert sent["description"] == "worker looks"
    assert sent["task_id"] == session.kept("task")[0]["task_id"]
    assert kinds.once["kind"] == sent["kind"]
    assert "objection" not in session.last.text
