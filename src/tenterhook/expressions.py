"""Regular expressions in the two dialects hooks are written in, and how long one may take.

Folder and table hooks speak Python's `re`, array hooks JavaScript (through `regress`).
"""

from __future__ import annotations

import re
from functools import lru_cache

from . import jsonable
from .errors import HookError
from .values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Search = Callable[[str], object]

PYTHON = "python"
JAVASCRIPT = "javascript"

# About 20 ms of `re`: what may be matched on the spot, in steps of a backtracking engine.
_STEPS_ON_THE_SPOT = 1_000_000


class BadExpression(HookError):
    """Not an expression of this dialect."""


@lru_cache(maxsize=4096)
def search(dialect: str, expression: str) -> Search:
    """A function that finds the expression in a text; raises `BadExpression`."""
    if dialect == PYTHON:
        try:
            return re.compile(expression).search
        except (re.error, OverflowError, RecursionError) as error:
            raise BadExpression(f"not a Python expression: {error}") from None
    if _PLAIN(expression):  # means the same in every dialect: spare the import
        return re.compile(expression).search
    import regress

    for flags in ("u", "") if _NEEDS_UNICODE(expression) else ("",):
        try:
            find = regress.Regex(expression, flags).find
        except regress.RegressError as error:
            refusal = error
        else:
            # regress takes no lone surrogates
            return lambda text: find(text if text.isascii() else jsonable.printable(text))
    raise BadExpression(f"not a JavaScript expression: {refusal}")


_PLAIN = re.compile(r"[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]*(?:\|[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]+)*\Z").match


_NEEDS_UNICODE = re.compile(r"\\[pP]\{|\\u\{").search


class Shape(NamedTuple):
    """What a look at an expression tells about its cost."""

    unbounded: int  # repetitions without a limit
    branches: int
    nested: bool  # a repetition of something that repeats or branches


@lru_cache(maxsize=4096)
def shape(expression: str) -> Shape:
    """How an expression could grow with its text. Errs on the side of caution, for either dialect."""
    unbounded = branches = 0
    nested = False
    groups: list[bool] = []  # for each open group: does it repeat or branch inside?
    last_group = False  # was the last atom a group that does?
    for token in _tokens(expression):
        if token == "(":
            groups.append(False)
        elif token == ")":
            last_group = groups.pop() if groups else False
            if last_group and groups:
                groups[-1] = True
        elif token == "|":
            branches += 1
            if groups:
                groups[-1] = True
        elif token == "*":
            unbounded += 1
            nested = nested or last_group
            if groups:
                groups[-1] = True
            last_group = False
        elif token == "\\1":
            unbounded += 1
        else:
            last_group = False
    return Shape(unbounded, branches, nested)


def _tokens(expression: str) -> Iterator[str]:
    """Groups, branches, repetitions that can go on (as `*`), back-references (as `\\1`), and the rest as `.`."""
    position, end = 0, len(expression)
    while position < end:
        char = expression[position]
        position += 1
        if char == "\\":
            yield "\\1" if expression[position : position + 1] in "123456789k" and position < end else "."
            position += 1
        elif char == "[":
            closing = _CLASS.match(expression, position)
            position = closing.end() if closing else end
            yield "."
        elif char in "()|":
            if char == "(" and (opening := _GROUP.match(expression, position)):
                position = opening.end()
            yield char
        elif char in "*+":
            yield "*"
            if expression[position : position + 1] in ("?", "+"):
                position += 1
        elif char == "{" and (count := _COUNT.match(expression, position)):
            position = count.end()
            most = count[2] if count[1] is not None else count[0].rstrip("}")
            if not most or int(most) > 20:
                yield "*"
        elif char != "?":
            yield "."


_CLASS = re.compile(r"\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\?(?:P?<[A-Za-z_]\w*>|P=\w+|<[=!]|[=!:>]|[a-zA-Z-]+:?)")
_COUNT = re.compile(r"\d+(,)?(\d*)\}|(,)(\d+)\}")


def can_run_away(expression: str) -> bool:
    """Whether a short text could already keep the expression busy for ever."""
    return shape(expression).nested


def on_the_spot(expression: str, length: int) -> bool:
    """Whether matching a text of this length is quick for certain, whatever the text."""
    unbounded, branches, nested = shape(expression)
    if unbounded == 0:
        return True
    if nested:
        return length < 20 and (1 + unbounded + branches) ** length <= _STEPS_ON_THE_SPOT
    return length < _STEPS_ON_THE_SPOT and (length + 1) ** (unbounded + 1) <= _STEPS_ON_THE_SPOT


_PYTHON_ONLY = (
    (re.compile(r"(?<!\\)(?:\\\\)*\\A"), r"\A", "the letter A"),
    (re.compile(r"(?<!\\)(?:\\\\)*\\Z"), r"\Z", "the letter Z"),
    (re.compile(r"\(\?P<"), "(?P<name>…)", "no expression"),
    (re.compile(r"\(\?[aiLmsux]+\)"), "(?i) and the like", "no expression"),
)
_JAVASCRIPT_ONLY = (
    (re.compile(r"(?<!\\)(?:\\\\)*\\[pP]\{"), r"\p{…}", "no expression"),
    (re.compile(r"\(\?<[A-Za-z_]"), "(?<name>…)", "no expression"),
    (re.compile(r"\[\^?\]"), "[] and [^]", "the start of a longer class"),
    (re.compile(r"(?<!\\)(?:\\\\)*\\u\{"), r"\u{…}", "no expression"),
    (re.compile(r"(?<!\\)(?:\\\\)*\\c[A-Za-z]"), r"\cX", "no expression"),
)


def dialect_differences(dialect: str, expression: str) -> list[tuple[str, str]]:
    """Constructs that mean something else in the other dialect, each with what the other makes of it."""
    own, foreign = (_PYTHON_ONLY, _JAVASCRIPT_ONLY) if dialect == PYTHON else (_JAVASCRIPT_ONLY, _PYTHON_ONLY)
    found = [(shown, f"{other} in the other dialect") for pattern, shown, other in own if pattern.search(expression)]
    found += [(shown, "meant for the other dialect") for pattern, shown, _ in foreign if pattern.search(expression)]
    return found
