"""Rules of the person that answer what a built-in guard asks (PROTOCOL 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..basics import places
from ..formats.expressions import BadExpression
from ..model import Action
from . import rules as rules_

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model import Verdict
    from .requests import Call
    from .rules import Rule

_LAYERS = ("managed", "user")


def match(verdict: Verdict, rules: Sequence[Rule], call: Call) -> tuple[Rule | None, bool]:
    """Return the rule that applies to a call, or None, and whether it answers what built-in guards ask.

    It answers them if it is an approve rule of the person that names the whole command, or path: what matches its
    beginning is not enough. It does not if another rule says otherwise, if a hook asks that is no built-in guard, or
    if a project defines the guard.
    """
    found = rules_.match(rules, call)
    if found is None or found.answer != "approve" or not _only_guards_ask(verdict):
        return found, False
    own = (rule for rule in rules if rule.source == places.settings_file() and rule.answer == "approve")
    answering = next((rule for rule in own if _matches_whole(rule, call)), None)
    return answering or found, answering is not None


def _only_guards_ask(verdict: Verdict) -> bool:
    runs = [run for run in verdict.runs if run.decision.action is Action.ASK and run.decision.ignored is None]
    return (
        verdict.decision is Action.ASK
        and bool(runs)
        and all(run.hook.guard is not None and run.hook.layer in _LAYERS for run in runs)
    )


def _matches_whole(rule: Rule, call: Call) -> bool:
    if rule.pattern is not None:
        rule = rule._replace(pattern=rf"\A(?:{rule.pattern})\Z")
    elif rule.command is None:  # it is for a tool, and says nothing of this call
        return False
    try:
        return rules_.match([rule], call) is not None
    except BadExpression:  # flags at the beginning of a pattern
        return False
