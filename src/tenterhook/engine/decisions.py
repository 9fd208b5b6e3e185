"""Reads a run's exit code and output as a `Decision`, and removes what does not count at this event.

Pure functions; no output of a hook makes them raise.
"""

from __future__ import annotations

from ..basics import light_json
from ..errors import BadEvent
from ..events import OUTPUT_FIELDS, STOPS, Effect
from ..model import PRECEDENCE, SILENT, STOP_LIMIT_REACHED, Action, Decision, Event, Failure, Hook, Run

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_DECISION = {"allow": Action.ALLOW, "deny": Action.DENY, "block": Action.DENY, "ask": Action.ASK}
_PERMISSION = {"allow": Action.APPROVE, "approve": Action.APPROVE, "deny": Action.DENY, "ask": Action.ASK}
_SCOPES = ("once", "session")


def read_decision(run: Run) -> Decision:
    """Return the decision of a run that has ended; a failure is no decision unless the hook fails closed.

    The decision of an unreadable answer has an `error`: the caller marks the run as failed and reads it again.
    """
    if run.exit_code == 0 and run.failure is None and not run.stdout and run.answer is None:
        return SILENT  # the common case
    decision = _read(run)
    if decision.action is Action.DENY and not decision.reason:
        return decision._replace(reason=_default_reason(run))
    return decision


def _read(run: Run) -> Decision:
    hook = run.hook
    if not run.started or run.background:
        return SILENT
    if run.failed:
        unreadable = run.failure is Failure.UNREADABLE
        if hook.fail_closed:
            reason = f"Hook '{hook.name}' failed ({run.why}) and is set to block when it fails"
            return Decision(Action.DENY, reason, unreadable=unreadable)
        return Decision(unreadable=True) if unreadable else SILENT
    if hook.function is not None or run.answer is not None:
        return run.answer if isinstance(run.answer, Decision) else _read_answer(run, run.answer, ())
    if run.exit_code == 2:
        return _read_block(run)
    return _read_stdout(run)


def _read_block(run: Run) -> Decision:
    """Return the block of a run with exit code 2, with its reason or a note that it gave none."""
    reason = run.stderr.strip()
    if not reason:
        from ..formats.hook_output import parse

        answer = parse(run.stdout).answer
        if isinstance(answer, dict):
            reason = _stated_reason(answer) or ""
    if reason:
        return Decision(Action.DENY, reason)
    return Decision(
        Action.DENY, _default_reason(run), notes=(_NO_REASON_BUT_STDOUT if run.stdout.strip() else _NO_REASON,)
    )


_NO_REASON = "it gave no reason: stderr was empty"
_NO_REASON_IN_ANSWER = 'it gave no reason: its answer has no "reason"'
_NO_REASON_BUT_STDOUT = f"{_NO_REASON}; a reason goes to stderr, not to stdout"


def _default_reason(run: Run) -> str:
    return f"Blocked by {run.hook.declared} hook"


def _read_stdout(run: Run) -> Decision:
    if not run.stdout.strip():
        return SILENT
    from ..formats.hook_output import parse

    answer, note, error = parse(run.stdout)
    notes = (note,) if note else ()
    if error is not None:
        return Decision(notes=notes, error=error)
    if answer is not None:
        return _read_answer(run, answer, notes)
    if run.hook.format == "array" and run.hook.event == "pre-agent-turn":
        return Decision(message=run.stdout.strip())
    return SILENT


