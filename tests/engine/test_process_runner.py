"""One hook, one process: how it is started, fed, read, timed and ended (section 5 of the contract)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING

import pytest

from engine.one_hook import HANG, run_of
from support import (
    alive,
    array_hook,
    fire,
    folder_hook,
    needs_proc,
    shell_call,
    table_hook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Outcome
from tenterhook.engine.process_runner import KEPT_STDERR, KEPT_STDOUT, Cancel, Command, run_stage
from tenterhook.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIB = 1024 * 1024


def pid_in(path: Path) -> int:
    return int(until(lambda: path.exists() and path.read_text().strip()))


def end(pid: int) -> None:
    """End a process that a hook of this test has left behind."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


# ---- the exit code outranks end-of-file


@pytest.mark.parametrize("make", [array_hook, table_hook], ids=["array", "table"])
def test_exit_two_blocks_even_if_a_child_keeps_stdout_open(project: Path, make: type, at_once: None) -> None:
    verdict = fire(project, make("sleep 60 & echo $! > child; echo no >&2; exit 2"))
    end(pid_in(project / "child"))
    assert (verdict.decision, verdict.reason) == ("deny", "no")
    assert verdict.runs[0].duration_ms < 3000


def test_a_setsid_grandchild_holding_stdout_does_not_delay_the_verdict(project: Path, at_once: None) -> None:
    line = "setsid sh -c 'echo $$ > child; exec sleep 60' & until [ -s child ]; do sleep 0.01; done; exit 2"
    verdict = fire(project, table_hook(line))
    child = pid_in(project / "child")
    try:
        assert verdict.denied
        assert verdict.runs[0].duration_ms < 3000
        assert alive(child)
    finally:
        end(child)


def test_what_was_written_before_the_exit_is_read_though_a_child_writes_on(project: Path, at_once: None) -> None:
    run = run_of(project, table_hook("""echo '{"decision": "deny", "reason": "first"}'; sleep 60 & echo $! > child"""))
    end(pid_in(project / "child"))
    assert (run.decision.action, run.decision.reason) == ("deny", "first")


def test_a_child_that_never_stops_writing_does_not_delay_the_verdict(project: Path, at_once: None) -> None:
    run = run_of(project, table_hook("yes & echo $! > child; sleep 0.1; exit 2"))
    end(pid_in(project / "child"))
    assert run.outcome == Outcome.BLOCKED


def test_children_left_behind_after_a_normal_exit_are_left_alone(project: Path) -> None:
    run = run_of(project, table_hook("sleep 60 >/dev/null 2>&1 & echo $! > child; exit 0"))
    child = pid_in(project / "child")
    try:
        assert run.outcome == Outcome.OK
        time.sleep(0.3)  # longer than the grace
        assert alive(child)
    finally:
        end(child)


# ---- timeouts


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("trap '' TERM; sleep 60 & echo $! > child; wait", id="ignores SIGTERM"),
        pytest.param("sleep 60 & echo $! > child; wait", id="does not ignore it"),
        pytest.param("sh -c 'trap \"\" TERM; echo $$ > child; sleep 60' & wait", id="only its child ignores it"),
        pytest.param("(trap '' TERM; echo $$ > x; sleep 60) & echo $! > child; sleep 60", id="the leader goes first"),
        pytest.param("sleep 60 & echo $! > child; kill -STOP $$", id="stopped"),
        pytest.param("sleep 60 & echo $! > child; exec >&- 2>&- <&-; wait", id="all streams closed"),
    ],
)
def test_a_hook_past_its_timeout_is_ended_with_all_its_children(project: Path, line: str, at_once: None) -> None:
    run = run_of(project, array_hook(f"echo $$ > leader; {line}", timeout=1))
    assert (run.outcome, run.exit_code) == (Outcome.TIMED_OUT, None)
    assert run.why == "no end within 1 s"
    assert run.duration_ms < 3000
    assert not alive(pid_in(project / "leader"))
    until(lambda: not alive(pid_in(project / "child")), HANG)


