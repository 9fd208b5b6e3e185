"""Claude Code: what only it says."""

from __future__ import annotations

from tenterhook.agents import AGENTS


def test_it_says_that_no_person_can_be_asked() -> None:
    claude_code = AGENTS["claude-code"]
    assert claude_code.is_attended({})
    assert claude_code.is_attended({b"CLAUDE_CODE_SESSION_ATTENDED": b"1"})
    assert not claude_code.is_attended({b"CLAUDE_CODE_SESSION_ATTENDED": b"0"})


def test_of_others_it_is_assumed_that_a_person_can_be_asked() -> None:
    assert AGENTS["codex"].is_attended({b"CLAUDE_CODE_SESSION_ATTENDED": b"0"})
