"""Processes of ours: detached, ended with all that they have started, and one at a time where there is a lock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from support import alive, until
from tenterhook.basics import processes
from tenterhook.basics.processes import Lock, acquire

if TYPE_CHECKING:
    from pathlib import Path

TELLER = """
import json, os

def tell(file):
    names = [f"/dev/fd/{name}" for name in os.listdir("/dev/fd")]
    said = {"fds": [os.stat(name).st_ino for name in names if os.path.exists(name)], "env": dict(os.environ)}
    said |= {"cwd": os.getcwd(), "session": os.getsid(0), "pid": os.getpid()}
    with open(file + ".new", "w") as new:
        json.dump(said, new)
    os.rename(file + ".new", file)
"""


def started(tmp_path: Path, script: str) -> subprocess.Popen[bytes]:
    """A shell that leads a group of its own and writes the number of a child."""
    process = subprocess.Popen(["sh", "-c", script], cwd=tmp_path, start_new_session=True)
    until(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text())
    # until it is another program, the child has the traps of its shell, and a signal would be lost
    until(lambda: b"sleep" in processes._command_line(child_of(tmp_path))[0])
    return process


def child_of(tmp_path: Path) -> int:
    return int((tmp_path / "child").read_text())


def test_a_group_that_listens_ends_at_the_first_signal(tmp_path: Path) -> None:
    process = started(tmp_path, "trap 'echo told > told; exit 0' TERM; sleep 60 & echo $! > child; wait")
    begun = time.monotonic()
    processes.end_group(processes.child(process.pid), 10, process.poll)
    assert time.monotonic() - begun < 5
    assert (tmp_path / "told").exists()
    assert process.returncode == 0
    assert not alive(child_of(tmp_path))


def test_a_group_that_does_not_listen_is_killed_after_its_grace(tmp_path: Path) -> None:
    process = started(tmp_path, "trap '' TERM; sleep 60 & echo $! > child; wait; sleep 60")
    processes.end_group(processes.child(process.pid), 0.1, process.poll)
    assert process.returncode == -signal.SIGKILL
    assert not alive(child_of(tmp_path))


def test_without_grace_nobody_is_asked(tmp_path: Path) -> None:
    process = started(tmp_path, "trap 'echo told > told; exit 0' TERM; sleep 60 & echo $! > child; wait")
    processes.end_group(processes.child(process.pid), 0, process.poll)
    assert process.returncode == -signal.SIGKILL
    assert not (tmp_path / "told").exists()


def test_what_outlives_its_leader_is_ended_though_the_leader_was_reaped(tmp_path: Path) -> None:
    process = subprocess.Popen(["sh", "-c", "sleep 60 & echo $! > child"], cwd=tmp_path, start_new_session=True)
    leader = processes.child(process.pid)
    assert process.wait(10) == 0
    assert alive(child_of(tmp_path))
    processes.end_group(leader, 0.1)
    assert not alive(child_of(tmp_path))


def test_a_group_whose_number_is_now_that_of_another_process_is_left_alone(tmp_path: Path) -> None:
    process = started(tmp_path, "sleep 60 & echo $! > child; wait")
    before = processes.Process(process.pid, "1")  # it had this number, and was started at another time
    processes.end_group(before, 0.1)
    assert process.poll() is None
    assert alive(child_of(tmp_path))
    processes.end_group(processes.child(process.pid), 0, process.poll)


def test_a_detached_process_has_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_CALLER", "1")
    monkeypatch.setenv("TENTERHOOK_CHAIN", "a hook")
    monkeypatch.setenv("LC_TIME", "C")
    kept = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(kept, True)
    (tmp_path / "teller.py").write_text(TELLER)
    try:
        pid = processes.start_detached("teller:tell", str(tmp_path / "said"), path=[str(tmp_path)])
    finally:
        os.close(kept)
    until((tmp_path / "said").exists)
    said = json.loads((tmp_path / "said").read_text())
    assert (said["pid"], said["session"], said["cwd"]) == (pid, pid, "/")
    assert said["env"]["LC_TIME"] == "C"
    assert not {"OF_THE_CALLER", "TENTERHOOK_CHAIN"} & set(said["env"])
    assert tmp_path.stat().st_ino not in said["fds"]


def test_no_detached_process_stays_a_zombie(tmp_path: Path) -> None:
    first = processes.start_detached("tenterhook.basics.places:file_name", "x")
    until(lambda: processes.find_process(first) is None)
    second = processes.start_detached("tenterhook.basics.places:file_name", "x")
    assert processes.find_process(first, has_ended=True) is None
    until(lambda: processes.find_process(second) is None)


def test_a_detached_process_that_cannot_be_started_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        processes.start_detached("tenterhook.basics.places:file_name", "x", python="/nowhere/python")


HOLD = (
    "import sys, time; from tenterhook.basics.processes import Lock; Lock(sys.argv[1]).__enter__(); print(flush=True); "
)


def test_a_lock_is_held_by_one_and_let_go_on_exit(tmp_path: Path) -> None:
    file = str(tmp_path / "lock")
    with Lock(file) as first, Lock(file, wait=0) as second:
        assert (first, second) == (True, False)
    with Lock(file, wait=0) as third:
        assert third


def test_entry_waits_as_long_as_it_was_told(tmp_path: Path) -> None:
    file = str(tmp_path / "lock")
    with Lock(file):
        begun = time.monotonic()
        with Lock(file, wait=0.2) as is_held:
            assert not is_held
        assert time.monotonic() - begun >= 0.2


def test_a_lock_ends_with_the_process_that_holds_it(tmp_path: Path) -> None:
    file = str(tmp_path / "lock")
    with subprocess.Popen([sys.executable, "-c", f"{HOLD}time.sleep(60)", file], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with Lock(file, wait=0) as is_held:
            assert not is_held
        holder.kill()
        with Lock(file) as is_held:
            assert is_held


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"), Lock(str(tmp_path / "lock")):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_cannot_be_locked_counts_as_locked() -> None:
    """As on a file system without locks: work goes on there."""
    read, write = os.pipe()
    try:
        assert acquire(write, 0, posix=True)
    finally:
        os.close(read)
        os.close(write)
