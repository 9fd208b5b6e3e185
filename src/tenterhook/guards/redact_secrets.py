"""The guard `redact-secrets`: replaces the secrets in a tool's output or error before the model sees them.

Settings, under `metadata` in HOOK.md, or in an override in hooks.toml:

    allow: [kind, …]               kinds of secrets that are not replaced, as named in the marks
    expressions: [expression, …]   further secrets; of an expression with groups, the last group that matches
"""

from __future__ import annotations

from ..basics import redaction
from .calls import Replacement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from .calls import GuardedCall

    Span = tuple[int, int]

UNREAD = f"{redaction.MARK}: an output that could not be searched for secrets]"
_MOST_STEPS = 50_000_000  # for the user's own expression in one text: about a second


def judge(call: GuardedCall) -> Replacement | None:
    """Return the output with its secrets replaced, or all of it if it cannot be searched; None if it has none."""
    if call.output is None:
        return None
    try:
        redactor = redaction.Redactor(_listed(call.settings, "allow"), _own_expressions(call.settings))
        output = redactor.redacted(call.output)
    except Exception as error:  # noqa: BLE001  # the tool has run: a block would not hide its output
        return Replacement(UNREAD, f"the output could not be searched for secrets ({type(error).__name__})")
    if output is call.output:
        return None
    found = ", ".join(f"{count} × {kind}" if count > 1 else kind for kind, count in redactor.counts.items())
    number = sum(redactor.counts.values())
    return Replacement(output, f"{number} {'secret was' if number == 1 else 'secrets were'} replaced: {found}")


def setting_problems(settings: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the key, a message and a remedy for each setting that has no effect as it is written."""
    for key in ("allow", "expressions"):
        if not isinstance(settings.get(key, []), list):
            yield key, f"'{key}' is not a list; it has no effect", f"write {key}: […]"
    for kind in _listed(settings, "allow"):
        if kind not in redaction.kinds():
            remedy = f"write it as in the mark, {redaction.MARK}: KIND]: {', '.join(redaction.kinds())}"
            yield "allow", f"there is no kind of secret {kind!r}; naming it has no effect", remedy
    for expression in _listed(settings, "expressions"):
        problem = _problem(expression)
        if problem is not None:
            yield "expressions", f"{expression!r} {problem}; it has no effect", "fix the expression"


def _listed(settings: Mapping[str, Any], key: str) -> list[Any]:
    value = settings.get(key, [])
    return value if isinstance(value, list) else []


def _problem(expression: object) -> str | None:
    """Return why an expression cannot be used, or None."""
    import re

    from ..basics import expression_cost

    if not isinstance(expression, str):
        return "is not a string"
    try:
        re.compile(expression)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        return f"is not a valid Python expression ({error})"
    if expression_cost.is_exponential(expression):
        return "has nested repetitions, which can take exponential time"
    return None


def _own_expressions(settings: Mapping[str, Any]) -> list[Callable[[str], list[Span]]]:
    return [_finder(each) for each in _listed(settings, "expressions") if _problem(each) is None]


def _finder(expression: str) -> Callable[[str], list[Span]]:
    import re

    from ..basics import expression_cost

    compiled = re.compile(expression)

    def find(text: str) -> list[Span]:
        """Return the spans of its matches; the whole text if searching could take too long."""
        if not expression_cost.is_quick_for(expression, [text], _MOST_STEPS):
            return [(0, len(text))]
        return [found.span(found.lastindex or 0) for found in compiled.finditer(text)]

    return find
