"""Entries of ours in a TOML file; everything else keeps its bytes.

Hooks in an agent's settings are a block between two markers at the end of the file, entries of `hooks.toml` are tables
at its end. Both are removed as exactly the text that was added. What an agent has rewritten since, or a user has
written as an inline array, is edited with tomlkit. `tomllib` checks each result: it has our entries, and everything
else is unchanged.
"""

from __future__ import annotations

import json
import re
import tomllib

from ..formats.toml_writing import array_table, value
from .text_edits import FILE, Edited, EditRefused, decoded, diff_entries, encoded, newline_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

START = "# >>> tenterhook >>> written by `tenterhook install`; `tenterhook uninstall` removes it"
END = "# <<< tenterhook <<<"
_OLD_START = "# Written by `tenterhook install`; `tenterhook uninstall` takes it out again."  # of version 0.1; no end
_HOOKS = ("hooks",)
_BLOCK = re.compile(rf"(?:(?<=\n)|\A)(?:\r?\n)?{re.escape(START)}\r?\n.*?\n{re.escape(END)}\r?\n", re.DOTALL)
_MARKERS = re.compile(rf"^(?:{re.escape(START)}|{re.escape(END)}|{re.escape(_OLD_START)})\r?\n", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_STATEMENT = re.compile(r"^[ \t]*[^\s#][^\n]*\n", re.MULTILINE)
# The empty line, and the comment of version 0.1, before an entry of ours.
_LEAD = re.compile(rf"(?:(?<=\n)|\A)(?:\r?\n)?(?:{re.escape(_OLD_START)}\r?\n)?\Z")
_AT_LINE = re.compile(r"at line (\d+)")


def hooks_of(text: bytes) -> list[dict[str, Any]]:
    """Return the parsed hooks; empty if there are none. Raises `EditRefused` if the file cannot be edited."""
    return _tables(decoded(text)[1], _HOOKS)


def with_entries(
    text: bytes,
    entries: Sequence[Mapping[str, Any]],
    is_ours: Callable[[Any], bool],
    created: frozenset[str] = frozenset(),
) -> Edited:
    """Return the file in which the hooks that are ours are exactly these; the same call again changes nothing.

    `created` is what an earlier call returned.
    """
    edited = with_tables(text, _HOOKS, entries, is_ours)
    made = {FILE, *created} if entries and not text else created
    return Edited(edited, frozenset(made if edited else ()))


def without_entries(text: bytes, is_ours: Callable[[Any], bool], created: frozenset[str] = frozenset()) -> bytes:
    """Return the file without our hooks: the bytes there were before `with_entries`."""
    edited = with_tables(text, _HOOKS, [], is_ours)
    return b"" if FILE in created and not edited.strip() else edited


def with_tables(
    text: bytes, at: tuple[str, ...], entries: Sequence[Mapping[str, Any]], is_ours: Callable[[Any], bool]
) -> bytes:
    """Return the file in which the tables of the array `at` for which `is_ours` is true are exactly these.

    `at` is the array's path: `("hooks", "disable")` for `[[hooks.disable]]`. Raises `EditRefused` as `hooks_of` does.
    """
    bom, body = decoded(text)
    there = _tables(body, at)
    if diff_entries(there, entries, is_ours) == ([], []):
        return text
    end = "" if not body or body.endswith("\n") else newline_of(body)  # missing after the last line
    body += end
    edited = _in_place(body, at, entries, is_ours)
    if edited is None:
        left = _without(body, at, is_ours)
        edited = _with(left, at, [dict(entry) for entry in entries], is_ours) if entries else left
    return encoded(bom, edited.removesuffix(end) if end else edited)


def _in_place(
    body: str, at: tuple[str, ...], entries: Sequence[Mapping[str, Any]], is_ours: Callable[[Any], bool]
) -> str | None:
    """Return the text with one table replaced by another, so that its comments stay; None if that is not possible."""
    there, spans = _tables(body, at), _spans(body, at, is_ours)
    ours = [index for index, entry in enumerate(there) if is_ours(entry)]
    if not len(ours) == len(spans) == len(entries) == 1:
        return None
    start, end = spans[0]
    table, old = body[start:end], there[ours[0]]
    there[ours[0]] = dict(entries[0])
    for after in (_with_values(table, old, entries[0]), array_table(at, entries[0], newline_of(body))):
        edited = body[:start] + after + body[end:]
        if means(edited, _replaced(body, at, there)):
            return edited
    return None


def _with_values(table: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return a table with the texts that differ, and everything else as it is written."""
    for key in (key for key in new if old.get(key) != new[key]):
        line = rf"""^(\s*{re.escape(key)}\s*=\s*)("[^"\n]*"|'[^'\n]*')"""
        if found := re.search(line, table, re.MULTILINE):
            table = table[: found.start(2)] + value(new[key]) + table[found.end(2) :]
    return table


def _with(body: str, at: tuple[str, ...], entries: list[dict[str, Any]], is_ours: Callable[[Any], bool]) -> str:
    """Return the text with tables at its end or in the inline array. Raises `EditRefused` if it could not be undone."""
    newline = newline_of(body)
    tables = newline.join(array_table(at, entry, newline) for entry in entries)
    if at == _HOOKS:
        tables = f"{START}{newline}{tables}{END}{newline}"
    expected = _replaced(body, at, [*_tables(body, at), *entries])
    edited = body + (newline if body else "") + tables
    if not means(edited, expected):
        edited = _with_tomlkit(body, at, [], entries)
    if not means(edited, expected) or _without(edited, at, is_ours) != body:
        name = ".".join(at)
        remedy = f"write {''.join(f'[{key}] and ' for key in at[:-1])}[[{name}]] as tables of their own, not inline"
        message = f"`{name}` is written in a form that cannot be edited and restored"
        raise EditRefused(message, line_of(body, at[0]), remedy)
    return edited


def _without(body: str, at: tuple[str, ...], is_ours: Callable[[Any], bool]) -> str:
    """Return the text without the tables that are ours."""
    there = _tables(body, at)
    ours = [index for index, entry in enumerate(there) if is_ours(entry)]
    if not ours:
        return body
    expected = _replaced(body, at, [entry for entry in there if not is_ours(entry)])
    edited = _BLOCK.sub("", body, count=1) if at == _HOOKS else body
    if means(edited, expected):
        return edited
    edited = body
    for start, end in reversed(_spans(body, at, is_ours)):
        lead = _LEAD.search(edited, 0, start)
        edited = edited[: lead.start() if lead else start] + edited[end:]
    edited = _MARKERS.sub("", edited)
    if not means(edited, expected):
        edited = _MARKERS.sub("", _with_tomlkit(body, at, ours, []))
    if not means(edited, expected) or _comments(body) - _comments(edited):
        raise EditRefused("our entries cannot be removed here", line_of(body, at[0]), "remove them with an editor")
    return edited


def _spans(body: str, at: tuple[str, ...], is_ours: Callable[[Any], bool]) -> list[tuple[int, int]]:
    """Return where tables that are ours begin, and the end of the last line of each that is no comment."""
    path = r"[ \t]*\.[ \t]*".join(f"[\"']?{key}[\"']?" for key in at)
    found = []
    for header in re.finditer(rf"^[ \t]*\[\[[ \t]*{path}[ \t]*\]\]", body, re.MULTILINE):
        following = _TABLE.search(body, header.end())
        lines = [header, *_STATEMENT.finditer(body, header.start(), following.start() if following else len(body))]
        span = header.start(), lines[-1].end()
        try:
            tables = _tables(body[slice(*span)], at)
        except EditRefused:
            continue  # a text that looks like a header
        if len(tables) == 1 and is_ours(tables[0]):
            found.append(span)
    return found


def _comments(body: str) -> set[str]:
    return set(re.findall(r"^[ \t]*#(.*)", _MARKERS.sub("", body), re.MULTILINE))


def _with_tomlkit(body: str, at: tuple[str, ...], remove: Sequence[int], entries: Sequence[Mapping[str, Any]]) -> str:
    """Return the text without some tables of an array, and with more in an inline one, as well as tomlkit can."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError
    from tomlkit.items import AoT

    try:
        document: Any = tomlkit.parse(body)
        parent = document
        for key in at[:-1]:
            parent = parent[key]
        array = parent[at[-1]]
        for index in reversed(remove):
            del array[index]
        for entry in entries:
            table = tomlkit.inline_table()
            table.update(entry)
            array.append(table)
        if not len(array) and isinstance(array, AoT):
            del parent[at[-1]]
        return tomlkit.dumps(document)
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return body  # the caller's check refuses it


def parsed(text: str) -> dict[str, Any]:
    """Return the parsed text. Raises `EditRefused` with the line if it is not TOML."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n") + (not text.endswith("\n"))
        what = str(error).partition(" (at ")[0]
        raise EditRefused(f"not TOML: {what}", max(line, 1), "fix this line") from None
    except (ValueError, RecursionError) as error:
        remedy = "shorten the number, or reduce the nesting"
        raise EditRefused(f"not readable as TOML: {error}", 1, remedy) from None


def _tables(body: str, at: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return the array of tables at a path; raises `EditRefused` if it is something else."""
    found: Any = parsed(body)
    for key in at:
        found = found.get(key, [] if key == at[-1] else {}) if isinstance(found, dict) else None
    if isinstance(found, list) and all(isinstance(table, dict) for table in found):
        return found
    line, name = line_of(body, at[0]), ".".join(at)
    if isinstance(found, dict) and at == _HOOKS:
        what = "`hooks` is a table: that is the old table format, which the agent does not read"
        raise EditRefused(what, line, "write each hook as a [[hooks]] table with event and command")
    raise EditRefused(f"`{name}` is not an array of tables", line, f"write each as a [[{name}]] table")


def _replaced(body: str, at: tuple[str, ...], tables: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the meaning of a text with other tables at a path."""
    value = parsed(body)
    parent = value
    for key in at[:-1]:
        parent = parent.setdefault(key, {})
    parent[at[-1]] = tables
    return value


def means(text: str, expected: Mapping[str, Any]) -> bool:
    """Return whether a text parses to a document; an empty array may be missing."""
    try:
        return _plain(parsed(text)) == _plain(expected)
    except EditRefused:
        return False


def _plain(value: Any) -> str:
    kept = {key: each for key, each in value.items() if key != "hooks" and each != []}
    hooks = value.get("hooks")
    if isinstance(hooks, dict):
        hooks = {key: each for key, each in hooks.items() if each != []}
    # not ==, for which 1, 1.0 and true are the same, and NaN is not; dates are equal if they are written alike
    return json.dumps({**kept, "hooks": hooks or None}, sort_keys=True, default=str)


def line_of(text: str, key: str) -> int:
    """Return the line of the first statement that begins with a key."""
    found = re.search(rf"^[ \t]*\[*[ \t]*[\"']?{key}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1
