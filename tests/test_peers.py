"""What other hook engines get wrong, each case as it was reproduced or reported; here it must come out right."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from support import (
    alive,
    array_hook,
    fire,
    folder_hook,
    project_hooks,
    shell_call,
    table_hook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Event, Outcome

if TYPE_CHECKING:
    from pathlib import Path

SOON = 3000  # milliseconds; the contract says 1250, and busy machines are given time


def pid_in(path: Path) -> int:
    return int(until(lambda: path.exists() and path.read_text().strip()))


def end_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


# ---- reproduced


@pytest.mark.promise("a careless model")
@pytest.mark.parametrize("nonsense", ['{"hookSpecificOutput": null}', "[]"])
def test_a_block_is_not_lost_when_a_sibling_prints_nonsense(project: Path, nonsense: str) -> None:
    """A hook's block is not lost to a sibling that crashes or prints nonsense."""
    assert fire(project, array_hook(f"echo '{nonsense}'") + array_hook("exit 2")).denied
    assert fire(project, array_hook("exit 2") + array_hook(f"echo '{nonsense}'")).denied


@pytest.mark.promise("a careless model")
def test_a_background_child_that_holds_stdout_does_not_turn_a_block_into_an_allow(project: Path) -> None:
    """A block counts although a child of the hook holds its pipes open."""
    verdict = fire(project, array_hook("echo $$ > group; sleep 6 & exit 2", timeout=3))
    end_group(pid_in(project / "group"))
    assert verdict.denied
    assert verdict.runs[0].duration_ms < SOON


def test_a_background_child_that_holds_stdout_costs_no_time(project: Path) -> None:
    verdict = fire(project, array_hook("echo $$ > group; sleep 5 & exit 0"))
    end_group(pid_in(project / "group"))
    assert verdict.runs[0].outcome == Outcome.OK
    assert verdict.runs[0].duration_ms < SOON


@pytest.mark.promise("a careless model")
@pytest.mark.parametrize(
    "line",
    ["sleep 30 & echo $! > child; wait; true", "trap '' TERM; sleep 30 & echo $! > child; wait; wait", "yes"],
    ids=["sleeps", "ignores SIGTERM", "endless output"],
)
def test_a_timeout_is_a_timeout_and_nothing_is_left(project: Path, line: str) -> None:
    """A hook that hangs is ended at its timeout, with all its children; the agent goes on."""
    (run,) = fire(project, array_hook(f"echo $$ > leader; {line}", timeout=1)).runs
    assert run.outcome == Outcome.TIMED_OUT
    assert run.duration_ms < SOON
    assert not alive(pid_in(project / "leader"))
    child = project / "child"
    until(lambda: not child.exists() or not alive(pid_in(child)), 10)


def test_much_output_is_bounded(project: Path) -> None:
    (run,) = fire(project, array_hook("head -c 200000000 /dev/zero")).runs  # its memory: test_running.py
    assert run.outcome == Outcome.OK
    assert len(run.stdout) < 2 * 1024 * 1024
    assert any("dropped" in note for note in run.notes)


def test_death_by_sigkill_is_failed_and_reported(project: Path) -> None:
    (run,) = fire(project, array_hook("kill -9 $$")).runs
    assert (run.outcome, run.why, run.exit_code) == (Outcome.FAILED, "signal 9", None)


@pytest.mark.promise("a hostile repository")
def test_a_runaway_matcher_does_not_freeze_the_agent_and_the_hook_runs(project: Path) -> None:
    """A matcher that would take exponential time is cut off, and its hook runs."""
    begun = time.monotonic()
    verdict = fire(project, array_hook("exit 2", matcher="(a+)+$"), shell_call(tool_name="a" * 26 + "!"))
    assert time.monotonic() - begun < 5
    assert verdict.denied


