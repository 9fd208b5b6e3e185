"""`scripted:FILE`: a script as a pydantic-ai model: a whole session, deterministic and offline."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import CompletedStreamedResponse, Model
from pydantic_ai.usage import RequestUsage

from ..basics.model_script import AGENT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pydantic_ai.models import ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import RunContext

    from ..basics.model_script import ModelScript, Turn


class PydanticScriptedModel(Model):
    """One speaker of a script: the agent, a subagent, or the summary."""

    _announces_system_voice = False  # a script needs no explanation of tags

    def __init__(self, script: ModelScript, who: str = AGENT) -> None:
        super().__init__()
        self._script = script
        self._who = who

    def speaking_as(self, who: str) -> PydanticScriptedModel:
        """Return the same script for another speaker."""
        return PydanticScriptedModel(self._script, who)

    @property
    def model_name(self) -> str:
        return os.path.basename(self._script.name)

    @property
    def system(self) -> str:
        return "scripted"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        _, parameters = self.prepare_request(model_settings, model_request_parameters)
        instructions = "\n\n".join(part.content for part in parameters.instruction_parts or ())
        sent = _messages(messages)
        request = {"who": self._who, "instructions": instructions, "messages": sent}
        self._script.log(request)
        turn = self._script.take(self._who, request)
        if turn is None:
            raise self._script.used_up(self._who)
        self._script.check_expected(turn, "\n".join([instructions, *(each["content"] for each in sent)]))
        await asyncio.sleep(turn.delay)
        if turn.status is not None:
            raise ModelHTTPError(turn.status, self.model_name, turn.text)
        return self._response(turn)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncIterator[StreamedResponse]:
        response = await self.request(messages, model_settings, model_request_parameters)
        yield CompletedStreamedResponse(response, model_request_parameters=model_request_parameters, replay_events=True)

    def _response(self, turn: Turn) -> ModelResponse:
        parts: list[TextPart | ToolCallPart] = [TextPart(turn.text)] if turn.text else []
        for call in turn.calls:
            part = ToolCallPart(call.tool, call.input)
            if call.id is not None:
                part.tool_call_id = str(call.id)
            parts.append(part)
        usage = RequestUsage(input_tokens=turn.tokens, output_tokens=turn.output_tokens)
        return ModelResponse(parts=parts, usage=usage, model_name=self.model_name, provider_name=self.system)


def _messages(messages: list[ModelMessage]) -> list[dict[str, Any]]:
    """Return the messages as they are logged."""
    logged: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            logged += [_part(part) for part in message.parts]
            continue
        entry: dict[str, Any] = {"role": "assistant", "content": message.text or ""}
        calls = [
            {"tool": call.tool_name, "input": call.args_as_dict(), "id": call.tool_call_id}
            for call in message.tool_calls
        ]
        logged.append({**entry, "calls": calls} if calls else entry)
    return logged


def _part(part: Any) -> dict[str, Any]:
    if isinstance(part, ToolReturnPart):
        return _result(part, part.model_response_str(wrap_if_error=False), failed=part.outcome != "success")
    if isinstance(part, RetryPromptPart):
        return _result(part, part.model_response(), failed=True)
    content = part.content if isinstance(part, (SystemPromptPart, UserPromptPart)) else str(part)
    texts = [content] if isinstance(content, str) else [str(each) for each in content]
    return {"role": "system" if isinstance(part, SystemPromptPart) else "user", "content": "\n".join(texts)}


def _result(part: Any, content: str, *, failed: bool) -> dict[str, Any]:
    entry = {"role": "tool", "tool": part.tool_name, "id": part.tool_call_id, "content": content}
    return {**entry, "failed": True} if failed else entry
