"""Applies the approval policy to an agent's tool call, as far as the agent supports it.

Hooks decide first; then rules, approvals for the session, and people at the hub, within the time that the agent waits.
"""

from __future__ import annotations

import os
import time

from ..agents import AGENTS
from ..approvals import configured, policy, single_use
from ..approvals.policy import Step
from ..approvals.requests import Answer, Call, Request, fresh_id
from ..basics import callers, places
from ..engine.sessions import Session
from ..errors import HookError
from ..model import Action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..agents.protocol import Agent
    from ..approvals.rules import Rule
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
    """Return the verdict of hooks, rules, approvals for the session, and people at the hub, before the deadline.

    `has_question`: the agent's permission events reach us.
    """
    is_request = event.canonical == "permission-request"
    if verdict.denied or (is_request and not agent.capabilities.answers_permission):
        return verdict
    call = _call(event, event.tool_input if verdict.modified_input is None else verdict.modified_input, agent.name)
    said = (verdict.reason or "") if verdict.decision is Action.ASK else None
    joined = _joined()
    try:
        rule, is_answered = _matching_rule(verdict, call, joined)
    except HookError as error:  # the hooks' decision stands
        if not is_request:
            _save_forced(call, said)
        return verdict._replace(messages=(*verdict.messages, f"tenterhook: your rules are not in force: {error}"))
    said = None if is_answered else said
    forced = _read_forced(call) if is_request else _save_forced(call, said)
    asks_first = has_question and agent.capabilities.answers_permission and not is_request
    is_attended = agent.is_attended(caller.environ())
    case = policy.ApprovalCase(
        hooks=verdict.decision,
        rule=rule and rule.answer,
        is_granted=_is_granted(call, caller),
        is_answered=is_answered,
        was_forced=forced is not None,
        asks=True if is_request else None,
        can_approve=is_request or (agent.capabilities.approves and not asks_first),
        can_ask=is_attended and (is_request or agent.capabilities.asks),
        asks_us_first=asks_first and is_attended,
        has_hub=joined is not None,
    )
    ruling, allowed = (policy.decide(case), None) if case.can_ask else single_use.decide(case, call)
    why = policy.reason_to_ask(said or forced, rule)
    answer = None
    if ruling.step is Step.ASK_HUB and joined is not None:
        request = Request(fresh_id(), call, why, is_forced=case.is_forced)
        answer = _ask_hub(joined, request, deadline - _MARGIN, journal, caller, is_request=is_request)
        ruling = policy.decide(case._replace(has_hub=False)) if answer is None else ruling
    elif ruling.by in ("rule", "session", "allow") or (is_answered and ruling.step is Step.LEAVE):
        reason = rule.said if rule and (is_answered or ruling.by == "rule") else None
        answer = Answer(ruling.step is not Step.REFUSE, ruling.by or "rule", reason=reason)
        journal.add_approval(Request(allowed or fresh_id(), call, why), answer, 0.0)
        if ruling.step is Step.LEAVE:  # if the agent asks, its permission request reaches us
            return verdict._replace(decision=Action.ALLOW, reason=None)
    if answer is None and ruling.by == "nobody" and (case.is_forced or not is_request):
        answer = _refusal(call, why, agent, journal)
    if answer is not None:
        return _with(answer, verdict, can_approve=is_request or agent.capabilities.approves)
    if is_request or ruling.step in (Step.LEAVE, Step.RUN):
        return verdict
    return verdict._replace(decision=Action.ASK, reason=why)  # `agents.codec` turns it into a deny if it cannot ask


def _refusal(call: Call, why: str | None, agent: Agent, journal: Journal) -> Answer | None:
    """Record a call about which nobody can be asked. Return the refusal, which names the command that allows the call.

    None if the call cannot be recorded.
    """
    name = single_use.record(call, why)
    if name is None:
        return None
    cannot = "nobody is there to be asked" if agent.capabilities.asks else f"{agent.title} has no way to do so"
    begin = f"{why or 'A hook asks about this call.'}\nA person must be asked, and {cannot}."
    answer = Answer(False, "nobody", reason=f"{begin} {single_use.how_to_allow(name)}")
    journal.add_approval(Request(name, call, why), answer, 0.0)
    return answer


def is_over(event: Event, agent: str) -> None:
    """Withdraw the request at the hub for a call that has ended."""
    from ..approvals.pending_calls import CallStatus, report

    status = CallStatus.MADE if event.canonical == "post-tool-call" else CallStatus.OVER
    report(_call(event, event.tool_input, agent), status)


def _matching_rule(verdict: Verdict, call: Call, joined: Membership | None) -> tuple[Rule | None, bool]:
    """Return the result of `rules.match_verdict`; imports `rules` only if there are any."""
    if not configured.is_any():
        return None, False
    from ..approvals import rules

    return rules.match_verdict(verdict, in_force(joined), call)


def in_force(joined: Membership | None) -> list[Rule]:
    """Return all rules in order: managed ones, the user's, the hub's."""
    from ..approvals import rules

    found = [*rules.managed(), *rules.person()]
    if joined is not None:
        from ..hub_client import hub_rules

        found += hub_rules.current(joined)
    return found


def foreseen(event: Event, verdict: Verdict, agent: str, known: list[Rule]) -> tuple[policy.Ruling, Rule | None]:
    """Return what the policy would decide before a call, and the matching one of the `known` rules.

    Asks nobody, records nothing, and ignores approvals for a session or a single call.
    """
    from ..approvals import rules

    call = _call(event, event.tool_input if verdict.modified_input is None else verdict.modified_input, agent)
    rule, is_answered = rules.match_verdict(verdict, known, call)
    can_ask = agent not in AGENTS or AGENTS[agent].capabilities.asks
    case = policy.ApprovalCase(verdict.decision, rule and rule.answer, is_answered=is_answered, can_ask=can_ask)
    return policy.decide(case), rule


def all_rules() -> list[Rule]:
    """Return all rules in force, including those of the hub if one was joined."""
    return in_force(_joined())


def deciding_rule(event: Event, agent: str) -> Rule | None:
    """Return the rule that matches an agent's tool call, or None."""
    from ..approvals import rules

    return rules.match(all_rules(), _call(event, event.tool_input, agent))


def _joined() -> Membership | None:
    if not configured.is_joined():
        return None
    from ..hub_client import membership

    return membership.read()


def _save_forced(call: Call, why: str | None) -> str | None:
    """Store why a hook forces a question about a call, for the call's permission request, and return it.

    None removes what was stored.
    """
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
    return os.path.join(configured.forced(call.session_id), Request("", call).hash)


def _call(event: Event, given: object, agent: str) -> Call:
    tool_input = given if isinstance(given, dict) else {"input": given}
    use = str(event.fields.get("tool_use_id", ""))
    more = {"mcp_names": event.mcp_names} if event.mcp_names else {}
    return Call(event.tool_name or "", tool_input, event.work_dir, event.session_id, use, more, agent)


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
