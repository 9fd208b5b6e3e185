"""Regular expressions in the dialect of another format: Python's `re` or JavaScript."""

from __future__ import annotations

import re
import warnings

from ...formats import expressions
from ...formats.expressions import JAVASCRIPT, PYTHON

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


def title(dialect: str) -> str:
    return {PYTHON: "Python", JAVASCRIPT: "JavaScript"}[dialect]


def _is_valid(dialect: str, expression: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expressions.search(dialect, expression)
    except (expressions.BadExpression, Warning):
        return False
    return True
