"""`re` for modules on the path of an event, imported only if an expression could match.

Importing `re` takes 6 ms, almost as long as starting an interpreter. Most expressions of guards need words that most
shell lines do not contain, so most lines are judged without it. Once `re` is imported, these functions are its own.
"""

from __future__ import annotations

import sys

from .literal_search import required_words

TYPE_CHECKING = False
if TYPE_CHECKING or "re" in sys.modules:
    from re import *  # noqa: F403
else:
    _EQUAL_TO_ASCII = "\u0130\u0131\u017f\u212a"  # letters that equal i, s or k if case is ignored
    _NEEDED = {}  # for each expression, whether it ignores case, and the words of which it needs one

    def _imported():
        import re

        globals().update((name, getattr(re, name)) for name in re.__all__)
        return re

    def __getattr__(name):
        return getattr(_imported(), name)

    def _may_match(expression, text):
        if expression not in _NEEDED:
            flags, _, rest = expression[2:].partition(")") if expression.startswith("(?") else ("", "", expression)
            has_flags = flags.isalpha() and "x" not in flags
            needed = required_words(rest if has_flags else expression) or ()
            ignores_case = has_flags and "i" in flags
            _NEEDED[expression] = ignores_case, [word.lower() if ignores_case else word for word, _, _ in needed]
        ignores_case, needed = _NEEDED[expression]
        if ignores_case and not text.isascii() and any(char in text for char in _EQUAL_TO_ASCII):
            return True
        text = text.lower() if ignores_case else text
        return not needed or any(word in text for word in needed)

    def search(expression, text):
        return _imported().search(expression, text) if _may_match(expression, text) else None

    def match(expression, text):
        return _imported().match(expression, text) if _may_match(expression, text) else None

    def fullmatch(expression, text, flags=0):
        return _imported().fullmatch(expression, text, flags) if _may_match(expression, text) else None

    def findall(expression, text):
        return _imported().findall(expression, text) if _may_match(expression, text) else []

    def finditer(expression, text):
        return _imported().finditer(expression, text) if _may_match(expression, text) else iter(())

    def sub(expression, replacement, text, count=0, flags=0):
        return _imported().sub(expression, replacement, text, count, flags) if _may_match(expression, text) else text

    class compile:  # noqa: A001, N801  # as `re.compile`
        """A pattern that is compiled when it is first used."""

        def __init__(self, expression, flags=0):
            self._given = expression, flags

        def __getattr__(self, name):
            method = getattr(_imported().compile(*self._given), name)
            setattr(self, name, method)
            return method
