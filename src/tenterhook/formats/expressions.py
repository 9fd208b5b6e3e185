"""Regular expressions in the two dialects of hooks, how long a search may take, and the matchers made of them.

Folder and table hooks use Python's `re`, array hooks JavaScript (through `regress`).
"""

from __future__ import annotations

import re

from ..basics import light_json
from ..basics.named_tuples import NamedTuple, cached
from ..errors import HookError, Problem
from . import fields

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    Search = Callable[[str], object]

PYTHON = "python"
JAVASCRIPT = "javascript"

# About 20 ms of `re`, in steps of a backtracking engine: the limit for a search in this process.
_MOST_STEPS = 1_000_000


class BadExpression(HookError):
    """Not an expression of this dialect."""


@cached(maxsize=4096)
def search(dialect: str, expression: str) -> Search:
    """Return a function that searches a text for the expression; raise `BadExpression`."""
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
        with warnings.catch_warnings():  # of syntax that a later Python may change: agents show stderr
            warnings.simplefilter("ignore")
            return re.compile(expression)
    except (re.error, ValueError, OverflowError, RecursionError) as error:  # ValueError: thousands of digits
        raise BadExpression(f"not a Python regular expression: {error}") from None


_PLAIN = re.compile(r"[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]*(?:\|[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]+)*\Z").match


_ATOM = (
    r"(?:[A-Za-z0-9_ ,/:;<>=!@#%&~\"'-]|\\[.\\/$^()\[\]{}|*+?dDwWsS-]|\."
    r"|\[\^?(?:[A-Za-z0-9_./ ,](?!-)|a-z|A-Z|0-9)+\])(?:[*+?]\??)?|\\b|[\^$|]"
)
# Groups one deep, plain classes, single repetitions: a full match is a valid expression in both dialects.
_VALID = rf"(?:{_ATOM}|\((?:\?:)?(?:{_ATOM})*\)(?:[*+?]\??)?)*"


def check(dialect: str, expression: str) -> None:
    """Raise `BadExpression` if it is not valid. Most need not be compiled for that: few are ever searched."""
    if len(expression) > _LONGEST_CHECKED or not _is_valid()(expression):
        search(dialect, expression)


@cached(maxsize=1)
def _is_valid() -> Callable[[str], re.Match[str] | None]:
    return re.compile(_VALID).fullmatch


_LONGEST_CHECKED = 200
_NEEDS_UNICODE = re.compile(r"\\[pP]\{|\\u\{").search


class Shape(NamedTuple):
    """What the cost of a search depends on, branch by branch."""

    branches: tuple[Branch, ...]
    nested: bool  # a repetition of something that repeats or branches


class Branch(NamedTuple):
    """One alternative: in how many ways it can match at one position, without its unlimited repetitions."""

    ways: float
    repeated: tuple[str, ...]  # each atom that may repeat more than a few times


@cached(maxsize=4096)
def shape(expression: str) -> Shape:
    """Return an upper bound of an expression's cost, for both dialects."""
    if re.search(r"\(\?(?:#|\(|[a-zA-Z]*x)", expression):  # comments, conditionals, verbose mode: not analysed
        return Shape((Branch(1, ()),), True)
    branches: list[Branch] = []
    ways = 1.0
    repeated: list[str] = []
    nested = False
    groups: list[bool] = []  # for each open group: does it repeat or branch inside?
    atom, complex_atom = "", False
    for kind, text in _tokens(expression):
        if kind == "(":
            groups.append(False)
        elif kind == ")":
            complex_atom = groups.pop() if groups else True
            atom = ""
            if complex_atom and groups:
                groups[-1] = True
        elif kind == "|":
            if not groups:
                branches.append(Branch(ways, tuple(repeated)))
                ways, repeated = 1.0, []
            else:
                groups[-1] = True
                ways *= 2
        elif kind == "repeat":
            nested = nested or complex_atom
            if groups:
                groups[-1] = True
            most = int(text) if text else _UNBOUNDED
            if most > _FEW:
                repeated.append(atom)
            else:
                ways *= most + 1
            complex_atom = False
        else:
            atom, complex_atom = text, False
            if kind == "back":
                repeated.append("")
    return Shape((*branches, Branch(ways, tuple(repeated))), nested)


_FEW = 20
_UNBOUNDED = 10**9


