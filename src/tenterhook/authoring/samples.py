"""A text that an expression finds, so that a new hook has a case which reaches it."""

from __future__ import annotations

import itertools
import re
import string
from re import _constants as codes  # type: ignore[attr-defined]  # the parser's own words
from re import _parser  # type: ignore[attr-defined]  # there is no other way to see an expression's parts
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_ALPHABET = string.ascii_lowercase + string.digits + string.ascii_uppercase + " _-./:=@,;!?*+#$%&'\"()[]{}<>|\\^`~\t\né"
_MOST_REPEATED = 1000
_MOST_BRANCHES = 4


def sample(expression: str) -> str | None:
    """A short text in which the expression is found; None if none could be thought of."""
    search = re.compile(expression).search
    for branch, with_assertions in itertools.product(range(_MOST_BRANCHES), (False, True)):
        try:
            text = _Writer(branch, with_assertions).text(_parser.parse(expression))
        except (_Impossible, RecursionError):
            continue
        for candidate in (text, f"{text} x", f"x {text}", f"{text}x", f"x{text}"):
            if candidate.strip() and search(candidate):
                return candidate
    return None


class _Impossible(Exception):
    """A part for which no text comes to mind."""


class _Writer:
    """Writes what the parts of an expression match, the shortest way; groups are remembered for references."""

    def __init__(self, branch: int, with_assertions: bool) -> None:
        self._branch = branch
        self._with_assertions = with_assertions
        self._groups: dict[int, str] = {}

    def text(self, parts: Iterable[tuple[Any, Any]]) -> str:
        return "".join(self._one(code, value) for code, value in parts)

    def _one(self, code: Any, value: Any) -> str:
        if code is codes.LITERAL:
            return chr(value)
        if code is codes.ANY:
            return "x"
        if code is codes.AT:
            return ""
        if code in (codes.NOT_LITERAL, codes.IN):
            parts = [(codes.NEGATE, None), (codes.LITERAL, value)] if code is codes.NOT_LITERAL else value
            return _member(parts)
        if code is codes.BRANCH:
            return self.text(value[1][min(self._branch, len(value[1]) - 1)])
        if code is codes.SUBPATTERN:
            group, _, _, inner = value
            text = self.text(inner)
            if group is not None:
                self._groups[group] = text
            return text
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, _, inner = value
            if least > _MOST_REPEATED:
                raise _Impossible
            return self.text(inner) * int(least)
        if code is codes.ATOMIC_GROUP:
            return self.text(value)
        if code is codes.GROUPREF:
            return self._groups.get(value, "")
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            return self.text(value[1]) if code is codes.ASSERT and self._with_assertions else ""
        raise _Impossible


def _member(parts: list[tuple[Any, Any]]) -> str:
    """A character of a class, a plain one if there is any."""
    negated = parts[0][0] is codes.NEGATE
    for char in _ALPHABET:
        if any(_is_in(char, code, value) for code, value in parts if code is not codes.NEGATE) != negated:
            return char
    literal = next((value for code, value in parts if code is codes.LITERAL), None)
    first = next((value[0] for code, value in parts if code is codes.RANGE), literal)
    if negated or first is None:
        raise _Impossible
    return chr(first)


_CATEGORIES = {
    codes.CATEGORY_DIGIT: r"\d",
    codes.CATEGORY_NOT_DIGIT: r"\D",
    codes.CATEGORY_SPACE: r"\s",
    codes.CATEGORY_NOT_SPACE: r"\S",
    codes.CATEGORY_WORD: r"\w",
    codes.CATEGORY_NOT_WORD: r"\W",
}


def _is_in(char: str, code: Any, value: Any) -> bool:
    if code is codes.LITERAL:
        return bool(ord(char) == value)
    if code is codes.RANGE:
        return bool(value[0] <= ord(char) <= value[1])
    if code is codes.CATEGORY and value in _CATEGORIES:
        return re.match(_CATEGORIES[value], char) is not None
    return False
