"""One process or thread at a time holds a lock, and none waits longer than it says."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tenterhook.basics.processes import Lock, acquire

if TYPE_CHECKING:
    from pathlib import Path

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
