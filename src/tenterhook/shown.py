"""Text as a person may safely look at it: nothing in it moves the cursor, changes colours or reverses the order."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"


def visible(text: str) -> str:
    """The text with control, escape and bidirectional characters written out as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in _KEPT or unicodedata.category(char)[0] != "C" else _escape(char) for char in text)


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode()