def _read_answer(run: Run, answer: Any, notes: tuple[str, ...]) -> Decision:
    if answer is None:
        return Decision(notes=notes)
    if not isinstance(answer, dict):
        return Decision(notes=notes, error=f"unreadable answer: {_short(answer)} is not a JSON object")
    odd: list[str] = []
    wrong: list[str] = []
    permission = run.hook.event == "permission-request"
    specific = answer.get("hookSpecificOutput")
    if specific is None:
        specific = {}
    elif not isinstance(specific, dict):
        wrong.append(f"hookSpecificOutput is {_short(specific)}; expected an object")
        specific = {}
    said = [
        _action(answer, "decision", _PERMISSION | {"block": Action.DENY} if permission else _DECISION, wrong),
        _action(specific, "permissionDecision", _PERMISSION, wrong),
    ]
    action = min(said, key=PRECEDENCE.index)
    if wrong and action not in (Action.DENY, Action.ASK):  # a valid deny or ask in the other field counts
        return Decision(notes=notes, error=f"unreadable answer: {'; '.join(wrong)}")
    scope = specific.get("scope", answer.get("scope"))
    if scope is not None and scope not in _SCOPES:
        counts = "an approval with it does not count" if permission else "it counts for this once"
        odd.append(f"scope is {_short(scope)}, not one of {', '.join(_SCOPES)}; {counts}")
        scope = None
        action = Action.NONE if permission and action is Action.APPROVE else action
    reason = _stated_reason(answer)
    if action is Action.DENY and not reason:
        reason = _default_reason(run)
        notes = (*notes, _NO_REASON_IN_ANSWER)
    return Decision(
        action=action,
        reason=reason,
        modified_input=_modified_input(answer, odd),
        modified_output=_modified_output(answer, specific, odd),
        additional_context=_text(answer.get("additional_context")),
        message=_text(specific.get("message")) or _text(answer.get("message")),
        scope=scope,
        log=_text(answer.get("log")),
        notes=(*notes, *wrong, *odd),
        unreadable=bool(wrong or odd),
    )


def _action(answer: dict[str, Any], key: str, meanings: dict[str, Action], wrong: list[str]) -> Action:
    value = answer.get(key)
    if value is None:
        return Action.NONE
    meaning = meanings.get(value) if isinstance(value, str) else None
    if meaning is None:
        *others, last = meanings
        wrong.append(f"unknown {key} {_short(value)}; expected {', '.join(others)} or {last}")
        return Action.NONE
    return meaning


def _stated_reason(answer: dict[str, Any]) -> str | None:
    specific = answer.get("hookSpecificOutput")
    if isinstance(specific, dict):
        for key in ("permissionDecisionReason", "reason"):
            if reason := _text(specific.get(key)):
                return reason
    return _text(answer.get("reason"))


def _modified_input(answer: dict[str, Any], odd: list[str]) -> dict[str, Any] | None:
    value = answer.get("modified_input")
    if value is None or value == {}:
        return None
    if not isinstance(value, dict):
        odd.append(f"modified_input is {_short(value)}, not an object; the input is unchanged")
        return None
    try:
        plain: dict[str, Any] = light_json.plain(value)
    except BadEvent as error:
        odd.append(f"modified_input cannot be used: {error.message}; the input is unchanged")
        return None
    return plain


def _modified_output(answer: dict[str, Any], specific: dict[str, Any], odd: list[str]) -> Any:
    said = (answer.get("modified_output"), specific.get("updatedToolOutput"), specific.get("updatedMCPToolOutput"))
    try:
        return light_json.plain(next((value for value in said if value is not None), None))
    except BadEvent as error:
        odd.append(f"modified_output cannot be used: {error.message}; the output is unchanged")
        return None


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return light_json.printable(value if isinstance(value, str) else _json(value)).strip() or None


def _short(value: Any) -> str:
    shown = _json(value)
    return light_json.printable(shown if len(shown) <= 40 else shown[:39] + "…")


def _json(value: Any) -> str:
    try:
        return light_json.dumps(value, ascii_only=False, default=str)
    except (ValueError, RecursionError):
        return "a value that JSON cannot hold"


