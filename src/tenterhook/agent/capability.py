"""An engine's hooks in a pydantic-ai agent: its life mapped onto PROTOCOL 1.

    agent = Agent("openai:gpt-5", capabilities=[HooksCapability(engine)])

A run of the agent is a turn. What belongs to a session (`begin`, `end`), to its context and to background work is the
caller's to fire; everything inside a turn, and subagents, happens here.
"""

from __future__ import annotations

import asyncio
import copy
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError
from pydantic_ai.agent import CallToolsNode, ModelRequestNode
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.result import FinalResult
from pydantic_ai.run import AgentRunResult
from pydantic_graph import End

from .. import guarded, jsonable, processes, stopping
from ..approvals.requests import Call
from ..gate import Gate, Permit
from ..model import Action, Event, Run, Verdict
from ..sessions import fresh_id
from ..texts import prompt_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from pydantic_ai.capabilities.abstract import WrapRunHandler
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.tools import RunContext, ToolDefinition

    from ..approvals.requests import Answer, Request, Surface
    from ..approvals.rules import Rule
    from ..engine import Engine
    from ..gate import MoreRules


class Subagent(NamedTuple):
    """Whose life it is, if it is not the agent's own."""

    id: str
    name: str
    description: str
    kind: str = "general"


class Turn:
    """What one run has come to so far."""

    def __init__(self) -> None:
        self.steps = 0
        self.stops = stopping.fresh()
        self.stop_reason = "no_tool_calls"
        self.refusal: str | None = None  # why there was no model call
        self.answer = ""
        self.asking: set[asyncio.Task[Permit]] = set()  # calls that wait for an answer
        self.heard: set[str] = set()  # calls that hooks were told of

    def reject(self, reason: str) -> None:
        """A person's plain no: the turn ends, and nobody is asked about its other calls."""
        self.stop_reason, self.answer = "tool_rejected", reason
        for task in self.asking:
            task.cancel()


