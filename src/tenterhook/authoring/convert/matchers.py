"""A hook's matchers as the target writes them: `tool` and `pattern`, or one matcher for the subject of the event.

Expressions are translated between the dialects of the formats: Python's `re` and JavaScript.
"""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, NamedTuple

from ...basics import expression_cost
from ...events import TOOL_NAMES
from ...formats import expressions, settings
from ...formats.expressions import JAVASCRIPT, PYTHON
from .targets import FORMS, own_tool_names

if TYPE_CHECKING:
    from ...model import Hook
    from .findings import Findings
    from .targets import Target


class Matchers(NamedTuple):
    """As the target writes them; `one` is the single matcher of the formats that have one."""

    tool: str | None = None
    pattern: str | None = None
    one: str | None = None


_IN_COMMAND = "read the JSON on stdin in the command, and compare there"
_FREE_TEXT = "prompt"  # the only subject of a matcher that can have several lines, or any letter


def carry(hook: Hook, target: Target, findings: Findings) -> Matchers:
    """Return a hook's matchers for the target. A hook that would run at other times is left out."""
    if hook.has_one_matcher:
        return _from_one(hook, target, findings)
    if not target.has_one_matcher:
        return Matchers(hook.tool, hook.pattern)
    shown = {key: value for key, value in (("tool", hook.tool), ("pattern", hook.pattern)) if value}
    if shown and not hook.spec.has_tool:
        why = f"a matcher never matches at {hook.declared} in {FORMS[hook.format]}; in {target.title} it could"
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
        why = "it is not a valid expression, so that the hook never runs where it is"
        findings.lose("matcher", given, why, "fix the expression, or remove the hook", left_out=True)
        return Matchers()
    if given is None or hook.never_matches:
        return Matchers(one=given)
    if hook.tool is not None:
        tool = _tool(hook.tool, hook, target, findings, "matcher")
        return Matchers(one=tool) if target.has_one_matcher else Matchers(tool)
    if hook.spec.target is None:
        if expressions.search(hook.dialect, given)(""):
            is_same = hook.format == target.name and hook.dialect == target.dialect
            return Matchers(one=given) if is_same else Matchers()  # it always matches
        why = f"at {hook.declared} a matcher is searched in the empty text, where this one is not found"
        findings.lose("matcher", given, why, "remove the hook: it has never run", left_out=True)
        return Matchers()
    if not target.has_one_matcher:
        why = f"matchers of {target.title} are for tools; at {hook.event} a hook with one never runs"
        findings.lose("matcher", given, why, f"{_IN_COMMAND} {hook.spec.target}", left_out=True)
        return Matchers()
    return Matchers(one=_other(given, hook, target, findings))


def _never_matches(given: str | None, target: Target) -> bool:
    """Return whether the target keeps a text that is not a valid expression there either."""
    if given is None or target.name != "array":
        return False
    try:
        expressions.check(target.dialect, given)
    except expressions.BadExpression:
        return True
    return False


def _tool(expression: str, hook: Hook, target: Target, findings: Findings, key: str) -> str | None:
    if hook.format == target.name and (target.is_agent or hook.dialect == target.dialect):
        return _written(expression, target)
    translated = _translated(expression, hook, target, findings, key)
    if translated is None or not target.has_one_matcher:
        return translated
    written = _written(translated + _own_names(translated, target), target)
    if written is None:
        remedy = "write it as names with | between them"
        findings.lose(key, expression, f"{target.title} has no way to write it", remedy, left_out=True)
    return written


def _other(expression: str, hook: Hook, target: Target, findings: Findings) -> str | None:
    translated = _translated(expression, hook, target, findings, "matcher")
    if translated is None:
        return None
    written = _written(translated, target, hook.event)
    if written is None:
        what = "compares it as a whole" if target.name == "gemini" else "takes no matcher"
        why = f"{target.product} {what} at {hook.event}: the hook would run at other times"
        findings.lose("matcher", expression, why, f"{_IN_COMMAND} {hook.spec.target}", left_out=True)
    return written


