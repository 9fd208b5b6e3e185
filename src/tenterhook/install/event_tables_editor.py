"""Entries of ours in a TOML file with a table `[[hooks.EVENT]]` for each; everything else keeps its bytes.

They are a block between two markers at the end of the file, which is removed as the very text that was added.
`tomllib` checks each result: it has our entries, and everything else is unchanged.
"""

from __future__ import annotations

import re

from ..formats.toml_writing import array_table, value
from . import toml_editor
from .text_edits import FILE, Edited, EditRefused, decoded, encoded, newline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_START, _END = toml_editor.START, toml_editor.END
_BLOCK = re.compile(rf"(?:(?<=\n)|\A)(?:\r?\n)?{re.escape(_START)}\r?\n.*?\n{re.escape(_END)}(?:\r?\n|\Z)", re.DOTALL)


def entries_of(text: bytes, is_ours: Callable[[Any], bool]) -> dict[str, list[dict[str, Any]]]:
    """Return our entries by event. Raises `EditRefused` if the file cannot be edited."""
    return _ours(toml_editor.parsed(decoded(text)[1]), is_ours)


def with_entries(
    text: bytes,
    entries: Mapping[str, Mapping[str, Any]],
    is_ours: Callable[[Any], bool],
    created: frozenset[str] = frozenset(),
    beside: Mapping[str, Mapping[str, Any]] | None = None,
) -> Edited:
    """Return the file in which our entries are exactly these, one for each event; the same call changes nothing.

    `beside` are tables and keys that the file needs. Raises `EditRefused` if it has other values there.
    """
    body = _without(decoded(text)[1], is_ours)
    bom = decoded(text)[0]
    newline = newline_of(body)
    missing = _missing(body, beside or {})
    tables = [f"[{name}]{newline}" + _keys(keys, newline) for name, keys in missing.items()]
    for event, entry in entries.items():
        handlers = [array_table(("hooks", event, "hooks"), handler, newline) for handler in entry["hooks"]]
        tables.append(f"[[hooks.{event}]]{newline}" + "".join(handlers))
    end = "" if not body or body.endswith("\n") else newline
    block = f"{_START}{newline}{newline.join(tables)}{_END}" + ("" if end else newline)
    edited = f"{body}{end}{newline if body else ''}{block}"
    if not _means(edited, body, entries, missing) or _without(edited, is_ours) != body:
        line = toml_editor.line_of(body, "hooks")
        what = "`hooks` is written in a form to which no tables can be added"
        raise EditRefused(what, line, "write [[hooks.EVENT]] tables")
    return Edited(encoded(bom, edited), frozenset({FILE, *created} if not text else created))


def without_entries(text: bytes, is_ours: Callable[[Any], bool], created: frozenset[str] = frozenset()) -> bytes:
    """Return the file without our block: the bytes there were before `with_entries`."""
    bom, body = decoded(text)
    left = _without(body, is_ours)
    return b"" if FILE in created and not left.strip() else encoded(bom, left)


def _without(body: str, is_ours: Callable[[Any], bool]) -> str:
    found = _BLOCK.search(body)
    left = body
    if found is not None:
        left = body[: found.start()] + body[found.end() :]
        if not found[0].endswith("\n"):  # the file ended without a line break, which the block needed
            left = left.removesuffix("\n").removesuffix("\r")
    if _ours(toml_editor.parsed(left), is_ours):
        line = toml_editor.line_of(left, "hooks")
        raise EditRefused("entries of ours are not between our markers", line, "remove them with an editor")
    return left


def _ours(document: Mapping[str, Any], is_ours: Callable[[Any], bool]) -> dict[str, list[dict[str, Any]]]:
    hooks = document.get("hooks", {})
    groups = hooks.items() if isinstance(hooks, dict) else ()
    found = {event: [each for each in group if is_ours(each)] for event, group in groups if isinstance(group, list)}
    return {event: own for event, own in found.items() if own}


def _missing(body: str, beside: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return the tables that have to be added. Raises `EditRefused` if one exists without its keys."""
    document = toml_editor.parsed(body)
    found = {}
    for name, keys in beside.items():
        if name not in document:
            found[name] = keys
            continue
        for key, wanted in keys.items():
            there = document[name]
            if not isinstance(there, dict) or there.get(key) is not wanted:
                wanted_text = f"{key} = {value(wanted)}"
                message = f"`[{name}]` needs {wanted_text}, without which no managed hook runs"
                raise EditRefused(message, toml_editor.line_of(body, name), f"write {wanted_text} below [{name}]")
    return found


def _keys(keys: Mapping[str, Any], newline: str) -> str:
    return "".join(f"{key} = {value(each)}{newline}" for key, each in keys.items())


def _means(
    edited: str, body: str, entries: Mapping[str, Mapping[str, Any]], missing: Mapping[str, Mapping[str, Any]]
) -> bool:
    """Return whether a text parses to the same document as another one, plus our entries."""
    expected: dict[str, Any] = {**toml_editor.parsed(body), **missing}
    hooks = dict(expected.get("hooks", {}))
    for event, entry in entries.items():
        hooks[event] = [*hooks.get(event, []), entry]
    return toml_editor.means(edited, {**expected, "hooks": hooks})
