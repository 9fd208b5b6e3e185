"""What a hook looks for, as the target says it: `tool` and `pattern`, or one matcher for what the event is about."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ..deciding import expressions
from ..events import TOOL_NAMES
from ..formats import settings
from . import dialects
from .targets import FORMS, TARGETS, own_tool_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Hook
    from .findings import Findings
    from .targets import Target


class Matchers(NamedTuple):
    """As the target writes them; `one` is the single matcher of the formats that have one."""

    tool: str | None = None
    pattern: str | None = None
    one: str | None = None


_IN_COMMAND = "read the JSON on stdin in the command, and look there"


def carry(hook: Hook, target: Target, findings: Findings) -> Matchers:
    """A hook's matchers for the target. A hook that would run elsewhere without one of them is left out."""
    if hook.has_one_matcher:
        return _from_one(hook, target, findings)
    if not target.has_one_matcher:
        return Matchers(hook.tool, hook.pattern)
    shown = {key: value for key, value in (("tool", hook.tool), ("pattern", hook.pattern)) if value}
    if shown and not hook.spec.has_tool:
        why = f"a matcher never matches at {hook.declared} in {FORMS[hook.format]}; {target.title} would look there"
        findings.lose("matcher", shown, why, "remove the hook: it has never run", left_out=True)
    elif hook.pattern:
        why = (
            f"a hook of {target.title} has one matcher, for the tool's name; "
            "without the pattern it would run, and perhaps block, at every call"
        )
        findings.lose("matcher.pattern", hook.pattern, why, _IN_COMMAND, left_out=True)
    elif hook.tool:
        return Matchers(one=_tool(hook.tool, hook, target, findings, "matcher.tool"))
    return Matchers()


def _from_one(hook: Hook, target: Target, findings: Findings) -> Matchers:
    given = hook.tool or hook.target
    if hook.never_matches and not _never_matches(given, target):
        why = "it is no expression, so that the hook never runs where it is"
        findings.lose("matcher", given, why, "fix the expression, or remove the hook", left_out=True)
        return Matchers()
    if given is None or hook.never_matches:
        return Matchers(one=given)
    if hook.tool is not None:
        tool = _tool(hook.tool, hook, target, findings, "matcher")
        return Matchers(one=tool) if target.has_one_matcher else Matchers(tool)
    if hook.spec.target is None:
        if expressions.search(hook.dialect, given)(""):
            if hook.format == target.name and hook.dialect == target.dialect:
                return Matchers(one=given)
            findings.note(f"the matcher {given!r} finds the empty text, which is all there is at {hook.declared}")
            return Matchers()
        why = f"at {hook.declared} a matcher is searched in the empty text, where this one is not found"
        findings.lose("matcher", given, why, "remove the hook: it has never run", left_out=True)
        return Matchers()
    if not target.has_one_matcher:
        why = f"matchers of {target.title} are for tools; at {hook.event} a hook with one never runs"
        findings.lose("matcher", given, why, f"{_IN_COMMAND} at {hook.spec.target}", left_out=True)
        return Matchers()
    return Matchers(one=_other(given, hook, target, findings))


def _never_matches(given: str | None, target: Target) -> bool:
    """Whether the same text is no expression in the target either, and is kept there."""
    if given is None or target.name != "array":
        return False
    try:
        expressions.check(target.dialect, given)
    except expressions.BadExpression:
        return True
    return False


def _tool(expression: str, hook: Hook, target: Target, findings: Findings, key: str) -> str | None:
    is_same = hook.format == target.name and (target.is_agent or hook.dialect == target.dialect)
    if is_same:
        return _said(expression, target)
    expression = _plain(expression, hook)
    rewritten = _rewritten(expression, hook, target, findings, key, names=True)
    if rewritten is None or not target.has_one_matcher:
        return rewritten
    said = _said(rewritten + _own_names(rewritten, target), target)
    if said is None:
        why = f"{target.title} cannot say it"
        findings.lose(key, expression, why, "write it as names with | between them", left_out=True)
    _tell_of_codex(expression, target, findings, key)
    return said


def _other(expression: str, hook: Hook, target: Target, findings: Findings) -> str | None:
    expression = _plain(expression, hook)
    rewritten = _rewritten(expression, hook, target, findings, "matcher", names=False)
    if rewritten is None:
        return None
    said = _said(rewritten, target, hook.event)
    if said is None:
        what = "compares it as a whole" if target.name == "gemini" else "takes no matcher"
        why = f"{target.product} {what} at {hook.event}: the hook would run at other times"
        findings.lose("matcher", expression, why, f"{_IN_COMMAND} at {hook.spec.target}", left_out=True)
    _tell_of_codex(expression, target, findings, "matcher")
    return said


