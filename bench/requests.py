"""The protocol of workers: a request asks for rounds of a case, and the answer has the time of each.

All contenders implement it, the C program too, so that they can take turns in small blocks.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from types import TracebackType

    from .comparing import Block


_LONGEST_ANSWER = 60.0  # seconds; the longest real one takes two


class Case(NamedTuple):
    """Hooks that run side by side. Each has the command with a comment of its own: equal ones would run once."""

    hooks: int
    command: str = ":"

    def commands(self) -> list[str]:
        return [f"{self.command} #{number}" for number in range(1, self.hooks + 1)]


def text_of(size: int) -> str:
    """Return lines of a file that take `size` bytes in JSON."""
    line = 'print("one of the lines of a file")\n'
    lines, rest = divmod(size, len(json.dumps(line)) - len('""'))
    return line * lines + "x" * rest


class WorkerEnded(Exception):
    """A worker ended early; the message is its last line on stderr."""


class Worker:
    """A process that is idle until it is asked for rounds."""

    def __init__(
        self, argv: Sequence[str | PathLike[str]], env: Mapping[str, str], cwd: str | PathLike[str] | None = None
    ) -> None:
        self._process = subprocess.Popen(
            argv, env=env, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._process.kill()
        self._process.communicate()

    def microseconds(self, rounds: int, case: Case) -> list[float]:
        """Run rounds of a case and return the time of each; raises `WorkerEnded`."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None
        try:
            stdin.write(f"{rounds} {case.hooks} {case.command}\n")
            stdin.flush()
        except BrokenPipeError:
            pass  # the answer is missing, too
        if not select.select([stdout], [], [], _LONGEST_ANSWER)[0]:
            self._process.kill()
            raise WorkerEnded(f"no answer within {_LONGEST_ANSWER:g} s")
        answer = [float(word) for word in stdout.readline().split()]
        if len(answer) != rounds:
            _, said = self._process.communicate()
            raise WorkerEnded((said.strip().splitlines() or [f"exit {self._process.returncode}"])[-1])
        return answer

    def block(self, rounds: int, case: Case) -> Block:
        """Return a function that runs rounds of a case when the worker's turn comes."""
        return lambda: self.microseconds(rounds, case)


def serve(timed: Callable[[int, Case], Sequence[float]]) -> None:
    """Answer requests, in a worker, until stdin ends. `timed` returns seconds."""
    for line in sys.stdin:
        rounds, hooks, command = line.rstrip("\n").split(" ", 2)
        took = timed(int(rounds), Case(int(hooks), command))
        print(*(f"{seconds * 1e6:.1f}" for seconds in took), flush=True)
