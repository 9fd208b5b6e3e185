"""One session of an agent on any framework: its events (PROTOCOL 1), its turns, its tool calls at the gate.

An adapter is a subclass that calls these methods where its framework reports something.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from ..approvals.gate import Gate, Permit
from ..approvals.requests import Call
from ..basics import agent_marks, light_json, processes
from ..engine import model_messages, stop_limit
from ..engine.sessions import fresh_id
from ..engine.stop_limit import StopLimit
from ..events import tool_kinds
from ..model import Action, Event, Verdict
from . import own_tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from ..approvals.gate import MoreRules, Surface
    from ..approvals.requests import Answer, Request
    from ..approvals.rules import Rule
    from ..engine.engine import Engine


class Subagent(NamedTuple):
    """The subagent that a session belongs to, if it is not the agent's own."""

    id: str
    name: str
    description: str
    kind: str = "general"


class ToolFeedback(NamedTuple):
    """The feedback of hooks on a finished call: `texts` go to the model beside the result."""

    texts: list[str]
    verdict: Verdict

    @property
    def output(self) -> Any | None:
        """What the model sees instead of the tool's output or error; None: unchanged."""
        return self.verdict.modified_output

    def text(self, original: str) -> str:
        """Return what the model sees instead of the text of a result."""
        return original if self.output is None else light_json.text(self.output)


class TurnState:
    """The state of one run of an agent."""

    def __init__(self) -> None:
        self.prompt = ""
        self.steps = 0  # requests to the model, if the framework reports them
        self.stop_limit = StopLimit()
        self.stop_reason = "no_tool_calls"
        self.refusal: str | None = None  # why there was no model call
        self.answer = ""
        self.context: list[str] = []  # of hooks in this turn, for its next request
        self.asking: set[asyncio.Task[Permit]] = set()  # calls that wait for an answer
        self.heard: set[str] = set()  # calls for which hooks were run

    def reject(self, reason: str) -> None:
        """End the turn because the user refused a call; open questions about other calls are cancelled."""
        self.stop_reason, self.answer = "tool_rejected", reason
        for task in list(self.asking):
            with contextlib.suppress(RuntimeError):  # already answered, and its event loop is closed
                task.get_loop().call_soon_threadsafe(task.cancel)


