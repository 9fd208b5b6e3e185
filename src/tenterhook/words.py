"""Expressions that are nothing but words, such as `Shell`, `Write|Edit` or `^Bash$`: they need no expression engine.

Most matchers are of this kind, and importing an engine costs an agent as much as starting an interpreter.
"""

from __future__ import annotations

from .values import NamedTuple, remembered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MEAN_THEMSELVES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,/:;<>=!@#%&~\"'-")


class Word(NamedTuple):
    """One alternative: a text to be found anywhere, at the start, at the end, or as the whole."""

    text: str
    at_start: bool
    at_end: bool


@remembered(maxsize=4096)
def words(expression: str) -> tuple[Word, ...] | None:
    """The alternatives of an expression, or None if it is more than words. The same in either dialect."""
    inner = expression[2:-2]
    if (
        expression.startswith("^(")
        and expression.endswith(")$")
        and _MEAN_THEMSELVES.issuperset(inner.replace("|", ""))
    ):
        return tuple(Word(text, True, True) for text in inner.split("|"))
    found = []
    for branch in expression.split("|"):
        text = branch.removeprefix("^")
        at_start = text != branch
        at_end = text.endswith("$")
        text = text.removesuffix("$")
        if not _MEAN_THEMSELVES.issuperset(text):
            return None
        found.append(Word(text, at_start, at_end))
    return tuple(found)


@remembered(maxsize=4096)
def search(dialect: str, expression: str) -> Callable[[str], bool] | None:
    """A function that tells whether a text holds one of the words; None if the expression is more than words."""
    alternatives = words(expression)
    if alternatives is None:
        return None
    before_newline = dialect == "python"  # there `$` also matches before a newline at the end

    def find(text: str) -> bool:
        return any(_is_found(word, text, before_newline) for word in alternatives)

    return find


def _is_found(word: Word, text: str, before_newline: bool) -> bool:
    if not word.at_end:
        return text.startswith(word.text) if word.at_start else word.text in text
    ends = (text, text.removesuffix("\n")) if before_newline else (text,)
    return any(end == word.text if word.at_start else end.endswith(word.text) for end in ends)
