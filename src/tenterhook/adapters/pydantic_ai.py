"""An engine's hooks in a pydantic-ai agent: its lifecycle mapped to PROTOCOL 1.

    agent = Agent("openai:gpt-5", capabilities=[HooksCapability(engine)])

A run of the agent is a turn. The caller fires the events of the session (`begin`, `end`), of compaction and of
background work; those of turns and subagents are fired here. A tool that returns
`ToolReturn(output, metadata={"exit_code": 1})` has failed: the model gets its output, and hooks a failure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_ai.agent import CallToolsNode, ModelRequestNode
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ModelRetry, ToolFailed, ToolFailedError, ToolRetryError
from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.result import FinalResult
from pydantic_ai.run import AgentRunResult
from pydantic_graph import End

from ..engine.model_messages import said_text
from .agent_session import AgentSession

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from pydantic_ai.capabilities.abstract import WrapRunHandler
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.tools import RunContext, ToolDefinition

EVENTS = {
    "pre-session": "you, with `begin`",
    "post-session": "you, with `end`",
    **dict.fromkeys(
        (
            *("turn-started", "pre-agent-turn", "post-agent-turn", "pre-agent-turn-stop", "post-agent-turn-stop"),
            *("post-agent-turn-failure", "post-tool-call", "post-tool-call-failure"),
        ),
        "the capability",
    ),
    **dict.fromkeys(("pre-tool-call", "permission-request", "permission-result"), "the gate"),
    **dict.fromkeys(("pre-subagent", "post-subagent"), "the capability of `for_subagent`"),
}


class HooksCapability(AgentSession, AbstractCapability[Any]):
    """Runs an engine's hooks at every event of a run and enforces their verdicts."""

    _said: str | None = None  # the model's last message in a turn that was cut off

    async def for_run(self, ctx: RunContext[Any]) -> HooksCapability:
        return self.for_turn()

    def get_instructions(self) -> Callable[[], str | None]:
        return lambda: "\n\n".join(self.context) or None

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        context = await self.begin_turn(said_text(ctx.prompt), ctx.run_id or "")
        if self.turn.refusal is not None:
            if self.subagent is not None:
                raise ToolFailed(self.turn.refusal)
            return AgentRunResult(output=self.turn.refusal)
        self.turn.context += context
        try:
            result = await handler()
        except Exception as error:
            await self.fail_turn(error)
            raise
        finally:
            if self.subagent is None:  # left over from a turn that was cut off or interrupted
                self.wait(self.turn.context)
        was_cut_off = self.turn.stop_reason != "no_tool_calls"
        await self.end_turn(self._said or "" if was_cut_off else said_text(result.output))
        return result

    async def prepare_tools(self, ctx: RunContext[Any], tool_defs: list[ToolDefinition]) -> list[ToolDefinition]:
        for tool in tool_defs:
            self.notice_tool(tool.name, tool.parameters_json_schema.get("properties", {}))
        return tool_defs

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        tell(ctx, request_context, [*self.turn.context, *self.take_waiting()])
        self.turn.context.clear()
        return request_context

    async def before_node_run(self, ctx: RunContext[Any], *, node: Any) -> Any:
        self.turn.steps += isinstance(node, ModelRequestNode)
        return node

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        """End a run that must not continue, and continue one that hooks do not let end."""
        if isinstance(result, ModelRequestNode) and isinstance(node, CallToolsNode):
            await self._report_not_run(node, result.request)
            if self.is_cut_off():
                ctx.messages.append(result.request)  # the results of the calls, without an answer
                await self.stop(node.model_response.text)
                return self._cut_off(node.model_response.text)
        if isinstance(result, End):
            said = self.turn.answer = said_text(result.data.output)
            texts = await self.stop(said)
            if self.turn.stop_reason == "max_steps":  # a hook blocked, and no step is left
                return self._cut_off(said)
            for text in texts:  # these make the run go on
                ctx.enqueue(text)
        return result

    def _cut_off(self, said: str | None) -> End[FinalResult[Any]]:
        """Return the end of a turn that hooks cannot prevent; `said` is the model's last message."""
        self._said = said
        return End(FinalResult(self.turn.answer))

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        given = _given(call, args)
        permit = await self.permit(self.call(call.tool_name, given, call.tool_call_id))
        self.turn.context += permit.context
        wanted = permit.call
        if not permit.allowed:
            reason, context = await self.refused(permit)
            self.turn.context += context
            raise ToolFailed(reason)
        try:
            args = args if wanted.tool_input is given else _validated(ctx, call.tool_name, wanted.tool_input)
            output = await handler(args)
        except Exception as error:
            feedback = await self.failed(wanted, str(error))
            self.turn.context += feedback.texts
            if feedback.output is None:
                raise
            raise _with_text(error, feedback.text("")) from None
        exit_code = _exit_code(output)
        if exit_code:  # the model gets the result anyway
            feedback = await self.failed(wanted, said_text(_output(output)), exit_code)
        else:
            feedback = await self.succeeded(wanted, _output(output))
        self.turn.context += feedback.texts
        return output if feedback.output is None else _replaced(output, feedback.output)

    async def _report_not_run(self, node: Any, request: Any) -> None:
        """Report calls that did not run: of an unknown tool, or with invalid input."""
        calls = {call.tool_call_id: call for call in node.model_response.tool_calls}
        for number, part in enumerate(request.parts):
            call = calls.get(getattr(part, "tool_call_id", ""))
            if call is None or call.tool_call_id in self.turn.heard:
                continue
            try:
                given = call.args_as_dict()
            except ValueError:
                given = {"arguments": call.args}
            wanted = self.call(call.tool_name, given, call.tool_call_id)
            feedback = await self.failed(wanted, _error_text(part))
            self.turn.context += feedback.texts
            if feedback.output is not None:
                request.parts[number] = replace(part, content=feedback.text(""))


