"""One session of an agent on any framework: its events (PROTOCOL 1), its turns, its tool calls at the gate.

An adapter is a subclass that calls these methods where its framework reports something.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from ..approvals.gate import Gate, Permit
from ..approvals.requests import Call
from ..basics import agent_marks, processes
from ..engine import model_messages, stop_limit
from ..engine.sessions import fresh_id
from ..engine.stop_limit import StopLimit
from ..model import Action, Event, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from ..approvals.gate import MoreRules
    from ..approvals.requests import Answer, Request, Surface
    from ..approvals.rules import Rule
    from ..engine.engine import Engine


class Subagent(NamedTuple):
    """The subagent that a session belongs to, if it is not the agent's own."""

    id: str
    name: str
    description: str
    kind: str = "general"


class TurnState:
    """What one run of an agent has come to so far."""

    def __init__(self) -> None:
        self.prompt = ""
        self.steps = 0  # requests to the model, where the framework tells of them
        self.stop_limit = StopLimit()
        self.stop_reason = "no_tool_calls"
        self.refusal: str | None = None  # why there was no model call
        self.answer = ""
        self.context: list[str] = []  # of hooks in this turn, for its next request
        self.asking: set[asyncio.Task[Permit]] = set()  # calls that wait for an answer
        self.heard: set[str] = set()  # calls that hooks were told of

    def reject(self, reason: str) -> None:
        """A person's plain no: the turn ends, and nobody is asked about its other calls."""
        self.stop_reason, self.answer = "tool_rejected", reason
        for task in list(self.asking):
            with contextlib.suppress(RuntimeError):  # it has its answer, and its thread's loop is closed
                task.get_loop().call_soon_threadsafe(task.cancel)


