"""Searches expressions that can take exponential time in a helper process, with a time limit per event."""

from __future__ import annotations

import sys
import time

from ..basics import light_json, processes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS_PER_EVENT = 0.1

# Flushes each answer, so that those given before the time limit count.
_HELPER = r"""
import json, sys
questions = json.load(sys.stdin)
for dialect, expression, texts in questions:
    if dialect == "python":
        import re
        find = re.compile(expression).search
    else:
        from tenterhook.formats.expressions import search
        find = search(dialect, expression)
    print(int(any(find(text) is not None for text in texts)), flush=True)
"""


class TimeLimit:
    """The time that all expressions of one event may take together; time spent in a `with` block is subtracted."""

    def __init__(self) -> None:
        self._left = _SECONDS_PER_EVENT
        self._since = 0.0

    def left(self) -> float:
        return max(0.0, self._left)

    def __enter__(self) -> None:
        self._since = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._left -= time.monotonic() - self._since


def search(questions: Sequence[tuple[str, str, Sequence[str]]], limit: TimeLimit) -> list[bool | None]:
    """Return whether each expression is found in one of its texts; None for those that the time limit cut off.

    A question is a dialect, an expression and the texts.
    """
    from .process_runner import Command, run_stage

    answers: list[bool | None] = [None] * len(questions)
    if limit.left() <= 0:
        return answers
    code = f"import sys; sys.path += {processes.module_path()!r}\n{_HELPER}"
    helper = Command(
        argv=(sys.executable, "-I", "-S", "-c", code),
        payload=light_json.dumps(questions).encode(),
        cwd="/",
        env={},
        timeout=limit.left(),
        grace=0.0,
    )
    with limit:
        (ended,) = run_stage([helper])
    for number, line in enumerate(ended.stdout.split()[: len(answers)]):
        answers[number] = line == b"1"
    return answers
