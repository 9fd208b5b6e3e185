"""`scripted:FILE`: a model that plays a YAML script of answers: a whole session, deterministic and offline."""

from __future__ import annotations

import asyncio
import json
import os
import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import yaml
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

from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pydantic_ai.models import ModelRequestParameters, StreamedResponse
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import RunContext

AGENT, SUMMARY = "agent", "summary"
_ANSWER_KEYS = {"text", "calls", "tokens", "delay", "expect", "error"}
_CALL_KEYS = {"tool", "input", "id"}


class ScriptError(Exception):
    """The script cannot go on: no answer is left, or the request is not the one it expects."""


class Script:
    """The answers of a script, each list with its own place."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open(path, encoding="utf-8") as file:
                found = yaml.safe_load(file)
        except OSError as error:
            raise HookError(f"{error.strerror}: {path}", "scripted:FILE names a YAML script of answers") from None
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise HookError(f"{path} is not YAML: {' '.join(str(error).split())}", "see docs/agent.md") from None
        self._answers = _read(found, path)
        self._log = None if found.get("log") is None else os.path.join(os.path.dirname(path), str(found["log"]))
        self._given = dict.fromkeys(self._answers, 0)

    def next(self, who: str) -> dict[str, Any]:
        """The next answer of one speaker."""
        answers = self._answers.get(who)
        if answers is None:
            raise ScriptError(f"{self.path} has no answers of {who}")
        place = self._given[who]
        if place >= len(answers):
            raise ScriptError(f"{self.path} has no answer left for {who}: {place} were given")
        self._given[who] += 1
        return answers[place]

    def log(self, who: str, messages: list[ModelMessage], instructions: str) -> None:
        """Write a request down as the model got it."""
        if self._log is not None:
            line = json.dumps({"who": who, "instructions": instructions, "messages": _told(messages)})
            with open(self._log, "a", encoding="utf-8") as file:
                file.write(line + "\n")


class ScriptedModel(Model):
    """One speaker of a script: the agent, a subagent, or whoever is asked for a summary."""

    _announces_system_voice = False  # there is nobody to tell what a tag means

    def __init__(self, script: Script, who: str = AGENT) -> None:
        super().__init__()
        self._script = script
        self._who = who

    def speaking_as(self, who: str) -> ScriptedModel:
        """The same script, another speaker."""
        return ScriptedModel(self._script, who)

    @property
    def model_name(self) -> str:
        return os.path.basename(self._script.path)

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
        self._script.log(self._who, messages, instructions)
        answer = self._script.next(self._who)
        if (expected := answer.get("expect")) is not None:
            sent = "\n".join([instructions, *(each["content"] for each in _told(messages))])
            if not re.search(str(expected), sent):
                raise ScriptError(
                    f"{self._script.path} expects {expected!r} in what the model is sent, which is: {sent}"
                )
        await asyncio.sleep(float(answer.get("delay", 0)))
        if "error" in answer:
            error = answer["error"]
            raise ModelHTTPError(int(error.get("status", 500)), self.model_name, error.get("message", "error"))
        return self._response(answer)

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

    def _response(self, answer: dict[str, Any]) -> ModelResponse:
        parts: list[TextPart | ToolCallPart] = []
        if answer.get("text"):
            parts.append(TextPart(str(answer["text"])))
        for call in answer.get("calls", ()):
            part = ToolCallPart(call["tool"], call.get("input", {}))
            if "id" in call:
                part.tool_call_id = str(call["id"])
            parts.append(part)
        tokens = answer.get("tokens", {})
        usage = RequestUsage(input_tokens=int(tokens.get("input", 0)), output_tokens=int(tokens.get("output", 0)))
        return ModelResponse(parts=parts, usage=usage, model_name=self.model_name, provider_name=self.system)


def _read(found: Any, path: str) -> dict[str, list[dict[str, Any]]]:
    """The lists of answers by speaker, checked before anything is played."""
    if not isinstance(found, dict) or not set(found) <= {"answers", "tasks", "summaries", "log"}:
        raise HookError(f"{path} is no script", "its keys are answers, tasks, summaries and log; see docs/agent.md")
    tasks = found.get("tasks") or {}
    if not isinstance(tasks, dict):
        raise HookError(f"{path}: tasks is not a table", "write a list of answers below each subagent's name")
    lists = {AGENT: found.get("answers"), SUMMARY: found.get("summaries"), **tasks}
    return {str(who): _answers(answers, f"{path}: {who}") for who, answers in lists.items() if answers is not None}


def _answers(found: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(found, list):
        raise HookError(f"{where}: not a list of answers", "begin each answer with a hyphen")
    for number, answer in enumerate(found, 1):
        if not isinstance(answer, dict) or not set(answer) <= _ANSWER_KEYS:
            raise HookError(f"{where}: answer {number} is none", f"its keys are {', '.join(sorted(_ANSWER_KEYS))}")
        for key, (is_right, form) in _FORMS.items():
            if key in answer and not is_right(answer[key]):
                raise HookError(f"{where}: {key} of answer {number} is {answer[key]!r}", f"write it as {form}")
    return found


def _is_call(value: Any) -> bool:
    if not isinstance(value, dict) or not set(value) <= _CALL_KEYS:
        return False
    return isinstance(value.get("tool"), str) and isinstance(value.get("input", {}), dict)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def _is_expression(value: Any) -> bool:
    try:
        re.compile(str(value))
    except re.error:
        return False
    return True


# What each part of an answer looks like.
_FORMS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "calls": (
        lambda value: isinstance(value, list) and all(map(_is_call, value)),
        "[{tool: Shell, input: {command: ls}}]",
    ),
    "tokens": (
        lambda value: (
            isinstance(value, dict) and set(value) <= {"input", "output"} and all(map(_is_number, value.values()))
        ),
        "{input: 1200, output: 30}",
    ),
    "delay": (_is_number, "seconds: 0.5"),
    "expect": (_is_expression, "a regular expression"),
    "error": (
        lambda value: (
            isinstance(value, dict)
            and set(value) <= {"status", "message"}
            and isinstance(value.get("status", 500), int)
        ),
        "{status: 503, message: overloaded}",
    ),
}


def _told(messages: list[ModelMessage]) -> list[dict[str, Any]]:
    """The messages as a reader of a log wants them."""
    told: list[dict[str, Any]] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            told += [_told_part(part) for part in message.parts]
            continue
        entry: dict[str, Any] = {"role": "assistant", "content": message.text or ""}
        calls = [
            {"tool": call.tool_name, "input": call.args_as_dict(), "id": call.tool_call_id}
            for call in message.tool_calls
        ]
        told.append({**entry, "calls": calls} if calls else entry)
    return told


def _told_part(part: Any) -> dict[str, Any]:
    if isinstance(part, ToolReturnPart):
        return _told_result(part, part.model_response_str(wrap_if_error=False), failed=part.outcome != "success")
    if isinstance(part, RetryPromptPart):
        return _told_result(part, part.model_response(), failed=True)
    content = part.content if isinstance(part, (SystemPromptPart, UserPromptPart)) else str(part)
    texts = [content] if isinstance(content, str) else [str(each) for each in content]
    return {"role": "system" if isinstance(part, SystemPromptPart) else "user", "content": "\n".join(texts)}


def _told_result(part: Any, content: str, *, failed: bool) -> dict[str, Any]:
    entry = {"role": "tool", "tool": part.tool_name, "id": part.tool_call_id, "content": content}
    return {**entry, "failed": True} if failed else entry