class AgentSession:
    """Puts every event of a session to an engine's hooks and returns what follows."""

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
    ) -> None:
        """`mode` says which tools are asked about where hooks do not decide, `surfaces` are who is asked.

        `max_steps` are the requests after which a turn ends by itself; a limit given to the framework comes before it.
        `told` hears of every verdict, `answered` of every answer, `say` of what a person should read, `keep` of what
        belongs in the session but not in the model's context, `kept_waiting` of what its next request will hold.
        """
        self.engine = engine
        self.session_id = session_id or self.fresh_session_id()
        self.work_dir = os.path.abspath(work_dir)
        self.gate = Gate(
            self.decide, mode=mode, rules=rules, more_rules=more_rules, surfaces=surfaces, told=self._answered
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
        self.origin = "user"  # of the next run: a person's prompt, or a notification
        self.turn = TurnState()
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
        self.mark()
        verdict = await self.fire("pre-session", source=source, **fields)
        self.context = [model_messages.hook_context("pre-session", text) for text in verdict.additional_context]
        return verdict

    async def end(self, *, reason: str = "exit", **fields: Any) -> None:
        """The session is over and flushed."""
        await self.fire("post-session", reason=reason, **fields)

    def for_subagent(self, name: str, description: str, number: str) -> Self:
        """The same hooks, session and gate, for an agent that works for this one."""
        other = copy.copy(self)
        other.subagent = Subagent(number, name, description)
        return other

    # What an adapter says

    @staticmethod
    def fresh_session_id() -> str:
        """The id of a session that was given none."""
        return fresh_id()

    def mark(self) -> None:
        """What runs below an agent may not widen what may run."""
        if not self._is_marked:
            self._is_marked = True
            try:
                agent_marks.mark(processes.this())
            except OSError as error:
                self.say(f"tenterhook: commands below this agent are not known as such: {error.strerror}")

    def for_turn(self) -> Self:
        """Return the same session with a turn of its own; runs at the same time do not share one."""
        self.mark()
        run = copy.copy(self)
        turn = TurnState()
        if self.origin != "user":  # only a person's turn begins anew
            turn.stop_limit = self.turn.stop_limit
        run.turn = self.turn = turn
        return run

    async def begin_turn(self, prompt: str, turn_id: str) -> list[str]:
        """A turn, or a subagent's work, begins: what to tell the model. `turn.refusal` says if it must not."""
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
        """A turn has ended as it should. Only a person's has a `pre-agent-turn`, and so a `post-agent-turn`."""
        if self.subagent is None and self.origin == "user":
            await self.fire("post-agent-turn", prompt=self.turn.prompt, response=response)

    async def fail_turn(self, error: Exception) -> None:
        """A turn, or a subagent's work, ended with an error."""
        if self.subagent is None:
            await self.fire("post-agent-turn-failure", error_type=type(error).__name__, error_message=str(error))
            return
        folders = [hook for hook in self.engine.hooks if stop_limit.family(hook) == "folder"]
        event = self._event("post-subagent", {**_about(self.subagent), "error": str(error)})
        self._heard(event, await self.engine.asking(folders).adecide(event))

    def is_cut_off(self) -> bool:
        """Whether a turn must not go on: a person has ended it, or it has taken all its steps."""
        turn = self.turn
        if turn.stop_reason == "no_tool_calls" and self._has_no_step_left():
            turn.stop_reason, turn.answer = "max_steps", f"Stopped after {turn.steps} steps"
        return turn.stop_reason != "no_tool_calls"

    def _has_no_step_left(self) -> bool:
        return self.max_steps is not None and self.turn.steps >= self.max_steps

    def wait(self, texts: Iterable[str]) -> None:
        """Have the model told something with its next request, in whichever turn that is."""
        for text in texts:
            self.waiting.append(text)
            self.kept_waiting(text)

    def take_waiting(self) -> list[str]:
        """What the model is told with its next request; a subagent's is told nothing of it."""
        if self.subagent is not None:
            return []
        waiting = list(self.waiting)
        self.waiting.clear()
        return waiting

    def call(self, tool_name: str, tool_input: dict[str, Any], tool_use_id: str) -> Call:
        """A tool call of this session."""
        return Call(tool_name, tool_input, self.work_dir, self.session_id, tool_use_id, self._whose())

    async def permit(self, call: Call) -> Permit:
        """Ask the gate, unless a person has ended the turn, be it meanwhile."""
        turn = self.turn
        turn.heard.add(call.tool_use_id)
        after_no = Permit(False, call, "terminal", "Not run: the user refused another call and ended the turn")
        task = asyncio.create_task(self.gate.permit(call))
        turn.asking.add(task)
        if turn.stop_reason == "tool_rejected":  # seen only now, as another thread's no may come at any time
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
        """A call does not run: the reason, and what else to tell the model."""
        reason = permit.reason or "Refused"
        if permit.ends_turn:
            self.turn.reject(reason)
        return reason, await self.failed(permit.call, reason)

    async def failed(self, call: Call, error: str, exit_code: int | None = None) -> list[str]:
        """A call has failed: what to tell the model beside the error. `exit_code` is a command's."""
        self.turn.heard.add(call.tool_use_id)
        about = {**_tool(call), "error": error, "exit_code": exit_code}
        return model_messages.beside_result(await self.fire("post-tool-call-failure", **about))

    async def succeeded(self, call: Call, output: Any) -> list[str]:
        """A call has run: what to tell the model beside the result."""
        return model_messages.beside_result(await self.fire("post-tool-call", **_tool(call), tool_output=output))

    async def stop(self, said: str | None) -> list[str]:
        """Ask whether the run may stop; if not, this is what the model hears next.

        `said` is the assistant's last message, None if there is none. A turn that is cut off stops whatever hooks say.
        One that has no step left is cut off by a block: its `stop_reason` is then `max_steps`.
        """
        turn, subagent = self.turn, self.subagent
        message = None if said is None else {"role": "assistant", "content": said}
        told = {"stop_reason": turn.stop_reason, "step_count": turn.steps or None, "final_message": message}
        name = "pre-agent-turn-stop" if subagent is None else "post-subagent"
        event = self._event(name, told if subagent is None else {**_about(subagent), "response": said})
        asked = turn.stop_limit.hooks_to_ask(self.engine.hooks)
        if subagent is not None and turn.stop_reason != "no_tool_calls":  # the array format's hear of success only
            asked = [hook for hook in asked if stop_limit.family(hook) == "folder"]
        engine = self.engine.asking(asked)
        why = self._why_it_must_stop()
        settle = None if why is None else lambda verdict: stop_limit.overrule(verdict, why)
        verdict = await engine.adecide(turn.stop_limit.with_flag(event, asked), settle=settle)
        self._heard(event, verdict)
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
            told["stop_reason"] = turn.stop_reason
        for run in blocks:
            self.say(f"tenterhook: {run.hook.name} ({name}): {why}: {run.decision.reason}")
        self.wait(contexts)
        if subagent is None:
            active = any(count > 0 for count in turn.stop_limit.counts.values())
            await self.fire("post-agent-turn-stop", **told, stop_hook_active=active)
        return []

    # How it is done

    def _why_it_must_stop(self) -> str | None:
        """Why a hook cannot have the turn go on."""
        if self.turn.stop_reason == "tool_rejected":
            return "the user has ended the turn (tool_rejected), the block is ignored"
        if self.turn.stop_reason == "max_steps" or self._has_no_step_left():
            return "the turn has no step left (max_steps), the block is ignored"
        return None

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
    return {"subagent_name": subagent.name, "subagent_type": subagent.kind, "task_description": subagent.description}


def _tool(call: Call) -> dict[str, Any]:
    return {"tool_name": call.tool_name, "tool_input": call.tool_input, "tool_use_id": call.tool_use_id}