def test_a_thousand_hooks_that_do_not_match_cost_next_to_nothing(project: Path) -> None:
    hooks = "".join(array_hook("exit 2", matcher=f"^Tool{number}$") for number in range(1000))
    engine = Engine.load(configs=[write_config(project / "hooks.toml", hooks)])
    event = shell_call()
    assert engine.decide(event).runs == ()
    best = min(_seconds(engine, event) for _ in range(5))
    assert best < 0.002  # a figure for busy machines; bench/ holds the real one


def _seconds(engine: Engine, event: Event) -> float:
    """How long one decision takes, as the mean of twenty."""
    begun = time.perf_counter()
    for _ in range(20):
        engine.decide(event)
    return (time.perf_counter() - begun) / 20


def test_a_command_that_is_not_found_is_failed_and_reported(project: Path) -> None:
    verdict = fire(project, array_hook("nosuchcommand"))
    assert (verdict.decision, verdict.runs[0].outcome, verdict.runs[0].why) == ("none", Outcome.FAILED, "exit 127")
    assert "nosuchcommand" in verdict.runs[0].stderr


def hook_md(home: Path, front: str, name: str = "guard") -> Engine:
    folder = folder_hook(user_hooks(home), name, "exit 2")
    (folder / "HOOK.md").write_text(f"---\n{front}\n---\n\n# Guard\n")
    return Engine.load()


def test_three_dashes_inside_a_value_do_not_end_the_front_matter(home: Path, project: Path) -> None:
    engine = hook_md(home, 'name: guard\ndescription: "a --- b"\ntrigger: pre-tool-call\nmetadata:\n  rule: "---"')
    assert engine.problems == ()
    assert engine.decide(shell_call()).denied


def test_the_specifications_own_pattern_loads_and_matches(home: Path, project: Path) -> None:
    front = 'name: guard\ndescription: d\ntrigger: pre-tool-call\nmatcher:\n  pattern: "\\.py$"'
    engine = hook_md(home, front)
    assert engine.decide(shell_call("x.py")).denied
    assert not engine.decide(shell_call("x.pyc")).denied
    assert [problem.code for problem in engine.problems] == ["escape-in-quotes"]


def test_an_invalid_hook_is_not_skipped_in_silence(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "good", "exit 2")
    engine = hook_md(home, "name: bad\ntrigger: [", "bad")
    assert [hook.name for hook in engine.hooks] == ["good"]
    (problem,) = engine.problems
    assert problem.file.endswith("/bad/HOOK.md") and problem.line and problem.remedy


# ---- reported by users


@pytest.mark.promise("a careless model")
@pytest.mark.parametrize(
    "malformed", ["echo allow", "echo '{'", """echo '{"decision": "sure"}'""", "exit 1", "sleep 60"]
)
def test_no_malformed_answer_approves_anything(project: Path, malformed: str) -> None:
    """No malformed answer of a hook approves anything."""
    hook = array_hook(malformed, event="PermissionRequest", timeout=1)
    verdict = fire(project, hook, Event("PermissionRequest", tool_name="Shell", tool_input={}, id="1"))
    assert verdict.decision == "none"  # the person is asked


def test_any_deny_wins_over_every_approval(project: Path) -> None:
    allow = """echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"""
    hooks = array_hook(allow, event="PermissionRequest") + array_hook("exit 2", event="PermissionRequest")
    hooks += array_hook(f"{allow} # too", event="PermissionRequest")
    assert fire(project, hooks, Event("PermissionRequest", tool_name="Shell", tool_input={}, id="1")).denied


def test_hooks_for_other_events_answer_no_approval(project: Path) -> None:
    allow = """echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"""
    request = Event("PermissionRequest", tool_name="Shell", tool_input={}, id="1")
    verdict = fire(project, array_hook(allow, event="PreToolUse"), request)
    assert (verdict.decision, verdict.runs) == ("none", ())


@pytest.mark.promise("a careless model")
def test_a_guard_that_could_not_be_launched_is_seen_each_time(home: Path, project: Path) -> None:
    """A guard that could not be started is reported each time."""
    folder_hook(user_hooks(home), "guard", "#!/opt/gone/python\n")
    engine = Engine.load()
    for _ in range(3):
        (shown,) = engine.decide(shell_call()).as_json()["runs"]
        assert shown["outcome"] == "failed"
        assert "cannot start" in shown["why"]


