"""`tenterhook log`: what reached the hooks, whichever way it is asked for; figures; and what shadow mode would do."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import pytest

from journal import journals
from support import (
    array_hook,
    folder_hook,
    on_a_terminal,
    project_hooks,
    shell_call,
    table_hook,
    tenterhook,
    until,
    user_hooks,
    write_config,
)
from tenterhook import Engine, Event, bridge, cli
from tenterhook.basics.display_text import columns
from tenterhook.journal import statistics, writer

if TYPE_CHECKING:
    from collections.abc import Iterator

HANG = 60
SHADOW = {"mode": "shadow"}
ASYNC: dict[str, Any] = {"async": True}


def say(**answer: Any) -> str:
    return f"echo '{json.dumps(answer)}'"


def sessions(*arguments: str) -> list[str]:
    return [each["session_id"] for each in journals.log_json(*arguments)]


def figures(hook: str, *arguments: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = [each for each in journals.stats_json(*arguments)["hooks"] if each["hook"] == hook]
    assert len(found) == 1
    return found[0]


# ---- everything that becomes of a hook is a thing of its own


@pytest.fixture
def outcomes(home: Path, project: Path) -> Path:
    """One hook for each thing that can become of one; the last blocks, and what comes behind it does not run."""
    hooks = user_hooks(home)
    approve = say(hookSpecificOutput={"permissionDecision": "allow"})
    scripts = {
        "silent": "exit 0",
        "allows": say(decision="allow"),
        "approves": approve,
        "asks": say(decision="ask", reason="are you sure?"),
        "fails": "echo oh no >&2; exit 1",
        "hangs": "sleep 30",
    }
    for number, (name, script) in enumerate(scripts.items()):
        folder_hook(hooks, name, script, priority=900 - number, timeout=300 if name == "hangs" else 30000)
    folder_hook(hooks, "blocks", "echo 'not this' >&2; exit 2", priority=200)
    folder_hook(hooks, "too-late", "exit 0", priority=100)
    later: dict[str, Any] = {"async": True}
    folder_hook(hooks, "later", "exit 3", **later)
    folder_hook(project_hooks(project), "untrusted", "exit 2", priority=1000)
    Engine.load().decide(shell_call(session_id="s"))
    until(lambda: journals.recorded(journals.folder(home), "async"))
    return project


MEANINGS = {
    "silent": "no_decision",
    "allows": "allowed",
    "approves": "approved",
    "asks": "asked",
    "fails": "failed",
    "hangs": "timed_out",
    "blocks": "blocked",
    "too-late": "not_run",
    "untrusted": "not_run",
    "later": "started",
}


@pytest.mark.usefixtures("outcomes")
def test_not_run_failed_timed_out_allowed_no_decision_and_blocked_stay_different(home: Path) -> None:
    (record,) = journals.recorded(journals.folder(home))
    assert {run["hook"]: run["meaning"] for run in record["runs"]} == MEANINGS
    assert (record["decision"], record["reason"]) == ("deny", "not this")
    why = {run["hook"]: run.get("why") for run in record["runs"]}
    assert why["untrusted"] == "untrusted"
    assert why["too-late"] == "stopped by an earlier block"
    verdict, ended = journals.log_json()
    assert verdict == record
    assert (ended["type"], ended["hook"], ended["meaning"], ended["exit_code"]) == ("async", "later", "failed", 3)
    shown = tenterhook("log").stdout
    for hook, meaning in MEANINGS.items():
        assert any(line.split()[0] == hook and word(meaning) in line for line in shown.splitlines()), hook
    assert "later (async) failed" in shown


def word(meaning: str) -> str:
    return f" {meaning.replace('_', ' ')}  "


@pytest.mark.usefixtures("outcomes")
def test_trigger_has_the_same_words_for_what_a_hook_did() -> None:
    shown = tenterhook("trigger", "pre-tool-call", "--tool", "Shell").stdout
    for hook, meaning in MEANINGS.items():
        assert any(line.split()[1:2] == [hook] and word(meaning) in f"{line}  " for line in shown.splitlines()), hook


def test_a_long_reason_is_shown_once_and_its_lines_are_moved_in(home: Path, project: Path) -> None:
    reason = "do not do this " * 30 + "\nask somebody"
    folder_hook(user_hooks(home), "a-guard", f"cat >&2 <<'END'\n{reason}\nEND\nexit 2")
    ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell")
    for shown in (ended.stdout, tenterhook("log").stdout):
        assert shown.count("do not do this " * 30) == 1
        assert shown.count("\n      ask somebody") == 1
        assert "a-guard                      blocked" in shown


def test_a_reason_that_was_not_the_first_is_shown_beside_its_hook(project: Path) -> None:
    text = array_hook("echo first >&2; exit 2") + array_hook("echo second >&2; exit 2")
    write_config(project / "config.toml", text)
    ended = tenterhook("trigger", "PreToolUse", "--tool", "Bash", "--config", "config.toml")
    for shown in (ended.stdout, tenterhook("log").stdout):
        assert (shown.count("first"), shown.count("second")) == (1, 1)
        assert next(line for line in shown.splitlines() if "second" in line).split()[-1] == "second"


def test_a_failure_is_shown_with_why_and_the_end_of_its_stderr(home: Path, project: Path) -> None:
    noise = "head -c 30000 /dev/zero | tr '\\0' x >&2; echo >&2"
    folder_hook(user_hooks(home), "guard", f"{noise}; echo first >&2; echo last >&2; exit 3")
    folder_hook(user_hooks(home), "later", f"{noise}; echo later >&2; exit 7", **ASYNC)
    tenterhook("trigger", "pre-tool-call", "--tool", "Shell")
    until(lambda: journals.recorded(journals.folder(home), "async"))
    shown = tenterhook("log").stdout
    assert "exit 3:\n" in shown
    assert "\n      first\n      last\n" in shown
    assert "later (async) failed" in shown
    assert "exit 7:\n" in shown
    assert "\n      later\n" in shown


@pytest.mark.usefixtures("outcomes")
def test_figures_keep_them_apart_too() -> None:
    counted = ("runs", "blocks", "failures", "timeouts", "not_run", "allowed", "asked", "no_decision", "would_block")
    found = {each["hook"]: {key: each[key] for key in counted if each[key]} for each in journals.stats_json()["hooks"]}
    assert found == {
        "silent": {"runs": 1, "no_decision": 1},
        "allows": {"runs": 1, "allowed": 1},
        "approves": {"runs": 1, "allowed": 1},
        "asks": {"runs": 1, "asked": 1},
        "fails": {"runs": 1, "failures": 1},
        "hangs": {"runs": 1, "timeouts": 1},
        "blocks": {"runs": 1, "blocks": 1},
        "too-late": {"not_run": 1},
        "untrusted": {"not_run": 1},
        "later": {"runs": 1, "failures": 1},  # once it had ended
    }


def test_an_event_that_hooks_are_for_is_recorded_though_no_pattern_found_it(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"tool": "Shell", "pattern": "forbidden"})
    Engine.load().decide(shell_call(session_id="s"))
    (record,) = journals.log_json()
    assert (record["runs"], record["decision"]) == ([], "none")


def test_an_event_without_a_hook_is_not_recorded(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    Engine.load().decide(Event("pre-agent-turn", prompt="hello"))
    assert not journals.folder(home).exists()
    assert tenterhook("log").stdout == "nothing recorded yet: it begins with the next event\n"


def test_who_asked_is_recorded(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    Engine.load().decide(shell_call(session_id="library"))
    tenterhook("trigger", "pre-tool-call", "--session", "trigger")
    assert cli.run(["install", "gemini"]) == 0
    record = home / ".local" / "state" / "tenterhook" / "installed" / "gemini.json"
    said = {"session_id": "gemini", "cwd": str(project), "tool_name": "run_shell_command", "tool_input": {}}
    arguments = ["--host", "gemini", "--event", "BeforeTool", "--record", str(record)]
    command = [sys.executable, "-I", "-S", bridge.__file__, *arguments]
    subprocess.run(command, input=json.dumps(said), text=True, capture_output=True, timeout=HANG)
    assert [(each["session_id"], each["by"]) for each in journals.log_json()] == [
        ("library", "library"),
        ("trigger", "trigger"),
        ("gemini", "gemini"),
    ]


# ---- asking for some of it


@pytest.fixture
def mixed(home: Path, project: Path) -> Path:
    """Events of several kinds, over several hours."""
    now = time.time()
    place = journals.folder(home)
    journals.write(
        place,
        journals.record(1, time=now - 3 * 86400, session_id="old"),
        journals.record(2, time=now - 3 * 3600, session_id="a", decision="deny", runs=[journals.run("g", "blocked")]),
        journals.record(3, time=now - 90 * 60, session_id="b", event="pre-agent-turn", tool_name=None),
        journals.record(4, time=now - 60, session_id="a", decision="ask", runs=[journals.run("g", "asked")]),
        journals.record(5, time=now - 30, session_id="b", decision="allow", runs=[journals.run("other", "allowed")]),
        journals.record(6, time=now - 20, session_id="c", decision="approve", runs=[]),
    )
    ended = {"schema": 1, "type": "async", "time": now - 10, "hook": "later", "source": "/h", "session_id": "c"}
    ended |= {"event": "post-session", "event_name": "session_end", "outcome": "ok", "meaning": "no_decision"}
    journals.write(place, {**ended, "why": None, "exit_code": 0, "duration_ms": 5.0, "stdout": "", "stderr": ""})
    return place


ALL = ["old", "a", "b", "a", "b", "c", "c"]
FILTERS: dict[tuple[str, ...], list[str]] = {
    (): ALL,
    ("--session", "a"): ["a", "a"],
    ("--session", "nobody"): [],
    ("--event", "pre-tool-call"): ["old", "a", "a", "b", "c"],
    ("--event", "PreToolUse"): ["old", "a", "a", "b", "c"],
    ("--event", "before_tool"): ["old", "a", "a", "b", "c"],
    ("--event", "UserPromptSubmit"): ["b"],
    ("--event", "post-session"): ["c"],
    ("--hook", "g"): ["a", "a"],
    ("--hook", "later"): ["c"],
    ("--hook", "nobody"): [],
    ("--decision", "deny"): ["a"],
    ("--decision", "ask"): ["a"],
    ("--decision", "approve"): ["c"],
    ("--decision", "allow"): ["b"],
    ("--decision", "none"): ["old", "b"],
    ("--since", "2h"): ["b", "a", "b", "c", "c"],
    ("--since", "100m"): ["b", "a", "b", "c", "c"],
    ("--since", "1.5d"): ["a", "b", "a", "b", "c", "c"],
    ("--since", "25s"): ["c", "c"],
    ("--since", "1w"): ALL,
    ("-n", "2"): ["c", "c"],
    ("-n", "0"): ALL,
    ("--session", "a", "--decision", "deny", "--hook", "g", "--event", "pre-tool-call", "--since", "1d"): ["a"],
    ("--session", "a", "-n", "1"): ["a"],
}


@pytest.mark.usefixtures("mixed")
def test_each_filter_shows_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, expected in FILTERS.items():
        assert cli.run(["log", "--json", *arguments]) == 0
        shown = [json.loads(line)["session_id"] for line in capsys.readouterr().out.splitlines()]
        assert shown == expected, arguments
        assert cli.run(["log", *arguments]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len([line for line in lines if line.startswith("20")]) == len(expected)
        if not expected:
            assert lines == ["nothing recorded that fits"]


@pytest.mark.usefixtures("mixed")
def test_the_real_command_filters_as_well() -> None:
    assert sessions("--session", "a", "--since", "2h") == ["a"]


@pytest.mark.usefixtures("mixed")
def test_json_lines_are_the_records_as_they_were_written(mixed: Path) -> None:
    written = [json.loads(line) for line in (mixed / "000001.jsonl").read_bytes().splitlines()[1:]]
    assert journals.log_json() == written


@pytest.mark.parametrize(
    "arguments",
    [["--since", "soon"], ["--since", "2"], ["--decision", "maybe"], ["--event", "pre-tool-cal"], ["-n", "many"]],
)
def test_a_wrong_filter_is_a_wrong_use_of_the_command(project: Path, arguments: list[str]) -> None:
    ended = tenterhook("log", *arguments)
    assert (ended.returncode, ended.stdout) == (64, "")
    assert arguments[1] in ended.stderr


def test_text_from_outside_cannot_move_the_cursor(home: Path, project: Path) -> None:
    evil = "\x1b[2J\u202e\nfake line"
    runs = [journals.run(evil, "blocked", why=evil)]
    journals.write(journals.folder(home), journals.record(session_id=evil, tool_name=evil, reason=evil, runs=runs))
    for words in (["log"], ["log", "stats"]):
        shown = tenterhook(*words).stdout
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_a_reader_that_has_seen_enough_is_no_trouble(mixed: Path) -> None:
    script = f"{sys.executable} -m tenterhook log -n 0 | head -1"
    ended = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=HANG)
    assert "Traceback" not in ended.stderr
    assert len(ended.stdout.splitlines()) == 1


# ---- as things happen


@pytest.fixture
def follower(project: Path) -> Iterator[Any]:
    """Starts `tenterhook log -f`; ends what is left."""
    started: list[subprocess.Popen[str]] = []

    def follow(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tenterhook", "log", "-f", *arguments]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield follow
    for process in started:
        process.kill()
        process.communicate()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def test_following_shows_what_others_write_and_ctrl_c_ends_it(home: Path, follower: Any) -> None:
    folder_hook(user_hooks(home), "guard", "echo 'not this' >&2; exit 2")
    tenterhook("trigger", "pre-tool-call", "--session", "before")
    process = follower("--json")
    assert json.loads(line_of(process))["session_id"] == "before"
    for number in range(3):
        tenterhook("trigger", "pre-tool-call", "--session", f"s-{number}")
        record = json.loads(line_of(process))
        assert (record["session_id"], record["decision"]) == (f"s-{number}", "deny")
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=HANG)
    assert stdout == ""
    assert "Traceback" not in stderr
    assert process.returncode in (0, 130)


def test_following_begins_before_there_is_anything_and_keeps_to_its_filters(home: Path, follower: Any) -> None:
    process = follower("--decision", "deny", "--hook", "g", "--json")
    until((home / ".cache" / "tenterhook" / "journal.db").exists)
    denied = [journals.run("g", "blocked")]
    place = journals.folder(home)
    journals.write(place, journals.record(1), journals.record(2, decision="deny"))
    journals.write(place, journals.record(3, decision="deny", runs=denied), journals.record(4, runs=denied))
    journals.write(place, journals.record(5, decision="deny", runs=denied))
    assert [json.loads(line_of(process))["session_id"] for _ in range(2)] == ["s-3", "s-5"]


def test_following_shows_each_record_once_whatever_its_time(home: Path, follower: Any) -> None:
    place = journals.folder(home)
    journals.write(place, *(journals.record(number) for number in range(3)))
    head, own = writer._closed(writer._header(0, writer.START), writer.START)
    old = journals.record(time=time.time() - 3600, session_id="aside")
    (place / "aside-1-00000000.jsonl").write_bytes(head + writer._closed(json.dumps(old).encode(), own)[0])
    process = follower("--json")
    assert [json.loads(line_of(process))["session_id"] for _ in range(4)] == ["aside", "s-0", "s-1", "s-2"]
    journals.write(place, journals.record(3))
    assert json.loads(line_of(process))["session_id"] == "s-3"


# ---- figures


def test_percentiles_are_those_of_the_times_it_took(home: Path, project: Path) -> None:
    runs = [journals.run("g", duration_ms=float(number)) for number in range(100, 0, -1)]
    journals.write(journals.folder(home), *(journals.record(number, runs=[run]) for number, run in enumerate(runs)))
    found = figures("g")
    assert found["runs"] == found["no_decision"] == 100
    assert (found["p50_ms"], found["p95_ms"], found["p99_ms"]) == (50.0, 95.0, 99.0)
    assert statistics.percentile([], 0.5) == 0
    assert statistics.percentile([7.0], 0.99) == 7.0


def test_what_did_not_run_takes_no_time(home: Path, project: Path) -> None:
    runs = [journals.run("g", duration_ms=40.0), *(journals.run("g", "not_run", duration_ms=0.0) for _ in range(9))]
    journals.write(journals.folder(home), *(journals.record(runs=[run]) for run in runs))
    found = figures("g")
    assert (found["runs"], found["not_run"], found["p50_ms"]) == (1, 9, 40.0)


def test_the_line_of_bars_shows_when_it_ran(home: Path, project: Path) -> None:
    now = time.time()
    times = [*[now - 86400 * 6.9] * 3, now - 86400 * 3.4, *[now - 10] * 12]
    journals.write(journals.folder(home), *(journals.record(time=each) for each in sorted(times)))
    bars = figures("guard")["activity"]
    assert len(bars) == 20
    assert [place for place, bar in enumerate(bars) if bar != " "] == [0, 10, 19]
    assert bars[10] < bars[0] < bars[19]
    assert bars in tenterhook("log", "stats").stdout


def test_figures_reach_back_as_far_as_asked(home: Path, project: Path) -> None:
    now = time.time()
    times = (now - 20 * 86400, now - 2 * 86400, now - 60)
    journals.write(journals.folder(home), *(journals.record(time=each) for each in times))
    assert [figures("guard", *since)["runs"] for since in ((), ("--since", "1h"), ("--since", "4w"))] == [2, 1, 3]
    assert tenterhook("log", "stats", "--since", "1s").stdout == "nothing recorded in the last 1s\n"


FAILED, TIMED_OUT, FINE, NOT_RUN = "failed", "timed_out", "no_decision", "not_run"


@pytest.mark.parametrize(
    ("meanings", "is_failing"),
    [
        ([FAILED] * 4, False),
        ([FAILED] * 5, True),
        ([FINE, *[FAILED] * 5], True),
        ([*[FAILED] * 5, FINE], False),
        ([FAILED, FAILED, FINE, FAILED, FAILED, FAILED], False),
        ([FAILED, TIMED_OUT, FAILED, TIMED_OUT, TIMED_OUT], True),
        ([FAILED, FAILED, NOT_RUN, FAILED, FAILED, NOT_RUN, FAILED], True),
        ([NOT_RUN] * 9, False),
    ],
)
def test_five_failures_in_a_row_are_failing(
    home: Path, project: Path, meanings: list[str], is_failing: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    journals.write(journals.folder(home), *(journals.record(runs=[journals.run("g", each)]) for each in meanings))
    assert cli.run(["log", "stats", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["hooks"]
    assert found["is_failing"] is is_failing
    assert cli.run(["log", "stats"]) == 0
    assert ("failing" in capsys.readouterr().out) is is_failing


def test_a_hook_that_fails_and_takes_too_long_is_marked_wherever_hooks_are_shown(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "slow", "sleep 0.05; exit 1", metadata={"budget_ms": 5})
    folder_hook(user_hooks(home), "quick", "exit 0", metadata={"budget_ms": 20000})
    engine = Engine.load()
    for _ in range(5):
        engine.decide(shell_call())
    slow, quick = figures("slow"), figures("quick")
    assert (slow["budget_ms"], slow["is_over_budget"], slow["is_failing"]) == (5.0, True, True)
    assert (quick["budget_ms"], quick["is_over_budget"], quick["is_failing"]) == (20000.0, False, False)
    lines = tenterhook("log", "stats").stdout.splitlines()
    (about_slow,) = [line for line in lines if line.split()[:1] == ["slow"]]
    assert "failing" in about_slow
    assert "over its budget of 5 ms" in about_slow
    assert "failing" in tenterhook("list").stdout
    assert "failing" in tenterhook("doctor").stdout


def test_what_hooks_cost_each_session_in_waiting(home: Path, project: Path) -> None:
    for session, waits in {"a": [100.0, 50.5], "b": [2000.0], "c": [1.0, 1.0, 1.0]}.items():
        journals.write(journals.folder(home), *(journals.record(session_id=session, waited_ms=each) for each in waits))
    found = journals.stats_json()["sessions"]
    assert found == [
        {"session_id": "b", "events": 1, "waited_ms": 2000.0},
        {"session_id": "a", "events": 2, "waited_ms": 150.5},
        {"session_id": "c", "events": 3, "waited_ms": 3.0},
    ]
    assert journals.stats_json("--session", "a")["sessions"] == found[1:2]
    assert "2.0 s" in tenterhook("log", "stats").stdout


def test_the_waiting_is_at_least_what_the_hooks_took(home: Path, project: Path) -> None:
    config = write_config(project / "hooks.toml", table_hook("sleep 0.05") + table_hook("sleep 0.1"))
    Engine.load(configs=[config]).decide(shell_call(session_id="s"))
    (session,) = journals.stats_json()["sessions"]
    (record,) = journals.log_json()
    assert session["waited_ms"] >= sum(run["duration_ms"] for run in record["runs"]) >= 150


# ---- the index


def spoil_index(file: Path, how: str) -> None:
    match how:
        case "deleted":
            file.unlink()
        case "garbage":
            file.write_bytes(b"not a database" * 1000)
        case "empty":
            file.write_bytes(b"")
        case "cut":
            file.write_bytes(file.read_bytes()[:5000])
        case "holes":
            content = bytearray(file.read_bytes())
            content[4096:] = b"\xff" * (len(content) - 4096)
            file.write_bytes(content)
        case "another version" | "a later version":
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                database.execute(f"pragma user_version = {999 if how.startswith('a later') else 0}")
                database.execute("drop table runs")
        case "a table missing":
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                database.execute("drop table records")
        case "of another journal":
            with closing(sqlite3.connect(file, isolation_level=None)) as database:
                database.execute("update about set place = '/elsewhere'")
                database.execute("update records set session = 'wrong'")


SPOILT = ["deleted", "garbage", "empty", "cut", "holes", "another version", "a later version", "a table missing"]


@pytest.mark.parametrize("how", [*SPOILT, "of another journal"])
def test_an_index_that_is_of_no_use_is_made_again(home: Path, project: Path, how: str) -> None:
    records = [journals.record(number, fields={"prompt": "x" * 50}) for number in range(200)]
    journals.write(journals.folder(home), *records)
    expected = [f"s-{number}" for number in range(200)]
    assert sessions("-n", "0") == expected
    file = home / ".cache" / "tenterhook" / "journal.db"
    for ending in ("-wal", "-shm"):  # all of it is in the file
        assert not Path(f"{file}{ending}").exists()
    spoil_index(file, how)
    assert sessions("-n", "0") == expected
    assert sessions("--session", "s-77") == ["s-77"]
    assert figures("guard")["runs"] == 200
    journals.write(journals.folder(home), journals.record(200))
    assert sessions("-n", "1") == ["s-200"]


def test_a_segment_that_was_replaced_is_read_again(home: Path, project: Path) -> None:
    place = journals.folder(home)
    journals.write(place, *map(journals.record, range(3)))
    assert sessions() == ["s-0", "s-1", "s-2"]
    (place / "000001.jsonl").unlink()
    journals.write(place, *map(journals.record, range(7, 12)))
    assert sessions() == ["s-7", "s-8", "s-9", "s-10", "s-11"]
    assert figures("guard")["runs"] == 5


def test_a_name_that_is_no_text_does_not_stop_anybody(home: Path, project: Path) -> None:
    """A file name need not be UTF-8, and a model may call a tool what it likes."""
    config = write_config(Path(os.fsdecode(os.fsencode(project) + b"/h\xff.toml")), array_hook("exit 0"))
    Engine.load(configs=[config]).decide(shell_call(tool_name="\ud83d", session_id="\udcff"))
    journals.write(journals.folder(home), journals.record(1))
    assert len(journals.log_json()) == 2
    assert tenterhook("log").returncode == 0
    assert len(journals.stats_json()["hooks"]) == 2
    assert tenterhook("log", "stats").returncode == 0


def test_many_readers_at_once_see_the_same(home: Path, project: Path) -> None:
    journals.write(journals.folder(home), *map(journals.record, range(300)))
    expected = [f"s-{number}" for number in range(300)]
    for _ in range(2):  # while it is made, and once it is
        command = [sys.executable, "-m", "tenterhook", "log", "--json", "-n", "0"]
        readers = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)
        ]
        for reader in readers:
            stdout, stderr = reader.communicate(timeout=HANG)
            assert (reader.returncode, stderr) == (0, "")
            assert [json.loads(line)["session_id"] for line in stdout.splitlines()] == expected


WRITER = """
import sys
from contextlib import closing
from pathlib import Path
from journal import journals
for number in range(3000):
    journals.write(Path(sys.argv[1]), journals.record(number))
    if number == 20:
        print("begun", flush=True)