def _rewritten(expression: str, hook: Hook, target: Target, findings: Findings, key: str, *, names: bool) -> str | None:
    rewritten = dialects.rewrite(expression, hook.dialect, target.dialect, names=names)
    if rewritten.expression is None:
        remedy = f"write it so that {_title(hook.dialect)} and {_title(target.dialect)} read it alike"
        findings.lose(key, expression, f"expression: {rewritten.why}", remedy, left_out=True)
    elif rewritten.differs:
        what = f"{' and '.join(rewritten.differs)} in {expression!r}"
        scripts = "know letters and digits of every script in Python, and ASCII alone in JavaScript"
        if names:
            findings.note(f"{what} {scripts}; names of tools are ASCII")
        else:
            why = f"expression: {what} {scripts}"
            findings.lose(key, expression, why, "write the characters out: [0-9] for \\d, [A-Za-z0-9_] for \\w")
    if rewritten.expression not in (None, expression):
        findings.note(f"the expression {expression!r} is {rewritten.expression!r} in {_title(target.dialect)}")
    return rewritten.expression


def _title(dialect: str) -> str:
    return {"python": "Python", "javascript": "JavaScript"}[dialect]


def _tell_of_codex(expression: str, target: Target, findings: Findings, key: str) -> None:
    if target.name == "codex" and re.search(r"\(\?<?[=!]|\(\?[(>]|\(\?P=|\\[Z1-9]|[*+?}]\+", expression):
        why = "expression: Codex itself reads expressions without looking around, back-references and \\Z"
        findings.lose(key, expression, why, "name the tools, with | between them")


# ---- the matchers of formats with one: an expression, or names that are meant whole


def _said(expression: str, target: Target, event: str = "pre-tool-call") -> str | None:
    """A matcher that the target reads as this expression; None if there is none."""
    if target.name == "array":
        return expression
    for candidate in (*_whole(expression, target), expression, f"(?:{expression})"):
        read = settings.matcher(target.name, event, candidate)
        if not (read.ignored or read.never) and read.expression is not None and _is_same(read.expression, expression):
            return candidate
    return None


def _whole(expression: str, target: Target) -> tuple[str, ...]:
    """What stands between `^(` and `)$`: agents write it as bare names."""
    found = re.fullmatch(r"\^\((.*)\)\$", expression, re.DOTALL) or re.fullmatch(r"\^([\w-]+)\$", expression)
    if found is None:
        return ()
    return (found[1], re.sub(r"\\(.)", r"\1", found[1])) if target.name == "gemini" else (found[1],)


def _is_same(read: str, wanted: str) -> bool:
    bare = re.fullmatch(r"\^([\w-]+)\$", wanted)
    return read in (wanted, f"(?:{wanted})") or (bare is not None and read == f"^({bare[1]})$")


def _own_names(expression: str, target: Target) -> str:
    """The agent's own names of tools that the expression finds by another name: added, it means the same here."""
    if expressions.can_run_away(expression):
        return ""
    found = expressions.search(target.dialect, expression)
    missing = [
        own
        for names in TOOL_NAMES
        if any(found(name) for name in names)
        for own in own_tool_names(target, names)
        if not found(own)
    ]
    return "".join(f"|^{name}$" for name in missing)


def _plain(expression: str, hook: Hook) -> str:
    """An expression without what a conversion has added to it, which is exactly what it would add again."""
    target = TARGETS.get(hook.format)
    if target is None or not target.has_one_matcher:
        return expression
    target = target._replace(dialect=hook.dialect)
    for candidate in _less(expression):
        if _is_expression(hook.dialect, candidate):
            spelt = candidate + (_own_names(candidate, target) if hook.spec.has_tool else "")
            said = _said(spelt, target, hook.event)
            if said is not None and _read(said, target, hook.event) == expression:
                return candidate
    return expression


def _less(expression: str) -> Iterator[str]:
    wrapped = re.fullmatch(r"\(\?:(.*)\)", expression, re.DOTALL)
    if wrapped:
        yield wrapped[1]
    while added := re.search(r"\|\^\w+\$\Z", expression):
        expression = expression[: added.start()]
        yield expression


def _read(said: str, target: Target, event: str) -> str | None:
    """What a matcher of the target is read as."""
    return said if target.name == "array" else settings.matcher(target.name, event, said).expression


def _is_expression(dialect: str, text: str) -> bool:
    try:
        expressions.search(dialect, text)
    except expressions.BadExpression:
        return False
    return bool(text)
