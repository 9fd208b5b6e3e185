"""Asynchronous hooks: started, never waited for, minded by a process of their own (section 4, point 5)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from typing import TYPE_CHECKING, Any

import pytest

from support import alive, array_hook, decide, folder_hook, shell_call, table_hook, until, user_hooks, write_config
from tenterhook import Engine, Event, Outcome

if TYPE_CHECKING:
    from pathlib import Path

ASYNC: dict[str, Any] = {"async": True}
DECIDE = """
    from tenterhook import Engine, Event
    event = Event("pre-tool-call", session_id="s", tool_name="Shell", tool_input={"command": "ls"})
    print(Engine.load(configs=["hooks.toml"]).decide(event).runs[-1].outcome, flush=True)
"""


def log(home: Path, lines: int = 1) -> list[dict[str, Any]]:
    """The log of asynchronous hooks, once it has so many lines."""
    file = home / ".local" / "state" / "tenterhook" / "journal" / "000001.jsonl"

    def found() -> list[dict[str, Any]]:
        lines = file.read_text().splitlines(keepends=True) if file.exists() else []
        records = [json.loads(line) for line in lines if line.endswith("\n")]
        return [record for record in records if record["type"] == "async"]

    until(lambda: len(found()) >= lines)
    return found()


def short_lived_caller() -> subprocess.CompletedProcess[str]:
    """A process that decides and exits; this returns when its pipes are at their end."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(DECIDE)], capture_output=True, text=True, timeout=30)


def test_async_hooks_outlive_a_short_lived_caller_and_hold_none_of_its_pipes(project: Path) -> None:
    line = "touch begun; until [ -e go ]; do sleep 0.02; done; cat > got; touch done"
    write_config(project / "hooks.toml", table_hook(line, async_=True))
    ended = short_lived_caller()  # its stdout and stderr have ended, or this would not return
    assert (ended.stdout.strip(), ended.stderr) == ("started", "")
    until((project / "begun").exists)
    assert not (project / "done").exists()
    (project / "go").touch()
    until((project / "done").exists)
    assert json.loads((project / "got").read_text())["tool_input"] == {"command": "ls"}


def test_async_hooks_outlive_a_caller_that_is_killed_with_its_group(project: Path) -> None:
    line = "touch begun; until [ -e go ]; do sleep 0.02; done; touch done"
    write_config(project / "hooks.toml", table_hook(line, async_=True))
    code = textwrap.dedent(DECIDE) + "\nimport time; time.sleep(60)"
    caller = subprocess.Popen([sys.executable, "-c", code], start_new_session=True, stdout=subprocess.DEVNULL)
    until((project / "begun").exists)
    os.killpg(caller.pid, signal.SIGKILL)
    caller.wait()
    (project / "go").touch()
    until((project / "done").exists)


@pytest.mark.parametrize("format_", ["folder", "table", "array"])
def test_async_hooks_of_every_format_run(home: Path, project: Path, format_: str) -> None:
    if format_ == "folder":
        folder_hook(user_hooks(home), "hook", "touch ran", **ASYNC)
        verdict = Engine.load().decide(shell_call())
    elif format_ == "table":
        verdict = decide(write_config(project / "hooks.toml", table_hook("touch ran", async_=True)))
    else:
        config = write_config(project / "hooks.toml", array_hook("touch ran", event="PostToolUse"))
        verdict = decide(config, shell_call(event="post-tool-call"))
    assert [run.outcome for run in verdict.runs] == [Outcome.STARTED]
    assert verdict.as_json()["runs"][0]["async"] is True
    until((project / "ran").exists)


def test_nobody_waits_for_an_async_hook(home: Path, project: Path) -> None:
    begun = time.monotonic()
    decide(write_config(project / "hooks.toml", table_hook("echo $$ > pid; sleep 60", async_=True, timeout=1000)))
    assert time.monotonic() - begun < 30
    assert log(home)[0]["outcome"] == "timed_out"


def test_the_timeout_of_an_async_hook_is_kept_after_its_caller_is_gone(home: Path, project: Path) -> None:
    line = "trap '' TERM; echo $$ > leader; sleep 60 & echo $! > child; wait"
    write_config(project / "hooks.toml", table_hook(line, async_=True, timeout=500, name="slow"))
    short_lived_caller()
    (entry,) = log(home)
    assert (entry["hook"], entry["outcome"], entry["why"]) == ("slow", "timed_out", "no end within 0.5 s")
    leader, child = (int((project / file).read_text()) for file in ("leader", "child"))
    until(lambda: not alive(leader) and not alive(child), 10)


def test_how_an_async_hook_ended_is_logged(home: Path, project: Path) -> None:
    hooks = table_hook("echo out; echo err >&2", async_=True, name="fine")
    hooks += table_hook("exit 2", async_=True, name="blocks") + table_hook("nosuchcommand", async_=True, name="fails")
    config = write_config(project / "hooks.toml", hooks)
    decide(config, shell_call(session_id="s1", event="before_tool"))
    fine, blocks, fails = sorted(log(home, 3), key=lambda entry: ["fine", "blocks", "fails"].index(entry["hook"]))
    assert {key: fine[key] for key in ("schema", "source", "session_id", "event_name", "outcome", "exit_code")} == {
        "schema": 1,
        "source": str(config),
        "session_id": "s1",
        "event_name": "before_tool",
        "outcome": "ok",
        "exit_code": 0,
    }
    assert (fine["stdout"], fine["stderr"]) == ("out\n", "err\n")
    assert fine["duration_ms"] >= 0
    assert (blocks["outcome"], blocks["exit_code"]) == ("ok", 2)
    assert (fails["outcome"], fails["why"]) == ("failed", "exit 127")


