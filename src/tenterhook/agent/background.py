"""Asynchronous hooks of a session: how each ended, which the process that runs them writes to the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..basics import places
from ..journal.exporting import Reader
from ..model import Outcome

if TYPE_CHECKING:
    from ..model import Verdict

_OUTCOMES = ("ok", "failed", "timed_out")


class BackgroundRuns:
    """The asynchronous hooks that this process has started."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._journal: Reader | None = None
        try:
            self._journal = Reader.from_now(places.journal())
        except OSError:  # nothing can be written there either: how they end, nobody hears
            pass
        self.running = 0  # as far as we know

    def add(self, verdict: Verdict) -> None:
        if self._journal is not None:
            self.running += sum(run.outcome is Outcome.STARTED and run.hook.function is None for run in verdict.runs)

    def ended(self) -> list[dict[str, Any]]:
        """The journal's records of those that have ended since the last call."""
        if self._journal is None or not self.running:
            return []
        try:
            records = [line.record for line in self._journal.lines() if b'"type": "async"' in line.raw]
        except OSError:  # the journal cannot be read: it is the screen that lacks something, nothing else
            return []
        ended = [each for each in records if each is not None and self._is_ours(each)]
        self.running = max(self.running - len(ended), 0)
        return ended

    def _is_ours(self, record: dict[str, Any]) -> bool:
        is_ours = record.get("type") == "async" and record.get("session_id") == self._session_id
        return is_ours and record.get("outcome") in _OUTCOMES and isinstance(record.get("duration_ms"), (int, float))
