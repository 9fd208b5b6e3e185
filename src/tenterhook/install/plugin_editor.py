"""Plug-ins of ours: files that `install` writes whole, from a template of agents/plugins with our entries in it.

A line `@include NAME` of a template, in a comment, is replaced by that file, a line `@entry EVENT` by the command of
that event, if it has one; `ENTRIES = {}` by the entries, as JSON.
"""

from __future__ import annotations

import json
import os
import re

from ..basics import places
from .text_edits import EditRefused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_TEMPLATES = os.path.join(places.PACKAGE, "agents", "plugins")
_MARK = "Written by `tenterhook install`; `tenterhook uninstall` removes it."
_INCLUDE = re.compile(r"^(?://|#) @include (\S+)\n", re.MULTILINE)
_ENTRY = re.compile(r"^# @entry (\w+)\n", re.MULTILINE)
_ENTRIES = re.compile(r"^((?:const )?ENTRIES(?:: [^=\n]+)? = )(\{.*\})$", re.MULTILINE)
_COMMENTS = {".js": "//", ".ts": "//"}  # else "#"


def written(template: str, entries: Mapping[str, Any]) -> bytes:
    """Return the file that a template makes with these entries."""
    text = _INCLUDE.sub(lambda found: _template(found[1]), _template(template))
    text = _ENTRY.sub(lambda found: f"{entries[found[1]]['command']}\n" if found[1] in entries else "", text)
    as_json = json.dumps(entries)  # also valid as JavaScript and Python: it has only strings and numbers
    text = _ENTRIES.sub(lambda found: found[1] + as_json, text)
    first, comment = "", _COMMENTS.get(os.path.splitext(template)[1], "#")
    if text.startswith("#!"):
        first, _, text = text.partition("\n")
        first += "\n"
    return f"{first}{comment} {_MARK}\n{text}".encode()


def with_entries(text: bytes | None, template: str, entries: Mapping[str, Any]) -> bytes:
    """Return the file with exactly these entries. Raises `EditRefused` if there is a file that is not ours."""
    if text is not None and not is_ours(text):
        raise EditRefused("a file of this name exists that is not ours", 1, "rename or remove it")
    return written(template, entries)


def without_entries(text: bytes) -> bytes:
    """Return empty content for a file of ours; any other file is returned as it is."""
    return b"" if is_ours(text) else text


def entries_of(text: bytes) -> dict[str, Any]:
    """Return the entries of a file of ours; empty if it is not ours, or broken."""
    found = _ENTRIES.search(text.decode("utf-8", "replace")) if is_ours(text) else None
    try:
        entries = json.loads(found[2]) if found else {}
    except ValueError:
        return {}
    return entries if isinstance(entries, dict) else {}


def is_ours(text: bytes) -> bool:
    """Return whether `install` wrote the file."""
    return _MARK.encode() in text[:300]


def remove_bytecode(path: str) -> None:
    """Remove the byte code that an agent's Python wrote beside a file of ours."""
    stem, extension = os.path.splitext(path)
    cache = os.path.join(os.path.dirname(path), "__pycache__")
    if extension == ".py" and os.path.isdir(cache):
        for name in os.listdir(cache):
            if name.startswith(f"{os.path.basename(stem)}.") and name.endswith(".pyc"):
                os.unlink(os.path.join(cache, name))
        if not os.listdir(cache):
            os.rmdir(cache)


def _template(name: str) -> str:
    with open(os.path.join(_TEMPLATES, name), encoding="utf-8") as file:
        return file.read()
