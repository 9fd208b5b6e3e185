"""Text as a person may safely look at it: nothing in it moves the cursor, changes colours or reverses the order."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"


def visible(text: str) -> str:
    """The text with control, escape and bidirectional characters written out as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in _KEPT or unicodedata.category(char)[0] != "C" else _escape(char) for char in text)


def one_line(text: str) -> str:
    """The same for a name: not even a line break is left to pass for something else."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode()
