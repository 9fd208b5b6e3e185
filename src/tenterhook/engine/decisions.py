"""What one run meant: exit code and output to a Decision. Pure; no output of a hook raises here."""

from __future__ import annotations

from ..basics import jsonable, light_json
from ..errors import BadEvent
from ..formats.hook_output import parse
from ..model import PRECEDENCE, SILENT, Action, Decision, Failure, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DECISION = {"allow": Action.ALLOW, "deny": Action.DENY, "block": Action.DENY, "ask": Action.ASK}
_PERMISSION = {"allow": Action.APPROVE, "approve": Action.APPROVE, "deny": Action.DENY, "ask": Action.ASK}
_SCOPES = ("once", "session")


def read_decision(run: Run) -> Decision:
    """The meaning of a run that has ended; a failure is no decision unless the hook fails closed.

    An answer that cannot be read is a decision with an `error`: the run has failed, and is read again as such.
    """
    if run.exit_code == 0 and run.failure is None and not run.stdout and run.answer is None:
        return SILENT  # as most are
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
    """A block by exit code 2, with its reason, or with a note that there is none where it is looked for."""
    reason = run.stderr.strip()
    if not reason:
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
    if wrong and action not in (Action.DENY, Action.ASK):  # a valid deny or ask beside it counts
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
        plain: dict[str, Any] = jsonable.plain(value)
    except BadEvent as error:
        odd.append(f"modified_input cannot be used: {error.message}; the input is unchanged")
        return None
    return plain


def _text(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return jsonable.printable(value if isinstance(value, str) else _json(value)).strip() or None


def _short(value: Any) -> str:
    shown = _json(value)
    return jsonable.printable(shown if len(shown) <= 40 else shown[:39] + "…")


def _json(value: Any) -> str:
    try:
        return light_json.dumps(value, ascii_only=False, default=str)
    except (ValueError, RecursionError):
        return "a value that JSON cannot hold"