def tell(ctx: RunContext[Any], request_context: Any, texts: Sequence[str]) -> None:
    """Add texts to the next model request and to the history."""
    if texts:
        parts = [UserPromptPart(text) for text in texts]
        request = ModelRequest(parts=parts, run_id=ctx.run_id, conversation_id=ctx.conversation_id)
        ctx.messages.append(request)
        request_context.messages = [*request_context.messages, request]


def _given(call: ToolCallPart, args: dict[str, Any]) -> dict[str, Any]:
    """Return the input as the model gave it, without the tool's defaults; if it was changed since, as it will run."""
    try:
        given = call.args_as_dict()
    except ValueError:
        return args
    return given if all(key in args and args[key] == value for key, value in given.items()) else args


def _error_text(part: Any) -> str:
    if hasattr(part, "model_response_str"):
        return str(part.model_response_str(wrap_if_error=False))
    return str(part.model_response())


def _validated(ctx: RunContext[Any], tool_name: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """Validate an input that hooks have modified. Raises `ToolFailed` if the tool does not accept it."""
    tools = ctx.tool_manager.tools if ctx.tool_manager is not None else None
    if not tools or tool_name not in tools:
        return tool_input
    try:
        return dict(tools[tool_name].args_validator.validate_python(tool_input))
    except ValidationError as error:
        what = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise ToolFailed(f"A hook has changed the input to one that the tool does not accept: {what}") from None


def _with_text(error: Exception, text: str) -> Exception:
    """Return an error with another text for the model; one that ends the run is unchanged, since no model sees it."""
    if isinstance(error, ToolFailedError):
        return ToolFailedError(replace(error.tool_failed, content=text))
    if isinstance(error, ToolRetryError):
        return ToolRetryError(replace(error.tool_retry, content=text))
    if isinstance(error, (ToolFailed, ModelRetry)):
        return type(error)(text)
    return error


def _replaced(output: Any, value: Any) -> Any:
    """Return a tool's output with another value, and nothing else for the model."""
    return replace(output, return_value=value, content=None) if hasattr(output, "return_value") else value


def _output(output: Any) -> Any:
    return output.return_value if hasattr(output, "return_value") else output


def _exit_code(output: Any) -> int | None:
    """Return the exit code of `ToolReturn(…, metadata={"exit_code": 1})`, or None."""
    metadata = getattr(output, "metadata", None)
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return code if isinstance(code, int) else None