def test_a_script_without_an_exec_bit_runs(home: Path, project: Path) -> None:
    folder = folder_hook(user_hooks(home), "guard", "exit 2")
    (folder / "scripts" / "run.sh").chmod(0o644)
    engine = Engine.load()
    assert engine.decide(shell_call()).denied
    assert [problem.code for problem in engine.problems] == ["not-executable"]


def test_what_a_guard_with_a_missing_tool_complains_about_is_kept(project: Path) -> None:
    line = "c=$(nosuchjq -r .tool_input.command); case $c in rm*) exit 2;; esac; exit 0"
    (run,) = fire(project, array_hook(line), shell_call("rm x")).runs
    assert "nosuchjq" in run.stderr


@pytest.mark.promise("a careless model")
def test_failing_closed_is_a_choice(project: Path) -> None:
    """A guard that fails closed refuses when it crashes, times out or answers nonsense."""
    assert not fire(project, array_hook("nosuchcommand")).denied
    assert fire(project, array_hook("nosuchcommand", fail_mode="closed")).denied


@pytest.mark.parametrize("line", ["python3 gone.py", 'python3 "$KIMI_PROJECT_DIR/gone.py"', "sh ./gone.sh"])
def test_a_missing_script_does_not_lock_every_tool(project: Path, line: str) -> None:
    assert not fire(project, array_hook(line)).denied


def test_a_fifth_key_refuses_its_file_aloud_and_no_other(project: Path) -> None:
    bad = write_config(project / "bad.toml", array_hook("exit 1") + array_hook("exit 1", description="guard"))
    good = write_config(project / "good.toml", array_hook("exit 2"))
    engine = Engine.load(configs=[bad, good])
    assert engine.decide(shell_call()).denied
    assert [hook.source for hook in engine.hooks] == [str(good)]
    problem = next(problem for problem in engine.problems if problem.code == "unknown-key")
    assert (problem.file, problem.key) == (str(bad), "description")
    assert problem.line == bad.read_text().splitlines().index('description = "guard"') + 1
    assert problem.remedy


def test_a_stop_hook_that_always_blocks_does_not_loop_and_is_told(project: Path) -> None:
    line = """grep -q '"stop_hook_active": true' && touch told; exit 2"""
    engine = Engine.load(configs=[write_config(project / "hooks.toml", array_hook(line, event="Stop"))])
    assert engine.decide(Event("Stop")).denied
    assert not (project / "told").exists()
    assert not engine.decide(Event("Stop", stop_hook_active=True)).denied
    assert (project / "told").exists()


@pytest.mark.promise("a hostile repository")
def test_a_cloned_repositorys_hooks_do_not_run_and_that_is_said(project: Path) -> None:
    """Hooks of a cloned repository do not run until you trust them, and that is said."""
    folder_hook(project_hooks(project), "evil", "touch ran")
    (run,) = Engine.load(project).decide(shell_call()).runs
    assert (run.outcome, run.why) == (Outcome.NOT_RUN, "untrusted")
    assert not (project / "ran").exists()


def test_output_is_not_cut_without_a_word(project: Path) -> None:
    (run,) = fire(project, table_hook("head -c 2000000 /dev/zero | tr '\\0' x")).runs
    assert any("bytes of stdout were dropped" in note for note in run.notes)
    assert "bytes dropped]" in run.stdout


@pytest.mark.parametrize("matcher", ["Bash", "Shell", "^(Bash|Write)$", "bash", "", ".*"])
def test_a_matcher_for_one_agents_shell_is_a_matcher_for_every_agents(project: Path, matcher: str) -> None:
    for tool in ("Bash", "Shell", "run_shell_command", "exec_command"):
        assert fire(project, array_hook("exit 2", matcher=matcher), shell_call(tool_name=tool)).denied
