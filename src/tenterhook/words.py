"""Expressions that are nothing but words, such as `Shell`, `Write|Edit` or `^Bash$`: they need no expression engine.

Most matchers are of this kind, and importing an engine costs an agent as much as starting an interpreter. Nothing is
imported here, and a word is a plain tuple: an index of hooks keeps them as they are.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Word = tuple[str, bool, bool]  # a text, to be found at the start, at the end, both or anywhere

_MEAN_THEMSELVES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,/:;<>=!@#%&~\"'-")
_MOST_REMEMBERED = 4096
_WORDS: dict[str, tuple[Word, ...] | None] = {}


def words(expression: str) -> tuple[Word, ...] | None:
    """The alternatives of an expression, or None if it is more than words. The same in either dialect."""
    if expression not in _WORDS:
        if len(_WORDS) >= _MOST_REMEMBERED:
            _WORDS.clear()
        _WORDS[expression] = _words(expression)
    return _WORDS[expression]


def _words(expression: str) -> tuple[Word, ...] | None:
    inner = expression[2:-2]
    if expression.startswith("^(") and expression.endswith(")$") and _is_plain(inner.replace("|", "")):
        return tuple((text, True, True) for text in inner.split("|"))
    found = []
    for branch in expression.split("|"):
        text = branch.removeprefix("^")
        at_start = text != branch
        at_end = text.endswith("$")
        text = text.removesuffix("$")
        if not _is_plain(text):
            return None
        found.append((text, at_start, at_end))
    return tuple(found)


def _is_plain(text: str) -> bool:
    return _MEAN_THEMSELVES.issuperset(text)


def search(dialect: str, expression: str) -> Callable[[str], bool] | None:
    """A function that tells whether a text holds one of the words; None if the expression is more than words."""
    alternatives = words(expression)
    if alternatives is None:
        return None
    return lambda text: found(dialect, alternatives, text)


def found(dialect: str, alternatives: Iterable[Word], text: str) -> bool:
    """Whether a text holds one of the words."""
    # in Python `$` also matches before a newline at the end
    ends = (text, text.removesuffix("\n")) if dialect == "python" else (text,)
    for word, at_start, at_end in alternatives:
        if not at_end:
            if text.startswith(word) if at_start else word in text:
                return True
        elif any(end == word if at_start else end.endswith(word) for end in ends):
            return True
    return False
