"""An engine's hooks in agents of the Claude Agent SDK, as callbacks in your own process.

    hooks = HooksCallbacks(engine)
    async for message in query(prompt="Ship it.", options=hooks.options(ClaudeAgentOptions(…))):

The payloads of Claude Code's hooks are read and answered as with `tenterhook install claude-code`. Not supported, as
the SDK has no callbacks: a turn that failed, the end of a compaction, background work. A subagent cannot be refused.
Hooks that `install` put into Claude Code's own settings run too: leave `setting_sources` empty to avoid that.
"""

from __future__ import annotations

import asyncio
import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from ..agents import codec
from ..agents.claude_code import AGENT
from ..approvals.gate import Permit
from ..approvals.requests import LASTS
from ..errors import BadEvent
from ..model import Action, Verdict
from .agent_session import AgentSession, TurnState

try:
    from claude_agent_sdk import ClaudeAgentOptions, HookMatcher
except ImportError as error:
    raise ImportError("tenterhook.adapters.claude_agent needs the SDK: pip install claude-agent-sdk") from error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from claude_agent_sdk.types import HookEvent

    from ..approvals.requests import Call
    from .agent_session import ToolFeedback

EVENTS = {
    "pre-session": "you, with `begin`",
    "post-session": "you, with `end`",
    "turn-started": "`UserPromptSubmit`",
    "pre-agent-turn": "`UserPromptSubmit`",
    "post-agent-turn": "`Stop`",
    "pre-agent-turn-stop": "`Stop`",
    "post-agent-turn-stop": "`Stop`",
    "pre-tool-call": "the gate, at `PreToolUse`",
    "post-tool-call": "`PostToolUse`",
    "post-tool-call-failure": "`PostToolUseFailure`, and a refusal",
    "permission-request": "the gate, and `PermissionRequest`",
    "permission-result": "the gate",
    "pre-subagent": "`SubagentStart`",
    "post-subagent": "`SubagentStop`",
    "pre-context-compact": "`PreCompact`",
    "notification": "`Notification`",
}
_SPARE = 900.0  # seconds for the hooks before a question, and again for those after it
_TIMEOUT = LASTS + _SPARE  # shorter than the timeout of Claude Code, which then lets the call run
_PERMITTING = ("PreToolUse", "PermissionRequest")