def test_sigterm_comes_first_and_leaves_time_to_tidy_up(project: Path) -> None:
    run = run_of(project, table_hook("trap 'echo bye > said; exit 0' TERM; sleep 60 & wait", timeout=300))
    assert (project / "said").read_text() == "bye\n"
    assert run.outcome == Outcome.TIMED_OUT


def test_the_leader_of_a_hook_past_its_timeout_is_reaped(project: Path) -> None:
    run_of(project, table_hook("echo $$ > leader; sleep 60", timeout=200))
    assert not os.path.exists(f"/proc/{pid_in(project / 'leader')}")


def test_a_timeout_is_no_decision_whatever_was_printed(project: Path) -> None:
    verdict = fire(project, table_hook("""echo '{"decision": "deny"}'; sleep 60""", timeout=200))
    assert verdict.decision == "none"
    assert verdict.runs[0].timed_out


def test_hooks_with_time_left_are_not_ended_with_one_that_has_none(project: Path) -> None:
    hooks = array_hook("sleep 60", timeout=1) + array_hook("sleep 1.5; echo late >&2; exit 2", timeout=30)
    assert fire(project, hooks).reason == "late"


# ---- streams


PEAK = """
    import sys
    from tenterhook import Engine, Event

    def peak():
        return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

    def decide(file):
        return Engine.load(configs=[file]).decide(Event("pre-tool-call", tool_name="Shell", tool_input={}))

    decide("idle.toml")
    idle = peak()
    (run,) = decide("loud.toml").runs
    print(peak() - idle, run.outcome, run.decision.action, "|".join(run.notes))
"""


@needs_proc
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_two_hundred_megabytes_of_output_leave_memory_where_it_was(project: Path, stream: str) -> None:
    redirect = "" if stream == "stdout" else " >&2"
    write_config(project / "idle.toml", array_hook("true"))
    write_config(project / "loud.toml", array_hook(f"head -c 200000000 /dev/zero | tr '\\0' x{redirect}; exit 2"))
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PEAK)], capture_output=True, text=True, timeout=60, check=True
    )
    grown, outcome, action, notes = ended.stdout.strip().split(" ", 3)
    assert int(grown) < 20 * 1024, f"{grown} kB more"
    assert (outcome, action) == ("blocked", "deny")
    kept = KEPT_STDOUT if stream == "stdout" else KEPT_STDERR
    assert notes == f"{200_000_000 - kept} bytes of {stream} were dropped"


def test_endless_output_ends_at_the_timeout(project: Path, at_once: None) -> None:
    run = run_of(project, table_hook("yes", timeout=500))
    assert run.outcome == Outcome.TIMED_OUT
    assert run.duration_ms < 3000
    assert len(run.stdout) < KEPT_STDOUT + 100
    assert any("bytes of stdout were dropped" in note for note in run.notes)


@pytest.mark.parametrize(("redirect", "limit"), [("", KEPT_STDOUT), (" >&2", KEPT_STDERR)], ids=["stdout", "stderr"])
def test_output_beyond_the_limit_is_dropped_counted_and_reported(project: Path, redirect: str, limit: int) -> None:
    run = run_of(project, table_hook(f"head -c {3 * MIB} /dev/zero | tr '\\0' x{redirect}"))
    kept = run.stderr if redirect else run.stdout
    assert kept.count("x") == limit
    assert f"{3 * MIB - limit} bytes of {'stderr' if redirect else 'stdout'} were dropped" in run.notes


@pytest.mark.parametrize("redirect", ["", " >&2"], ids=["stdout", "stderr"])
def test_output_within_the_limit_is_kept_whole(project: Path, redirect: str) -> None:
    run = run_of(project, table_hook(f"head -c {KEPT_STDERR} /dev/zero | tr '\\0' x{redirect}"))
    assert (run.stderr if redirect else run.stdout) == "x" * KEPT_STDERR
    assert run.notes == ()


def test_an_answer_at_the_end_of_much_output_counts(project: Path) -> None:
    line = f'head -c {3 * MIB} /dev/zero | tr \'\\0\' x; echo; echo \'{{"decision": "deny", "reason": "end"}}\''
    assert fire(project, table_hook(line)).reason == "end"


