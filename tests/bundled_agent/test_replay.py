"""`tenterhook replay` of a session that the agent really had: no difference; after an edit, exactly what it makes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import answer, block, permission, shell, task, tool, when
from support import tenterhook, user_hooks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bundled_agent.playing import Play


@pytest.fixture
def played(play: Play) -> Play:
    """A session with everything in it that hooks may do, all of it recorded."""
    play.journal["payloads"] = "full"
    play.hook("folder pre-tool-call", when("rm -r", block("not that")))
    play.hook("folder pre-tool-call", when("to-be-changed", answer(modified_input={"command": "touch changed"})))
    play.hook("array PreToolUse", when("touch asked", permission("ask")))
    play.hook("array PermissionRequest", permission("allow"))
    play.hook("table after_tool", answer(additional_context="it is done"))
    play.hook("array PostToolUseFailure", answer(additional_context="it went wrong"))
    play.hook("folder pre-agent-turn", answer(additional_context="mind the gap"))
    play.hook("array SubagentStart", answer(additional_context="for the small one"))
    play.hook("folder pre-agent-turn-stop", when("Done once", block("not yet")))
    play.hook("array Stop", block("once more"))
    play.hook("folder pre-session", answer(additional_context="begun"))
    play.hook("folder post-session", "exit 7")
    session = play.run(
        [shell("rm -r build"), shell("touch to-be-changed")],
        [shell("touch asked"), tool("Read", file_path="nowhere")],
        [task("small")],
        "Done once.",
        "Done again.",
        "Done.",
        tasks={"small": ["Looked."]},
        mode="ask",
    )
    assert session.status == 0
    assert play.ran("changed")
    assert play.ran("asked")
    return play


def replayed(play: Play, *arguments: str, exits: int) -> dict[str, Any]:
    environment = play._environment()
    ended = tenterhook("replay", "--json", *arguments, cwd=play.project, env=environment)
    assert ended.returncode == exits, ended.stdout + ended.stderr
    report: dict[str, Any] = json.loads(ended.stdout)
    return report


def said(report: dict[str, Any]) -> Sequence[tuple[str, str | None, str, str]]:
    return sorted((each["kind"], each["hook"], each["event"], each["about"]) for each in report["differences"])


def events(play: Play) -> list[dict[str, Any]]:
    ended = tenterhook("log", "--json", "-n", "0", cwd=play.project, env=play._environment())
    records = [json.loads(line) for line in ended.stdout.splitlines()]
    return [record for record in records if record["type"] == "verdict"]


def edit(play: Play, hook: str, script: str) -> None:
    (user_hooks(play.home) / hook / "scripts" / "run.sh").write_text(f"#!/bin/sh\nsent=$(cat)\n{script}\n")


def test_a_session_replays_to_no_difference(played: Play) -> None:
    report = replayed(played, exits=0)
    assert report["differences"] == []
    assert report["not_comparable"] == 0
    assert report["events"] == len(events(played)) >= 14
    assert {"deny", "ask", "approve", "none"} <= {record["decision"] for record in events(played)}


def test_after_editing_a_hook_exactly_its_differences_are_listed(played: Play) -> None:
    edit(played, "h01-pre-tool-call", when("touch asked", block("no questions")))
    report = replayed(played, exits=1)
    assert said(report) == [
        ("newly blocked", None, "pre-tool-call", "touch asked"),
        ("no longer blocked", None, "pre-tool-call", "rm -r build"),
    ]
    alone = replayed(played, "--hook", "h01-pre-tool-call", exits=1)
    assert said(alone) == [
        ("newly blocked", "h01-pre-tool-call", "pre-tool-call", "touch asked"),
        ("no longer blocked", "h01-pre-tool-call", "pre-tool-call", "rm -r build"),
    ]
    others = replayed(played, "--hook", "h02-pre-tool-call", exits=0)
    assert others["differences"] == []


def test_a_hook_that_fails_now_is_listed_for_each_event_that_reached_it(played: Play) -> None:
    edit(played, "h07-pre-agent-turn", "exit 3")
    report = replayed(played, exits=1)
    assert said(report) == [("newly failing", "h07-pre-agent-turn", "pre-agent-turn", "go")]


def test_a_candidate_is_asked_instead(played: Play) -> None:
    candidate = played.root / "candidate"
    (candidate / "scripts").mkdir(parents=True)
    front = "name: candidate\ndescription: nothing is touched\ntrigger: pre-tool-call\nmatcher: { tool: Shell }"
    (candidate / "HOOK.md").write_text(f"---\n{front}\n---\n")
    script = candidate / "scripts" / "run.sh"
    script.write_text("#!/bin/sh\nif grep -q touch; then echo no >&2; exit 2; fi\n")
    script.chmod(0o755)
    report = replayed(played, "--with", str(candidate), exits=1)
    assert said(report) == [
        ("newly blocked", "candidate", "pre-tool-call", "touch asked"),
        ("newly blocked", "candidate", "pre-tool-call", "touch to-be-changed"),
    ]


def test_a_slower_hook_is_listed_once(played: Play) -> None:
    edit(played, "h02-pre-tool-call", "sleep 0.5")
    report = replayed(played, "--hook", "h02-pre-tool-call", exits=1)
    assert [(each["kind"], each["hook"]) for each in report["differences"] if each["kind"] == "slower"] == [
        ("slower", "h02-pre-tool-call")
    ]
