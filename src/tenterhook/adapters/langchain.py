"""An engine's hooks in an agent of LangChain, as middleware.

    agent = create_agent(model, tools, middleware=[HooksMiddleware(engine)])

A run of the agent is a turn; `invoke` and `ainvoke` do alike. Put it last, so that hooks see a call as it runs. Not
given: compaction and background work, which are other middleware's, and `post-agent-turn-failure`, as nobody tells
middleware that a run has failed: fire that with `fail_turn` where you catch the error.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import time
from concurrent.futures import ThreadPoolExecutor
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
_REMEMBERED = 6 * 3600.0  # seconds that a run's turn is kept at least; runs that fail never say so


class HooksState(AgentState[Any]):
    """The agent's state, with the turn it is in."""

    tenterhook_turn: NotRequired[Annotated[str, PrivateStateAttr]]


class HooksMiddleware(AgentSession, AgentMiddleware[HooksState, Any]):
    """Fires every event of a run at an engine's hooks and does what they decide."""

    state_schema = HooksState
    tools = ()
    _since = 0.0  # when its turn began

    @cached_property
    def _turns(self) -> dict[str, HooksMiddleware]:
        """The runs under way: one middleware serves all of an agent's."""
        return {}

    # A turn

    @hook_config(can_jump_to=["end"])
    async def abefore_agent(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any]:
        turn_id = os.urandom(8).hex()
        session = self._begun(turn_id)
        context = await session.begin_turn(_prompt(state["messages"]), turn_id)
        if session.turn.refusal is None:
            return {"tenterhook_turn": turn_id, "messages": _heard([*session.take_waiting(), *context])}
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
            told = await session.stop(said)
            if told:
                return {"messages": _heard(told), "jump_to": "model"}
            await session.end_turn(said or "")
            if session.turn.stop_reason == "max_steps" and not was_cut_off:  # hooks have objected, and no step is left
                answer = {"messages": [AIMessage(session.turn.answer)]}
        self._turns.pop(state.get("tenterhook_turn", ""), None)
        return answer

    # A request, and a call

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
            await session.failed(permit.call, str(error))
            raise
        return await session._ended(permit, result)

    # The same where nobody awaits; a tool must not find a loop running that is not its caller's

    @hook_config(can_jump_to=["end"])
    def before_agent(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any]:
        return _here(self.abefore_agent(state, runtime))

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: HooksState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        return _here(self.aafter_agent(state, runtime))

    def wrap_model_call(self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Any]) -> Any:
        return handler(self._instructed(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        session, permit = _here(self._permitted(request))
        if not permit.allowed:
            return _here(session._refusal(request, permit))
        try:
            result = handler(_changed(request, permit))
        except GraphBubbleUp:
            raise
        except Exception as error:
            _here(session.failed(permit.call, str(error)))
            raise
        return _here(session._ended(permit, result))

    # How it is done

    def _session(self, state: Any) -> HooksMiddleware:
        """The session of the turn that a state is in; one that came from elsewhere begins here."""
        turn_id = state.get("tenterhook_turn", "")
        return self._turns.get(turn_id) or self._begun(turn_id)

    def _begun(self, turn_id: str) -> HooksMiddleware:
        now = time.monotonic()
        for old, session in list(self._turns.items()):
            if now - session._since > _REMEMBERED:
                self._turns.pop(old, None)
        session = self.for_turn()
        session._since = now
        return self._turns.setdefault(turn_id, session)

    def _instructed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        if not self.context:
            return request
        given = request.system_message
        told = SystemMessage("\n\n".join(self.context)) if given is None else _with(given, self.context)
        return request.override(system_message=told)

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
            texts = await self._told(permit, own) if own else await self.succeeded(permit.call, str(result))
            self.waiting += [*permit.context, *texts]
            return result
        return _with(result, [*permit.context, *await self._told(permit, result)])

    async def _told(self, permit: Permit, message: ToolMessage) -> list[str]:
        """Tell hooks of a call's result, which may be an error."""
        end = self.failed if message.status == "error" else self.succeeded
        output = message.content if isinstance(message.content, str) else said_text(message.content)
        return await end(permit.call, output)


def _message(command: Any, call_id: str) -> ToolMessage | None:
    """The result of a call among what a command puts into the state."""
    update = getattr(command, "update", None)
    messages = update.get("messages", ()) if isinstance(update, dict) else ()
    own = (each for each in messages if isinstance(each, ToolMessage) and each.tool_call_id == call_id)
    return next(own, None)


def _said(messages: Sequence[Any], session: AgentSession) -> str | None:
    """The model's last words; of a turn that was cut off those before the message that says so."""
    if session.turn.stop_reason == "no_tool_calls":
        return str(messages[-1].text)
    said = (str(message.text) for message in reversed(messages[:-1]) if isinstance(message, AIMessage))
    return next(said, "") or None


def _here(work: Coroutine[Any, Any, T]) -> T:
    """Await something where nobody can; a thread that has a loop of its own lends another."""
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
    """A message with what hooks say beside it."""
    if not texts:
        return message
    if isinstance(message.content, str):
        return message.model_copy(update={"content": "\n\n".join([message.content, *texts])})
    parts = [{"type": "text", "text": text} for text in texts]
    return message.model_copy(update={"content": [*message.content, *parts]})


def _heard(texts: Sequence[str]) -> list[HumanMessage]:
    return [HumanMessage(text) for text in texts]


def _prompt(messages: Sequence[AnyMessage]) -> str:
    """What a person has said last."""
    return next((str(each.text) for each in reversed(messages) if isinstance(each, HumanMessage)), "")