BIG = "x" * (8 * MIB)


@pytest.mark.parametrize(
    "line",
    ["exit 2", "exec <&-; sleep 0.1; exit 2", "head -c 10 >/dev/null; exit 2", "sleep 0.2; exit 2"],
    ids=["unread", "closed", "read in part", "unread for a while"],
)
def test_eight_megabytes_on_stdin_need_not_be_read(project: Path, line: str, at_once: None) -> None:
    assert run_of(project, table_hook(line), shell_call(BIG)).outcome == Outcome.BLOCKED


def test_eight_megabytes_on_stdin_arrive_whole(project: Path) -> None:
    run_of(project, table_hook("cat > got"), shell_call(BIG))
    assert json.loads((project / "got").read_bytes())["tool_input"] == {"command": BIG}


def test_stdin_ends_after_the_object(project: Path, at_once: None) -> None:
    run = run_of(project, table_hook("cat >/dev/null; cat; exit 2"))
    assert run.outcome == Outcome.BLOCKED


@pytest.mark.parametrize(
    "nonsense",
    [
        r"printf '\377\376\200'",
        r"printf '\000\000'",
        r"printf '{\000}'",
        r"""printf '{"decision": "allow\377"}'""",
        r"""printf '{"decision": "allow", "reason": "\\ud800"}'""",
        """echo '{"hookSpecificOutput": null}'""",
        """echo '{"hookSpecificOutput": []}'""",
        "echo '[]'",
        "echo 'null'",
        "echo '{'",
        "head -c 200000 /dev/zero | tr '\\0' '['",
        """sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do printf %s "{\\"a\\": "; done'""",
        "cat deep.json",
        "cat deep_input.json",
        """echo '{"modified_input": {"n": 1e999, "m": NaN}}'""",
        f"""echo '{{"decision": {"1" * 5000}}}'""",
        "kill -9 $$",
        "exit 77",
        "nosuchcommand",
    ],
)
@pytest.mark.parametrize("make", [array_hook, table_hook], ids=["array", "table"])
@pytest.mark.parametrize("last", [True, False], ids=["block last", "block first"])
def test_one_hooks_nonsense_never_loses_anothers_block(project: Path, nonsense: str, make: type, last: bool) -> None:
    deep = "[" * 300 + "]" * 300
    (project / "deep.json").write_text(f'{{"decision": "allow", "additional_context": {deep}}}')
    (project / "deep_input.json").write_text(f'{{"decision": "allow", "modified_input": {{"a": {deep}}}}}')
    hooks = [make(nonsense), make("echo guarded >&2; exit 2")]
    verdict = fire(project, "".join(hooks if last else reversed(hooks)))
    assert (verdict.decision, verdict.reason) == ("deny", "guarded")
    assert json.dumps(verdict.as_json()).encode()


def test_output_that_is_not_utf_8_is_shown_with_replacement_characters(project: Path) -> None:
    run = run_of(project, table_hook(r"printf 'a\377b' >&2; exit 2"))
    assert run.decision.reason == "a\ufffdb"


# ---- side by side


def test_sixty_four_array_hooks_run_at_the_same_time_and_all_are_heard(project: Path) -> None:
    hooks = "".join(array_hook(f"""sleep 0.5; echo '{{"additional_context": "{n}"}}'""") for n in range(64))
    begun = time.monotonic()
    verdict = fire(project, hooks)
    assert time.monotonic() - begun < 16  # one after another they would take 32 s
    assert verdict.additional_context == tuple(str(n) for n in range(64))


def test_more_hooks_than_run_at_once_are_all_run(project: Path) -> None:
    verdict = fire(project, "".join(array_hook(f"exit 2 # {n}") for n in range(150)))
    assert [run.outcome for run in verdict.runs] == [Outcome.BLOCKED] * 150


