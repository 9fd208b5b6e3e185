"""An engine's hooks in agents of the OpenAI Agents SDK.

    result = await HooksRunner(engine).run(agent, "Ship it.")

`run` replaces `Runner.run` and is a turn. Function tools and MCP tools are guarded, also in agents that are handed over
to. Not supported: compaction and background work, which the SDK does not have; calls of tools that run at OpenAI, of
computers, shells and patch editors, and handoffs, which cannot be stopped here. An agent that is a tool is one call:
hooks do not see its own calls, unless it is `hooks.guard(agent).as_tool(…)`.
"""

from __future__ import annotations

import copy
import json
import os
import weakref
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine.model_messages import said_text
from ..errors import HookError
from .agent_session import AgentSession

try:
    from agents import (
        Agent,
        FunctionTool,
        Handoff,
        ItemHelpers,
        MaxTurnsExceeded,
        MessageOutputItem,
        RunConfig,
        Runner,
        RunState,
        ToolOutputText,
    )
    from agents.agent import ToolsToFinalOutputResult
    from agents.result import RunResult
    from agents.run_context import RunContextWrapper
    from agents.tool import (
        maybe_invoke_function_tool_failure_error_function,
        set_function_tool_failure_error_function,
    )
except ImportError as error:
    raise ImportError("tenterhook.adapters.openai_agents needs the Agents SDK: pip install openai-agents") from error

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from agents import RunItem, TResponseInputItem
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
    from agents.tool import FunctionToolResult, Tool
    from agents.tool_context import ToolContext

EVENTS = {
    "pre-session": "you, with `begin`",
    "post-session": "you, with `end`",
    **dict.fromkeys(
        (
            *("turn-started", "pre-agent-turn", "post-agent-turn", "pre-agent-turn-stop", "post-agent-turn-stop"),
            *("post-agent-turn-failure", "post-tool-call", "post-tool-call-failure"),
        ),
        "`run`",
    ),
    **dict.fromkeys(("pre-tool-call", "permission-request", "permission-result"), "the gate"),
    **dict.fromkeys(("pre-subagent", "post-subagent"), "`run` of `for_subagent`"),
}


