"""The `matcher` of folder and table hooks: two expressions, checked when they are read."""

from __future__ import annotations

from ..basics.named_tuples import NamedTuple
from ..errors import Problem
from . import expressions, fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Matcher(NamedTuple):
    """Absent and empty expressions match all, and are None."""

    tool: str | None = None
    pattern: str | None = None


def read(raw: Any, file: str, line_of: Callable[[str], int | None]) -> tuple[Matcher, list[Problem]]:
    """The expressions of a matcher table, and what is wrong with them."""
    if not isinstance(raw, dict):
        return Matcher(), []  # absent, or reported with the other fields
    values, problems = fields.check(fields.MATCHER, raw, file, line_of)
    for key, expression in values.items():
        if not isinstance(expression, str):
            continue
        try:
            expressions.check(expressions.PYTHON, expression)
        except expressions.BadExpression as error:
            remedy = "fix the expression (Python's re); a literal . ( ) [ ] + * ? needs a backslash"
            if key == "tool" and expression.endswith(")") and expression.partition("(")[0].isidentifier():
                remedy = "a permission rule of another program is no expression; write the tool's name, and a pattern"
            problems.append(Problem("bad-expression", file, line_of(key), key, error.message, remedy))
        if not expression.isprintable() and any(ord(char) < 32 and char not in "\t\n" for char in expression):
            message = f"'{key}' holds a control character: {expression!r}"
            remedy = "put the expression in single quotes; in double quotes \\b is a backspace"
            problems.append(Problem("control-character", file, line_of(key), key, message, remedy))
    return Matcher(values["tool"] or None, values["pattern"] or None), problems


def on_other_event(file: str, line: int | None, event: str) -> Problem:
    message = f"a matcher on '{event}', which has no tool: the hook never matches"
    return Problem("matcher-on-other-event", file, line, "matcher", message, "remove the matcher")
