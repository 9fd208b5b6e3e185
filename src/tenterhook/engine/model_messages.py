"""The texts that give hooks' answers to the model or the session (PROTOCOL 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..basics import light_json
from ..basics.light_json import prompt_text
from ..model import Action
from . import stop_limit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..model import Run, Verdict


def hook_context(event: str, text: str) -> str:
    """Return a hook's context in tags, so that the model does not take it for the user's words."""
    return f'<hook_context event="{event}">{text.replace("</hook_context>", "&lt;/hook_context>")}</hook_context>'


def beside_result(verdict: Verdict) -> list[str]:
    """Return what hooks add to the result of a call."""
    said = [*verdict.additional_context, *([verdict.reason] if verdict.denied and verdict.reason else [])]
    return [hook_context(verdict.event, text) for text in said]


def blocked_stop(blocks: Iterable[Run]) -> list[str]:
    """Return the reasons why the agent may not stop, in the form of each hook's family."""
    return [
        f"[Hook blocked stop: {run.decision.reason}]"
        if stop_limit.family(run.hook) == "folder"
        else run.decision.reason or ""
        for run in blocks
    ]


def prompt_results(verdict: Verdict) -> list[str]:
    """Return what prompt hooks answer, for the user and the session, not for the model."""
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
    """Return a prompt or an answer as text, from a string or content parts."""
    return value if isinstance(value, str) else prompt_text(light_json.plain(value)) if value is not None else ""