class HooksCapability(AbstractCapability[Any]):
    """Fires every event of a run at an engine's hooks and does what they decide."""

    def __init__(
        self,
        engine: Engine,
        *,
        session_id: str | None = None,
        work_dir: str | os.PathLike[str] = ".",
        mode: str = "yolo",
        rules: Sequence[Rule] = (),
        more_rules: MoreRules | None = None,
        surfaces: Sequence[Surface] = (),
        answered: Callable[[Request, Answer | None, float], None] | None = None,
        max_steps: int | None = None,
        told: Callable[[Event, Verdict], None] | None = None,
        say: Callable[[str], None] | None = None,
        keep: Callable[[str], None] | None = None,
    ) -> None:
        """`mode` says which tools are asked about where hooks do not decide, `surfaces` are who is asked.

        `told` hears of every verdict, `answered` of every answer, `say` of what a person should read, `keep` of what
        belongs in the session but not in the model's context.
        """
        self.engine = engine
        self.session_id = session_id or fresh_id()
        self.work_dir = os.path.abspath(work_dir)
        self.gate = Gate(
            self.decide, mode=mode, rules=rules, more_rules=more_rules, surfaces=surfaces, told=self._answered
        )
        self.answered = answered
        self.max_steps = max_steps
        self.told = told
        self.say = say or (lambda text: None)
        self.keep = keep or (lambda text: None)
        self.subagent: Subagent | None = None
        self.context: list[str] = []  # of pre-session hooks, for the instructions
        self.waiting: list[str] = []  # for the next request
        self.origin = "user"  # of the next run: a person's prompt, or a notification
        self.turn = Turn()
        self._is_marked = False

    # What a caller fires itself

    async def decide(self, event: Event) -> Verdict:
        """Put an event to the hooks."""
        return self._heard(event, await self.engine.adecide(event))

    async def fire(self, name: str, **fields: Any) -> Verdict:
        """The same with an event of this session."""
        return await self.decide(self._event(name, fields))

    async def begin(self, *, source: str = "startup", **fields: Any) -> Verdict:
        """The session begins; its hooks' context goes with the instructions. Denied, it should not."""
        self._mark()
        verdict = await self.fire("pre-session", source=source, **fields)
        self.context = [hook_context("pre-session", text) for text in verdict.additional_context]
        return verdict

    async def end(self, *, reason: str = "exit", **fields: Any) -> None:
        """The session is over and flushed."""
        await self.fire("post-session", reason=reason, **fields)

    def for_subagent(self, name: str, description: str, number: str) -> HooksCapability:
        """The same hooks, session and gate, for an agent that works for this one."""
        other = copy.copy(self)
        other.subagent = Subagent(number, name, description)
        return other

    # What pydantic-ai calls

    async def for_run(self, ctx: RunContext[Any]) -> HooksCapability:
        self._mark()
        run = copy.copy(self)
        turn = Turn()
        if self.origin != "user":  # only a person's turn begins anew
            turn.stops = self.turn.stops
        run.turn = self.turn = turn
        return run

    def get_instructions(self) -> Callable[[], str | None]:
        return lambda: "\n\n".join(self.context) or None

    async def wrap_run(self, ctx: RunContext[Any], *, handler: WrapRunHandler) -> AgentRunResult[Any]:
        if self.subagent is not None:
            return await self._subagent_run(ctx, self.subagent, handler)
        prompt = _text(ctx.prompt)
        started = {"turn_id": ctx.run_id, "origin_kind": self.origin, "origin_name": self.origin}
        await self.fire("turn-started", **started, prompt=prompt)
        if self.origin == "user":
            verdict = await self.fire("pre-agent-turn", prompt=prompt)
            self._keep_results(verdict)
            if verdict.denied:
                self.turn.refusal = self.turn.answer = verdict.reason or ""
                return AgentRunResult(output=self.turn.answer)
            self._add(ctx, [hook_context("pre-agent-turn", text) for text in verdict.additional_context])
        try:
            result = await handler()
        except Exception as error:
            await self.fire("post-agent-turn-failure", error_type=type(error).__name__, error_message=str(error))
            raise
        await self.fire("post-agent-turn", prompt=prompt, response=_text(result.output))
        return result

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        if self.subagent is None and self.waiting:
            self._add(ctx, self.waiting)
            self.waiting.clear()
        return request_context

    async def before_node_run(self, ctx: RunContext[Any], *, node: Any) -> Any:
        self.turn.steps += isinstance(node, ModelRequestNode)
        return node

    async def after_node_run(self, ctx: RunContext[Any], *, node: Any, result: Any) -> Any:
        """Where a run would go on although it must not, and where it would end although hooks say no."""
        if isinstance(result, ModelRequestNode) and isinstance(node, CallToolsNode):
            await self._tell_of_others(ctx, node, result.request)
            if self.max_steps is not None and self.turn.steps >= self.max_steps:
                self.turn.stop_reason = "max_steps"
                self.turn.answer = f"Stopped after {self.turn.steps} steps"
            if self.turn.stop_reason != "no_tool_calls":
                ctx.messages.append(result.request)  # the results of the calls, which nobody answers
                result = End(FinalResult(self.turn.answer))
        if isinstance(result, End):
            self.turn.answer = _text(result.data.output)
            await self._stop(ctx, self.turn.answer)
        return result

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        self.turn.heard.add(call.tool_call_id)
        given = _given(call, args)
        wanted = Call(call.tool_name, given, self.work_dir, self.session_id, call.tool_call_id, self._whose())
        permit = await self._permit(wanted)
        self._add(ctx, [hook_context("pre-tool-call", text) for text in permit.context])
        wanted = permit.call
        if not permit.allowed:
            reason = permit.reason or "Refused"
            if permit.ends_turn:
                self.turn.reject(reason)
            await self._failed(ctx, wanted, reason)
            raise ToolFailed(reason)
        try:
            args = args if wanted.tool_input is given else _validated(ctx, call.tool_name, wanted.tool_input)
            output = await handler(args)
        except Exception as error:
            await self._failed(ctx, wanted, str(error))
            raise
        verdict = await self.fire("post-tool-call", **_tool(wanted), tool_output=_output(output))
        self._add_said(ctx, verdict)
        return output

    # How it is done

    def _mark(self) -> None:
        """What runs below an agent may not widen what may run."""
        if not self._is_marked:
            self._is_marked = True
            try:
                guarded.mark(processes.this())
            except OSError as error:
                self.say(f"tenterhook: commands below this agent are not known as such: {error.strerror}")

    async def _permit(self, call: Call) -> Permit:
        """Ask the gate, unless a person has ended the turn, be it meanwhile."""
        after_no = Permit(False, call, "terminal", "Not run: the user refused another call and ended the turn")
        if self.turn.stop_reason == "tool_rejected":
            return after_no
        task = asyncio.create_task(self.gate.permit(call))
        self.turn.asking.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if self.turn.stop_reason == "tool_rejected" and not (current and current.cancelling()):
                return after_no
            raise
        finally:
            self.turn.asking.discard(task)

    async def _tell_of_others(self, ctx: RunContext[Any], node: Any, request: Any) -> None:
        """Calls that never came to run: of a tool that does not exist, or with an input that it does not take."""
        calls = {call.tool_call_id: call for call in node.model_response.tool_calls}
        for part in list(request.parts):
            call = calls.get(getattr(part, "tool_call_id", ""))
            if call is None or call.tool_call_id in self.turn.heard:
                continue
            self.turn.heard.add(call.tool_call_id)
            try:
                given = call.args_as_dict()
            except ValueError:
                given = {"arguments": call.args}
            wanted = Call(call.tool_name, given, self.work_dir, self.session_id, call.tool_call_id)
            await self._failed(ctx, wanted, _error_text(part))

    async def _subagent_run(
        self, ctx: RunContext[Any], subagent: Subagent, handler: WrapRunHandler
    ) -> AgentRunResult[Any]:
        about = _about(subagent)
        prompt = _text(ctx.prompt)
        verdict = await self.fire("pre-subagent", **about, prompt=prompt)
        if verdict.denied:
            raise ToolFailed(verdict.reason or "Refused")
        self._add(ctx, [hook_context("pre-subagent", text) for text in verdict.additional_context])
        try:
            return await handler()
        except Exception as error:
            folders = [hook for hook in self.engine.hooks if stopping.family(hook) == "folder"]
            event = self._event("post-subagent", {**about, "error": str(error)})
            self._heard(event, await self.engine.asking(folders).adecide(event))
            raise

    async def _stop(self, ctx: RunContext[Any], said: str) -> None:
        """Ask whether the run may stop; if not, what hooks say is the next thing the model hears."""
        turn, subagent = self.turn, self.subagent
        message = {"role": "assistant", "content": said}
        told = {"stop_reason": turn.stop_reason, "step_count": turn.steps, "final_message": message}
        name = "pre-agent-turn-stop" if subagent is None else "post-subagent"
        event = self._event(name, told if subagent is None else {**_about(subagent), "response": said})
        asked = turn.stops.asked(self.engine.hooks)
        if subagent is not None and turn.stop_reason != "no_tool_calls":  # the array format's hear of success only
            asked = [hook for hook in asked if stopping.family(hook) == "folder"]
        engine = self.engine.asking(asked)
        told_event = turn.stops.told(event, engine.hooks)
        verdict = await engine.adecide(told_event, settle=turn.stops.settle)
        self._heard(event, verdict)
        for news in turn.stops.news(self.engine.hooks, verdict.runs):
            self.say(news)
        contexts = [hook_context(name, text) for text in verdict.additional_context]
        if verdict.denied and turn.stop_reason == "no_tool_calls":
            turn.stops = turn.stops.after(verdict)
            self._add(ctx, [*_sent_back(verdict.runs), *contexts])
            return
        self.waiting += contexts
        if subagent is None:
            active = any(count > 0 for count in turn.stops.counts.values())
            await self.fire("post-agent-turn-stop", **told, stop_hook_active=active)

    async def _failed(self, ctx: RunContext[Any], call: Call, error: str) -> None:
        self._add_said(ctx, await self.fire("post-tool-call-failure", **_tool(call), error=error))

    def _add_said(self, ctx: RunContext[Any], verdict: Verdict) -> None:
        """What hooks have to say about a call that is over, beside its result."""
        said = [*verdict.additional_context, *([verdict.reason] if verdict.denied and verdict.reason else [])]
        self._add(ctx, [hook_context(verdict.event, text) for text in said])

    def _add(self, ctx: RunContext[Any], texts: Iterable[str]) -> None:
        for text in texts:
            ctx.enqueue(text)

    def _keep_results(self, verdict: Verdict) -> None:
        """What prompt hooks say is for the person and the session, not for the model."""
        for run in verdict.runs:
            if run.decision.ignored is not None:
                continue
            denies = run.decision.action is Action.DENY
            text = run.decision.reason if denies else run.decision.message if run.hook.has_one_matcher else None
            if text:
                body = text.replace("</hook_result>", "&lt;/hook_result>")
                self.keep(f'<hook_result hook_event="UserPromptSubmit">{body}</hook_result>')

    def _answered(self, request: Request, answer: Answer | None, took: float) -> None:
        """Write down how a question ended, and tell whoever listens."""
        if self.engine.journal is not None:
            self.engine.journal.add_approval(request, answer, took)
        if self.answered is not None:
            self.answered(request, answer, took)

    def _heard(self, event: Event, verdict: Verdict) -> Verdict:
        if self.told is not None:
            self.told(event, verdict)
        return verdict

    def _event(self, name: str, fields: dict[str, Any]) -> Event:
        whose = {**self._whose(), **fields}
        return Event(name, session_id=self.session_id, work_dir=self.work_dir, **whose)

    def _whose(self) -> dict[str, Any]:
        return {} if self.subagent is None else {"agent_id": self.subagent.id, "agent_type": self.subagent.name}