def judge(run: Run, event: Event, *, surely: bool = True, earlier: Sequence[Run] | None = None) -> Run:
    """Return the run with its decision, reduced to what counts at this event.

    `surely`: its matcher was not cut off, and matches each reading of the tool's name. `earlier`: the runs so far, if
    this is the second pass, over a modified input or output.
    """
    decision = read_decision(run)
    if decision.error is not None:
        run = run._replace(failure=Failure.UNREADABLE, why=decision.error, notes=(*run.notes, *decision.notes))
        decision = read_decision(run)
    if decision is SILENT and surely and earlier is None:
        return run  # the common case
    hook = run.hook
    notes: list[str] = []
    if not surely:
        may = "deny or replace the output" if hook.event in OUTPUT_FIELDS else "deny or ask"
        notes.append(f"{unsure_match(event)}: it ran, but may only {may}")
        allows = decision.action in (Action.ALLOW, Action.APPROVE)
        decision = decision._replace(action=Action.NONE if allows else decision.action, modified_input=None)
    if decision.action is not Action.NONE and hook.spec.effect(hook.format) is Effect.INFORMS:
        notes.append(f"nothing can be blocked at {hook.declared}: its reason is shown")
        shown = decision.message or (decision.reason if decision.action is Action.DENY else None)
        decision = decision._replace(action=Action.NONE, reason=None, message=shown)
    if decision.modified_input is not None and hook.event != "pre-tool-call":
        decision = decision._replace(modified_input=None)
        notes.append(f"the input cannot be modified at {hook.declared}")
    if decision.modified_output is not None and hook.event not in OUTPUT_FIELDS:
        decision = decision._replace(modified_output=None)
        notes.append(f"the output cannot be modified at {hook.declared}")
    if earlier is not None:
        notes.append(f"ran on the modified {'output' if hook.event in OUTPUT_FIELDS else 'input'}")
        if decision.modified_input and not light_json.same(decision.modified_input, event.tool_input):
            decision = Decision(Action.DENY, f"Hook '{hook.name}' would modify an input that others have modified")
        decision = _without_repetition(decision, [each.decision for each in earlier if is_same(each.hook, hook)])
    if notes:
        decision = decision._replace(notes=(*decision.notes, *notes))
    return run._replace(decision=decision._replace(ignored=_ignored(hook, decision, event)))


def unsure_match(event: Event) -> str:
    """Return why it is not certain that a matcher matches."""
    if len(event.mcp_names) < 2:
        return "its matcher took too long"
    return f"the tool's name can be read as {' or '.join(event.mcp_names)}, and its matcher may not match each"


def _ignored(hook: Hook, decision: Decision, event: Event) -> str | None:
    """Return why a decision has no effect, or None."""
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
    """Return the decision of a hook's second run, without the context and message that its first run gave."""
    if any(decision.additional_context == each.additional_context for each in said):
        decision = decision._replace(additional_context=None)
    if any(decision.message == each.message for each in said):
        decision = decision._replace(message=None)
    return decision


def without_stale_consent(run: Run, final: object) -> Run:
    """Return the run without an allow or approve that was given for another input."""
    decision = run.decision
    if decision.action not in (Action.ALLOW, Action.APPROVE) or _knows(run, final):
        return run
    note = f"its {decision.action} was for an input that has been modified since"
    return run._replace(decision=decision._replace(action=Action.NONE, notes=(*decision.notes, note)))


def has_seen(hook: Hook, tool_input: object, runs: Sequence[Run]) -> bool:
    """Whether a hook need not run again on this input: it was sent it, returned it, or was not run."""
    return any(is_same(run.hook, hook) and (not run.started or _knows(run, tool_input)) for run in runs)


def meant_to_block(hook: Hook, stderr: bytes) -> bool:
    """Whether exit code 1 may have been meant as a block: the hook can block, and there is no Python traceback."""
    return decides(hook) and not hook.fail_closed and b"Traceback (most recent call last)" not in stderr


def decides(hook: Hook) -> bool:
    return hook.spec.effect(hook.format) is Effect.DECIDES


def is_same(one: Hook, other: Hook) -> bool:
    """Whether two hooks are run only once, like equal commands of the array format."""
    return one is other or (one.in_parallel and one.format == other.format and one.command == other.command)


def _knows(run: Run, tool_input: object) -> bool:
    return light_json.same(run.saw, tool_input) or light_json.same(run.decision.modified_input, tool_input)