def _translated(expression: str, hook: Hook, target: Target, findings: Findings, key: str) -> str | None:
    """Return the expression in the target's dialect; None, with the hook left out, if the dialects do not share it."""
    translated = translate(expression, hook.dialect, target.dialect)
    if translated is None:
        both = f"{_dialect_title(hook.dialect)} and {_dialect_title(target.dialect)}"
        why = f"expression: it uses something that {both} do not share"
        findings.lose(key, expression, why, f"write it so that {both} read it alike", left_out=True)
        return None
    if hook.dialect != target.dialect and hook.spec.target == _FREE_TEXT and (odd := differing(expression)):
        why = f"expression: {' and '.join(odd)} can find other letters and line ends in Python than in JavaScript"
        findings.lose(
            key, expression, why, "write the characters out: [0-9] for \\d, [A-Za-z0-9_] for \\w", weaker=True
        )
    if target.name == "codex" and re.search(r"\(\?<?[=!]|\(\?[(>]|\(\?P=|\\[Z1-9]|[*+?}]\+", expression):
        why = "expression: Codex itself reads expressions without look-around, back-references and \\Z"
        findings.lose(key, expression, why, "name the tools, with | between them", weaker=True)
    return translated


def _written(expression: str, target: Target, event: str = "pre-tool-call") -> str | None:
    """Return a matcher that the target reads as this expression; None if there is none."""
    if target.name == "array":
        return expression
    for candidate in (*_whole_names(expression, target), expression, f"(?:{expression})"):
        read = settings.matcher(target.name, event, candidate)
        if not (read.ignored or read.never) and read.expression is not None and _is_same(read.expression, expression):
            return candidate
    return None


def _whole_names(expression: str, target: Target) -> tuple[str, ...]:
    """Return what stands between `^(` and `)$`: agents write it as names alone."""
    found = re.fullmatch(r"\^\((.*)\)\$", expression, re.DOTALL) or re.fullmatch(r"\^([\w-]+)\$", expression)
    if found is None:
        return ()
    return (found[1], re.sub(r"\\(.)", r"\1", found[1])) if target.name == "gemini" else (found[1],)


def _is_same(read: str, wanted: str) -> bool:
    name = re.fullmatch(r"\^([\w-]+)\$", wanted)
    return read in (wanted, f"(?:{wanted})") or (name is not None and read == f"^({name[1]})$")


def _own_names(expression: str, target: Target) -> str:
    """Return what adds the agent's own names of tools that the expression finds by another name."""
    if expression_cost.is_exponential(expression):
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


_ESCAPE = r"\\(?:[!-/:-@\[-^`{-~]|[dDwWsSnrtfv]|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})"
# Everything that is written and read alike in both dialects, and named groups.
_ALIKE = re.compile(
    rf"""
    [^\\\[\](){{}}*+?|^$.]              # a character
    | {_ESCAPE} | \\b                     # \\B differs in the empty text
    | [.^$|)\]}}]
    | \((?!\?) | \(\?(?::|=|!|<=|<!)    # groups
    | \(\?P?<(?P<name>[A-Za-z_]\w*)>
    | [*+?]\?? | \{{\d+(?:,\d*)?\}}\??  # repetitions
    | \[\^?(?:(?!&&|\|\||~~|--)(?:[^\]\[\\^]|{_ESCAPE}))+\]
    """,
    re.VERBOSE | re.ASCII,
)
_ANCHORS = {r"\A": "^", r"\Z": "$"}  # Python's, in JavaScript
# These find letters, digits and line ends of other scripts in Python than in JavaScript.
_DIFFERING = re.compile(r"\\[dDwWsSbB]|(?<!\\)[.$]")


def translate(expression: str, own: str, other: str) -> str | None:
    """Return the expression in another dialect, or None if it uses something that the dialects do not share."""
    if own == other:
        return expression
    written: list[str] = []
    position = 0
    while position < len(expression):
        anchor = _ANCHORS.get(expression[position : position + 2]) if own == PYTHON else None
        found = _ALIKE.match(expression, position)
        if anchor is not None:
            written.append(anchor)
            position += 2
        elif found is not None:
            group = f"(?P<{found['name']}>" if other == PYTHON else f"(?<{found['name']}>"
            written.append(group if found["name"] else found[0])
            position = found.end()
        else:
            return None
    translated = "".join(written)
    return translated if _is_valid(own, expression) and _is_valid(other, translated) else None


def differing(expression: str) -> list[str]:
    """Return the parts of a shared expression that find other characters outside ASCII, or at a line end."""
    return list(dict.fromkeys(_DIFFERING.findall(expression)))


def _dialect_title(dialect: str) -> str:
    return {PYTHON: "Python", JAVASCRIPT: "JavaScript"}[dialect]


def _is_valid(dialect: str, expression: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expressions.search(dialect, expression)
    except (expressions.BadExpression, Warning):
        return False
    return True