class AgentSession:
    """Runs an engine's hooks at every event of a session and returns the consequences."""

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
        kept_waiting: Callable[[str], None] | None = None,
        tools: Mapping[str, str] | None = None,
    ) -> None:
        """`mode`: which tools need approval if no hook decides; `surfaces`: where approval is asked for.

        `max_steps`: the number of requests after which a turn ends; a limit of the framework takes precedence.
        Callbacks: `told` for every verdict, `answered` for every answer, `say` for messages to the user, `keep` for
        texts of the session that the model does not get, `kept_waiting` for texts of the model's next request. `tools`
        maps your own tools to the tools that they count as, in addition to the engine's.
        """
        self.engine = engine
        self._kinds = {**engine.tools, **tool_kinds(tools or {})}
        self._noticed: set[str] = set()  # tools that were looked at
        self.session_id = session_id or self.fresh_session_id()
        self.work_dir = os.path.abspath(work_dir)
        self.gate = Gate(
            self.decide,
            mode=mode,
            rules=rules,
            more_rules=more_rules,
            surfaces=surfaces,
            told=self._answered,
            tools=self._kinds,
        )
        self.answered = answered
        self.max_steps = max_steps
        self.told = told
        self.say = say or (lambda text: None)
        self.keep = keep or (lambda text: None)
        self.kept_waiting = kept_waiting or (lambda text: None)
        self.subagent: Subagent | None = None
        self.context: list[str] = []  # of pre-session hooks, for the instructions
        self.waiting: list[str] = []  # for the next request
        self.origin = "user"  # of the next run: a user's prompt, or a notification
        self.turn = TurnState()
        self._is_marked = False

    # For callers

    async def decide(self, event: Event) -> Verdict:
        """Run the hooks of an event and return the verdict."""
        event = event.with_kind(self._kinds)
        return self._notify(event, await self.engine.adecide(event))

    async def fire(self, name: str, **fields: Any) -> Verdict:
        """Run the hooks of an event of this session."""
        return await self.decide(self._event(name, fields))

    async def begin(self, *, source: str = "startup", **fields: Any) -> Verdict:
        """Begin the session; context from its hooks goes into the instructions. If denied, do not continue."""
        self.mark()
        verdict = await self.fire("pre-session", source=source, **fields)
        self.context = [model_messages.hook_context("pre-session", text) for text in verdict.additional_context]
        return verdict

    async def end(self, *, reason: str = "exit", **fields: Any) -> None:
        """End the session, after everything is written."""
        await self.fire("post-session", reason=reason, **fields)

    def for_subagent(self, name: str, description: str, number: str) -> Self:
        """Return the same session and gate for a subagent."""
        other = copy.copy(self)
        other.subagent = Subagent(number, name, description)
        return other

    # For adapters

    @staticmethod
    def fresh_session_id() -> str:
        """Return an id for a session created without one."""
        return fresh_id()

    def mark(self) -> None:
        """Mark this process as a guarded agent: commands below it cannot weaken protection."""
        if not self._is_marked:
            self._is_marked = True
            try:
                agent_marks.mark(processes.this())
            except OSError as error:
                self.say(f"tenterhook: this process could not be marked as an agent: {error.strerror}")

    def notice_tool(self, name: str, parameters: Mapping[str, Any]) -> None:
        """Warn once about a tool that looks like a shell and is not named in `tools`.

        `parameters` are the `properties` of its JSON schema.
        """
        if name in self._noticed:
            return
        self._noticed.add(name)
        if name not in self._kinds and own_tools.looks_like_shell(name, parameters):
            warnings.warn(own_tools.advice(name), own_tools.UnnamedToolWarning, stacklevel=3)

    def for_turn(self) -> Self:
        """Return the same session with a turn of its own; concurrent runs do not share one."""
        self.mark()
        run = copy.copy(self)
        turn = TurnState()
        if self.origin != "user":  # only a turn of the user resets the limit
            turn.stop_limit = self.turn.stop_limit
        run.turn = self.turn = turn
        return run

    async def begin_turn(self, prompt: str, turn_id: str) -> list[str]:
        """Begin a turn, or a subagent's run. Return texts for the model; `turn.refusal` is set if it must not run."""
        self.turn.prompt = prompt
        if self.subagent is not None:
            verdict = await self.fire("pre-subagent", **_about(self.subagent), prompt=prompt)
        else:
            started = {"turn_id": turn_id, "origin_kind": self.origin, "origin_name": self.origin}
            await self.fire("turn-started", **started, prompt=prompt)
            if self.origin != "user":
                return []
            verdict = await self.fire("pre-agent-turn", prompt=prompt)
            for result in model_messages.prompt_results(verdict):
                self.keep(result)
        if verdict.denied:
            self.turn.refusal = self.turn.answer = verdict.reason or "Refused"
            return []
        return [model_messages.hook_context(verdict.event, text) for text in verdict.additional_context]

    async def end_turn(self, response: str) -> None:
        """End a turn normally. Only turns of the user have `pre-agent-turn` and `post-agent-turn`."""
        if self.subagent is None and self.origin == "user":
            await self.fire("post-agent-turn", prompt=self.turn.prompt, response=response)

    async def fail_turn(self, error: Exception) -> None:
        """End a turn, or a subagent's run, with an error."""
        if self.subagent is None:
            await self.fire("post-agent-turn-failure", error_type=type(error).__name__, error_message=str(error))
            return
        folders = [hook for hook in self.engine.hooks if stop_limit.family(hook) == "folder"]
        event = self._event("post-subagent", {**_about(self.subagent), "error": str(error)})
        self._notify(event, await self.engine.asking(folders).adecide(event))

    def is_cut_off(self) -> bool:
        """Return whether a turn must end: the user has ended it, or no step is left."""
        turn = self.turn
        if turn.stop_reason == "no_tool_calls" and self._has_no_step_left():
            turn.stop_reason, turn.answer = "max_steps", f"Stopped after {turn.steps} steps"
        return turn.stop_reason != "no_tool_calls"

    def _has_no_step_left(self) -> bool:
        return self.max_steps is not None and self.turn.steps >= self.max_steps

    def wait(self, texts: Iterable[str]) -> None:
        """Add texts to the model's next request, in this turn or a later one."""
        for text in texts:
            self.waiting.append(text)
            self.kept_waiting(text)

    def take_waiting(self) -> list[str]:
        """Return and clear the texts for the model's next request; none for a subagent."""
        if self.subagent is not None:
            return []
        waiting = list(self.waiting)
        self.waiting.clear()
        return waiting

    def call(self, tool_name: str, tool_input: dict[str, Any], tool_use_id: str) -> Call:
        """Return a tool call of this session."""
        return Call(tool_name, tool_input, self.work_dir, self.session_id, tool_use_id, self._whose())

    async def permit(self, call: Call) -> Permit:
        """Ask the gate. If the user ends the turn, before or meanwhile, the call is not permitted."""
        turn = self.turn
        turn.heard.add(call.tool_use_id)
        after_no = Permit(False, call, "terminal", "Not run: the user refused another call and ended the turn")
        task = asyncio.create_task(self.gate.permit(call))
        turn.asking.add(task)
        if turn.stop_reason == "tool_rejected":  # checked now, as another thread may refuse at any time
            task.cancel()
        try:
            permit = await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if turn.stop_reason == "tool_rejected" and not (current and current.cancelling()):
                return after_no
            raise
        finally:
            turn.asking.discard(task)
        if permit.allowed and turn.stop_reason == "tool_rejected":
            return after_no
        return permit._replace(
            context=tuple(model_messages.hook_context("pre-tool-call", text) for text in permit.context)
        )

    async def refused(self, permit: Permit) -> tuple[str, list[str]]:
        """Report a refused call. Return the reason and further texts for the model."""
        reason = permit.reason or "Refused"
        if permit.ends_turn:
            self.turn.reject(reason)
        feedback = await self.failed(permit.call, reason)
        return feedback.text(reason), feedback.texts

    async def failed(self, call: Call, error: str, exit_code: int | None = None) -> ToolFeedback:
        """Report a failed call. `exit_code` is that of a command."""
        self.turn.heard.add(call.tool_use_id)
        about = {**_tool(call), "error": error, "exit_code": exit_code}
        return _feedback(await self.fire("post-tool-call-failure", **about))

    async def succeeded(self, call: Call, output: Any) -> ToolFeedback:
        """Report a successful call."""
        return _feedback(await self.fire("post-tool-call", **_tool(call), tool_output=output))

    async def stop(self, said: str | None) -> list[str]:
        """Ask the hooks whether the run may stop. Return the texts for the model if it must continue, else nothing.

        `said` is the assistant's last message, None if there is none. A turn that is cut off stops in any case. A block
        cuts off a turn that has no step left: its `stop_reason` is then `max_steps`.
        """
        turn, subagent = self.turn, self.subagent
        message = None if said is None else {"role": "assistant", "content": said}
        about = {"stop_reason": turn.stop_reason, "step_count": turn.steps or None, "final_message": message}
        name = "pre-agent-turn-stop" if subagent is None else "post-subagent"
        event = self._event(name, about if subagent is None else {**_about(subagent), "response": said})
        asked = turn.stop_limit.hooks_to_ask(self.engine.hooks)
        if subagent is not None and turn.stop_reason != "no_tool_calls":  # array hooks run after success only
            asked = [hook for hook in asked if stop_limit.family(hook) == "folder"]
        engine = self.engine.asking(asked)
        why = self._why_it_must_stop()
        settle = None if why is None else lambda verdict: stop_limit.overrule(verdict, why)
        verdict = await engine.adecide(turn.stop_limit.with_flag(event, asked), settle=settle)
        self._notify(event, verdict)
        if turn.stop_reason == "no_tool_calls":
            turn.stop_limit, messages = turn.stop_limit.after(self.engine.hooks, verdict)
            for line in messages:
                self.say(line)
        contexts = [model_messages.hook_context(name, text) for text in verdict.additional_context]
        denies = (run for run in verdict.runs if run.decision.action is Action.DENY)
        blocks = [run for run in denies if run.decision.ignored in (None, why)]
        if blocks and why is None:
            return [*model_messages.blocked_stop(blocks), *contexts]
        if blocks and self.is_cut_off():
            about["stop_reason"] = turn.stop_reason
        for run in blocks:
            self.say(f"tenterhook: {run.hook.name} ({name}): {why}: {run.decision.reason}")
        self.wait(contexts)
        if subagent is None:
            active = any(count > 0 for count in turn.stop_limit.counts.values())
            await self.fire("post-agent-turn-stop", **about, stop_hook_active=active)
        return []

    # Internals

    def _why_it_must_stop(self) -> str | None:
        """Return why hooks cannot make the turn continue; None if they can."""
        if self.turn.stop_reason == "tool_rejected":
            return "the user has ended the turn (tool_rejected), the block is ignored"
        if self.turn.stop_reason == "max_steps" or self._has_no_step_left():
            return "the turn has no step left (max_steps), the block is ignored"
        return None

    def _answered(self, request: Request, answer: Answer | None, took: float) -> None:
        """Journal the end of an approval request, and call `answered`."""
        if self.engine.journal is not None:
            self.engine.journal.add_approval(request, answer, took)
        if self.answered is not None:
            self.answered(request, answer, took)

    def _notify(self, event: Event, verdict: Verdict) -> Verdict:
        if self.told is not None:
            self.told(event, verdict)
        return verdict

    def _event(self, name: str, fields: dict[str, Any]) -> Event:
        whose = {**self._whose(), **fields}
        return Event(name, session_id=self.session_id, work_dir=self.work_dir, **whose)

    def _whose(self) -> dict[str, Any]:
        return {} if self.subagent is None else {"agent_id": self.subagent.id, "agent_type": self.subagent.name}


def _feedback(verdict: Verdict) -> ToolFeedback:
    return ToolFeedback(model_messages.beside_result(verdict), verdict)


def _about(subagent: Subagent) -> dict[str, Any]:
    return {"subagent_name": subagent.name, "subagent_type": subagent.kind, "task_description": subagent.description}


def _tool(call: Call) -> dict[str, Any]:
    return {"tool_name": call.tool_name, "tool_input": call.tool_input, "tool_use_id": call.tool_use_id}
