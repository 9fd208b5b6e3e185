"""What hooks have to say, in the words in which a model or a session is told it (PROTOCOL 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import stopping
from .basics import jsonable
from .basics.texts import prompt_text
from .model import Action

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .model import Run, Verdict


def hook_context(event: str, text: str) -> str:
    """What a hook adds, told apart from what a person says."""
    return f'<hook_context event="{event}">{text.replace("</hook_context>", "&lt;/hook_context>")}</hook_context>'


def beside_result(verdict: Verdict) -> list[str]:
    """What hooks have to say about a call that is over, beside its result."""
    said = [*verdict.additional_context, *([verdict.reason] if verdict.denied and verdict.reason else [])]
    return [hook_context(verdict.event, text) for text in said]


def sent_back(blocks: Iterable[Run]) -> list[str]:
    """The reasons of blocked stops, in the words of each family."""
    return [
        f"[Hook blocked stop: {run.decision.reason}]"
        if stopping.family(run.hook) == "folder"
        else run.decision.reason or ""
        for run in blocks
    ]


def prompt_results(verdict: Verdict) -> list[str]:
    """What prompt hooks say for the person and the session, not for the model."""
    results = []
    for run in verdict.runs:
        if run.decision.ignored is not None:
            continue
        denies = run.decision.action is Action.DENY
        text = run.decision.reason if denies else run.decision.message if run.hook.has_one_matcher else None
        if text:
            body = text.replace("</hook_result>", "&lt;/hook_result>")
            results.append(f'<hook_result hook_event="UserPromptSubmit">{body}</hook_result>')
    return results


def said_text(value: Any) -> str:
    """A prompt or an answer as text, in whichever shape it comes."""
    return value if isinstance(value, str) else prompt_text(jsonable.plain(value)) if value is not None else ""