class HooksCallbacks(AgentSession):
    """Runs an engine's hooks at every event that Claude Code reports, and answers with their verdict."""

    def options(self, given: ClaudeAgentOptions | None = None) -> ClaudeAgentOptions:
        """Return the options with these callbacks before any others. Each session has its own state."""
        given = given or ClaudeAgentOptions()
        self.mark()
        hooks = dict(given.hooks or {})
        for event in _ANSWERS:
            hooks[event] = [HookMatcher(hooks=[self._answer], timeout=_TIMEOUT + _SPARE), *hooks.get(event, [])]
        named = given.session_id or given.resume or given.continue_conversation
        session_id = given.session_id if named else self.session_id
        return replace(given, hooks=hooks, session_id=session_id, max_turns=given.max_turns or self.max_steps)

    @staticmethod
    def fresh_session_id() -> str:
        """Return a UUID: Claude Code accepts nothing else."""
        return str(uuid4())

    @cached_property
    def _sessions(self) -> dict[tuple[str, str], HooksCallbacks]:
        """The sessions and subagents by their ids."""
        return {}

    def _session(self, payload: dict[str, Any]) -> HooksCallbacks:
        key = _whose(payload)
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = self._begun(payload, *key)
        if payload["hook_event_name"] == "UserPromptSubmit":
            session.waiting += self.take_waiting()  # texts for the next run
        session.work_dir = payload.get("cwd") or session.work_dir
        return session

    def _begun(self, payload: dict[str, Any], session_id: str, agent_id: str) -> HooksCallbacks:
        """Return a new session, or a subagent of one, whose texts go into the session's next request."""
        if agent_id:
            session = self._session({**payload, "agent_id": None})
            session = session.for_subagent(str(payload.get("agent_type") or ""), "", agent_id)
        else:
            session = copy.copy(self)
            session.session_id = session_id or self.session_id
            session.context, session.waiting = list(self.context), []
        session.turn = TurnState()
        return session

    async def _answer(self, payload: Any, tool_use_id: str | None, context: Any) -> Any:
        """The callback of the SDK, for every event."""
        native: HookEvent = payload["hook_event_name"]
        session = self._session(payload)
        try:
            received = AGENT.read_event(payload, native)
            verdict = await _ANSWERS[native](session, received)
            body = session._body(received, verdict)
        except Exception as error:  # without an answer, Claude Code would let the call run
            if native not in _PERMITTING and not isinstance(error, BadEvent):
                raise
            received = codec.Received(session._event(AGENT.events[native], {}), native, {})
            verdict = _deny(received, str(error) or type(error).__name__)
            body = session._body(received, verdict)
        if native == "SubagentStop" and not verdict.denied:
            self._sessions.pop(_whose(payload), None)
        return body

    def _body(self, received: codec.Received, verdict: Verdict) -> dict[str, Any]:
        """Return the verdict as Claude Code's JSON."""
        reply, lost = codec.reply(AGENT.title, AGENT.capabilities, received, verdict, AGENT.native_output)
        for what in lost:
            self.say(f"tenterhook: Claude Code could not be sent at {received.native}: {what}")
        answer = AGENT.answer(reply)
        body: dict[str, Any] = answer if isinstance(answer, dict) else {}
        if received.native == "PreToolUse" and self.turn.stop_reason == "tool_rejected":
            body |= {"continue_": False, "stopReason": self.turn.answer}  # as the SDK spells it
        return body

    async def _tool_asked(self, received: codec.Received) -> Verdict:
        wanted = self._call(received)
        if wanted.mcp_names:  # the others are Claude's own; the SDK does not report a tool before it is called
            strings = [key for key, value in wanted.tool_input.items() if isinstance(value, str)]
            self.notice_tool(wanted.tool_name, {key: {"type": "string"} for key in strings})
        try:
            permit = await asyncio.wait_for(self.permit(wanted), _TIMEOUT)
        except TimeoutError:
            permit = Permit(False, wanted, "nobody", "Nobody answered in time")
        if not permit.allowed:
            reason, more = await self.refused(permit)
            return _deny(received, reason)._replace(additional_context=(*permit.context, *more))
        decision = Action.NONE if permit.by == "mode" else Action.APPROVE  # by mode: Claude's own rules apply
        changed = None if permit.call.tool_input is wanted.tool_input else permit.call.tool_input
        return Verdict(received.event.canonical, decision, permit.reason, changed, permit.context)

    async def _tool_ended(self, received: codec.Received) -> Verdict:
        output = received.event.fields.get("tool_output")
        return _feedback(received, await self.succeeded(self._call(received), output))

    async def _tool_failed(self, received: codec.Received) -> Verdict:
        error = str(received.event.fields.get("error", ""))
        return _feedback(received, await self.failed(self._call(received), error))

    async def _turn_asked(self, received: codec.Received) -> Verdict:
        self.turn = TurnState()
        context = await self.begin_turn(received.event.prompt or "", str(received.payload.get("prompt_id", "")))
        if self.turn.refusal is not None:
            return _deny(received, self.turn.refusal)
        beginning = list(self.context)
        self.context.clear()  # sent once, with the first prompt
        return _context(received, [*beginning, *self.take_waiting(), *context])

    async def _subagent_begins(self, received: codec.Received) -> Verdict:
        context = await self.begin_turn("", "")
        return _deny(received, self.turn.refusal) if self.turn.refusal else _context(received, context)

    async def _stop_asked(self, received: codec.Received) -> Verdict:
        said = str(received.payload.get("last_assistant_message") or "")
        if texts := await self.stop(said):
            return _deny(received, "\n\n".join(texts))
        await self.end_turn(said)
        return Verdict(received.event.canonical)

    async def _observed(self, received: codec.Received) -> Verdict:
        return await self.decide(received.event)

    def _call(self, received: codec.Received) -> Call:
        event = received.event
        given = event.tool_input if isinstance(event.tool_input, dict) else {"input": event.tool_input}
        call = self.call(event.tool_name or "", given, str(event.fields.get("tool_use_id", "")))
        return call._replace(more={**call.more, "context": event.context}, agent=AGENT.name)


_ANSWERS: dict[HookEvent, Callable[[HooksCallbacks, codec.Received], Awaitable[Verdict]]] = {
    "PreToolUse": HooksCallbacks._tool_asked,
    "PostToolUse": HooksCallbacks._tool_ended,
    "PostToolUseFailure": HooksCallbacks._tool_failed,
    "UserPromptSubmit": HooksCallbacks._turn_asked,
    "Stop": HooksCallbacks._stop_asked,
    "SubagentStart": HooksCallbacks._subagent_begins,
    "SubagentStop": HooksCallbacks._stop_asked,
    "PermissionRequest": HooksCallbacks._observed,
    "PreCompact": HooksCallbacks._observed,
    "Notification": HooksCallbacks._observed,
}


def _whose(payload: dict[str, Any]) -> tuple[str, str]:
    """Return the ids of the session and of the subagent, which may be empty."""
    return str(payload.get("session_id", "")), str(payload.get("agent_id") or "")


def _deny(received: codec.Received, reason: str) -> Verdict:
    return Verdict(received.event.canonical, Action.DENY, reason)


def _feedback(received: codec.Received, feedback: ToolFeedback) -> Verdict:
    return _context(received, feedback.texts)._replace(
        runs=feedback.verdict.runs, modified_output=feedback.verdict.modified_output
    )


def _context(received: codec.Received, texts: list[str]) -> Verdict:
    return Verdict(received.event.canonical, additional_context=tuple(texts))