def test_the_log_is_private(home: Path, project: Path) -> None:
    decide(write_config(project / "hooks.toml", table_hook("true", async_=True)))
    log(home)
    assert (home / ".local" / "state" / "tenterhook" / "journal" / "000001.jsonl").stat().st_mode & 0o777 == 0o600


def test_a_quick_async_hook_is_logged_though_a_slow_one_beside_it_still_runs(home: Path, project: Path) -> None:
    hooks = table_hook("true", async_=True, name="quick")
    hooks += table_hook("echo $$ > pid; sleep 60", async_=True, name="slow", timeout=60000)
    decide(write_config(project / "hooks.toml", hooks))
    slow = int(until(lambda: (project / "pid").exists() and (project / "pid").read_text().strip()))
    try:
        assert log(home)[0]["hook"] == "quick"
    finally:
        os.killpg(slow, signal.SIGKILL)
        log(home, 2)


def test_an_async_hook_has_the_environment_of_the_others(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_CALLER", "a\nb")
    line = "env -0 > part; pwd >> part; mv part environment"
    decide(write_config(project / "hooks.toml", table_hook(line, async_=True)), shell_call(session_id="s1"))
    until((project / "environment").exists)
    *pairs, here = (project / "environment").read_text().split("\0")
    env = dict(pair.partition("=")[::2] for pair in pairs)
    assert here.strip() == str(project)
    assert (env["OF_THE_CALLER"], env["KIMI_SESSION_ID"], env["KIMI_WORK_DIR"]) == ("a\nb", "s1", str(project))
    assert os.path.isdir(env["TENTERHOOK_STATE_DIR"])


def test_placeholders_of_an_async_hook_are_filled(project: Path) -> None:
    line = "printf %s {{tool_input.command}} > part; mv part got"
    hostile = "a b; touch oops $(touch oops) 'é'"
    decide(write_config(project / "hooks.toml", table_hook(line, async_=True)), shell_call(hostile))
    until((project / "got").exists)
    assert (project / "got").read_text() == hostile
    assert not (project / "oops").exists()


@pytest.mark.parametrize("text", ["\ud800 é \0", "x" * 500_000], ids=["odd", "long"])
def test_any_input_reaches_an_async_hook(project: Path, text: str) -> None:
    config = write_config(project / "hooks.toml", table_hook("cat > part; mv part got", async_=True))
    decide(config, shell_call(text))
    until((project / "got").exists)
    assert json.loads((project / "got").read_bytes())["tool_input"]["command"] == text


def test_equal_observers_run_once_with_the_longest_timeout(project: Path) -> None:
    line = "echo ran >> part; sleep 1.3; mv part got"
    hooks = "".join(array_hook(line, event="PostToolUse", timeout=seconds) for seconds in (1, 30))
    decide(write_config(project / "hooks.toml", hooks), shell_call(event="post-tool-call"))
    until((project / "got").exists, 10)
    assert (project / "got").read_text() == "ran\n"


def test_an_observer_is_not_left_out_for_a_hook_of_another_format_with_its_command(project: Path) -> None:
    line = "cat >> got; echo >> got"
    one = write_config(project / "one.toml", table_hook(line, event="after_tool", async_=True))
    two = write_config(project / "two.toml", array_hook(line, event="PostToolUse"))
    verdict = Engine.load(configs=[one, two]).decide(shell_call(event="post-tool-call"))
    assert [run.hook.format for run in verdict.runs] == ["table", "array"]
    until(lambda: (project / "got").exists() and (project / "got").read_text().count("\n") == 2)


def test_an_async_hook_that_cannot_start_is_failed_at_once(home: Path, project: Path) -> None:
    folder = folder_hook(user_hooks(home), "empty", **ASYNC)
    (folder / "scripts" / "run.sh").unlink()
    (run,) = Engine.load().decide(shell_call()).runs
    assert (run.outcome, run.why) == (Outcome.FAILED, "cannot start: no script")


def test_async_hooks_start_for_events_that_decide_nothing_else(home: Path, project: Path) -> None:
    config = write_config(project / "hooks.toml", array_hook("touch ran", event="Notification", matcher="completed$"))
    assert decide(config, Event("Notification", notification_type="task.completed")).decision == "none"
    until((project / "ran").exists)


def test_background_processes_of_earlier_events_do_not_stay_as_zombies(home: Path, project: Path) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", table_hook("true", async_=True))])
    for number in range(5):
        engine.decide(shell_call())
        log(home, number + 1)
    time.sleep(0.2)  # the last process has written its line and is about to exit
    engine.decide(shell_call())
    log(home, 6)
    children = [pid for pid in os.listdir("/proc") if pid.isdigit() and _parent(pid) == os.getpid()]
    zombies = [pid for pid in children if not alive(int(pid))]
    assert len(zombies) <= 1


def _parent(pid: str) -> int | None:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return None
