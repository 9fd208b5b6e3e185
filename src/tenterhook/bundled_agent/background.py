"""Asynchronous hooks of a session: how each ended, as recorded in the journal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ..basics import places
from ..journal.follower import Follower
from ..model import Outcome

if TYPE_CHECKING:
    from ..model import Verdict

_OUTCOMES = ("ok", "failed", "timed_out")
_LATE = 2.0  # seconds after its timeout until a hook's end is written


class BackgroundRuns:
    """The asynchronous hooks that this process has started."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._since = time.time()
        self._journal: Follower | None = None
        try:
            self._journal = Follower.from_now(places.journal())
        except OSError:  # then their ends cannot be recorded either
            pass
        # By name, event and source: when each run of it should have ended (`time.monotonic`), the oldest first.
        self._open: dict[tuple[str, str, str], list[float]] = {}

    @property
    def running(self) -> int:
        """How many have not ended; without those past their timeout, whose process may have been killed."""
        now = time.monotonic()
        return sum(due > now for runs in self._open.values() for due in runs)

    @property
    def is_running(self) -> bool:
        return self.running > 0

    def add(self, verdict: Verdict) -> None:
        if self._journal is None:
            return
        for run in verdict.runs:
            hook = run.hook
            if run.outcome is Outcome.STARTED and hook.function is None:
                due = time.monotonic() + hook.timeout + _LATE
                self._open.setdefault((hook.name, hook.event, hook.source), []).append(due)

    def ended(self) -> list[dict[str, Any]]:
        """Return the journal's records of those that have ended since the last call."""
        if self._journal is None or not self._open:
            return []
        try:
            records = [line.record for line in self._journal.lines() if b'"type": "async"' in line.raw]
        except OSError:  # only the display is incomplete
            return []
        return [each for each in records if each is not None and self._is_ours(each) and self._close(each)]

    def _is_ours(self, record: dict[str, Any]) -> bool:
        """Return whether a record is of this session and was started by this process."""
        if record.get("type") != "async" or record.get("session_id") != self._session_id:
            return False
        ended, took = record.get("time"), record.get("duration_ms")
        if not isinstance(ended, (int, float)) or not isinstance(took, (int, float)):
            return False
        return record.get("outcome") in _OUTCOMES and ended - took / 1000 >= self._since

    def _close(self, record: dict[str, Any]) -> bool:
        """Note that a run has ended. Return False if none is open."""
        key = (str(record.get("hook")), str(record.get("event")), str(record.get("source")))
        runs = self._open.get(key)
        if not runs:
            return False
        del runs[0]
        if not runs:
            del self._open[key]
        return True
