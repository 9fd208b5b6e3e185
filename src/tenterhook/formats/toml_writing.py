"""Writes values and tables as TOML, which `tomllib` only reads."""

from __future__ import annotations

import json
import re
from datetime import date, datetime, time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def array_table(path: Sequence[str], entry: Mapping[str, Any], newline: str = "\n") -> str:
    """Return an entry of an array of tables, with its header: `[[hooks.disable]]`."""
    head = f"[[{'.'.join(map(_key, path))}]]"
    return newline.join((head, *(f"{_key(key)} = {value(each)}" for key, each in entry.items()), ""))


def value(given: object) -> str:
    """Return a value on one line, or a text of several lines as a multi-line literal if TOML allows that."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, str):
        return _string(given)
    if isinstance(given, int | float):
        return repr(given)
    if isinstance(given, datetime | date | time):
        return given.isoformat()
    if isinstance(given, list | tuple):
        return "[" + ", ".join(map(value, given)) + "]"
    if isinstance(given, dict):
        return "{" + ", ".join(f"{_key(key)} = {value(each)}" for key, each in given.items()) + "}"
    raise TypeError(f"TOML has no {type(given).__name__}")


def _string(text: str) -> str:
    is_literal = re.search(r"[\x00-\x08\x0a-\x1f\x7f']", text) is None
    if is_literal and ("\\" in text or '"' in text):
        return f"'{text}'"
    if "\n" in text and re.search(r"[\x00-\x08\x0b-\x1f\x7f]|'''|'\Z", text) is None:
        return f"'''\n{text}'''"
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # which JSON allows and TOML does not


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")
