"""`make fuzz`: each target runs, what fails is shown with the way to have it again, and nothing stays behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.__main__ import TARGETS
from support import until

TESTS = Path(__file__).parent
BROKEN = """
from hypothesis import given, strategies as st

@given(st.binary())
def fuzz(data: bytes) -> None:
    assert b"x" not in data
"""
ENDLESS = """
import os, pathlib, time
from hypothesis import given, strategies as st

@given(st.binary())
def fuzz(data: bytes) -> None:
    pathlib.Path(os.environ["FUZZ_TEST"]).write_text(f"{os.getpid()} {os.getcwd()}")
    time.sleep(5)
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fuzz", "--jobs", "1", *arguments]


def with_target(tmp_path: Path, name: str, text: str) -> dict[str, str]:
    """The variables for a copy of the fuzzer that has one more target."""
    shutil.copytree(TESTS / "fuzz", tmp_path / "tests" / "fuzz")
    (tmp_path / "tests" / "fuzz" / "targets" / f"{name}.py").write_text(text)
    return {**os.environ, "PYTHONPATH": f"{tmp_path / 'tests'}:{TESTS}"}


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_runs(tmp_path: Path, target: str) -> None:
    """A second or so, so that no target stops working unnoticed."""
    run = subprocess.run(
        command("--seconds", "2", "--seed", "1", "--target", target, "--kept", str(tmp_path)),
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1].startswith(f"{target}: ")
    assert run.stdout.endswith("no failure\n")


def test_a_failure_is_shown_small_with_the_command_and_is_tried_first_the_next_time(tmp_path: Path) -> None:
    env = with_target(tmp_path, "broken", BROKEN)
    for seed, most in (("1", 60), ("2", 1)):
        run = subprocess.run(
            command("--seconds", str(most), "--seed", seed, "--target", "broken"),
            env=env,
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert run.returncode == 1, run.stdout + run.stderr
        assert "broken: " in run.stdout
        assert "FAILED" in run.stdout
        assert "b'x'" in run.stdout
        assert "make fuzz TARGET=broken" in run.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing_running_and_no_files(tmp_path: Path, number: signal.Signals) -> None:
    noted = tmp_path / "noted"
    env = {**with_target(tmp_path, "endless", ENDLESS), "FUZZ_TEST": str(noted)}
    arguments = command("--seconds", "60", "--target", "endless")
    with subprocess.Popen(arguments, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        until(lambda: noted.exists() and " " in noted.read_text())
        pid, directory = noted.read_text().split()
        run.send_signal(number)
        said, _ = run.communicate(timeout=30)
    assert run.returncode == 130
    assert said.endswith("stopped\n")
    assert not os.path.exists(f"/proc/{pid}")
    assert not os.path.exists(directory)
