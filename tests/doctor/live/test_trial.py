"""Running an agent, with shell scripts for agents: what reaches it, what it leaves behind, how it is ended."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from doctor.live.stand_in import ASK, StandIn
from tenterhook.doctor.live.model import ScriptedCall, Turn
from tenterhook.doctor.live.trial import Trial, run

if TYPE_CHECKING:
    import pytest


def sh(text: str, home: Path, project: Path, *, mode: str = "plain", timeout: float = 60, grace: float = 0) -> Trial:
    agent = StandIn("-c", text, "sh")
    return run(agent, Path("/bin/sh"), home=home, project=project, mode=mode, timeout=timeout, grace=grace)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_callers_environment_does_not_reach_the_agent(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-real")
    trial = sh("env; pwd; readlink /proc/self/fd/0", home, project)
    assert "sk-real" not in trial.stdout
    lines = trial.stdout.splitlines()
    assert {f"HOME={home}", "TERM=dumb", "NO_COLOR=1", str(project), "/dev/null"} <= set(lines)


def test_what_the_agent_asked_and_was_told_is_in_the_trial(home: Path, project: Path) -> None:
    program = ASK + 'ask([]); print(ask([(1, "denied")])["content"])'
    agent = StandIn("-c", 'exec python3 -c "$PROGRAM" "$URL"')
    trial = run(
        agent,
        Path("/bin/sh"),
        home=home,
        project=project,
        script=[Turn(calls=(ScriptedCall("shell", {}),)), Turn("well then")],
        extra_env={"PROGRAM": program},
    )
    assert (trial.exit_code, trial.stdout, trial.stderr) == (0, "well then\n", "")
    assert trial.tool_results == ("denied",)
    assert [request.protocol for request in trial.requests] == ["chat-completions"] * 2


def test_an_agent_that_does_not_end_is_ended_with_its_children(home: Path, project: Path) -> None:
    trial = sh(
        "trap '' TERM; sleep 300 & echo $! > child; setsid sleep 300 & wait; sleep 300", home, project, timeout=1
    )
    assert trial.timed_out
    assert trial.exit_code < 0
    assert not is_running(int((project / "child").read_text()))


def test_what_an_agent_leaves_behind_in_a_session_of_its_own_is_ended_too(home: Path, project: Path) -> None:
    trial = sh("setsid sh -c 'echo $$ > child; exec sleep 300' & while ! test -s child; do :; done", home, project)
    assert not trial.timed_out
    assert not is_running(int((project / "child").read_text()))


def test_what_is_left_behind_may_end_by_itself_within_its_grace(home: Path, project: Path) -> None:
    sh("setsid sh -c 'sleep 0.3; echo done > late' & true", home, project, grace=30)
    assert (project / "late").read_text() == "done\n"


def test_a_child_that_keeps_the_output_open_is_not_waited_for(home: Path, project: Path) -> None:
    begun = time.monotonic()
    trial = sh("sleep 300 & echo out", home, project)
    assert (trial.exit_code, trial.stdout) == (0, "out\n")
    assert time.monotonic() - begun < 60


def test_resuming_takes_a_second_process(home: Path, project: Path) -> None:
    trial = sh("echo $1 >> log; cat log", home, project, mode="resumed")
    assert trial.stdout == "new\nresumed\n"


def test_a_first_process_that_fails_is_the_trial(home: Path, project: Path) -> None:
    trial = sh("echo $1; exit 3", home, project, mode="resumed")
    assert (trial.exit_code, trial.stdout) == (3, "new\n")


def test_the_temporary_folder_is_gone_afterwards(home: Path, project: Path) -> None:
    trial = sh("touch $TMPDIR/x; echo $TMPDIR", home, project)
    assert not os.path.exists(trial.stdout.strip())
