"""Markdown for tables and texts that were written for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, with an empty line after it."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def code(text: object) -> str:
    return f"`{text}`"


def codes(texts: Iterable[object]) -> str:
    return ", ".join(map(code, texts))


def prose(text: str) -> str:
    """A text in which `<` is meant as it stands."""
    return text.replace("<", "&lt;")


def sentence(text: str) -> str:
    """With a capital, unless it begins with a file's name, and a full stop."""
    first = text[:1] if "." in text.partition(" ")[0] else text[:1].upper()
    return f"{first}{text[1:].rstrip('.')}."
