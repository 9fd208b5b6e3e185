"""However `tenterhook test` ends, no worker and no directory is left."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from authoring.trying import CALL, COMMAND, case, hook, left_behind, outcome
from support import alive, until

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("temporary")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_ended_from_outside_it_leaves_nothing(
    number: signal.Signals, home: Path, project: Path, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    case(hook(home, f"setsid sleep 600 & echo $! $$ >>{pids}; exec sleep 600"), f"{CALL}\n[expect]\n")
    process = subprocess.Popen([*COMMAND, "test"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = until(lambda: pids.exists() and [int(pid) for pid in pids.read_text().split()])
    until(lambda: all(alive(pid) for pid in found))
    process.send_signal(number)
    assert process.wait(30) == {signal.SIGINT: 130, signal.SIGKILL: -9}.get(number, 128 + number)
    until(lambda: not any(alive(pid) for pid in found))
    until(lambda: left_behind() == [])


def test_a_reader_that_has_seen_enough_costs_no_traceback(home: Path, project: Path) -> None:
    text = "".join(f"[[case]]\nname = '{n}'\n[case.event]\ntool_name = 'x'\n[case.expect]\n" for n in range(8))
    case(hook(home, "true"), text)
    process = subprocess.Popen([*COMMAND, "test"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(60) == 1


def test_children_that_a_hook_leaves_behind_are_ended(home: Path, project: Path, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"sleep 600 & echo $! >>{pids}; (setsid sh -c 'echo $$ >>{pids}; exec sleep 600' &); "
    script += f"while [ $(wc -l <{pids}) -lt 2 ]; do sleep 0.01; done"
    case(hook(home, script), f"{CALL}\n[expect]\n")
    result = outcome()
    assert result["status"] == "passed"
    assert result["actual"]["notes"] == ["it left 2 processes running; killed"]
    found = [int(pid) for pid in pids.read_text().split()]
    assert len(found) == 2
    until(lambda: not any(alive(pid) for pid in found))
