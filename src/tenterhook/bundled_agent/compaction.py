"""Compaction: replacing a long context with a summary that the model writes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pydantic_ai.direct import model_request
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolReturnPart, UserPromptPart

from ..basics.model_script import SUMMARY
from ..engine.model_messages import hook_context
from . import models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic_ai.messages import ModelMessage

    from .conversation import Conversation

_CHARACTERS_OF_A_TOKEN = 4
_PROMPT = """\
Summarise this session so that you can continue from the summary alone: what the user wants, what was done and found, \
which files and commands matter, what was refused and why, and what is left to do. Reply with the summary only."""


def tokens(messages: Sequence[ModelMessage]) -> int:
    """Return the tokens of the last request and its answer; an estimate if the model did not report them."""
    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            counted = message.usage.input_tokens + message.usage.output_tokens
            return counted or _estimate(messages)
    return 0


def _estimate(messages: Sequence[ModelMessage]) -> int:
    texts = (str(getattr(part, "content", "")) for message in messages for part in message.parts)
    return sum(map(len, texts)) // _CHARACTERS_OF_A_TOKEN


async def compact(
    conversation: Conversation, messages: Sequence[ModelMessage], trigger: str, *, keep_last: bool = False
) -> list[ModelMessage] | None:
    """Return the history with a summary of its past; None if there is no past, a hook blocks, or the model fails.

    `keep_last`: the last request, which is not answered yet, is kept, with the calls whose results it contains.
    """
    kept = _unanswered(messages) if keep_last else []
    past = list(messages[: len(messages) - len(kept)])
    if not past:
        return None
    hooks, screen = conversation.hooks, conversation.screen
    verdict = await hooks.fire("pre-context-compact", trigger=trigger, token_count=tokens(messages))
    context = [hook_context("pre-context-compact", text) for text in verdict.additional_context]
    if verdict.denied:
        hooks.wait(context)
        return None
    screen.note("compacting the context…")
    asked = [*past, ModelRequest(parts=[UserPromptPart(_PROMPT)])]
    try:
        response = await model_request(models.for_speaker(conversation.model, SUMMARY), asked)
    except asyncio.CancelledError:
        hooks.wait(context)
        raise
    except Exception as error:  # noqa: BLE001  # any error of the model: the context stays as it is
        hooks.wait(context)
        screen.note(f"the context was not compacted: {error}")
        return None
    conversation.count(response.usage)
    summary = response.text or ""
    text = f"<summary>\n{summary}\n</summary>\nThis is what happened in the session so far."
    compacted: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(text)]), *kept]
    if context:
        compacted.append(ModelRequest(parts=[UserPromptPart(each) for each in context]))
    about = {"trigger": trigger, "summary": summary, "before": len(messages), "after": len(compacted)}
    if conversation.record.replace(compacted, **about):
        await hooks.fire("post-context-compact", trigger=trigger, estimated_token_count=_estimate(compacted))
    return compacted


def _unanswered(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return the last request and, if it has results of calls, the response with these calls."""
    start = len(messages)
    while start and isinstance(messages[start - 1], ModelRequest):
        start -= 1
    last = messages[start:]
    has_results = any(isinstance(part, ToolReturnPart) for message in last for part in message.parts)
    return list(messages[start - 1 :] if has_results and start else last)
