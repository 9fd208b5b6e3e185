"""An upper bound of the time that a search with a regular expression takes, in steps of a backtracking engine."""

from __future__ import annotations

import re

from .named_tuples import NamedTuple, cached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# About 20 ms of `re`: the limit for a search in this process.
_MOST_STEPS = 1_000_000


class Shape(NamedTuple):
    """The parts of an expression that determine the cost of a search."""

    branches: tuple[Branch, ...]
    nested: bool  # a repetition of something that repeats or branches


class Branch(NamedTuple):
    """One alternative; `ways` is in how many ways it can match at one position, without its unlimited repetitions."""

    ways: float
    repeated: tuple[str, ...]  # each atom that may repeat more than a few times


@cached(maxsize=4096)
def shape(expression: str) -> Shape:
    """Return the shape of an expression, for both dialects; one that is not analysed counts as nested."""
    if re.search(r"\(\?(?:#|\(|[a-zA-Z]*x)", expression):  # comments, conditionals, verbose mode: not analysed
        return Shape((Branch(1, ()),), True)
    branches: list[Branch] = []
    ways = 1.0
    repeated: list[str] = []
    nested = False
    groups: list[bool] = []  # for each open group, whether something in it repeats or branches
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
    """Whether searching for an expression can take exponential time."""
    return shape(expression).nested


def is_linear(expression: str) -> bool:
    """Whether searching for an expression takes a constant number of steps at each position of a text."""
    branches, nested = shape(expression)
    return not nested and len(branches) <= _FEW and all(branch == Branch(1, ()) for branch in branches)


def is_quick(expression: str, length: int) -> bool:
    """Whether searching any text of this length for an expression is certainly quick."""
    branches, nested = shape(expression)
    if nested:
        return length == 0
    if is_linear(expression):
        return True
    if length > 100_000:
        return False
    steps = sum(branch.ways * float(length + 1) ** (len(branch.repeated) + 1) for branch in branches)
    return steps <= _MOST_STEPS


def is_quick_for(expression: str, texts: Sequence[str], most_steps: float = _MOST_STEPS) -> bool:
    """Whether searching these texts is quick, as a repetition is bounded by the longest run of its atom in them."""
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
    return steps <= most_steps


def _longest_run(atom: str, text: str) -> int:
    try:
        run = re.compile(f"(?:{atom})+" if atom else "(?s:.)+")
    except (re.error, ValueError, OverflowError, RecursionError):
        return len(text)
    return max((found.end() - found.start() for found in run.finditer(text)), default=0)
