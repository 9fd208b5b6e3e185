"""The bridge's side of approvals: applies the policy to an agent's tool call, as far as the agent supports it.

Hooks decide first; then rules, approvals for the session, and people at the hub, within the time that the agent waits.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from ..approvals import policy, presence, rules
from ..approvals.policy import Step
from ..approvals.requests import Answer, Call, Request, fresh_id
from ..basics import callers, places
from ..engine.sessions import Session
from ..errors import HookError
from ..model import Action

if TYPE_CHECKING:
    from ..agents.protocol import Agent
    from ..basics.callers import Caller
    from ..hub_client.membership import Membership
    from ..journal.journal import Journal
    from ..model import Event, Verdict

_MARGIN = 2.0  # seconds before the agent's deadline


def apply_policy(
    event: Event,
    verdict: Verdict,
    agent: Agent,
    *,
    has_question: bool,
    deadline: float,
    journal: Journal,
    caller: Caller,
) -> Verdict:
    """Return the verdict of the hooks, completed by rules, approvals for the session, and people at the hub.

    `has_question`: the agent's permission events reach us. Returns before the deadline.
    """
    is_request = event.canonical == "permission-request"
    if verdict.denied or (is_request and not agent.capabilities.answers_permission):
        return verdict
    call = _call(event, event.tool_input if verdict.modified_input is None else verdict.modified_input, agent.name)
    said = (verdict.reason or "") if verdict.decision is Action.ASK else None
    forced = _read_forced(call) if is_request else _save_forced(call, said)
    joined = _joined()
    try:
        rule = rules.match(in_force(joined), call)
    except HookError as error:  # the decision of the hooks stays
        return verdict._replace(messages=(*verdict.messages, f"tenterhook: your rules are not in force: {error}"))
    asks_first = has_question and agent.capabilities.answers_permission and not is_request
    case = policy.ApprovalCase(
        hooks=verdict.decision,
        rule=rule and rule.answer,
        is_granted=_is_granted(call, caller),
        was_forced=forced is not None,
        asks=True if is_request else None,
        can_approve=is_request or (agent.capabilities.approves and not asks_first),
        can_ask=is_request or agent.capabilities.asks,
        asks_us_first=asks_first and agent.is_attended(caller.environ()),
        has_hub=joined is not None,
    )
    ruling = policy.decide(case)
    why = policy.reason_to_ask(said or forced, rule)
    answer = None
    if ruling.by in ("rule", "session"):
        answer = Answer(ruling.step is Step.RUN, ruling.by, reason=rule.said if rule and ruling.by == "rule" else None)
        journal.add_approval(Request(fresh_id(), call), answer, 0.0)
    elif ruling.step is Step.ASK_HUB and joined is not None:
        request = Request(fresh_id(), call, why, is_forced=case.is_forced)
        answer = _ask_hub(joined, request, deadline - _MARGIN, journal, caller, is_request=is_request)
        ruling = policy.decide(case._replace(has_hub=False)) if answer is None else ruling
    if answer is not None:
        return _with(answer, verdict, can_approve=is_request or agent.capabilities.approves)
    if is_request or ruling.step in (Step.LEAVE, Step.RUN):
        return verdict
    return verdict._replace(
        decision=Action.ASK, reason=why
    )  # for an agent that cannot ask, `agents.wire` makes it a refusal


def is_over(event: Event, agent: str) -> None:
    """Withdraw the question at the hub about a call that has ended."""
    from ..approvals.pending_calls import CallStatus, report

    status = CallStatus.MADE if event.canonical == "post-tool-call" else CallStatus.OVER
    report(_call(event, event.tool_input, agent), status)


def in_force(joined: Membership | None) -> list[rules.Rule]:
    """Return every rule in order: the managed ones, the person's, the hub's."""
    found = [*rules.managed(), *rules.person()]
    if joined is not None:
        from ..hub_client import hub_rules

        found += hub_rules.current(joined)
    return found


def deciding_rule(event: Event, agent: str) -> rules.Rule | None:
    """Return the rule that matches an agent's tool call, or None."""
    return rules.match(in_force(_joined()), _call(event, event.tool_input, agent))


def _joined() -> Membership | None:
    if not presence.is_joined():
        return None
    from ..hub_client import membership

    return membership.read()


def _save_forced(call: Call, why: str | None) -> str | None:
    """Save for the permission request of a call why a hook forces the question; None: it does not."""
    file = _forced_file(call)
    try:
        if why is not None:
            places.make_private(os.path.dirname(file))
            places.replace_file(file, why.encode("utf-8", "replace"))
        else:
            os.unlink(file)
    except OSError:  # there was no file, or it cannot be written
        pass
    return why


def _read_forced(call: Call) -> str | None:
    try:
        with open(_forced_file(call), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _forced_file(call: Call) -> str:
    return os.path.join(Session(call.session_id).directory, "forced", Request("", call).hash)


def _call(event: Event, given: object, agent: str) -> Call:
    tool_input = given if isinstance(given, dict) else {"input": given}
    use = str(event.fields.get("tool_use_id", ""))
    return Call(event.tool_name or "", tool_input, event.work_dir, event.session_id, use, agent=agent)


def _is_granted(call: Call, caller: Caller) -> bool:
    agent = callers.agent_above(caller.pid)
    return agent is not None and call.grant in Session(call.session_id).grants(agent)


def _ask_hub(
    joined: Membership, request: Request, until: float, journal: Journal, caller: Caller, *, is_request: bool
) -> Answer | None:
    from ..approvals.pending_calls import PendingCall
    from ..hub_client.asking import wait_for_answer

    begun = time.monotonic()
    request = request._replace(expires_at=time.time() + until - begun)
    call, agent = request.call, callers.agent_above(caller.pid)
    if is_request:
        with PendingCall(call, request.id) as pending:
            answer = wait_for_answer(joined, request, agent, caller, until, pending.status)
    else:  # the agent shows no question of its own
        answer = wait_for_answer(joined, request, agent, caller, until)
    if answer is not None and answer.approved and answer.scope == "session" and agent is not None:
        Session(call.session_id).grant(agent, call.grant)
    journal.add_approval(request, answer, (time.monotonic() - begun) * 1000)
    return answer


def _with(answer: Answer, verdict: Verdict, *, can_approve: bool) -> Verdict:
    if not answer.approved:
        return verdict._replace(decision=Action.DENY, reason=answer.reason, modified_input=None)
    decision = Action.APPROVE if can_approve else Action.ALLOW
    return verdict._replace(decision=decision, reason=answer.reason or f"approved by {answer.by}", scope=answer.scope)