# ---- failures


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("kill -9 $$", "signal 9"),
        ("kill -TERM $$", "signal 15"),
        ("kill -SEGV $$", "signal 11"),
        ("nosuchcommand", "exit 127"),
        ("exit 1", "exit 1"),
        ("exit 3", "exit 3"),
        ("exit 255", "exit 255"),
        ("./plain", "exit 126"),
    ],
)
@pytest.mark.parametrize("make", [array_hook, table_hook], ids=["array", "table"])
def test_every_other_end_is_failed_and_no_decision(project: Path, line: str, why: str, make: type) -> None:
    (project / "plain").write_text("no exec bit")
    verdict = fire(project, make(f"""echo '{{"decision": "deny"}}'; {line}"""))
    (run,) = verdict.runs
    assert (run.outcome, run.why, verdict.decision) == (Outcome.FAILED, why, "none")


def test_a_failed_run_shows_what_the_hook_wrote(project: Path) -> None:
    run = run_of(project, array_hook("echo out; nosuchcommand"))
    assert run.stdout == "out\n"
    assert "nosuchcommand" in run.stderr


@pytest.mark.parametrize("line", ["if true; then", "echo 'unclosed", "echo )", "exit 2; done"])
@pytest.mark.parametrize("make", [array_hook, table_hook], ids=["array", "table"])
def test_a_line_the_shell_cannot_parse_is_failed_not_a_block(project: Path, line: str, make: type) -> None:
    verdict = fire(project, make(line))
    assert verdict.decision == "none"
    assert (verdict.runs[0].outcome, verdict.runs[0].why) == (Outcome.FAILED, "the shell refuses the command")


def test_a_script_the_shell_cannot_parse_is_failed_not_a_block(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "broken", "if true; then")
    time.sleep(0.1)  # a script that has just changed may have been another one when it began
    assert Engine.load().decide(shell_call()).runs[0].outcome == Outcome.FAILED


@pytest.mark.parametrize(
    "line",
    [
        "python3 gone.py",
        "sh gone.sh",
        "python3 /gone/guard.py --strict",
        "python3 'gone guard.py'",
        "python3 ~/gone.py",
        'python3 "$KIMI_PROJECT_DIR/gone.py"',
        'sh "$KIMI_PROJECT_DIR/gone.sh"',
        "python3 -u gone.py",
        "/usr/bin/env python3 gone.py",
        "cd . && python3 gone.py",
        "cd gone && python3 guard.py",
        "exec python3 gone.py 2>&1",
    ],
)
def test_a_script_that_is_not_there_is_failed_not_a_block(project: Path, line: str) -> None:
    verdict = fire(project, array_hook(line))
    assert verdict.decision == "none"
    assert verdict.runs[0].outcome == Outcome.FAILED
    assert "gone" in f"{verdict.runs[0].why}{verdict.runs[0].stderr}"


def test_a_script_that_is_there_may_block_with_exit_two(project: Path) -> None:
    (project / "guard.py").write_text("import sys; sys.exit('no' if 0 else 2)")
    assert run_of(project, array_hook("python3 guard.py")).outcome == Outcome.BLOCKED


def test_a_working_directory_that_is_gone_is_a_failure(project: Path) -> None:
    event = shell_call(work_dir=project / "gone")
    run = run_of(project, array_hook("exit 2"), event)
    assert run.outcome == Outcome.FAILED
    assert run.why is not None and run.why.startswith("cannot start") and "gone" in run.why


@pytest.mark.parametrize(
    ("line", "why"),
    [("exit 1", "exit 1"), ("nosuchcommand", "exit 127"), ("kill -9 $$", "signal 9"), ("sleep 60", "no end within")],
)
def test_an_array_guard_that_fails_closed_blocks_when_it_fails(project: Path, line: str, why: str) -> None:
    verdict = fire(project, array_hook(line, fail_mode="closed", timeout=1))
    assert verdict.denied
    assert verdict.reason is not None and why in verdict.reason
    assert verdict.runs[0].outcome in (Outcome.FAILED, Outcome.TIMED_OUT)


@pytest.mark.parametrize("script", ["exit 1", "kill -9 $$", "#!/no/such/interpreter\n"])
def test_a_folder_guard_that_fails_closed_blocks_when_it_fails(home: Path, project: Path, script: str) -> None:
    folder_hook(user_hooks(home), "guard", script, metadata={"on_failure": "block"})
    verdict = Engine.load().decide(shell_call())
    assert verdict.denied
    assert verdict.reason is not None and "'guard' failed" in verdict.reason


