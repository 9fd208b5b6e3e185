"""Statistics of hooks: counts, percentiles, failures in a row, and what each session waited."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from journal import journals
from support import (
    folder_hook,
    shell_call,
    table_hook,
    tenterhook,
    user_hooks,
    write_config,
)
from tenterhook import Engine, cli
from tenterhook.journal import statistics

if TYPE_CHECKING:
    from pathlib import Path


def test_percentiles_are_those_of_the_times_it_took(home: Path, project: Path) -> None:
    runs = [journals.run("g", duration_ms=float(number)) for number in range(100, 0, -1)]
    journals.write(journals.folder(home), *(journals.record(number, runs=[run]) for number, run in enumerate(runs)))
    found = journals.figures("g")
    assert found["runs"] == found["no_decision"] == 100
    assert (found["p50_ms"], found["p95_ms"], found["p99_ms"]) == (50.0, 95.0, 99.0)
    assert statistics.percentile([], 0.5) == 0
    assert statistics.percentile([7.0], 0.99) == 7.0


def test_what_did_not_run_takes_no_time(home: Path, project: Path) -> None:
    runs = [journals.run("g", duration_ms=40.0), *(journals.run("g", "not_run", duration_ms=0.0) for _ in range(9))]
    journals.write(journals.folder(home), *(journals.record(runs=[run]) for run in runs))
    found = journals.figures("g")
    assert (found["runs"], found["not_run"], found["p50_ms"]) == (1, 9, 40.0)


def test_the_line_of_bars_shows_when_it_ran(home: Path, project: Path) -> None:
    now = time.time()
    times = [*[now - 86400 * 6.9] * 3, now - 86400 * 3.4, *[now - 10] * 12]
    journals.write(journals.folder(home), *(journals.record(time=each) for each in sorted(times)))
    bars = journals.figures("guard")["activity"]
    assert len(bars) == 20
    assert [place for place, bar in enumerate(bars) if bar != " "] == [0, 10, 19]
    assert bars[10] < bars[0] < bars[19]
    assert bars in tenterhook("log", "stats").stdout


def test_figures_reach_back_as_far_as_asked(home: Path, project: Path) -> None:
    now = time.time()
    times = (now - 20 * 86400, now - 2 * 86400, now - 60)
    journals.write(journals.folder(home), *(journals.record(time=each) for each in times))
    assert [journals.figures("guard", *since)["runs"] for since in ((), ("--since", "1h"), ("--since", "4w"))] == [
        2,
        1,
        3,
    ]
    assert tenterhook("log", "stats", "--since", "1s").stdout == "nothing recorded in the last 1s\n"


def test_stats_count_the_questions_of_a_hook_apart_from_its_blocks(home: Path, project: Path) -> None:
    runs = [journals.run("guard", each) for each in ("asked", "asked", "asked", "blocked", "no_decision")]
    journals.write(journals.folder(home), *(journals.record(decision="deny", runs=[each]) for each in runs))
    headings, figures = (line.split() for line in tenterhook("log", "stats").stdout.splitlines()[:2])
    assert dict(zip(headings[:4], figures[:4], strict=True)) == {
        "hook": "guard", "runs": "5", "blocks": "1", "asked": "3",
    }  # fmt: skip
    assert journals.figures("guard")["asked"] == 3


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
    slow, quick = journals.figures("slow"), journals.figures("quick")
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


def test_stats_of_shadow_mode_say_what_hooks_would_have_done(home: Path, project: Path) -> None:
    script = """
        case $(cat) in
          *deny*) exit 2;; *ask*) echo '{"decision": "ask"}';;
          *change*) echo '{"modified_input": {"command": "safe"}, "additional_context": "so"}';;
        esac
    """
    folder_hook(user_hooks(home), "new", script, metadata={"mode": "shadow"})
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
