"""Converts tables, and texts written for a terminal, to Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, with an empty line after it."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def code(text: object) -> str:
    return f"`{text}`"


def codes(texts: Iterable[object]) -> str:
    return ", ".join(map(code, texts))


def prose(text: str) -> str:
    """Return a text with `<` escaped."""
    return text.replace("<", "&lt;")


def sentence(text: str) -> str:
    """Return a text with a capital, unless it begins with a file's name, and a full stop."""
    first = text[:1] if "." in text.partition(" ")[0] else text[:1].upper()
    return f"{first}{text[1:].rstrip('.')}."
