"""What a run means for its event: some answers do not count here, or for this hook, or for this input. Pure."""

from __future__ import annotations

from ..basics import jsonable
from ..events import STOPS, Effect
from ..model import SILENT, STOP_LIMIT_REACHED, Action, Decision, Event, Failure, Hook, Run
from .decisions import read_decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def judge(run: Run, event: Event, *, surely: bool = True, earlier: Sequence[Run] | None = None) -> Run:
    """The run with its decision, as far as it counts.

    `surely`: whether its matcher found something, or was cut off. `earlier`: on the second pass over a modified input,
    the runs so far.
    """
    decision = read_decision(run)
    if decision.error is not None:
        run = run._replace(failure=Failure.UNREADABLE, why=decision.error, notes=(*run.notes, *decision.notes))
        decision = read_decision(run)
    if decision is SILENT and surely and earlier is None:
        return run  # as most are
    hook = run.hook
    notes: list[str] = []
    if not surely:
        notes.append("its matcher took too long: it ran, but may only deny or ask")
        allows = decision.action in (Action.ALLOW, Action.APPROVE)
        decision = decision._replace(action=Action.NONE if allows else decision.action, modified_input=None)
    if decision.action is not Action.NONE and hook.spec.effect(hook.format) is Effect.INFORMS:
        notes.append(f"nothing can be blocked at {hook.declared}: its reason is shown")
        shown = decision.message or (decision.reason if decision.action is Action.DENY else None)
        decision = decision._replace(action=Action.NONE, reason=None, message=shown)
    if decision.modified_input is not None and hook.event != "pre-tool-call":
        decision = decision._replace(modified_input=None)
        notes.append(f"the input cannot be modified at {hook.declared}")
    if earlier is not None:
        notes.append("ran on the modified input")
        if decision.modified_input and not jsonable.same(decision.modified_input, event.tool_input):
            decision = Decision(Action.DENY, f"Hook '{hook.name}' would modify an input that others have modified")
        decision = _without_repetition(decision, [each.decision for each in earlier if is_same(each.hook, hook)])
    if notes:
        decision = decision._replace(notes=(*decision.notes, *notes))
    return run._replace(decision=decision._replace(ignored=_ignored(hook, decision, event)))


def _ignored(hook: Hook, decision: Decision, event: Event) -> str | None:
    """Why what a hook says changes nothing."""
    if decision.is_silent:
        return None
    if hook.is_shadow:
        return "shadow: it is recorded, not enforced"
    if not decides(hook) and hook.spec.effect(hook.format) is not Effect.INFORMS:
        return f"{hook.declared} hooks of this format observe: what it says changes nothing"
    continued = event.fields.get("stop_hook_active") is True and event.canonical in STOPS
    if continued and hook.has_one_matcher and decision.action is Action.DENY:
        return STOP_LIMIT_REACHED
    return None


def _without_repetition(decision: Decision, said: Sequence[Decision]) -> Decision:
    """What a hook says on its second run, but for what it has said already."""
    if any(decision.additional_context == each.additional_context for each in said):
        decision = decision._replace(additional_context=None)
    if any(decision.message == each.message for each in said):
        decision = decision._replace(message=None)
    return decision


def without_stale_consent(run: Run, final: object) -> Run:
    """The run without an allow or approve that was given for another input."""
    decision = run.decision
    if decision.action not in (Action.ALLOW, Action.APPROVE) or _knows(run, final):
        return run
    note = f"its {decision.action} was for an input that has been modified since"
    return run._replace(decision=decision._replace(action=Action.NONE, notes=(*decision.notes, note)))


def has_seen(hook: Hook, tool_input: object, runs: Sequence[Run]) -> bool:
    """Whether a hook was sent this input, or made it."""
    return any(is_same(run.hook, hook) and (not run.started or _knows(run, tool_input)) for run in runs)


def meant_to_block(hook: Hook, stderr: bytes) -> bool:
    """Whether an exit with 1 may have been meant as a block: the hook could block, and its script did not crash."""
    return decides(hook) and not hook.fail_closed and b"Traceback (most recent call last)" not in stderr


def decides(hook: Hook) -> bool:
    return hook.spec.effect(hook.format) is Effect.DECIDES


def is_same(one: Hook, other: Hook) -> bool:
    """Whether two hooks run as one: equal commands of the array format do."""
    return one is other or (one.in_parallel and one.format == other.format and one.command == other.command)


def _knows(run: Run, tool_input: object) -> bool:
    return jsonable.same(run.saw, tool_input) or jsonable.same(run.decision.modified_input, tool_input)
