"""Hooks that change while a session runs are in force at its next event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bundled_agent.playing import shell

if TYPE_CHECKING:
    from bundled_agent.playing import Play

ADDED = r"""
mkdir -p ~/.config/agents/hooks/guard/scripts
printf '#!/bin/sh\necho "not any more" >&2; exit 2\n' > ~/.config/agents/hooks/guard/scripts/run.sh
chmod +x ~/.config/agents/hooks/guard/scripts/run.sh
printf -- '---\nname: guard\ndescription: says no\ntrigger: %s\n---\n' EVENT > ~/.config/agents/hooks/guard/HOOK.md
"""


def test_a_guard_that_is_added_refuses_the_next_call(play: Play) -> None:
    added = ADDED.replace("EVENT", "pre-tool-call")
    session = play.run([shell("echo one >> ran")], [shell(added)], [shell("echo two >> ran")], "Done.")
    assert (play.project / "ran").read_text() == "one\n"
    assert "not any more" in str(session.last)


def test_a_stop_gate_that_is_added_is_asked_at_the_end(play: Play) -> None:
    session = play.run(
        [shell(ADDED.replace("EVENT", "pre-agent-turn-stop"))], "One.", "Two.", "Three.", "Four.", "Five."
    )
    assert session.last.users.count("[Hook blocked stop: not any more]") == 3
