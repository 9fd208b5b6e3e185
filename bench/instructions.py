"""Counts the instructions of a process, which hardly depend on the load of the machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from .requests import WorkerEnded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_LONGEST = 120  # seconds for one process


class Program(NamedTuple):
    """A process to count, without its children."""

    argv: Sequence[str]
    environment: Mapping[str, str]
    directory: Path
    sent: bytes = b""


class Counter(NamedTuple):
    """A tool that counts instructions."""

    name: str
    count: Callable[[Program], int]


def counter() -> Counter | None:
    """Return the counter that works on this machine, perf or callgrind; None if neither does."""
    nothing = Program(["/bin/sh", "-c", ":"], {"PATH": "/usr/bin:/bin"}, Path("/"))
    for one in (Counter("perf", _by_perf), Counter("callgrind", _by_callgrind)):
        try:
            one.count(nothing)
        except (WorkerEnded, OSError):  # not installed, or not allowed to
            continue
        return one
    return None


def _by_perf(program: Program) -> int:
    with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
        report = Path(directory) / "report"
        options = ["stat", "--no-inherit", "-x", ",", "-e", "instructions:u", "-o", str(report), "--"]
        _run(program, [_tool("perf"), *options])
        return perf_count(report.read_text())


def perf_count(report: str) -> int:
    """Return the number in a line like `1234,,instructions:u,…`; raises `WorkerEnded` if there is text instead."""
    words = [line.split(",")[0] for line in report.splitlines() if "instructions" in line]
    if not words or not words[0].isdecimal():
        raise WorkerEnded("perf cannot count here")
    return int(words[0])


def _by_callgrind(program: Program) -> int:
    with TemporaryDirectory(prefix="tenterhook-bench-") as directory:
        options = ["--tool=callgrind", "--quiet", f"--callgrind-out-file={directory}/%p"]
        pid = _run(program, [_tool("valgrind"), *options])
        lines = (Path(directory) / str(pid)).read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("totals:"))


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise WorkerEnded(f"there is no {name} here")
    return found


def _run(program: Program, before: list[str]) -> int:
    """Run a program to its end and return its process id; raises `WorkerEnded` if it fails."""
    process = subprocess.Popen(
        [*before, *program.argv],
        env=program.environment,
        cwd=program.directory,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            _, said = process.communicate(program.sent, timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            raise WorkerEnded(f"no end within {_LONGEST} s") from None
    if process.returncode:
        lines = said.decode(errors="replace").strip().splitlines()
        raise WorkerEnded(lines[-1] if lines else f"exit {process.returncode}")
    return process.pid