@pytest.mark.parametrize("line", ["exit 0", 'echo \'{"decision": "allow"}\'', "echo '['"])
def test_a_guard_that_fails_closed_does_not_block_when_it_works(project: Path, line: str) -> None:
    assert not fire(project, array_hook(line, fail_mode="closed")).denied


def test_without_fail_mode_a_guard_fails_open(project: Path) -> None:
    assert fire(project, array_hook("exit 1") + array_hook("exit 3", fail_mode="open")).decision == "none"


# ---- giving up


def test_a_cancelled_decision_ends_its_hooks_and_their_children(project: Path, at_once: None) -> None:
    hooks = array_hook("trap '' TERM; echo $$ > leader; sleep 60 & echo $! > child; wait")
    engine = Engine.load(configs=[write_config(project / "hooks.toml", hooks)])
    cancel = Cancel()

    def give_up() -> None:
        until((project / "child").exists)
        cancel.set()

    thread = threading.Thread(target=give_up)
    thread.start()
    with pytest.raises(Cancelled):
        engine.decide(shell_call(), cancel=cancel)
    thread.join()
    cancel.close()
    assert not os.path.exists(f"/proc/{pid_in(project / 'leader')}")  # reaped
    until(lambda: not alive(pid_in(project / "child")), HANG)


def test_a_decision_cancelled_before_it_begins_leaves_nothing_running(project: Path, at_once: None) -> None:
    engine = Engine.load(configs=[write_config(project / "hooks.toml", array_hook("echo $$ > leader; sleep 60"))])
    cancel = Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        engine.decide(shell_call(), cancel=cancel)
    cancel.close()
    leader = project / "leader"
    assert not leader.exists() or not leader.read_text().strip() or not alive(int(leader.read_text()))


def test_ctrl_c_ends_the_hooks(project: Path, at_once: None) -> None:
    write_config(project / "hooks.toml", array_hook("echo $$ > leader; sleep 60 & echo $! > child; wait"))
    code = """
        from tenterhook import Engine, Event
        Engine.load(configs=["hooks.toml"]).decide(Event("pre-tool-call", tool_name="Shell", tool_input={}))
    """
    caller = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stderr=subprocess.DEVNULL)
    try:
        child, leader = pid_in(project / "child"), pid_in(project / "leader")
        caller.send_signal(signal.SIGINT)
        caller.wait(HANG)
    finally:
        caller.kill()
        caller.wait()
    assert caller.returncode == -signal.SIGINT
    until(lambda: not alive(leader) and not alive(child), HANG)


@pytest.mark.parametrize("script", ["echo said; exit 2", "sleep 60 & exit 2"])
def test_a_hook_that_ended_in_time_did_not_time_out_however_late_we_look(script: str, at_once: None) -> None:
    def slowly() -> Iterator[Command]:
        for each in (script, "exit 0"):
            yield Command(("/bin/sh", "-c", each), b"{}", os.getcwd(), dict(os.environb), 0.3)
            time.sleep(0.5)

    first, _ = run_stage(slowly())
    assert (first.failure, first.exit_code) == (None, 2)


def test_a_second_ctrl_c_while_hooks_are_ended_closes_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(_: float) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    commands = [
        Command(("/bin/sh", "-c", each), b"", os.getcwd(), dict(os.environb), 60.0) for each in ("", "sleep 60")
    ]
    with pytest.raises(KeyboardInterrupt):
        monkeypatch.setattr(time, "sleep", impatient)
        run_stage(commands, tell=lambda *_: True)


def test_a_hook_whose_exit_code_was_taken_is_failed_not_allowed(project: Path) -> None:
    config = write_config(project / "c.toml", array_hook("exit 2", fail_mode="closed"))
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        verdict = Engine.load(configs=[config]).decide(shell_call())
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert verdict.denied
    assert verdict.runs[0].failed