"""


def test_readers_see_whole_records_in_order_while_others_write(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tests = str(Path(__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")])))
    writer = journals.start(WRITER, str(journals.folder(home)))
    try:
        assert line_of(writer) == "begun\n"
        for _ in range(4):
            seen = sessions("-n", "0")
            assert seen == [f"s-{number}" for number in range(len(seen))]
            assert len(seen) >= 20
    finally:
        writer.kill()
        writer.communicate()


# ---- shadow mode


ANSWERS: dict[str, str] = {
    "deny": "echo 'not this' >&2; exit 2",
    "ask": say(decision="ask", reason="sure?"),
    "approve": say(hookSpecificOutput={"permissionDecision": "allow"}),
    "modified": say(modified_input={"command": "safe"}),
    "context": say(additional_context="mind this"),
    "message": say(message="look here"),
}


@pytest.mark.parametrize("where", ["HOOK.md", "hooks.toml"])
@pytest.mark.parametrize("answer", ANSWERS)
def test_what_a_hook_in_shadow_mode_says_is_recorded_and_not_enforced(
    home: Path, project: Path, answer: str, where: str
) -> None:
    front: dict[str, Any] = {"metadata": SHADOW} if where == "HOOK.md" else {}
    folder_hook(user_hooks(home), "new", f"touch ran; {ANSWERS[answer]}", **front)
    folder_hook(user_hooks(home), "old", say(decision="allow"), priority=1)
    if where == "hooks.toml":
        write_config(
            user_hooks(home) / "hooks.toml", '[[hooks.override]]\nname = "new"\nmetadata = { mode = "shadow" }\n'
        )
    verdict = Engine.load().decide(shell_call("ls", session_id="s"))
    assert (project / "ran").exists()
    assert (verdict.decision, verdict.modified_input) == ("allow", None)
    assert (verdict.additional_context, verdict.messages) == ((), ())
    assert [run.started for run in verdict.runs] == [True, True]  # a block of its does not stop the others
    (record,) = journals.recorded(journals.folder(home))
    assert record["decision"] == "allow"
    new, old = record["runs"]
    assert (new["hook"], new["shadow"], "shadow" in old) == ("new", True, False)
    assert "shadow" in new["ignored"]
    expected: dict[str, tuple[str, Any]]
    expected = {"deny": ("decision", "deny"), "ask": ("decision", "ask"), "approve": ("decision", "approve")}
    expected |= {"modified": ("modified_input", {"command": "safe"}), "context": ("additional_context", "mind this")}
    expected |= {"message": ("message", "look here")}
    key, value = expected[answer]
    assert new[key] == value
    assert new["meaning"] == {"deny": "would_block", "ask": "asked", "approve": "approved"}.get(answer, "no_decision")
    figure = figures("new", "--shadow")
    assert figure["shadow"]
    assert (figure["would_block"], figure["blocks"], figure["asked"]) == (answer == "deny", 0, answer == "ask")


def test_stats_of_shadow_mode_say_what_hooks_would_have_done(home: Path, project: Path) -> None:
    script = """
        case $(cat) in
          *deny*) exit 2;; *ask*) echo '{"decision": "ask"}';;
          *change*) echo '{"modified_input": {"command": "safe"}, "additional_context": "so"}';;
        esac
    """
    folder_hook(user_hooks(home), "new", script, metadata=SHADOW)
    folder_hook(user_hooks(home), "old", "exit 0")
    engine = Engine.load()
    for command in ("deny", "deny", "ask", "change", "ls"):
        assert engine.decide(shell_call(command)).decision == "none"
    shown = tenterhook("log", "stats", "--shadow").stdout
    (line,) = [line for line in shown.splitlines() if line.split()[:1] == ["new"]]
    assert "would have blocked 2" in line
    assert "asked 1" in line
    assert "changed the input 1" in line
    assert "old" not in shown
    assert "old" in tenterhook("log", "stats").stdout
    assert [each["hook"] for each in journals.stats_json("--shadow")["hooks"]] == ["new"]


# ---- what an event was about, and where


def about(home: Path, **fields: Any) -> str:
    """The line below the first of the one record there is."""
    journals.write(journals.folder(home), journals.record(**fields))
    return tenterhook("log").stdout.splitlines()[1]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"tool_input": {"command": "git push --force"}}, "git push --force"),
        ({"tool_input": {"file_path": "{work_dir}/src/main.py", "content": "x"}}, "src/main.py"),
        ({"tool_input": {"file_path": "/etc/passwd"}}, "/etc/passwd"),
        ({"tool_input": {"command": "{work_dir}/run me"}}, "{work_dir}/run me"),
        ({"prompt": [{"type": "text", "text": "Fix\nthe test"}]}, "Fix\\nthe test"),
        ({"tool_input": {"command": "echo \x1b[31m\u202eevil"}}, "echo \\x1b[31m\\u202eevil"),
        ({"tool_input": {"mode": "all", "limit": 3}}, '{"mode": "all", "limit": 3}'),
        ({"source": "startup"}, ""),
        (None, ""),
    ],
)
def test_log_shows_the_command_file_or_prompt_and_the_project(home: Path, fields: Any, expected: str) -> None:
    work_dir = f"{home}/src/app"
    filled = json.loads(json.dumps(fields).replace("{work_dir}", work_dir))
    line = about(home, work_dir=work_dir, fields=filled)
    assert line == f"    ~/src/app  {expected.replace('{work_dir}', work_dir)}".rstrip()


def test_log_shows_what_an_approval_was_about(home: Path) -> None:
    asked = {"tool_input": {"command": "make deploy"}}
    line = about(home, type="approval", fields=asked, work_dir="/srv/app", answered_by="terminal", decision="approve")
    assert line == "    /srv/app  make deploy"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_log_fits_the_terminal_and_leaves_nothing_out_in_a_pipe(
    home: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = f"first {'x' * 300} 漢字 {'y' * 300} last"
    project = f"{home}/{'deep/' * 30}app"
    reason = "Not like this. " * 20 + "Really."
    asked = {"tool_input": {"command": command}}
    journals.write(
        journals.folder(home), journals.record(fields=asked, work_dir=project, decision="deny", reason=reason)
    )
    piped = tenterhook("log").stdout
    assert f"    {project.replace(str(home), '~')}  {command}\n" in piped
    assert f"  deny  {reason}  (library)\n" in piped
    monkeypatch.setenv("COLUMNS", str(width))
    status, seen = on_a_terminal(["log"], {})
    lines = [click.unstyle(line) for line in seen.decode().splitlines()]
    assert status == 0
    assert [line for line in lines[1:] if columns(line) > max(width, 58)] == []  # the hook's own line aside
    assert lines[1].startswith("    ~/")
    assert lines[1].count("…") == 2
    assert lines[1].endswith("last")
    assert columns(lines[1]) in (width, width - 1)
    assert " ".join(line.strip() for line in lines[2:-1]) == reason


def test_what_hooks_and_people_said_is_fitted_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    why, stderr = "exit 3", "details of a failure that are longer than a terminal is wide in any case, all of them"
    failed = journals.run("guard", outcome="failed", meaning="failed", why=why, stderr=stderr)
    answer = {"type": "approval", "answered_by": "terminal", "decision": "deny", "reason": "No. " * 20}
    journals.write(journals.folder(home), journals.record(runs=[failed]), journals.record(1, **answer))
    assert f"exit 3: {stderr}\n" in tenterhook("log").stdout
    monkeypatch.setenv("COLUMNS", "80")
    _, seen = on_a_terminal(["log"], {})
    lines = [click.unstyle(line) for line in seen.decode().splitlines()]
    assert [line for line in lines if columns(line) > 80] == []
    assert [line for line in lines if not line.startswith(("2", "    "))] == []
    assert "all of them" in " ".join(lines)


def test_stats_of_shadow_mode_count_its_runs_alone(home: Path) -> None:
    def verdict(number: int, session: str, **run: Any) -> dict[str, Any]:
        return journals.record(number, session_id=session, runs=[journals.run("new", **run), journals.run("old")])

    journals.write(
        journals.folder(home),
        verdict(0, "enforced", meaning="blocked"),
        verdict(1, "shadowed", meaning="would_block", shadow=True),
        verdict(2, "shadowed", meaning="no_decision"),
        verdict(3, "other", meaning="would_block", shadow=True),
        journals.record(4, session_id="without", runs=[journals.run("old")]),
    )
    found = journals.stats_json("--shadow")
    assert [(each["hook"], each["runs"], each["blocks"], each["would_block"]) for each in found["hooks"]] == [
        ("new", 2, 0, 2)
    ]
    assert {each["session_id"]: each["events"] for each in found["sessions"]} == {"shadowed": 1, "other": 1}
    found = journals.stats_json("--shadow", "--session", "shadowed")
    assert [(each["hook"], each["runs"], each["would_block"]) for each in found["hooks"]] == [("new", 1, 1)]
    assert [(each["session_id"], each["events"]) for each in found["sessions"]] == [("shadowed", 1)]
    assert journals.stats_json("--shadow", "--session", "enforced") == {"schema": 1, "hooks": [], "sessions": []}
    shown = tenterhook("log", "stats", "--shadow", "--session", "enforced").stdout
    assert shown == "nothing recorded of session enforced in shadow mode in the last 7d\n"


def test_a_hook_that_fails_in_shadow_mode_blocks_nothing_though_it_would(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "new", "exit 1", metadata={**SHADOW, "on_failure": "block"})
    assert Engine.load().decide(shell_call()).decision == "none"
    (record,) = journals.recorded(journals.folder(home))
    assert (record["runs"][0]["meaning"], record["runs"][0]["decision"]) == ("failed", "deny")


@pytest.mark.parametrize("script", ["exit 1", "echo '{'", ANSWERS["deny"], ANSWERS["ask"]])
def test_a_hook_in_shadow_mode_takes_nothing_from_anothers_approval(home: Path, project: Path, script: str) -> None:
    folder_hook(user_hooks(home), "old", say(decision="approve"), trigger="permission-request")
    folder_hook(user_hooks(home), "new", script, trigger="permission-request", metadata=SHADOW)
    event = Event("permission-request", tool_name="Shell", tool_input={"command": "ls"})
    assert Engine.load().decide(event).decision == "approve"


def test_an_agent_is_told_nothing_of_what_a_hook_in_shadow_mode_says(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "new", ANSWERS["deny"], metadata={**SHADOW, "on_failure": "block"})
    assert cli.run(["install", "claude-code"]) == 0
    record = home / ".local" / "state" / "tenterhook" / "installed" / "claude-code.json"
    said = {"session_id": "s", "cwd": str(project), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    arguments = ["--host", "claude-code", "--event", "PreToolUse", "--record", str(record)]
    for _ in range(2):  # from the definitions, then from the index
        command = [sys.executable, "-I", "-S", bridge.__file__, *arguments]
        ended = subprocess.run(command, input=json.dumps(said), text=True, capture_output=True, timeout=HANG)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert [each["runs"][0]["meaning"] for each in journals.log_json()] == ["would_block"] * 2
    assert not json.loads(record.read_text())["closed"]  # it is no guard that must hold, not yet


def test_what_doctor_tries_is_in_the_log_and_counts_for_nobody(home: Path, project: Path) -> None:
    canary = journals.record(1, decision="deny", runs=[journals.run("tenterhook-canary", "blocked", decision="deny")])
    journals.write(journals.folder(home), canary, journals.record(2, runs=[journals.run("guard")]))
    assert len(journals.log_json()) == 2
    assert [each["hook"] for each in journals.stats_json()["hooks"]] == ["guard"]
    replayed = json.loads(tenterhook("replay", "--since", "10000d", "--json").stdout)
    assert replayed["events"] == 1


def test_a_replay_tells_what_a_hook_that_was_not_trusted_would_block(home: Path, tmp_path: Path) -> None:
    kept_back = journals.record(1, runs=[journals.run("guard", "not_run")])
    denied = journals.record(2, decision="deny", runs=[journals.run("guard", "not_run")])  # by another
    journals.write(journals.folder(home), kept_back, denied)
    guard = folder_hook(tmp_path, "guard", "exit 2")
    replayed = tenterhook("replay", "--with", str(guard), "--since", "10000d", "--json")
    assert [each["kind"] for each in json.loads(replayed.stdout)["differences"]] == ["newly blocked"]
