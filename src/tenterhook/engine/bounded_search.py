"""Searching with expressions that can run away: in a helper process, cut off when the event's time is up."""

from __future__ import annotations

import os
import sys
import time

from ..basics import light_json, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS_PER_EVENT = 0.1

# Answers one line per question, at once, so that what was found before the cut counts.
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


class Limit:
    """The time that all expressions of one event may take together; a context counts what is spent inside."""

    def __init__(self) -> None:
        self._left = _SECONDS_PER_EVENT
        self._since = 0.0

    def left(self) -> float:
        return max(0.0, self._left)

    def __enter__(self) -> None:
        self._since = time.monotonic()

    def __exit__(self, *_: object) -> None:
        self._left -= time.monotonic() - self._since


def search(questions: Sequence[tuple[str, str, Sequence[str]]], limit: Limit) -> list[bool | None]:
    """Whether each expression is found in one of its texts; None where the time was up first."""
    from .runner import Command, run_stage

    answers: list[bool | None] = [None] * len(questions)
    if limit.left() <= 0:
        return answers
    here = [os.path.dirname(places.PACKAGE)]
    here += [path for path in sys.path if path.endswith("site-packages")]
    boot = f"import sys; sys.path += {here!r}\n{_HELPER}"
    helper = Command(
        argv=(sys.executable, "-I", "-S", "-c", boot),
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
