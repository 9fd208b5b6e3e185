"""Records of the journal: an event, its runs and the verdict; an approval; the end of an asynchronous hook."""

from __future__ import annotations

import time

from ..basics import light_json
from ..basics.named_tuples import NamedTuple
from ..basics.redaction import could_hold_secret, redacted
from ..model import Outcome

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..approvals.requests import Answer, Request
    from ..model import Event, Run, Verdict

SCHEMA = 1
CANARY = "tenterhook-canary"  # the hook of `doctor --live`: recorded, but in no statistics
_MAX_OUTPUT = 2000  # characters of each stream of a hook: the first of stdout, the last of stderr
_MAX_ASYNC_OUTPUT = 4096  # the same for an asynchronous hook
_MARGIN = 8192  # characters beyond the limit that are redacted too, since a secret that is cut is not recognized
_MAX_FIELDS = 256 * 1024  # characters of an event's fields

REDACTED, FULL, NONE = "redacted", "full", "none"
PAYLOADS = (REDACTED, FULL, NONE)


def of_verdict(event: Event, verdict: Verdict, by: str, waited_ms: float, payloads: str) -> dict[str, Any]:
    """Return the record of a verdict, with its event and runs."""
    shown = _Shown(payloads)
    fields = shown.fields(event.fields)
    context = shown.value(event.context) if event.context else {}
    said: dict[str, Any] = {}
    if verdict.reason:
        said["reason"] = shown.text(verdict.reason)
    if verdict.modified_input is not None:
        said["modified_input"] = shown.value(verdict.modified_input)
    if verdict.modified_output is not None:
        said["modified_output"] = shown.output(verdict.modified_output, _MAX_FIELDS)
    if verdict.additional_context:
        said["additional_context"] = [shown.text(text) for text in verdict.additional_context]
    runs = [_run(run, shown) for run in verdict.runs]
    return {
        "schema": SCHEMA,
        "type": "verdict",
        "by": by,
        "session_id": event.session_id,
        "event": event.canonical,
        "event_name": event.name,
        "work_dir": event.work_dir,
        "tool_name": event.tool_name,
        "time": round(time.time(), 6),
        "context": context,
        "payload": shown.what,
        "decision": verdict.decision,
        "waited_ms": round(waited_ms, 3),
        **said,
        "fields": fields,
        "runs": runs,
    }


def encoded(value: Any) -> str:
    return light_json.dumps(value, default=str)


def of_approval(request: Request, answer: Answer | None, *, by: str, waited_ms: float, payloads: str) -> dict[str, Any]:
    """Return the record of a request and its answer, which is None if the request was withdrawn."""
    shown = _Shown(payloads)
    call = request.call
    decision = "none" if answer is None else "approve" if answer.approved else "deny"
    return {
        "schema": SCHEMA,
        "type": "approval",
        "time": round(time.time(), 6),
        "by": by,
        "session_id": call.session_id,
        "event": "permission-request",
        "work_dir": call.work_dir,
        "tool_name": call.tool_name,
        "request": request.id,
        "request_hash": request.hash,
        "fields": shown.fields({"tool_input": call.tool_input}),
        "payload": shown.what,
        "why": shown.text(request.why),
        "decision": decision,
        "reason": shown.text(answer.reason) if answer is not None else None,
        "answered_by": answer.by if answer is not None else None,
        "scope": answer.scope if answer is not None else None,
        "waited_ms": round(waited_ms, 3),
    }


def of_background(payloads: str, said: dict[str, str | None], **about: Any) -> dict[str, Any]:
    """Return the record of the end of an asynchronous hook; `said` are its output and why it ended."""
    shown = _Shown(payloads)
    texts = {
        key: (shown.end if key == "stderr" else shown.beginning)(text, _MAX_ASYNC_OUTPUT) for key, text in said.items()
    }
    return {"schema": SCHEMA, "type": "async", "time": round(time.time(), 6), "by": "async", **about, **texts}


def meaning(outcome: str, decision: str) -> str:
    """Return the result of a run in one word: its outcome, or the decision of one that succeeded."""
    return outcome if outcome != Outcome.OK else _MEANINGS[decision]


_MEANINGS = {"none": "no_decision", "allow": "allowed", "approve": "approved", "ask": "asked", "deny": "would_block"}


