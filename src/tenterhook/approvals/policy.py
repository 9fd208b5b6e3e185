"""The approval policy: whether a tool call runs, is refused, or needs a person's answer (PROTOCOL 7).

Used by the gate for our own agents, and by `dispatch` for other agents. It is a pure function of an `ApprovalCase`; the
table of cases is in tests/approvals/test_policy.py.
"""

from __future__ import annotations

from ..basics.named_tuples import NamedTuple, StrEnum
from ..model import Action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .rules import Rule


class Step(StrEnum):
    """What happens to a call next."""

    RUN = "run"
    REFUSE = "refuse"
    ASK_HERE = "ask here"  # the person at the agent
    ASK_HUB = "ask hub"  # people at the hub, before the agent continues
    LEAVE = "leave to the agent"  # its own mode and its own prompt decide


class ApprovalCase(NamedTuple):
    """Everything that the policy depends on, at one of the events `pre-tool-call` and `permission-request`."""

    hooks: Action  # the verdict of the hooks at this event
    rule: str | None = None  # the answer of the rule that matches: approve, deny or ask
    is_granted: bool = False  # an approval for the session covers the call
    is_answered: bool = False  # only built-in guards ask, and an approve rule of the user answers them
    is_allowed: bool = False  # the user ran `tenterhook allow` for exactly this call
    was_forced: bool = False  # at `pre-tool-call` a hook required that a person is asked
    asks: bool | None = None  # without rules, a person would be asked; None: the agent has yet to decide that
    can_approve: bool = True  # at this event the agent can be told not to ask
    can_ask: bool = True  # the agent can be told to ask its user, or the gate has a surface
    asks_us_first: bool = False  # the agent's question reaches us as a `permission-request`, and a person sees it
    has_hub: bool = False  # a hub can be asked at this event

    @property
    def is_forced(self) -> bool:
        """Whether only an answer to a question can approve the call, and no rule, session approval or mode."""
        return self.was_forced or (self.hooks is Action.ASK and not self.is_answered)


class Ruling(NamedTuple):
    """The next step, and who decided it: hook, rule, session, mode, allow or nobody; empty if it is not decided yet."""

    step: Step
    by: str = ""


def decide(case: ApprovalCase) -> Ruling:
    """Return the next step. The order of the checks is their precedence."""
    if case.hooks is Action.DENY:
        return Ruling(Step.REFUSE, "hook")
    if case.rule == "deny":
        return Ruling(Step.REFUSE, "rule")
    if case.hooks is Action.APPROVE:
        return Ruling(Step.RUN, "hook")
    if not case.is_forced:
        if consent := "rule" if case.rule == "approve" else "session" if case.is_granted else "":
            return Ruling(Step.RUN, consent) if case.can_approve else Ruling(Step.LEAVE)
        if case.rule is None and not case.asks:
            return Ruling(Step.LEAVE) if case.asks is None else Ruling(Step.RUN, "mode")
    return _whom_to_ask(case)


def _whom_to_ask(case: ApprovalCase) -> Ruling:
    if case.is_allowed:
        return Ruling(Step.RUN, "allow")
    if case.has_hub and not (case.can_ask and case.asks_us_first):
        return Ruling(Step.ASK_HUB)
    return Ruling(Step.ASK_HERE) if case.can_ask else Ruling(Step.REFUSE, "nobody")


def reason_to_ask(said: str | None, rule: Rule | None) -> str | None:
    """Return why a person is asked: the hook's reason, else that of the rule that asks."""
    return said or (rule.said if rule is not None and rule.answer == "ask" else None)
