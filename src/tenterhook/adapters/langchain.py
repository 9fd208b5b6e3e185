"""An engine's hooks in an agent of LangChain, as middleware.

    agent = create_agent(model, tools, middleware=[HooksMiddleware(engine)])

A run of the agent is a turn, with `invoke` and with `ainvoke`. Put it last, so that hooks see a call as it runs. Not
supported: compaction and background work, which belong to other middleware, and `post-agent-turn-failure`: middleware
is not notified of a failed run; fire it with `fail_turn` where you catch the error.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeVar

from ..engine.model_messages import said_text
from .agent_session import AgentSession

try:
    from langchain.agents.middleware.types import AgentMiddleware, AgentState, PrivateStateAttr, hook_config
    from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
    from langgraph.errors import GraphBubbleUp
except ImportError as error:
    raise ImportError("tenterhook.adapters.langchain needs LangChain 1 or newer: pip install langchain") from error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence

    from langchain.agents.middleware.types import ModelRequest, ToolCallRequest
    from langchain_core.messages import AnyMessage, BaseMessage
    from langgraph.runtime import Runtime
    from langgraph.types import Command

    from ..approvals.gate import Permit
    from .agent_session import ToolFeedback

    Result = ToolMessage | Command[Any]

T = TypeVar("T")
M = TypeVar("M", bound="BaseMessage")

EVENTS = {
    "pre-session": "you, with `begin`",
    "post-session": "you, with `end`",
    **dict.fromkeys(
        (
            *("turn-started", "pre-agent-turn", "post-agent-turn", "pre-agent-turn-stop", "post-agent-turn-stop"),
            *("post-tool-call", "post-tool-call-failure"),
        ),
        "the middleware",
    ),
    "post-agent-turn-failure": "you, with `fail_turn`",
    **dict.fromkeys(("pre-tool-call", "permission-request", "permission-result"), "the gate"),
    **dict.fromkeys(("pre-subagent", "post-subagent"), "the middleware of `for_subagent`"),
}
_KEPT = 6 * 3600.0  # seconds that a run's turn is kept at least: the end of failed runs is not reported


class HooksState(AgentState[Any]):
    """The agent's state with the id of its turn."""

    tenterhook_turn: NotRequired[Annotated[str, PrivateStateAttr]]


