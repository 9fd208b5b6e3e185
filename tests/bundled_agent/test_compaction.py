"""Compaction: a summary replaces a context that has grown too long, unless a hook objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundled_agent.playing import OVERLOADED, answer, block, shell

if TYPE_CHECKING:
    from bundled_agent.playing import Answer, Play

LONG: tuple[Answer, ...] = ({"calls": [shell("echo early work")], "tokens": {"input": 5000, "output": 10}}, "Done.")


@pytest.mark.parametrize("says", ["deny", "allow"])
def test_context_of_a_compaction_goes_with_the_next_request(play: Play, says: str) -> None:
    """`additional_context` is sent: … otherwise with the next request; also if there is no compaction, or it fails"""
    play.settings["compact_above"] = 1000
    play.hook("folder pre-context-compact", answer(decision=says, reason="no", additional_context="keep the plan"))
    long: Answer = {"calls": [shell("true")], "tokens": {"input": 2000}}
    session = play.run(long, "Done.", summaries=[{"error": {"status": 500}}])
    assert session.kept("compaction") == []
    assert len(session.by()) == 2
    context = '<hook_context event="pre-context-compact">keep the plan</hook_context>'
    assert session.last.users == ["go", context]
    assert play.run("Back.", prompt="go on", options=["--resume"]).last.users == ["go", context, "go on"]


@pytest.mark.parametrize("hook", ["folder pre-context-compact", "table pre_compact"])
def test_pre_context_compact_a_block_means_it_is_skipped(play: Play, hook: str) -> None:
    """`pre-context-compact`, `pre_compact`: compaction is skipped"""
    play.settings["compact_above"] = 1000
    heard, after = play.hook(hook, block("keep it all")), play.hook("folder post-context-compact")
    session = play.run(*LONG, summaries=["They worked."])
    assert session.by("summary") == []
    assert "early work" in session.last.text
    assert session.kept("compaction") == []
    assert after.all == []
    assert heard.once["trigger"] == "auto"
    assert heard.once["token_count"] > 1000


def test_pre_context_compact_an_array_hook_is_awaited_and_ignored(play: Play) -> None:
    """`PreCompact`: `manual` / `auto`: array: awaited, ignored"""
    play.settings["compact_above"] = 1000
    heard = play.hook("array PreCompact", f"sleep 0.4; touch over; {block('objection')}", matcher="^auto$")
    manual = play.hook("array PreCompact", matcher="^manual$")
    after = play.hook("folder post-context-compact", "test -e over && touch awaited")
    session = play.run(*LONG, summaries=["They worked."])
    assert len(session.by("summary")) == 1
    assert "They worked." in session.last.text
    assert "objection" not in session.last.text
    assert heard.once["trigger"] == "auto"
    assert manual.all == []
    assert after.once["trigger"] == "auto"
    assert play.ran("awaited")


def test_post_context_compact_comes_after_a_successful_write_only(play: Play) -> None:
    """`post-context-compact`, `PostCompact`: `manual` / `auto`: observer; after a successful write only"""
    play.settings["compact_above"] = 1000
    before = play.hook("folder pre-context-compact")
    folder = play.hook("folder post-context-compact", f'cat "{play.home}"/.local/state/tenterhook/agent/*.jsonl > kept')
    array = play.hook("array PostCompact", block("objection"), matcher="^auto$")
    play.run(*LONG, summaries=[OVERLOADED], exits=None)
    assert len(before.all) >= 1
    assert folder.all == array.all == []
    session = play.run(*LONG, summaries=["They worked."])
    assert folder.once["trigger"] == array.once["trigger"] == "auto"
    assert "They worked." in (play.project / "kept").read_text()
    assert session.kept("compaction")[0]["summary"] == "They worked."
