"""Merges decisions into a `Verdict`: precedence, and all context and messages in order. Pure."""

from __future__ import annotations

from ..errors import Problem
from ..model import PRECEDENCE, SILENT, STOP_LIMIT_REACHED, Action, Decision, Event, Run, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any


def merge(
    event: Event,
    runs: Sequence[Run],
    modified_input: dict[str, Any] | None = None,
    problems: Iterable[Problem] = (),
    modified_output: Any = None,
) -> Verdict:
    """Return one verdict for all runs: deny > ask > approve > allow > none, with the first reason for that action."""
    if modified_input is None and modified_output is None and all(run.decision is SILENT for run in runs):
        return Verdict(event.canonical, runs=tuple(runs), problems=tuple(problems))
    counted = [run.decision for run in runs if run.decision.ignored is None]
    heard = [run.decision for run in runs if run.decision.ignored in (None, STOP_LIMIT_REACHED)]
    action = min((decision.action for decision in counted), key=PRECEDENCE.index, default=Action.NONE)
    if action is Action.APPROVE and event.canonical == "permission-request" and _any_unclear(runs):
        action = Action.NONE
    winner = next((decision for decision in counted if decision.action is action), None)
    return Verdict(
        event=event.canonical,
        decision=action,
        reason=winner.reason if winner and action is not Action.NONE else None,
        modified_input=None if action is Action.DENY else modified_input,
        additional_context=tuple(d.additional_context for d in heard if d.additional_context),
        messages=tuple(d.message for d in heard if d.message),
        scope=_scope(counted) if action is Action.APPROVE else None,
        runs=tuple(runs),
        problems=tuple(problems),
        modified_output=modified_output,  # also beside a deny: the tool has run
    )


def _any_unclear(runs: Sequence[Run]) -> bool:
    """Whether a hook failed or gave an unreadable answer, so that an approval does not count."""
    asked = [run for run in runs if run.started and not run.background and not run.hook.is_shadow]
    return any(run.failed or run.decision.unreadable for run in asked)


def _scope(counted: Sequence[Decision]) -> str:
    """Return the narrowest scope of the approvals."""
    approvals = [decision.scope for decision in counted if decision.action is Action.APPROVE]
    return "session" if approvals and all(scope == "session" for scope in approvals) else "once"