def _tokens(expression: str) -> Iterator[tuple[str, str]]:
    """Yield parentheses, branches, repetitions with their highest count, back references, and atoms."""
    position, end = 0, len(expression)
    while position < end:
        char = expression[position]
        found = _CLASS.match(expression, position) if char == "[" else _COUNT.match(expression, position)
        if char == "\\":
            escape = _ESCAPE.match(expression, position)
            text = escape[0] if escape else "\\"
            yield ("back" if text[1:2] in tuple("123456789k") else "atom"), text
        elif char == "[":
            text = found[0] if found else expression[position:]
            yield "atom", text
        elif char in "()|":
            opening = _GROUP.match(expression, position)
            text = opening[0] if opening else char
            yield char, text
        elif found:
            text = found[0]
            yield "repeat", {"*": "", "+": "", "?": "1"}.get(char, found[2] if found[1] else found[3] or "")
            if expression[position + len(text) : position + len(text) + 1] in ("?", "+"):
                text += "?"  # lazy or possessive: no more ways than greedy
        else:
            text = char
            yield "atom", char
        position += max(1, len(text))


_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_GROUP = re.compile(r"\((?:\?(?:P?<[A-Za-z_]\w*>|P=\w+|<[=!]|[=!:>]|[a-zA-Z-]+:?))?")
_COUNT = re.compile(r"[*+?]|\{\d*(,)(\d*)\}|\{(\d+)\}")
_ESCAPE = re.compile(r"\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|x..|u....|k<\w*>|.)", re.DOTALL)


def is_exponential(expression: str) -> bool:
    """Whether the search can take exponential time."""
    return shape(expression).nested


def is_linear(expression: str) -> bool:
    """Whether the search takes a constant number of steps at each position of a text."""
    branches, nested = shape(expression)
    return not nested and len(branches) <= _FEW and all(branch == Branch(1, ()) for branch in branches)


def is_quick(expression: str, length: int) -> bool:
    """Whether searching any text of this length is certainly quick."""
    branches, nested = shape(expression)
    if nested:
        return length == 0
    if is_linear(expression):
        return True
    if length > 100_000:
        return False
    steps = sum(branch.ways * float(length + 1) ** (len(branch.repeated) + 1) for branch in branches)
    return steps <= _MOST_STEPS


def is_quick_for(expression: str, texts: Sequence[str]) -> bool:
    """The same for these texts: a repetition matches in no more ways than its atom's longest run in them."""
    branches, nested = shape(expression)
    if nested:
        return False
    length = max(map(len, texts), default=0)
    steps = 0.0
    for branch in branches:
        ways = branch.ways * (length + 1)
        for atom in branch.repeated:
            ways *= 1 + max((_longest_run(atom, text) for text in texts), default=0)
        steps += ways
    return steps <= _MOST_STEPS


def _longest_run(atom: str, text: str) -> int:
    try:
        run = _compiled(f"(?:{atom})+" if atom else "(?s:.)+")
    except BadExpression:
        return len(text)
    return max((found.end() - found.start() for found in run.finditer(text)), default=0)


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
    """Return constructs that mean something else in the other dialect, each with that meaning."""
    own, foreign = (_PYTHON_ONLY, _JAVASCRIPT_ONLY) if dialect == PYTHON else (_JAVASCRIPT_ONLY, _PYTHON_ONLY)
    found = [
        (shown, f"{other} in the other dialect") for pattern, shown, other in own if re.search(pattern, expression)
    ]
    found += [(shown, "meant for the other dialect") for pattern, shown, _ in foreign if re.search(pattern, expression)]
    return found


class Matcher(NamedTuple):
    """The expressions of a matcher; None matches everything, as absent and empty ones do."""

    tool: str | None = None
    pattern: str | None = None


def read(raw: Any, file: str, line_of: Callable[[str], int | None]) -> tuple[Matcher, list[Problem]]:
    """Return the expressions of a matcher table, and their problems."""
    if not isinstance(raw, dict):
        return Matcher(), []  # absent, or reported with the other fields
    values, problems = fields.check(fields.MATCHER, raw, file, line_of)
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
    message = f"a matcher on '{event}', which has no tool: the hook never matches"
    return Problem("matcher-on-other-event", file, line, "matcher", message, "remove the matcher")
