"""Regular expressions in the two dialects of hooks, and the matchers made of them.

Folder and table hooks use Python's `re`, array hooks JavaScript (through `regress`).
"""

from __future__ import annotations

import re

from ..basics import light_json
from ..basics.named_tuples import NamedTuple, cached
from ..errors import HookError, Problem
from . import hook_fields

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Search = Callable[[str], object]

PYTHON = "python"
JAVASCRIPT = "javascript"


class BadExpression(HookError):
    """A regular expression that is not valid in its dialect."""


@cached(maxsize=4096)
def search(dialect: str, expression: str) -> Search:
    """Return a function that searches a text for an expression. Raises `BadExpression` if it is not valid."""
    if dialect == PYTHON:
        return _compiled(expression).search
    if _PLAIN(expression):  # the same in both dialects: saves the import
        return re.compile(expression).search
    import regress

    for flags in ("u", "") if _NEEDS_UNICODE(expression) else ("",):
        try:
            find = regress.Regex(expression, flags).find
        except regress.RegressError as error:
            reason = error
        else:
            # regress accepts no lone surrogates
            return lambda text: find(text if text.isascii() else light_json.printable(text))
    raise BadExpression(f"not a JavaScript regular expression: {reason}")


def _compiled(expression: str) -> re.Pattern[str]:
    import warnings

    try:
        with warnings.catch_warnings():  # about syntax that may change: agents show what we write to stderr
            warnings.simplefilter("ignore")
            return re.compile(expression)
    except (re.error, ValueError, OverflowError, RecursionError) as error:  # ValueError: thousands of digits
        raise BadExpression(f"not a Python regular expression: {error}") from None


_PLAIN = re.compile(r"[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]*(?:\|[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]+)*\Z").match


_ATOM = (
    r"(?:[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]|\\[.\\/$^()\[\]{}|*+?dDwWsS-]|\."
    r"|\[\^?(?:[A-Za-z0-9_./ ,](?!-)|a-z|A-Z|0-9)+\])(?:[*+?]\??)?|\\b|[\^$|]"
)
# Groups that are not nested, plain classes, single repetitions: a full match is a valid expression in both dialects.
_VALID = rf"(?:{_ATOM}|\((?:\?:)?(?:{_ATOM})*\)(?:[*+?]\??)?)*"


def check(dialect: str, expression: str) -> None:
    """Raise `BadExpression` if an expression is not valid. Most are recognized as valid without compiling them."""
    if len(expression) > _LONGEST_CHECKED or not _is_valid()(expression):
        search(dialect, expression)


@cached(maxsize=1)
def _is_valid() -> Callable[[str], re.Match[str] | None]:
    return re.compile(_VALID).fullmatch


_LONGEST_CHECKED = 200
_NEEDS_UNICODE = re.compile(r"\\[pP]\{|\\u\{").search


_PYTHON_ONLY = (
    (r"(?<!\\)(?:\\\\)*\\A", r"\A", "the letter A"),
    (r"(?<!\\)(?:\\\\)*\\Z", r"\Z", "the letter Z"),
    (r"\(\?P<", "(?P<name>…)", "no expression"),
    (r"\(\?[aiLmsux]+\)", "(?i) and the like", "no expression"),
)
_JAVASCRIPT_ONLY = (
    (r"(?<!\\)(?:\\\\)*\\[pP]\{", r"\p{…}", "no expression"),
    (r"\(\?<[A-Za-z_]", "(?<name>…)", "no expression"),
    (r"\[\^?\]", "[] and [^]", "the start of a longer class"),
    (r"(?<!\\)(?:\\\\)*\\u\{", r"\u{…}", "no expression"),
    (r"(?<!\\)(?:\\\\)*\\c[A-Za-z]", r"\cX", "no expression"),
)


def dialect_differences(dialect: str, expression: str) -> list[tuple[str, str]]:
    """Return the constructs in an expression that only one dialect has, each with what the other takes it for."""
    own, foreign = (_PYTHON_ONLY, _JAVASCRIPT_ONLY) if dialect == PYTHON else (_JAVASCRIPT_ONLY, _PYTHON_ONLY)
    found = [
        (shown, f"{other} in the other dialect") for pattern, shown, other in own if re.search(pattern, expression)
    ]
    found += [(shown, "meant for the other dialect") for pattern, shown, _ in foreign if re.search(pattern, expression)]
    return found


class Matcher(NamedTuple):
    """The expressions of a matcher; None, for an absent or empty one, matches everything."""

    tool: str | None = None
    pattern: str | None = None


def read(raw: Any, file: str, line_of: Callable[[str], int | None]) -> tuple[Matcher, list[Problem]]:
    """Return the expressions of a matcher table, and their problems."""
    if not isinstance(raw, dict):
        return Matcher(), []  # absent, or reported with the other fields
    values, problems = hook_fields.check(hook_fields.MATCHER, raw, file, line_of)
    for key, expression in values.items():
        if not isinstance(expression, str):
            continue
        try:
            check(PYTHON, expression)
        except BadExpression as error:
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
    """Return the problem of a matcher for tools on an event without a tool."""
    message = f"a matcher on '{event}', which has no tool: the hook never matches"
    return Problem("matcher-on-other-event", file, line, "matcher", message, "remove the matcher")
