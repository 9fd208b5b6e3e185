"""The command line on a terminal of 80 columns and 24 lines, and what is on its screen."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

import pexpect
import pyte
from rich.cells import cell_len

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COLUMNS, LINES = 80, 24
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Terminal:
    """A `tenterhook` command that a person has typed, or another program in Python."""

    def __init__(self, *arguments: str, program: Sequence[str] = ("-m", "tenterhook"), columns: int = COLUMNS) -> None:
        command = [*program, *arguments]
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
        environment = {**kept, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}  # nobody tells the cursor
        size = (LINES, columns)
        self._child = pexpect.spawn(
            sys.executable, command, encoding="utf-8", dimensions=size, timeout=60, env=environment
        )
        self._columns = columns
        self._screen = pyte.Screen(columns, LINES)
        self._stream = pyte.Stream(self._screen)
        self.written = ""

    def wait_for(self, text: str) -> list[str]:
        """Wait until a text is written; return the lines of the screen."""
        self._child.expect_exact(text)
        return self._show(f"{self._child.before or ''}{text}")

    def type(self, text: str) -> None:
        self._child.send(text)

    def end(self) -> tuple[int | None, list[str]]:
        """Wait for the end; return the exit status and the lines of the screen."""
        self._child.expect(pexpect.EOF)
        self._child.close()
        return self._child.exitstatus, self._show(self._child.before or "")

    def too_wide(self) -> list[str]:
        """Return the lines that did not fit on the screen."""
        lines = _ESCAPES.sub("", self.written).split("\n")
        return [line for line in lines if cell_len(line) > self._columns]

    def _show(self, written: str) -> list[str]:
        self.written += written
        self._stream.feed(written)
        return [line.rstrip() for line in self._screen.display]


def below(lines: list[str], is_it: Callable[[str], bool]) -> list[str]:
    """Return the lines from the last one that is meant, without empty ones at the end."""
    first = max(number for number, line in enumerate(lines) if is_it(line))
    return "\n".join(lines[first:]).rstrip().split("\n")