class HooksRunner(AgentSession):
    """Runs agents, with an engine's hooks at every event of a run."""

    async def run(
        self, agent: Agent[Any], prompt: str | list[TResponseInputItem] | RunState[Any], **how: Any
    ) -> RunResult:
        """`Runner.run` with hooks; the other arguments are its own.

        If hooks send the agent back, the result is that of the last run; its `to_input_list()` includes all of them.
        """
        session = self._going_on(prompt) if isinstance(prompt, RunState) else self.for_turn()
        if not isinstance(prompt, RunState):
            context = await session.begin_turn(_prompt_text(prompt), os.urandom(8).hex())
            if session.turn.refusal is not None:
                return _refused(agent, prompt, session.turn.refusal, how.get("context"))
            prompt = _beside(prompt, [*session.take_waiting(), *context])
        try:
            result = await session._until_it_may_stop(agent, prompt, how)
        except Exception as error:
            if (
                isinstance(error, MaxTurnsExceeded) and session.turn.stop_reason != "max_steps"
            ):  # else hooks were already asked
                session.turn.stop_reason = "max_steps"
                await session.stop(_said(error.run_data.new_items if error.run_data else ()))
            await session.fail_turn(error)
            raise
        if not result.interruptions:
            await session.end_turn(session._final(result) or "")
        return result

    def guard(self, agent: Agent[Any]) -> Agent[Any]:
        """Return a copy of an agent whose tools are guarded, to be run other than with `run`."""
        return self._guarded(agent, {})

    def _going_on(self, state: RunState[Any]) -> Self:
        """Return the session of the interrupted turn of a state. Raises `HookError` if its agent is not guarded."""
        of = getattr(state._current_agent, "_hooks", None)
        if of is None:
            remedy = "read it with RunState.from_json(hooks.guard(agent), …)"
            raise HookError("this state was read with an agent that is not guarded", remedy)
        session = self.for_turn()
        session.turn = self.turn = of.turn  # as its tools do
        return session

    async def _until_it_may_stop(self, agent: Agent[Any], prompt: Any, how: dict[str, Any]) -> RunResult:
        how = {"max_turns": self.max_steps, **how} if self.max_steps is not None else dict(how)
        left = self.max_steps = how.get("max_turns")
        how["run_config"] = self._configured(how.get("run_config"))
        while True:
            result = await Runner.run(self.guard(agent), prompt, **how)
            if result.interruptions or self.turn.stop_reason == "max_steps":
                return result
            texts = await self.stop(self._final(result))
            if self.turn.stop_reason == "max_steps":  # a hook blocked, and no step is left: the SDK raises
                how["max_turns"] = 0
            elif not texts:
                return result
            elif left is not None:
                left = how["max_turns"] = max(left - len(result.raw_responses), 0)
            agent, prompt = result.last_agent, _messages(texts)
            if how.get("previous_response_id") or how.get("auto_previous_response_id"):
                how["previous_response_id"] = result.last_response_id
            elif not (how.get("session") or how.get("conversation_id")):
                prompt = [*result.to_input_list(), *prompt]

    def _final(self, result: RunResult) -> str | None:
        """Return the agent's last message; the reason of a refusal that ended the run is not one."""
        rejected = self.turn.stop_reason == "tool_rejected"
        return _said(result.new_items) if rejected else said_text(result.final_output)

    def _configured(self, given: RunConfig | dict[str, Any] | None) -> RunConfig:
        config = given if isinstance(given, RunConfig) else RunConfig(**(given or {}))
        inner = config.call_model_input_filter

        async def with_context(data: CallModelData[Any]) -> ModelInputData:
            self.turn.steps += 1
            if self.context:
                own = data.model_data.instructions
                data.model_data.instructions = "\n\n".join([*([own] if own else []), *self.context])
            return await _filtered(inner, data)

        return replace(config, call_model_input_filter=with_context)

    def _guarded(self, agent: Agent[Any], done: dict[int, Agent[Any]]) -> Agent[Any]:
        """Return a guarded copy. `done`: those made before, as agents may hand over to each other in circles."""
        agent = getattr(agent, "_unguarded", agent)
        if id(agent) in done:
            return done[id(agent)]
        guarded = done[id(agent)] = copy.copy(agent)

        async def get_all_tools(of: Agent[Any], run_context: RunContextWrapper[Any]) -> list[Tool]:
            return [self._guarded_tool(tool) for tool in await type(agent).get_all_tools(of, run_context)]

        # a class, as the SDK makes copies of its own, and that method, as `tools` lacks those of MCP servers
        own = {"get_all_tools": get_all_tools, "_unguarded": agent, "_hooks": self}
        guarded.__class__ = type(type(agent).__name__, (type(agent),), own)
        guarded.handoffs = [self._guarded_handoff(each, done) for each in agent.handoffs]
        if self.gate.surfaces:  # only a refusal by the user ends a turn
            guarded.tool_use_behavior = self._ending(agent)
        return guarded

    def _guarded_handoff(
        self, handoff: Agent[Any] | Handoff[Any, Any], done: dict[int, Agent[Any]]
    ) -> Agent[Any] | Handoff[Any, Any]:
        if isinstance(handoff, Agent):
            return self._guarded(handoff, done)
        guarded, invoke = copy.copy(handoff), handoff.on_invoke_handoff

        async def on_invoke_handoff(context: RunContextWrapper[Any], given: str) -> Any:
            to = await invoke(context, given)
            return self._guarded(to, done) if isinstance(to, Agent) else to

        guarded.on_invoke_handoff = on_invoke_handoff
        if handoff._agent_ref is not None and isinstance(to := handoff._agent_ref(), Agent):
            guarded._agent_ref = weakref.ref(self._guarded(to, done))  # used to find the agent of a `RunState`
        return guarded

    def _guarded_tool(self, tool: Tool) -> Tool:
        if not isinstance(tool, FunctionTool):
            return tool
        self.notice_tool(tool.name, tool.params_json_schema.get("properties", {}))
        guarded = copy.copy(tool)
        guarded.on_invoke_tool = _Invoker(self, tool)
        return guarded

    def _ending(self, agent: Agent[Any]) -> Any:
        """Return the agent's own `tool_use_behavior`, which also ends the run if the user refused a call."""
        own = agent.tool_use_behavior

        async def ending(
            context: RunContextWrapper[Any], results: list[FunctionToolResult]
        ) -> ToolsToFinalOutputResult:
            if self.turn.stop_reason == "tool_rejected":
                return ToolsToFinalOutputResult(True, self.turn.answer)
            if callable(own):
                ended = own(context, results)
                return ended if isinstance(ended, ToolsToFinalOutputResult) else await ended
            names = own["stop_at_tool_names"] if isinstance(own, dict) else None
            for result in results if own != "run_llm_again" else ():
                if names is None or result.tool.name in names or result.tool.qualified_name in names:
                    return ToolsToFinalOutputResult(True, result.output)
            return ToolsToFinalOutputResult(False)

        return ending


