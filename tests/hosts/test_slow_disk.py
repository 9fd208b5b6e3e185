"""A slow disk: whatever the bridge opens and reads takes its time, in the real Claude Code.

The interpreter in the installed line is replaced by one that runs under strace, which holds up these system calls.
"""

from __future__ import annotations

import functools
import json
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from hosts.real import CHOSEN, check_nobody_answers, copied_environment, flags, results_with, shown

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.real import Guarded

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600), pytest.mark.parametrize("name", ["claude-code"])]


def held_up(milliseconds: int, *more: str) -> list[str]:
    """The beginning of a command each of whose reads takes so long."""
    inject = f"inject=openat,read:delay_enter={milliseconds}ms"
    return ["strace", "-qq", "-e", "trace=openat,read,alarm,setitimer", "-e", inject, *more]


@functools.cache
def cannot_hold_up() -> str:
    if shutil.which("strace") is None:
        return "there is no strace here"
    tried = subprocess.run([*held_up(1, "-o", "/dev/null"), "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"strace cannot be used: {tried.stderr.strip()}"


@pytest.fixture(autouse=True)
def strace() -> None:
    if why := cannot_hold_up():
        pytest.skip(why)


def install_on_slow_disk(guarded: Guarded, tmp_path: Path, milliseconds: int, *words: str) -> None:
    python = copied_environment(tmp_path / "environment")
    guarded.install(*words, python=python)
    quick = python.rename(python.with_name("quick-python"))
    line = shlex.join([*held_up(milliseconds, "-o"), str(tmp_path / "calls"), "-A", str(quick)])
    python.write_text(f'#!/bin/sh\nexec {line} "$@"\n')
    python.chmod(0o755)


def test_the_answer_comes_late_and_is_right(name: str, guarded: Guarded, tmp_path: Path) -> None:
    reason = guarded.guard()
    install_on_slow_disk(guarded, tmp_path, 20)
    came = guarded.calls(guarded.touch("forbidden"), guarded.touch("harmless"))
    assert not guarded.left("forbidden"), shown(came)
    assert guarded.left("harmless"), shown(came)
    assert results_with(came, reason), shown(came)
    assert came.seconds > 5  # some two hundred reads for each of three events
    assert guarded.unanswered() == []


@CHOSEN
def test_an_answer_that_would_come_too_late_is_what_was_chosen(
    name: str, closed: bool, guarded: Guarded, tmp_path: Path
) -> None:
    guarded.guard()
    install_on_slow_disk(guarded, tmp_path, 60, *flags(closed))
    guarded.edit_record(timeouts=dict.fromkeys(json.loads(guarded.record_file.read_text())["timeouts"], 4))
    check_nobody_answers(guarded, closed, status="142", doctor="did not answer")


def test_the_alarm_is_set_before_anything_of_ours_is_opened(name: str, guarded: Guarded, tmp_path: Path) -> None:
    guarded.guard()
    install_on_slow_disk(guarded, tmp_path, 0)
    guarded.calls(guarded.touch("forbidden"))
    calls = (tmp_path / "calls").read_text().splitlines()
    first = next(number for number, call in enumerate(calls) if call.startswith(("alarm(", "setitimer(")))
    ours = [n for n, call in enumerate(calls) if str(guarded.state) in call or "dispatch" in call]
    assert first < min(ours)
