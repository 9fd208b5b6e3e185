"""The regression gate: what is dearer fails, noise does not, and another machine is only told."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from bench import check, hub, instructions, packages, peers, tables
from bench.check import Figures
from bench.comparing import Comparison
from bench.instructions import Program
from bench.laps import Laps
from bench.packages import CannotInstall
from bench.requests import WorkerEnded
from bench.rows import Measure, Row, Target
from support import until

RECORDED = Figures(
    reference=27_000_000,
    instructions={"the bridge": 13_000_000, "loading": 80_000_000},
    ratios={"1 hook": 1.2},
)


def found(*, bridge: float = 1.0, ratio: float = 1.0, reference: float = 1.0) -> Figures:
    """The record with some of it so many times as large."""
    return Figures(
        round(27_000_000 * reference),
        {"the bridge": round(13_000_000 * bridge), "loading": 80_000_000},
        {"1 hook": 1.2 * ratio},
    )


@pytest.mark.parametrize("dearer", [{"bridge": 1.06}, {"bridge": 2.0}, {"ratio": 1.6}])
def test_what_has_become_dearer_fails_and_is_named(
    dearer: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.report("here", found(**dearer), RECORDED) == 1
    named = [line for line in capsys.readouterr().out.splitlines() if "regression" in line]
    assert len(named) == 1
    assert named[0].startswith("the bridge" if "bridge" in dearer else "1 hook")


@pytest.mark.parametrize("noise", [{}, {"bridge": 1.04}, {"bridge": 0.5}, {"ratio": 1.4}, {"reference": 1.01}])
def test_noise_and_improvements_pass(noise: dict[str, float], capsys: pytest.CaptureFixture[str]) -> None:
    assert check.report("here", found(**noise), RECORDED) == 0
    assert "regression" not in capsys.readouterr().out


def test_a_machine_without_a_record_checks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.report("elsewhere", found(bridge=9, ratio=9), None) == 0
    said = capsys.readouterr().out
    assert "there is no record" in said
    assert "the bridge: 117,000,000\n" in said


def test_another_build_of_python_checks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.report("here", found(bridge=9, reference=1.3), RECORDED) == 0
    assert "another build of Python" in capsys.readouterr().out


def test_a_path_that_is_new_is_told_and_those_that_are_known_are_checked() -> None:
    new = Figures(27_000_000, {"the bridge": 14_000_000, "another": 5}, {})
    assert [(each.name, each.is_regression) for each in check.findings(new, RECORDED)] == [
        ("the bridge", True),
        ("another", False),
    ]


def test_a_path_may_take_less_than_a_bare_start() -> None:
    recorded = Figures(27_000_000, {"the bridge": -3_000_000}, {})
    for count, is_regression in ((-3_100_000, False), (-2_900_000, False), (-2_700_000, True), (1_000_000, True)):
        (finding,) = check.findings(Figures(27_000_000, {"the bridge": count}, {}), recorded)
        assert finding.is_regression is is_regression


def test_without_a_counter_ratios_are_still_checked() -> None:
    bare = Figures(0, {}, {"1 hook": 1.2})
    assert check.report("here", Figures(0, {}, {"1 hook": 1.9}), bare) == 1
    assert check.report("here", bare, bare) == 0


def test_a_record_keeps_the_figures_of_each_machine(tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    assert check.read(record, "here") is None
    check.write(record, "here", RECORDED)
    check.write(record, "there", found(bridge=2))
    check.write(record, "there", found(bridge=3))
    assert check.read(record, "here") == RECORDED
    assert check.read(record, "there") == found(bridge=3)
    assert check.read(record, "elsewhere") is None


def test_a_record_is_of_one_interpreter_and_one_way_to_count() -> None:
    perf, callgrind = (instructions.Counter(name, lambda _: 0) for name in ("perf", "callgrind"))
    assert len({check.machine(perf), check.machine(callgrind), check.machine(None)}) == 3


def test_the_committed_record_can_be_read() -> None:
    record = Path(check.__file__).with_name("record.json")
    names = [name for name in record.read_text().split('"') if name.startswith("CPython")]
    assert names
    for name in names:
        figures = check.read(record, name)
        assert figures is not None
        assert not any(each.is_regression for each in check.findings(figures, figures))


@pytest.mark.slow
def test_instructions_are_those_of_one_process_and_hardly_vary(tmp_path: Path) -> None:
    counter = instructions.counter()
    if counter is None:
        pytest.skip("neither perf nor callgrind works here")
    short, long = (
        Program(["/bin/sh", "-c", f"i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done"], dict(os.environ), tmp_path)
        for turns in (100, 5000)
    )
    child = Program(["/bin/sh", "-c", f"'{long.argv[0]}' -c '{long.argv[2]}'; :"], dict(os.environ), tmp_path)
    once, again, more, outside = (counter.count(each) for each in (short, short, long, child))
    assert abs(once - again) < once / 20
    assert more > 2 * once
    assert outside < more


def test_a_program_that_fails_is_not_counted(tmp_path: Path) -> None:
    counter = instructions.counter()
    if counter is None:
        pytest.skip("neither perf nor callgrind works here")
    with pytest.raises(WorkerEnded, match="no, thanks"):
        counter.count(Program(["/bin/sh", "-c", "echo 'no, thanks' >&2; exit 3"], dict(os.environ), tmp_path))


def test_perf_where_the_machine_has_no_counters_is_not_believed() -> None:
    assert instructions.perf_count("# started\n\n1234567,,instructions:u,1000,100.00,,\n") == 1234567
    for said in ("", "# started\n", "<not supported>,,instructions:u,0,100.00,,\n"):
        with pytest.raises(WorkerEnded):
            instructions.perf_count(said)


def test_memory_is_shown_in_megabytes_and_held_to_its_target() -> None:
    grew = Comparison(75e6, 64e6, 1.17, 1.17, (1.17, 1.17), (11e6, 11e6), 1.17)
    row = Row("a hub", "before", grew, Target(10, measure=Measure.MEMORY))
    assert row.mark == "miss"
    assert "75.0 MB" in tables.table([row]) and "≤ 10 MB over" in tables.table([row])
    assert tables.as_json([row])["rows"][0]["bytes"] == {"ours": 75e6, "theirs": 64e6}


def test_a_peer_that_cannot_be_had_is_skipped_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENTERHOOK_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotInstall, match="no npm"):
        packages.from_npm(peers.GEMINI)
    assert not (tmp_path / "cache").exists()


def test_a_peer_that_is_there_is_not_installed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENTERHOOK_BENCH_CACHE", str(tmp_path))
    monkeypatch.setenv("PATH", "")
    folder = tmp_path / "google-gemini-cli-core"
    folder.mkdir()
    (folder / "installed").write_text(peers.GEMINI.version)
    assert packages.from_npm(peers.GEMINI) == folder / "node_modules" / "@google/gemini-cli-core"
    with pytest.raises(CannotInstall):  # another version is wanted
        packages.from_npm(peers.GEMINI._replace(version="0.0.1"))


def test_in_a_lap_each_takes_one_step_and_never_two_at_once() -> None:
    names, steps, going = ("a", "b", "c"), [], threading.Lock()
    laps = Laps(names, 4, Random(0))

    def take_part(name: str) -> None:
        for _ in range(4):
            laps.wait(name)
            assert going.acquire(blocking=False), "two at once"
            steps.append(name)
            time.sleep(0.005)
            going.release()
        laps.wait(name)  # until all are through

    with ThreadPoolExecutor() as pool:
        for ended in [pool.submit(take_part, name) for name in names]:
            ended.result()
    assert [sorted(steps[first : first + 3]) for first in range(0, 12, 3)] == [["a", "b", "c"]] * 4


def test_nobody_waits_for_one_who_gave_up() -> None:
    laps = Laps(("a", "b"), 4, Random(0))
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(laps.wait, "a")
        until(lambda: "a" in laps._ready)
        laps.give_up()
        waiting.result(timeout=30)


@pytest.mark.slow
def test_the_hubs_benchmark_measures_each_load_with_one_hub() -> None:
    with hub.running() as running:
        loads = (hub.Load(0, 0), hub.Load(20, 2))
        measured = asyncio.run(hub.measure_all(running, loads, answers=2))
    assert [(one.load, len(one.took)) for one in measured] == [(load, 2) for load in loads]
