"""Who else has a say about an agent's tool call: rules, earlier approvals for the session, and people at the hub.

Hooks are heard first. What they leave open is settled here as PROTOCOL 7 has it, as far as the agent can wait for it.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from ..approvals import presence, rule_files
from ..approvals import rules as rules_
from ..approvals.requests import Answer, Call, Request, fresh_id
from ..basics import callers, places
from ..errors import HookError
from ..model import Action
from ..sessions import Session

if TYPE_CHECKING:
    from ..agents.protocol import Agent
    from ..joining.membership import Membership
    from ..journal.journal import Journal
    from ..model import Event, Verdict

_SPARE = 2.0  # seconds between our last moment and that of whoever waits for us


class Asking(NamedTuple):
    """A call that hooks have let pass, and what its agent can be told about it."""

    call: Call
    is_request: bool  # the agent is about to ask its person; else it is about to call the tool
    has_question: bool  # where it would ask its person, it asks us first
    can_ask: bool  # it can be made to ask its person, who is there
    can_approve: bool  # it can be kept from asking
    forced: str | None  # why a hook wants a person to be asked: nothing that was approved beforehand will do

    @property
    def is_forced(self) -> bool:
        return self.forced is not None


def settled(
    event: Event,
    verdict: Verdict,
    agent: Agent,
    *,
    has_question: bool,
    deadline: float,
    journal: Journal,
) -> Verdict:
    """The verdict of hooks, with what the others say about the call.

    `has_question`: the agent's permission events lead to us. Never waits beyond the deadline, less a little.
    """
    if verdict.denied or (event.canonical == "permission-request" and not agent.capabilities.answers_permission):
        return verdict
    has_question = has_question and agent.capabilities.answers_permission
    asking = _asking(event, verdict, agent, has_question=has_question)
    joined = _joined()
    try:
        rule = rules_.match(in_force(joined), asking.call)
    except HookError as error:  # what hooks have decided stands
        return verdict._replace(messages=(*verdict.messages, f"tenterhook: your rules are not in force: {error}"))
    answer = _beforehand(asking, rule, verdict)
    if answer is not None:
        journal.add_approval(Request(fresh_id(), asking.call), answer, 0.0)
        return _with(answer, verdict, asking)
    if not _is_open(asking, rule, verdict):
        return verdict
    said = verdict.reason if verdict.decision is Action.ASK else asking.forced
    why = said or (rule.said if rule is not None else None)
    if joined is not None and not (asking.can_ask and asking.has_question and not asking.is_request):
        answer = _ask_hub(joined, asking, why, deadline - _SPARE, journal)
    if answer is not None:
        return _with(answer, verdict, asking)
    return verdict if asking.is_request else verdict._replace(decision=Action.ASK, reason=why)


def is_over(event: Event, agent: str) -> None:
    """A call has ended: whoever still asks the hub about it need not."""
    from ..approvals.marks import Outcome, tell

    outcome = Outcome.MADE if event.canonical == "post-tool-call" else Outcome.OVER
    tell(_call(event, event.tool_input, agent), outcome)


def in_force(joined: Membership | None) -> list[rules_.Rule]:
    """Every rule, in the order in which they are looked at: the managed ones, the person's, the hub's."""
    found = [*rule_files.managed(), *rule_files.person()]
    if joined is not None:
        from ..joining import hub_rules

        found += hub_rules.current(joined)
    return found


def deciding_rule(event: Event, agent: str) -> rules_.Rule | None:
    """The rule that holds for a tool call of an agent, if there is one."""
    return rules_.match(in_force(_joined()), _call(event, event.tool_input, agent))


def _joined() -> Membership | None:
    if not presence.is_joined():
        return None
    from ..joining import membership

    return membership.read()


def _asking(event: Event, verdict: Verdict, agent: Agent, *, has_question: bool) -> Asking:
    call = _call(event, event.tool_input if verdict.modified_input is None else verdict.modified_input, agent.name)
    is_request = event.canonical == "permission-request"
    said = (verdict.reason or "") if verdict.decision is Action.ASK else None
    forced = _was_forced(call) if is_request else _note_forced(call, said)
    can_ask = agent.capabilities.asks and agent.is_attended()
    return Asking(call, is_request, has_question, can_ask, is_request or agent.capabilities.approves, forced)


def _note_forced(call: Call, why: str | None) -> str | None:
    """Remember why hooks want a person to be asked about a call, for when its agent asks; None if they do not."""
    file = _forced_file(call)
    try:
        if why is not None:
            places.make_private(os.path.dirname(file))
            places.replace_file(file, why.encode("utf-8", "replace"))
        else:
            os.unlink(file)
    except OSError:  # it was not there, or there is no place for it
        pass
    return why


def _was_forced(call: Call) -> str | None:
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


def _beforehand(asking: Asking, rule: rules_.Rule | None, verdict: Verdict) -> Answer | None:
    """What a rule says, or an earlier approval for the session; an approval is said where the agent would ask."""
    if rule is not None and rule.answer == "deny":
        return Answer(False, "rule", reason=rule.said)
    is_later = asking.has_question and not asking.is_request
    if asking.is_forced or verdict.decision is Action.APPROVE or is_later or not asking.can_approve:
        return None
    if rule is not None and rule.answer == "approve":
        return Answer(True, "rule", reason=rule.said)
    return Answer(True, "session") if _is_granted(asking.call) else None


def _is_granted(call: Call) -> bool:
    agent = callers.agent()
    return agent is not None and call.grant in Session(call.session_id).grants(agent)


def _is_open(asking: Asking, rule: rules_.Rule | None, verdict: Verdict) -> bool:
    """Whether somebody must be asked."""
    if verdict.decision is Action.APPROVE:
        return False
    if asking.is_request or asking.is_forced:
        return True
    return rule is not None and rule.answer == "ask" and not _is_granted(asking.call)


def _ask_hub(joined: Membership, asking: Asking, why: str | None, until: float, journal: Journal) -> Answer | None:
    from ..approvals.marks import Mark
    from ..joining.asking import wait_for_answer

    begun = time.monotonic()
    expires = time.time() + until - begun
    request = Request(fresh_id(), asking.call, why, expires_at=expires, is_forced=asking.is_forced)
    agent = callers.agent()
    if asking.is_request:
        with Mark(asking.call, request.id) as mark:
            answer = wait_for_answer(joined, request, agent, until, mark.outcome)
    else:  # the agent waits for us, and nobody else answers it
        answer = wait_for_answer(joined, request, agent, until)
    if answer is not None and answer.approved and answer.scope == "session" and agent is not None:
        Session(asking.call.session_id).grant(agent, asking.call.grant)
    journal.add_approval(request, answer, (time.monotonic() - begun) * 1000)
    return answer


def _with(answer: Answer, verdict: Verdict, asking: Asking) -> Verdict:
    """The verdict, with an answer in it."""
    if not answer.approved:
        return verdict._replace(decision=Action.DENY, reason=answer.reason, modified_input=None)
    decision = Action.APPROVE if asking.can_approve else Action.ALLOW
    return verdict._replace(decision=decision, reason=answer.reason or f"approved by {answer.by}", scope=answer.scope)
