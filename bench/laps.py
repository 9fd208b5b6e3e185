"""Lets concurrent sessions run one at a time, in turn, so that other load on the machine affects all alike."""

from __future__ import annotations

import time
from threading import Condition
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

_PAUSE = 0.03  # seconds between two steps, for work that follows a step


class Laps:
    """In each lap every session takes one step, in random order."""

    def __init__(self, names: Sequence[str], laps: int, chance: Random) -> None:
        self._names = names
        self._left = laps
        self._chance = chance
        self._changed = Condition()  # reentrant
        self._ready: set[str] = set()
        self._to_come: list[str] = []  # in this lap
        self._going: str | None = None
        self._is_over = False

    def wait(self, name: str) -> None:
        """Report the end of a step, and wait for the next one; after the last lap it returns at once."""
        time.sleep(_PAUSE)
        with self._changed:
            if self._going == name:
                self._going = None
            self._ready.add(name)
            self._let_go()
            self._changed.wait_for(lambda: self._going == name or self._is_over)
            self._ready.discard(name)

    def give_up(self) -> None:
        """Release all sessions: one of them has failed."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def _let_go(self) -> None:
        if self._going is not None:
            return
        if not self._to_come:
            if len(self._ready) < len(self._names):
                return
            if not self._left:
                self.give_up()
                return
            self._left -= 1
            self._to_come = self._chance.sample(self._names, len(self._names))
        self._going = self._to_come.pop()
        self._changed.notify_all()