def _said(items: Sequence[RunItem]) -> str | None:
    """Return the model's last message in a run."""
    said = (ItemHelpers.text_message_output(item) for item in reversed(items) if isinstance(item, MessageOutputItem))
    return next(said, None)


class _Invoker:
    """Calls a function tool if hooks permit it."""

    def __init__(self, session: HooksRunner, tool: FunctionTool) -> None:
        self.session = session
        self.tool = tool
        self._formats_errors = hasattr(tool.on_invoke_tool, "__agents_bind_function_tool__")
        # a copy that raises, so that hooks see a failure before it becomes a message to the model
        self._raising = copy.copy(tool)
        if self._formats_errors:
            set_function_tool_failure_error_function(self._raising, None)

    async def __call__(self, context: ToolContext[Any], arguments: str) -> Any:
        call = self.session.call(self.tool.qualified_name, _given(arguments), context.tool_call_id)
        permit = await self.session.permit(call)
        if not permit.allowed:
            reason, more = await self.session.refused(permit)
            return _with(reason, [*permit.context, *more])
        if permit.call.tool_input is not call.tool_input:
            arguments = json.dumps(permit.call.tool_input)
            context._function_tool_arguments = None  # parsed from the old input
        try:
            output = await self._raising.on_invoke_tool(context, arguments)
        except Exception as error:
            feedback = await self.session.failed(permit.call, str(error))
            message = await self._message(context, error)
            if message is None:
                raise
            return _with(feedback.text(message), [*permit.context, *feedback.texts])
        feedback = await self.session.succeeded(permit.call, _plain(output))
        output = output if feedback.output is None else feedback.text("")
        return _with(output, [*permit.context, *feedback.texts])

    async def _message(self, context: ToolContext[Any], error: Exception) -> str | None:
        """Return the tool's own message for an error; None if the run fails."""
        if not self._formats_errors:
            return None
        return await maybe_invoke_function_tool_failure_error_function(
            function_tool=self.tool, context=context, error=error
        )


async def _filtered(inner: CallModelInputFilter | None, data: CallModelData[Any]) -> ModelInputData:
    if inner is None:
        return data.model_data
    filtered = inner(data)
    return await filtered if hasattr(filtered, "__await__") else filtered


def _given(arguments: str) -> dict[str, Any]:
    """Return the input as the model gave it; the tool itself refuses anything but an object."""
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        return {"arguments": arguments}
    return given if isinstance(given, dict) else {"arguments": given}


def _with(output: Any, texts: Sequence[str]) -> Any:
    """Return a tool's result with texts of hooks added."""
    if not texts:
        return output
    if isinstance(output, list) or hasattr(output, "model_dump"):
        parts = output if isinstance(output, list) else [output]
        return [*parts, *(ToolOutputText(text=text) for text in texts)]
    return "\n\n".join([str(output), *texts])


def _plain(output: Any) -> Any:
    return output.text if isinstance(output, ToolOutputText) else output


def _messages(texts: Sequence[str]) -> list[TResponseInputItem]:
    return [{"role": "user", "content": text} for text in texts]


def _beside(prompt: str | list[TResponseInputItem], texts: Sequence[str]) -> str | list[TResponseInputItem]:
    if not texts:
        return prompt
    items = _messages([prompt]) if isinstance(prompt, str) else prompt
    return [*items, *_messages(texts)]


def _prompt_text(prompt: str | list[TResponseInputItem]) -> str:
    """Return the last message of the user."""
    if isinstance(prompt, str):
        return prompt
    said = [item.get("content") for item in prompt if item.get("role") == "user"]
    return said_text(said[-1]) if said else ""


def _refused(agent: Agent[Any], prompt: str | list[TResponseInputItem], reason: str, context: Any) -> RunResult:
    """Return a result without a run, with the reason as its output."""
    return RunResult(
        input=prompt,
        new_items=[],
        raw_responses=[],
        final_output=reason,
        input_guardrail_results=[],
        output_guardrail_results=[],
        tool_input_guardrail_results=[],
        tool_output_guardrail_results=[],
        context_wrapper=RunContextWrapper(context=context),
        _last_agent=agent,
    )
