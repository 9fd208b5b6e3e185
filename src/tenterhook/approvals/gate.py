"""The gate before every tool call of our own agents: runs hooks, applies rules, asks people (PROTOCOL 7).

The engine never waits for people; the gate does.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..events import tool_kinds
from ..model import Event, Verdict
from . import policy, single_use
from . import rules as rules_
from .policy import Step
from .requests import LASTS, MODES, Answer, Call, Request, fresh_id

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    Decide = Callable[[Event], Awaitable[Verdict]]
    MoreRules = Callable[[], Awaitable[Sequence[rules_.Rule]]]

_QUESTION_OPENS = 0.3  # seconds after the hooks were started, at the latest


class Surface(Protocol):
    """A place where people are asked, such as a terminal or the hub."""

    async def ask(self, request: Request) -> Answer | None:
        """Return the answer, or None if there will be none here.

        On cancellation, which carries the `Answer` of another surface, withdraw the question. If it had been answered
        here before, return that answer instead of raising: it counts.
        """


class Permit(NamedTuple):
    """Whether a call may run, with which input, and who decided that."""

    allowed: bool
    call: Call  # with its input as hooks have modified it
    by: str  # hook, rule, session, mode, allow, nobody, or the surface that answered
    reason: str | None = None
    ends_turn: bool = False
    context: tuple[str, ...] = ()  # from hooks, for the model


class Gate:
    """Decides about every tool call of a session. Approvals for the session last as long as this object."""

    def __init__(
        self,
        decide: Decide,
        *,
        mode: str = "ask",
        rules: Sequence[rules_.Rule] = (),
        more_rules: MoreRules | None = None,
        surfaces: Sequence[Surface] = (),
        told: Callable[[Request, Answer | None, float], None] | None = None,
        tools: Mapping[str, str] | None = None,
    ) -> None:
        """`decide` is an engine's `adecide`. Without `surfaces`, nobody is asked. `told` is called with each answer.

        `more_rules` come after `rules` and may change from call to call. `tools` maps your own tools to the tools that
        they count as, as in `Engine.load`.
        """
        self._decide = decide
        self.mode = mode
        self.rules = list(rules)
        self._more_rules = more_rules
        self.surfaces = list(surfaces)
        self._told = told
        self._kinds = tool_kinds(tools or {})
        self._granted: set[str] = set()

    async def permit(self, call: Call) -> Permit:
        """Decide whether a call may run, and wait for a person's answer if one is needed."""
        call = call.with_kind(self._kinds)
        fields = {"tool_name": call.tool_name, "tool_input": call.tool_input, "tool_use_id": call.tool_use_id}
        verdict = await self._decide(_event("pre-tool-call", call, {**fields, **call.more}))
        context = verdict.additional_context
        if verdict.denied:  # regardless of the rules, which need not be fetched
            return Permit(False, call, "hook", verdict.reason, context=context)
        if verdict.modified_input is not None:
            call = call._replace(tool_input=verdict.modified_input)
        more = await self._more_rules() if self._more_rules is not None else ()
        rule, is_answered = rules_.match_verdict(verdict, [*self.rules, *more], call)
        case = policy.ApprovalCase(
            hooks=verdict.decision,
            rule=rule and rule.answer,
            is_answered=is_answered,
            is_granted=call.grant in self._granted,
            asks=call.tool in MODES[self.mode],
        )
        ruling, allowed = single_use.decide(case, call)
        if ruling.step is not Step.ASK_HERE:
            reason = rule.said if rule and ruling.by == "rule" else verdict.reason
            if (is_answered or allowed) and self._told is not None:
                answer = Answer(ruling.step is Step.RUN, ruling.by, reason=reason)
                self._told(Request(allowed or fresh_id(), call, verdict.reason), answer, 0.0)
            return Permit(ruling.step is Step.RUN, call, ruling.by, reason, context=context)
        why = policy.reason_to_ask(verdict.reason if case.is_forced else None, rule)
        settled = None if case.is_forced else lambda: self._settled(call)
        permit = await self._ask(Request(fresh_id(), call, why, settled, time.time() + LASTS, case.is_forced))
        return permit._replace(context=(*context, *permit.context))

    def _settled(self, call: Call) -> Answer | None:
        """Return the answer to a queued request that an approval for the session has settled meanwhile, or None."""
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
        """Ask hooks and surfaces; return the first valid answer and cancel the others. Context of hooks is added."""
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
                answer = min(answers, key=lambda given: given.approved, default=None)  # of two at once, the denial
        finally:
            earlier = await _withdraw(asked, answer)
        if answer is not None:
            return earlier or answer
        whom = "Nobody answered" if self.surfaces else "There is nobody to ask"
        why = f" ({request.why})" if request.why else ""
        name = single_use.record(request.call, request.why)
        then = f". {single_use.how_to_allow(name)}" if name else ""
        return Answer(False, "nobody", reason=f"{whom}: {request.call.action} needs an approval{why}{then}")

    async def _hooks_answer(self, request: Request, context: list[str]) -> Answer | None:
        verdict = await self._decide(_event("permission-request", request.call, request.fields))
        context += verdict.additional_context
        ruling = policy.decide(policy.ApprovalCase(hooks=verdict.decision, asks=True, can_ask=bool(self.surfaces)))
        if ruling.by != "hook":
            return None
        approved = ruling.step is Step.RUN
        return Answer(approved, "hook", (approved and verdict.scope) or "once", verdict.reason)

    async def _tell(self, request: Request, answer: Answer | None, begun: float) -> None:
        """Report the answer to `told` and to `permission-result` hooks."""
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
    """Cancel the other surfaces with the answer; return the answer of one that had an earlier one, or None."""
    waiting = [task for task in asked if not task.done()]
    for task in waiting:
        task.cancel(answer)
    ended = await asyncio.gather(*waiting, return_exceptions=True)
    return next((each for each in ended if isinstance(each, Answer)), None)


async def _surface_answer(surface: Surface, request: Request) -> Answer | None:
    """Return the surface's answer; None if it fails."""
    try:
        return await surface.ask(request)
    except Exception:  # noqa: BLE001  # a failure is no answer
        return None
