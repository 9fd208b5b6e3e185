"""decide, ask, answer: whether one tool call may run, as PROTOCOL 7 has it, in agents of our own.

The engine never waits for people; whoever must have an answer comes here.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from .approvals import rules as rules_
from .approvals.requests import LASTS, MODES, Answer, Call, Request, Surface, fresh_id
from .model import Action, Event, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    Decide = Callable[[Event], Awaitable[Verdict]]
    MoreRules = Callable[[], Awaitable[Sequence[rules_.Rule]]]

_QUESTION_OPENS = 0.3  # seconds after the hooks were asked, at the latest


class Permit(NamedTuple):
    """Whether a call may run, with which input, and who said so."""

    allowed: bool
    call: Call  # with its input as hooks have modified it
    by: str  # hook, rule, session, mode, nobody, or the surface that answered
    reason: str | None = None
    ends_turn: bool = False
    context: tuple[str, ...] = ()  # what hooks have to tell the model


class Gate:
    """Stands before every tool call of a session. Approvals for the session last as long as this object."""

    def __init__(
        self,
        decide: Decide,
        *,
        mode: str = "ask",
        rules: Sequence[rules_.Rule] = (),
        more_rules: MoreRules | None = None,
        surfaces: Sequence[Surface] = (),
        told: Callable[[Request, Answer | None, float], None] | None = None,
    ) -> None:
        """`decide` is an engine's `adecide`. Without `surfaces` nobody is there to ask. `told` hears each answer.

        `more_rules` stand behind `rules` and may be others at each call.
        """
        self._decide = decide
        self.mode = mode
        self.rules = list(rules)
        self._more_rules = more_rules
        self.surfaces = list(surfaces)
        self._told = told
        self._granted: set[str] = set()

    async def permit(self, call: Call) -> Permit:
        """Put a call to the hooks, the rules, and if need be to somebody."""
        fields = {"tool_name": call.tool_name, "tool_input": call.tool_input, "tool_use_id": call.tool_use_id}
        verdict = await self._decide(_event("pre-tool-call", call, {**fields, **call.more}))
        context = verdict.additional_context
        if verdict.denied:
            return Permit(False, call, "hook", verdict.reason, context=context)
        if verdict.modified_input is not None:
            call = call._replace(tool_input=verdict.modified_input)
        more = await self._more_rules() if self._more_rules is not None else ()
        rule = rules_.match([*self.rules, *more], call)
        if rule is not None and rule.answer == "deny":
            return Permit(False, call, "rule", rule.said, context=context)
        if verdict.decision is Action.APPROVE:
            return Permit(True, call, "hook", verdict.reason, context=context)
        if verdict.decision is not Action.ASK and (consent := self._consent(call, rule)):
            return Permit(True, call, consent, context=context)
        is_forced = verdict.decision is Action.ASK
        why = verdict.reason if is_forced else rule.said if rule is not None else None
        settled = None if is_forced else lambda: self._settled(call)
        permit = await self._ask(Request(fresh_id(), call, why, settled, time.time() + LASTS, is_forced))
        return permit._replace(context=(*context, *permit.context))

    def _consent(self, call: Call, rule: rules_.Rule | None) -> str | None:
        """Who has agreed beforehand."""
        if rule is not None and rule.answer == "approve":
            return "rule"
        if call.grant in self._granted:
            return "session"
        asked = rule is not None or call.tool in MODES[self.mode]
        return None if asked else "mode"

    def _settled(self, call: Call) -> Answer | None:
        """The answer to a question that an approval for the session has answered while it waited."""
        return Answer(True, "session") if call.grant in self._granted else None

    async def _ask(self, request: Request) -> Permit:
        begun = time.monotonic()
        answer: Answer | None = None
        context: list[str] = []
        try:
            answer = await self._answer(request, context)
        except asyncio.CancelledError:
            await asyncio.shield(self._tell(request, None, begun))
            raise
        await self._tell(request, answer, begun)
        if answer.approved and answer.scope == "session":
            self._granted.add(request.call.grant)
        return Permit(answer.approved, request.call, answer.by, answer.reason, answer.ends_turn, tuple(context))

    async def _answer(self, request: Request, context: list[str]) -> Answer:
        """The first valid answer; whoever else was asked is told that it is over by being cancelled."""
        hooks = asyncio.create_task(self._hooks_answer(request, context))
        asked = {hooks}
        answer: Answer | None = None
        try:
            await asyncio.wait(asked, timeout=_QUESTION_OPENS if self.surfaces else None)
            if not hooks.done() or hooks.result() is None:
                asked |= {asyncio.create_task(_surface_answer(surface, request)) for surface in self.surfaces}
            waiting = set(asked)
            while waiting and answer is None:
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                answers = [given for task in done if (given := task.result()) is not None]
                answer = min(answers, key=lambda given: given.approved, default=None)  # of two at once, the no
        finally:
            earlier = await _withdraw(asked, answer)
        if answer is not None:
            return earlier or answer
        whom = "Nobody answered" if self.surfaces else "Nobody is there to ask"
        why = f" ({request.why})" if request.why else ""
        return Answer(False, "nobody", reason=f"{whom}: {request.call.action} needs an approval{why}")

    async def _hooks_answer(self, request: Request, context: list[str]) -> Answer | None:
        verdict = await self._decide(_event("permission-request", request.call, request.fields))
        context += verdict.additional_context
        if verdict.denied:
            return Answer(False, "hook", reason=verdict.reason)
        if verdict.decision is Action.APPROVE:
            return Answer(True, "hook", verdict.scope or "once", verdict.reason)
        return None

    async def _tell(self, request: Request, answer: Answer | None, begun: float) -> None:
        """Say how it ended, to whoever listens and to the observers."""
        took = (time.monotonic() - begun) * 1000
        if self._told is not None:
            self._told(request, answer, took)
        decision = "cancelled" if answer is None else "approved" if answer.approved else "rejected"
        by, scope = ("nobody", "once") if answer is None else (answer.by, answer.scope)
        result: dict[str, Any] = {"decision": decision, "answered_by": by, "scope": scope, "duration_ms": round(took)}
        await self._decide(_event("permission-result", request.call, {**request.fields, **result}))


def _event(name: str, call: Call, fields: dict[str, Any]) -> Event:
    return Event(name, session_id=call.session_id, work_dir=call.work_dir, **fields)


async def _withdraw(asked: set[asyncio.Task[Answer | None]], answer: Answer | None) -> Answer | None:
    """Tell those who still wait for an answer which one came; return one that turns out to have come before it."""
    waiting = [task for task in asked if not task.done()]
    for task in waiting:
        task.cancel(answer)
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    return next((each for each in ended if isinstance(each, Answer)), None)


async def _surface_answer(surface: Surface, request: Request) -> Answer | None:
    """A surface that fails has said nothing."""
    try:
        return await surface.ask(request)
    except Exception:  # noqa: BLE001  # its trouble is no answer, neither way
        return None