def _about(subagent: Subagent) -> dict[str, Any]:
    return {
        "subagent_name": subagent.name,
        "subagent_type": subagent.kind,
        "task_description": subagent.description,
    }


def _tool(call: Call) -> dict[str, Any]:
    return {"tool_name": call.tool_name, "tool_input": call.tool_input, "tool_use_id": call.tool_use_id}


def _given(call: ToolCallPart, args: dict[str, Any]) -> dict[str, Any]:
    """The input as the model gave it, without the defaults of the tool; as it will run, if something has changed it."""
    try:
        given = call.args_as_dict()
    except ValueError:
        return args
    return given if all(key in args and args[key] == value for key, value in given.items()) else args


def _error_text(part: Any) -> str:
    if hasattr(part, "model_response_str"):
        return str(part.model_response_str(wrap_if_error=False))
    return str(part.model_response())


def _sent_back(runs: Iterable[Run]) -> list[str]:
    """The reasons of blocked stops, in the words of each family."""
    blocks = [run for run in runs if run.decision.action is Action.DENY and run.decision.ignored is None]
    return [
        f"[Hook blocked stop: {run.decision.reason}]"
        if stopping.family(run.hook) == "folder"
        else run.decision.reason or ""
        for run in blocks
    ]


def hook_context(event: str, text: str) -> str:
    """What a hook adds, told apart from what a person says."""
    return f'<hook_context event="{event}">{text.replace("</hook_context>", "&lt;/hook_context>")}</hook_context>'


def _validated(ctx: RunContext[Any], tool_name: str, tool_input: dict[str, Any]) -> dict[str, Any]:
    """An input that hooks have made, as the tool takes it."""
    tools = ctx.tool_manager.tools if ctx.tool_manager is not None else None
    if not tools or tool_name not in tools:
        return tool_input
    try:
        return dict(tools[tool_name].args_validator.validate_python(tool_input))
    except ValidationError as error:
        what = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise ToolFailed(f"A hook has modified the input into one that the tool does not take: {what}") from None


def _output(output: Any) -> Any:
    return output.return_value if hasattr(output, "return_value") else output


def _text(value: Any) -> str:
    return value if isinstance(value, str) else prompt_text(jsonable.plain(value)) if value is not None else ""
