"""The timeline of a session: its journal records as the page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..approvals import presenter
from ..basics.display_text import with_stderr
from ..journal.filters import number, runs_in
from ..journal.records import subject
from ..model import Action

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .database import Row

_TONES = {
    "bad": ("deny", "denied", "blocked", "failed", "timed_out"),
    "warn": ("ask", "asked", "would_block", "not_run"),
    "good": ("approve", "approved", "allow", "allowed"),
}
_TONE_OF = {word: tone for tone, words in _TONES.items() for word in words}
_FAILED = ("failed", "timed_out")
_DECISIONS = tuple(Action)
_MAX_SUBJECT = 600  # characters


class TimelineRun(NamedTuple):
    """What one hook did."""

    hook: str
    meaning: str
    tone: str
    duration: float
    reason: str  # with the last lines of stderr if it failed


class TimelineEntry(NamedTuple):
    """One event of a session."""

    time: float
    event: str
    tool: str
    outcome: str
    tone: str
    waited: float | None
    line: str
    reason: str
    runs: list[TimelineRun]


def entry(row: Row) -> TimelineEntry:
    """Return the entry of a journal record, in which an agent may have written anything."""
    record: Mapping[str, Any] = row["record"]
    decision = _decision(record)
    return TimelineEntry(
        time=row["time"],
        event=_text(record.get("event")) or _text(record.get("type")),
        tool=_text(record.get("tool_name")),
        outcome=_outcome(record, decision, is_claim=row["confirmed"] is False),
        tone=_TONE_OF.get(decision, ""),
        waited=number(record.get("waited_ms")),
        line=_line(record),
        reason=_text(record.get("reason")),
        runs=[_run(each) for each in runs_in(record)],
    )


def _decision(record: Mapping[str, Any]) -> str:
    """Return the decision, if it is one: another text could look like the answer of a person."""
    decision = _text(record.get("decision"))
    return decision if decision in _DECISIONS else ""


def _outcome(record: Mapping[str, Any], decision: str, *, is_claim: bool) -> str:
    by = _text(record.get("answered_by"))
    if record.get("type") == "approval":
        said = f"{decision if decision not in ('', 'none') else 'no answer'}{f' by {by}' if by else ''}"
        return f"{said}: claimed by the machine; this hub has no such answer" if is_claim else said
    return "" if decision == "none" else decision


def _line(record: Mapping[str, Any]) -> str:
    """Return what an event was about, shortened."""
    about = subject(record)
    text = presenter.formatted(about.value) if about else ""
    return text if len(text) <= _MAX_SUBJECT else text[:_MAX_SUBJECT] + "…"


def _run(run: Mapping[str, Any]) -> TimelineRun:
    meaning = _text(run.get("meaning")) or _text(run.get("outcome"))
    reason = _text(run.get("reason")) or _text(run.get("why"))
    if meaning in _FAILED:
        reason = with_stderr(reason or "failed", _text(run.get("stderr")))
    return TimelineRun(
        hook=_text(run.get("hook")),
        meaning=meaning.replace("_", " "),
        tone=_TONE_OF.get(meaning, ""),
        duration=number(run.get("duration_ms")) or 0.0,
        reason=reason,
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
