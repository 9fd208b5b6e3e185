"""One line of the journal: an event, what each hook did, and the verdict; and a short subject of it for people."""

from __future__ import annotations

import time

from ..basics import light_json
from ..basics.named_tuples import NamedTuple
from ..model import Outcome
from .redaction import could_hold_secret, redacted

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ..approvals.requests import Answer, Request
    from ..model import Event, Run, Verdict

SCHEMA = 1
CANARY = "tenterhook-canary"  # the hook of `doctor --live`: what it does is recorded, and counts for nobody
_LONGEST_OUTPUT = 2000  # characters of each stream of a hook: the first of stdout, the last of stderr
_LONGEST_LOGGED = 4096  # the same of an asynchronous one
_SPARE = 8192  # characters beyond, so that no secret is cut where it would no longer be known
_LARGEST_FIELDS = 256 * 1024  # characters of an event's fields

REDACTED, FULL, NONE = "redacted", "full", "none"
PAYLOADS = (REDACTED, FULL, NONE)


def of_verdict(event: Event, verdict: Verdict, by: str, waited_ms: float, payloads: str) -> dict[str, Any]:
    """A verdict that was given, and everything that led to it."""
    shown = _Shown(payloads)
    fields = shown.fields(event.fields)
    context = shown.value(event.context) if event.context else {}
    said: dict[str, Any] = {}
    if verdict.reason:
        said["reason"] = shown.text(verdict.reason)
    if verdict.modified_input is not None:
        said["modified_input"] = shown.value(verdict.modified_input)
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
    """How a question ended: what was asked, who answered it and how; without an answer, that it was withdrawn."""
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
    """The end of an asynchronous hook; `said` is what it wrote, and what there is to say about its end."""
    shown = _Shown(payloads)
    texts = {
        key: (shown.end if key == "stderr" else shown.beginning)(text, _LONGEST_LOGGED) for key, text in said.items()
    }
    return {"schema": SCHEMA, "type": "async", "time": round(time.time(), 6), "by": "async", **about, **texts}


def meaning(outcome: str, decision: str) -> str:
    """What became of a run, in one word; each of these is another thing and stays so."""
    return outcome if outcome != Outcome.OK else _SAID[decision]


_SAID = {"none": "no_decision", "allow": "allowed", "approve": "approved", "ask": "asked", "deny": "would_block"}


class _Shown:
    """What may be kept of values, and whether anything was left out."""

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
        """The fields of an event, as far as they may be kept."""
        if self._payloads == REDACTED:
            whole = encoded(fields)
            if len(whole) <= _LARGEST_FIELDS and not could_hold_secret(whole):  # as most: nothing is left out
                return fields
        is_cut = self._payloads != NONE and _size(fields) > _LARGEST_FIELDS
        if is_cut:  # before anything is looked for in it, which takes its time
            fields = {key: value for key, value in fields.items() if _size(value) <= _LONGEST_OUTPUT}
        kept = self.value(fields)
        if is_cut:
            self.what = "cut"
        return kept

    def text(self, text: str | None) -> str | None:
        """What a hook says; it may repeat what it was sent."""
        if text is None or self._payloads == FULL:
            return text
        return None if self._payloads == NONE else redacted(text)

    def beginning(self, text: str | None, longest: int = _LONGEST_OUTPUT) -> str | None:
        """The first part of a hook's output: without its secrets first, and cut then."""
        if text is None or self._payloads == FULL or len(text) <= longest + _SPARE:
            kept = self.text(text)
            return kept and kept[:longest]
        window = self.text(text[: longest + _SPARE])
        return window and window[: max(len(window) - _SPARE, 0)][:longest]

    def end(self, text: str | None, longest: int = _LONGEST_OUTPUT) -> str | None:
        """The last part of a hook's output, in the same way: an error is what a program writes last."""
        if text is None or self._payloads == FULL or len(text) <= longest + _SPARE:
            kept = self.text(text)
            return kept and kept[-longest:]
        window = self.text(text[-longest - _SPARE :])
        return window and window[_SPARE:][-longest:]


def _size(value: Any) -> int:
    """About how many characters a plain value takes."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 8


def _run(run: Run, shown: _Shown) -> dict[str, Any]:
    """What one hook did; keys without a value are left out."""
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
        **{key: value for key, value in said.items() if value},
    }


PATHS = ("file_path", "path")
_TOLD = ("prompt", "command", *PATHS, "pattern", "url", "error", "message")  # the first that is there


class Subject(NamedTuple):
    """The field that tells most, and its value."""

    key: str
    value: Any

    @property
    def text(self) -> str:
        """The value as one text."""
        return light_json.prompt_text(self.value) if self.key == "prompt" else light_json.text(self.value)


def subject(record: Mapping[str, Any]) -> Subject | None:
    """What an event was about; None if its payload was not kept or says nothing of it."""
    fields = record.get("fields")
    if not isinstance(fields, dict):
        return None
    given = fields.get("tool_input")
    places = [given, fields] if isinstance(given, dict) else [fields]
    found = next((Subject(key, place[key]) for place in places for key in _TOLD if place.get(key)), None)
    return found or (Subject("tool_input", given) if given else None)