class _Shown:
    """Removes from values what the setting `payloads` does not allow to store; `what` tells what was done."""

    def __init__(self, payloads: str) -> None:
        self._payloads = payloads
        self.what = "full"

    def value(self, value: Any) -> Any:
        if self._payloads == FULL or value is None:
            return value
        if self._payloads == NONE:
            self.what = "none"
            return None
        kept = redacted(value)
        if kept is not value:
            self.what = "redacted"
        return kept

    def fields(self, fields: dict[str, Any]) -> Any:
        """Return the fields of an event that may be stored; large ones are left out if there is too much."""
        if self._payloads == REDACTED:
            whole = encoded(fields)
            if len(whole) <= _MAX_FIELDS and not could_hold_secret(whole):  # the common case
                return fields
        is_cut = self._payloads != NONE and _size(fields) > _MAX_FIELDS
        if is_cut:  # before the slow search for secrets
            fields = {key: value for key, value in fields.items() if _size(value) <= _MAX_OUTPUT}
        kept = self.value(fields)
        if is_cut:
            self.what = "cut"
        return kept

    def output(self, output: Any, limit: int) -> Any:
        """Return a replaced output as stored; if it is too large, the beginning of its text."""
        return self.value(output) if _size(output) <= limit else self.beginning(light_json.text(output), limit)

    def text(self, text: str | None) -> str | None:
        """Return a hook's text as stored; it may repeat the payload."""
        if text is None or self._payloads == FULL:
            return text
        return None if self._payloads == NONE else redacted(text)

    def beginning(self, text: str | None, limit: int = _MAX_OUTPUT) -> str | None:
        """Return the first part of a hook's output, redacted before it is cut."""
        if text is None or self._payloads == FULL or len(text) <= limit + _MARGIN:
            kept = self.text(text)
            return kept and kept[:limit]
        window = self.text(text[: limit + _MARGIN])
        return window and window[: max(len(window) - _MARGIN, 0)][:limit]

    def end(self, text: str | None, limit: int = _MAX_OUTPUT) -> str | None:
        """Return the last part of a hook's output, redacted before it is cut: programs write their error last."""
        if text is None or self._payloads == FULL or len(text) <= limit + _MARGIN:
            kept = self.text(text)
            return kept and kept[-limit:]
        window = self.text(text[-limit - _MARGIN :])
        return window and window[_MARGIN:][-limit:]


def _size(value: Any) -> int:
    """Return the approximate number of characters of a plain value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 8


def _run(run: Run, shown: _Shown) -> dict[str, Any]:
    """Return the record of a run, without keys that have no value."""
    hook, decision, outcome = run.hook, run.decision, run.outcome
    said = {
        "why": shown.text(run.why),
        "reason": shown.text(decision.reason),
        "modified_input": shown.value(decision.modified_input),
        "additional_context": shown.text(decision.additional_context),
        "message": shown.text(decision.message),
        "log": shown.text(decision.log),
        "ignored": decision.ignored,
        "stdout": shown.beginning(run.stdout),
        "stderr": shown.end(run.stderr),
        "notes": [shown.text(note) for note in (*run.notes, *decision.notes)],
    }
    if decision.modified_output is not None:
        said["modified_output"] = shown.output(decision.modified_output, _MAX_OUTPUT)
    return {
        "hook": hook.name,
        "source": hook.source,
        "event_name": hook.declared,
        "outcome": outcome,
        "meaning": meaning(outcome, decision.action),
        "decision": decision.action,
        "duration_ms": round(run.duration_ms, 3),
        **({} if run.exit_code is None else {"exit_code": run.exit_code}),
        **({"shadow": True} if hook.is_shadow else {}),
        **{key: value for key, value in said.items() if value or (key == "modified_output" and value is not None)},
    }


PATHS = ("file_path", "path")
_SUBJECTS = ("prompt", "command", *PATHS, "pattern", "url", "error", "message")  # the first that is present


class Subject(NamedTuple):
    """The field of an event that tells most about it."""

    key: str
    value: Any

    @property
    def text(self) -> str:
        """The value as one text."""
        return light_json.prompt_text(self.value) if self.key == "prompt" else light_json.text(self.value)


def subject(record: Mapping[str, Any]) -> Subject | None:
    """Return the most telling field of a recorded event; None if there is none, or the payload was not stored."""
    fields = record.get("fields")
    if not isinstance(fields, dict):
        return None
    given = fields.get("tool_input")
    tables = [given, fields] if isinstance(given, dict) else [fields]
    found = next((Subject(key, table[key]) for table in tables for key in _SUBJECTS if table.get(key)), None)
    return found or (Subject("tool_input", given) if given else None)