class HooksMiddleware(AgentSession, AgentMiddleware[HooksState, Any]):
    """Runs an engine's hooks at every event of a run and enforces their verdicts."""

    state_schema = HooksState
    tools = ()
    _since = 0.0  # when its turn began

    @cached_property
    def _turns(self) -> dict[str, HooksMiddleware]:
        """The runs under way, by the id of their turn: one middleware serves all runs of an agent."""
        return {}

    # Turns

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any]:
        turn_id = os.urandom(8).hex()
        session = self._begun(turn_id)
        context = await session.begin_turn(_prompt(state["messages"]), turn_id)
        if session.turn.refusal is None:
            return {"tenterhook_turn": turn_id, "messages": _human([*session.take_waiting(), *context])}
        asked = [message for message in state["messages"][-1:] if isinstance(message, HumanMessage) and message.id]
        said = [*(RemoveMessage(id=message.id or "") for message in asked), AIMessage(session.turn.refusal)]
        return {"tenterhook_turn": turn_id, "messages": said, "jump_to": "end"}

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        session = self._session(state)
        if session.is_cut_off():
            return {"messages": [AIMessage(session.turn.answer)], "jump_to": "end"}
        session.turn.steps += 1
        return None

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        session, answer = self._session(state), None
        if session.turn.refusal is None:
            said = _said(state["messages"], session)
            was_cut_off = session.turn.stop_reason != "no_tool_calls"
            if texts := await session.stop(said):
                return {"messages": _human(texts), "jump_to": "model"}
            await session.end_turn(said or "")
            if session.turn.stop_reason == "max_steps" and not was_cut_off:  # a hook blocked, and no step is left
                answer = {"messages": [AIMessage(session.turn.answer)]}
        self._turns.pop(state.get("tenterhook_turn", ""), None)
        return answer

    # Model requests and tool calls

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[Any]]
    ) -> Any:
        return await handler(self._instructed(request))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        session, permit = await self._permitted(request)
        if not permit.allowed:
            return await session._refusal(request, permit)
        try:
            result = await handler(_changed(request, permit))
        except GraphBubbleUp:  # a pause, or a jump
            raise
        except Exception as error:
            _set_text(error, await session.failed(permit.call, str(error)))
            raise
        return await session._ended(permit, result)

    # The synchronous versions; a tool must not find a running loop that is not its caller's

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any]:
        return _run_sync(self.abefore_agent(state, runtime))

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return _run_sync(self.aafter_agent(state, runtime))

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        return handler(self._instructed(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        session, permit = _run_sync(self._permitted(request))
        if not permit.allowed:
            return _run_sync(session._refusal(request, permit))
        try:
            result = handler(_changed(request, permit))
        except GraphBubbleUp:
            raise
        except Exception as error:
            _set_text(error, _run_sync(session.failed(permit.call, str(error))))
            raise
        return _run_sync(session._ended(permit, result))

    # Internals

    def _session(self, state: Any) -> HooksMiddleware:
        """Return the session of a state's turn; an unknown turn gets a new one."""
        turn_id = state.get("tenterhook_turn", "")
        return self._turns.get(turn_id) or self._begun(turn_id)

    def _begun(self, turn_id: str) -> HooksMiddleware:
        now = time.monotonic()
        for old, session in list(self._turns.items()):
            if now - session._since > _KEPT:
                self._turns.pop(old, None)
        session = self.for_turn()
        session._since = now
        return self._turns.setdefault(turn_id, session)

    def _instructed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        for tool in request.tools:
            if not isinstance(tool, dict):  # else the model's provider runs it
                self.notice_tool(tool.name, tool.args)
        if not self.context:
            return request
        given = request.system_message
        message = SystemMessage("\n\n".join(self.context)) if given is None else _with(given, self.context)
        return request.override(system_message=message)

    async def _permitted(self, request: ToolCallRequest) -> tuple[HooksMiddleware, Permit]:
        session, call = self._session(request.state), request.tool_call
        return session, await session.permit(session.call(call["name"], call["args"], call["id"] or ""))

    async def _refusal(self, request: ToolCallRequest, permit: Permit) -> ToolMessage:
        reason, more = await self.refused(permit)
        call = request.tool_call
        refusal = ToolMessage(reason, tool_call_id=call["id"], name=call["name"], status="error")
        return _with(refusal, [*permit.context, *more])

    async def _ended(self, permit: Permit, result: Result) -> Result:
        if not isinstance(result, ToolMessage):  # a command, which has no place for texts
            own = _message(result, permit.call.tool_use_id)
            if own is None:
                texts = (await self.succeeded(permit.call, str(result))).texts
            else:
                message, texts = await self._finish(permit, own)
                result = _with_message(result, own, message)
            self.waiting += [*permit.context, *texts]
            return result
        result, texts = await self._finish(permit, result)
        return _with(result, [*permit.context, *texts])

    async def _finish(self, permit: Permit, message: ToolMessage) -> tuple[ToolMessage, list[str]]:
        """Run the hooks for a call's result, which may be an error. Return it as they leave it, and their texts."""
        end = self.failed if message.status == "error" else self.succeeded
        output = message.content if isinstance(message.content, str) else said_text(message.content)
        feedback = await end(permit.call, output)
        if feedback.output is not None:
            message = message.model_copy(update={"content": feedback.text("")})
        return message, feedback.texts


def _set_text(error: Exception, feedback: ToolFeedback) -> None:
    """Give an error the text that hooks want: other middleware may catch it and show it to the model."""
    if feedback.output is not None:
        error.args = (feedback.text(""),)


def _message(command: Any, call_id: str) -> ToolMessage | None:
    """Return the result of a call in a command's update of the state, or None."""
    update = getattr(command, "update", None)
    messages = update.get("messages", ()) if isinstance(update, dict) else ()
    own = (each for each in messages if isinstance(each, ToolMessage) and each.tool_call_id == call_id)
    return next(own, None)


def _with_message(command: Any, own: ToolMessage, message: ToolMessage) -> Any:
    """Return a command with another message instead of a call's result."""
    if message is own:
        return command
    messages = [message if each is own else each for each in command.update["messages"]]
    return replace(command, update={**command.update, "messages": messages})


def _said(messages: Sequence[Any], session: AgentSession) -> str | None:
    """Return the model's last message; in a turn that was cut off, the one before our own."""
    if session.turn.stop_reason == "no_tool_calls":
        return str(messages[-1].text)
    said = (str(message.text) for message in reversed(messages[:-1]) if isinstance(message, AIMessage))
    return next(said, "") or None


def _run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine from synchronous code; in another thread if this one has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, work).result()


def _changed(request: ToolCallRequest, permit: Permit) -> ToolCallRequest:
    if permit.call.tool_input is request.tool_call["args"]:
        return request
    return request.override(tool_call={**request.tool_call, "args": permit.call.tool_input})


def _with(message: M, texts: Sequence[str]) -> M:
    """Return a message with texts of hooks added."""
    if not texts:
        return message
    if isinstance(message.content, str):
        return message.model_copy(update={"content": "\n\n".join([message.content, *texts])})
    parts = [{"type": "text", "text": text} for text in texts]
    return message.model_copy(update={"content": [*message.content, *parts]})


def _human(texts: Sequence[str]) -> list[HumanMessage]:
    return [HumanMessage(text) for text in texts]


def _prompt(messages: Sequence[AnyMessage]) -> str:
    """Return the last message of the user."""
    return next((str(each.text) for each in reversed(messages) if isinstance(each, HumanMessage)), "")
