"""Which ends of asynchronous hooks a session takes for its own, and how long it waits for them."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from bundled_agent.playing import shell
from support import folder_hook, shell_call, until, user_hooks
from tenterhook import Engine
from tenterhook.bundled_agent.background import BackgroundRuns

if TYPE_CHECKING:
    from pathlib import Path

    from bundled_agent.playing import Play

ASYNC: dict[str, Any] = {"async": True}
# It ends when it is let go, with the status that the command names.
WAITS = """
number=$(cat | sed 's/.*"command": *"\\([0-9]*\\)".*/\\1/')
touch begun$number
until [ -e go$number ]; do sleep 0.02; done
exit $number
"""


def ended_async(home: Path) -> int:
    """How many ends the journal has."""
    place = home / ".local" / "state" / "tenterhook" / "journal"
    return sum(path.read_text().count('"type": "async"') for path in place.glob("*.jsonl"))


def test_ends_of_hooks_that_an_earlier_process_of_the_session_started_are_not_taken_for_ours(
    home: Path, project: Path
) -> None:
    for name in ("one", "other"):
        folder_hook(user_hooks(home), name, WAITS, matcher={"tool": f"^{name}$"}, **ASYNC)
    engine = Engine.load()
    for number, name in ((3, "one"), (4, "other")):
        engine.decide(shell_call(f"{number}", tool_name=name, session_id="s", work_dir=str(project)))
        until((project / f"begun{number}").exists)
    time.sleep(0.5)  # a session is not resumed at once
    runs = BackgroundRuns("s")
    runs.add(engine.decide(shell_call("7", tool_name="one", session_id="s", work_dir=str(project))))
    until((project / "begun7").exists)
    for number in (3, 4):
        (project / f"go{number}").touch()
    until(lambda: ended_async(home) == 2)
    assert runs.ended() == []
    assert runs.is_running
    (project / "go7").touch()
    (record,) = until(runs.ended)
    assert (record["hook"], record["exit_code"]) == ("one", 7)
    assert not runs.is_running


def test_the_end_of_a_hook_whose_runner_was_killed_is_not_waited_for(home: Path, project: Path) -> None:
    script = 'echo "$PPID" > part; mv part runner; sleep 1'
    folder_hook(user_hooks(home), "lost", script, timeout=1000, **ASYNC)
    runs = BackgroundRuns("s")
    runs.add(Engine.load().decide(shell_call(session_id="s", work_dir=str(project))))
    until((project / "runner").exists)
    os.kill(int((project / "runner").read_text()), signal.SIGKILL)
    assert runs.is_running
    until(lambda: not runs.is_running, 10)
    assert runs.ended() == []


# The command with another limit: a busy machine takes its time.
LIMITED = """
from tenterhook.__main__ import main
from tenterhook.bundled_agent import conversation
conversation.LAST_ENDS = {seconds}
main()
"""


def waiting(play: Play, seconds: float) -> Play:
    """Sessions of a single turn that wait so long for asynchronous hooks at their end."""
    play.program = (sys.executable, "-c", LIMITED.format(seconds=seconds))
    return play


@pytest.mark.parametrize(
    "declared",
    [
        pytest.param("table after_agent", marks=pytest.mark.thorough),
        "table session_end",
        pytest.param("array PostToolUse", marks=pytest.mark.thorough),
    ],
)
def test_a_single_turn_shows_how_asynchronous_hooks_end_after_its_last_event(play: Play, declared: str) -> None:
    keys = {"async_": True} if declared.startswith("table") else {}
    play.hook(declared, "sleep 1; echo it-broke >&2; exit 7", **keys)
    session = waiting(play, 30).run([shell("true")], "Done.")
    assert "it-broke" in session.shown
    assert "async) failed: " in session.shown
    assert [each["failures"] for each in session.report["hooks"]] == [1]
    assert "still run" not in session.shown


def test_asynchronous_hooks_that_run_for_longer_are_counted(play: Play) -> None:
    for number in range(2):
        play.hook("table session_end", "until [ -e go ]; do sleep 0.05; done", async_=True, name=f"slow{number}")
    session = waiting(play, 0.1).run("Done.")
    (play.project / "go").touch()
    assert "2 asynchronous hooks are still running; tenterhook log shows how they end" in session.shown


def test_without_asynchronous_hooks_a_single_turn_waits_for_nothing(play: Play) -> None:
    play.hook("table session_end")
    session = waiting(play, 1000).run("Done.")
    assert "still run" not in session.shown
