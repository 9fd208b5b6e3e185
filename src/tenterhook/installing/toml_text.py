"""Arrays of tables in TOML, `[[hooks]]` in an agent's settings or `[[hooks.disable]]` in `hooks.toml`, written as
blocks or as an inline array, edited so that all else keeps its bytes.

`tomllib` says what the file means, and a scanner where it is said: with strings and comments blanked out, headers and
brackets are all that is left to find. An agent may write the file anew, without our comment and in the other of the
two forms, so our hooks are known by what they say alone.
"""

from __future__ import annotations

import json
import re
import tomllib
from datetime import datetime

from ..basics.values import NamedTuple
from .edits import (
    FILE,
    Edited,
    Listing,
    Refused,
    appended,
    decoded,
    encoded,
    indent_of,
    listing_at,
    newline_of,
    removed,
    settled,
    starts_line,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    Hook = dict[str, Any]

# The line above the first block of ours.
COMMENT = "# Written by `tenterhook install`; `tenterhook uninstall` takes it out again."

_STRING_OR_COMMENT = re.compile(
    r'"""(?:[^\\]|\\[\s\S])*?"{3,5}'
    r"|'''[\s\S]*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|(?P<comment>#[^\n]*?(?=\r?(?:\n|\Z)))"
)
_TOKEN = re.compile(r"[\[\]{},]|[^\s\[\]{},]+")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_AT_LINE = re.compile(r"at line (\d+)")


def hooks_of(text: bytes) -> list[Hook]:
    """The hooks, as parsed; empty if there are none. Raises `Refused` for a file that cannot be edited."""
    return _read(decoded(text)[1]).hooks


def with_entries(
    text: bytes,
    entries: Sequence[Mapping[str, Any]],
    is_ours: Callable[[Any], bool],
    created: frozenset[str] = frozenset(),
) -> Edited:
    """The file in which the hooks that are ours are exactly these; all else keeps its bytes and its place.

    A hook that is there already stays where it is; the same call again changes nothing. New ones come last: into the
    inline array if the file has one, else as `[[hooks]]` at the end. `created` is what an earlier call reported.
    """
    bom, body = decoded(text)
    document = _read(body)
    made = set(created)
    if entries and not text:
        made.add(FILE)
    if entries and "hooks" not in document.value:
        made.add("hooks")
    document = _settle(document, [dict(entry) for entry in entries], is_ours)
    if "hooks" not in document.value:
        made.clear()
    return Edited(_encoded(bom, document), frozenset(made))


def without_entries(text: bytes, is_ours: Callable[[Any], bool], created: frozenset[str] = frozenset()) -> bytes:
    """The file without our hooks, and without an empty array that was `created` for them.

    Taking back what `with_entries` did gives the very bytes there were.
    """
    bom, body = decoded(text)
    document = _settle(_read(body), [], is_ours)
    if "hooks" in created and document.inline is not None and not document.hooks:
        start, end = document.inline.statement
        if not document.text[document.inline.listing.opening : document.inline.listing.closing].strip():
            document = document._replace(text=document.text[:start] + document.text[end:])
    if FILE in created and not document.text.strip():
        return b""
    return _encoded(bom, document)


def with_tables(
    text: bytes, at: tuple[str, ...], entries: Sequence[Mapping[str, Any]], is_meant: Callable[[Any], bool]
) -> bytes:
    """The file in which the tables of the array `at` that are meant are exactly these; all else keeps its bytes.

    `at` is the array's path: `("hooks", "disable")` for `[[hooks.disable]]`. Raises `Refused` as `hooks_of` does.
    """
    bom, body = decoded(text)
    return _encoded(bom, _settle(_read(body, at), [dict(entry) for entry in entries], is_meant))


class _Statement(NamedTuple):
    """A header or a key with its value, from the start of its line to the end of its last one."""

    start: int
    end: int
    is_header: bool
    path: tuple[str, ...]  # of a key below a header, that one's too


class _Inline(NamedTuple):
    statement: tuple[int, int]
    listing: Listing


class _Document(NamedTuple):
    text: str  # each line with its end, the last one too
    end: str  # the end that the last line did not have
    value: dict[str, Any]
    blocks: tuple[tuple[int, int], ...]  # from each `[[hooks]]` to the end of its last statement
    inline: _Inline | None
    at: tuple[str, ...]  # the path of the array

    @property
    def hooks(self) -> list[Hook]:
        found: list[Hook] = _value_at(self.value, self.at)
        return found


_HOOKS = ("hooks",)


def _read(body: str, at: tuple[str, ...] = _HOOKS) -> _Document:
    end = "" if not body or body.endswith("\n") else newline_of(body)
    if body.endswith("\r"):  # with the end that we give its last line it would be one
        raise Refused("not TOML: a carriage return without a line feed", body.count("\n") + 1, "fix this line")
    return _parsed(body + end, end, at)


def _value_at(value: Any, at: tuple[str, ...]) -> Any:
    """What stands at a path; an empty list if nothing does, None if nothing can: there is no table on the way."""
    for key in at:
        if not isinstance(value, dict):
            return None
        value = value.get(key, [] if key == at[-1] else {})
    return value


def _parsed(text: str, end: str, at: tuple[str, ...]) -> _Document:
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = int(found[1]) if found else text.count("\n")
        what = str(error).partition(" (at ")[0]
        raise Refused(f"not TOML: {what}", max(line, 1), "fix this line") from None
    except (ValueError, RecursionError) as error:
        raise Refused(f"not readable as TOML: {error}", 1, "shorten the number or the nesting it speaks of") from None
    plain = _STRING_OR_COMMENT.sub(_blank, text)
    statements = _statements(text, plain)
    _refuse_shape(text, value, statements, at)
    blocks: list[tuple[int, int]] = []
    inline = None
    in_block = False
    for statement in statements:
        if statement.path == at and not statement.is_header:
            bracket = plain.index("[", plain.index("=", statement.start))
            comments = tuple(found.span() for found in _STRING_OR_COMMENT.finditer(text) if found["comment"])
            inline = _Inline((statement.start, statement.end), listing_at(plain, bracket, comments, _TOKEN))
        elif statement.path == at:
            in_block = True
            blocks.append((statement.start, statement.end))
        elif statement.is_header:
            in_block = in_block and statement.path[: len(at)] == at  # a table inside the hook
        if in_block:
            blocks[-1] = (blocks[-1][0], statement.end)
    return _Document(text, end, value, tuple(blocks), inline, at)


def _blank(found: re.Match[str]) -> str:
    """As many blanks for a comment, as many letters for a string, so that neither holds a mark or a line's end."""
    return (" " if found["comment"] else "s") * len(found[0])


def _statements(text: str, plain: str) -> list[_Statement]:
    statements = []
    at = 0
    header: tuple[str, ...] = ()
    while at < len(plain):
        end = plain.index("\n", at) + 1
        if plain[at:end].strip():
            is_header = plain[at:end].lstrip().startswith("[")
            if is_header:
                path = header = _path(text[at:end])
            else:
                while _depth(plain[at:end]):
                    end = plain.index("\n", end) + 1
                path = (*header, *_path(text[at : plain.index("=", at)] + "= 0"))
            statements.append(_Statement(at, end, is_header, path))
        at = end
    return statements


def _depth(plain: str) -> int:
    return sum(plain.count(mark) for mark in "[{") - sum(plain.count(mark) for mark in "]}")


def _path(statement: str) -> tuple[str, ...]:
    """The key that a header or a statement speaks of, quoted or not."""
    path = []
    value: object = tomllib.loads(statement)
    while isinstance(value, dict) and value:
        ((key, value),) = value.items()
        path.append(key)
    return tuple(path)


def _refuse_shape(text: str, value: dict[str, Any], statements: list[_Statement], at: tuple[str, ...]) -> None:
    inside = next(
        (each for each in statements if not each.is_header and each.path in (at[:n] for n in range(1, len(at)))), None
    )
    if inside is not None:
        name = ".".join(inside.path)
        line = text.count("\n", 0, inside.start) + 1
        raise Refused(f"`{name}` is an inline table", line, f"write [{name}], and its keys below")
    hooks = _value_at(value, at)
    if isinstance(hooks, list) and all(isinstance(hook, dict) for hook in hooks):
        return
    start = next((each.start for each in statements if each.path[:1] == at[:1]), 0)
    line = text.count("\n", 0, start) + 1
    if isinstance(hooks, dict) and at == _HOOKS:
        what = "`hooks` is a table: that is the old table format, which the agent does not read"
        raise Refused(what, line, "write each hook as a [[hooks]] table with event and command")
    name = ".".join(at)
    raise Refused(f"`{name}` is not an array of tables", line, f"write each as a [[{name}]] table")


def _settle(document: _Document, wanted: list[Hook], is_ours: Callable[[Any], bool]) -> _Document:
    """Keep the hooks of ours that are wanted, turn the others into what is missing, add or remove the rest."""
    missing, spare = settled(document.hooks, wanted, is_ours)
    while spare and missing:
        index, hook = spare.pop(0), missing.pop(0)
        start, end = document.inline.listing.items[index] if document.inline else document.blocks[index]
        new = _inline_table(hook) if document.inline else _block(document.at, hook, newline_of(document.text))
        document = _parsed(document.text[:start] + new + document.text[end:], document.end, document.at)
    for index in reversed(spare):
        if document.inline:
            text = removed(document.text, document.inline.listing, index)
        else:
            text = _without_block(document.text, document.blocks[index])
        document = _parsed(text, document.end, document.at)
    for number, hook in enumerate(missing):
        if document.inline:
            text = _with_item(document.text, document.inline.listing, _inline_table(hook))
        else:
            newline = newline_of(document.text)
            comment = "" if number or document.at != _HOOKS else COMMENT + newline
            text = document.text + (newline if document.text else "") + comment + _block(document.at, hook, newline)
        document = _parsed(text, document.end, document.at)
    return document


def _without_block(text: str, block: tuple[int, int]) -> str:
    """Without the block, our comment above it and the one empty line above that."""
    start, end = block
    for ours in (COMMENT, ""):
        above = text.rfind("\n", 0, max(start - 1, 0)) + 1
        if start and text[above:start].removesuffix("\n").removesuffix("\r") == ours:
            start = above
    return text[:start] + text[end:]


def _with_item(text: str, listing: Listing, item: str) -> str:
    newline = newline_of(text)
    inner = indent_of(text, listing.opening) + "    "
    if listing.items:
        start, end = listing.items[-1]
        on_its_line = starts_line(text, start, listing.opening)
        lead = newline + (indent_of(text, start) if on_its_line else inner)
        if not on_its_line and not listing.comment_between(end, listing.closing):
            lead = " "
        return appended(text, listing, lead + item)
    if listing.comment_between(listing.opening, listing.closing):
        return appended(text, listing, newline + inner + item)
    if listing.opening == listing.closing:
        return appended(text, listing, newline + inner + item, newline + indent_of(text, listing.opening))
    return appended(text, listing, item)


def _block(at: tuple[str, ...], hook: Hook, newline: str) -> str:
    return newline.join((f"[[{'.'.join(at)}]]", *(f"{_key(key)} = {_value(value)}" for key, value in hook.items()), ""))


def _inline_table(hook: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{_key(key)} = {_value(value)}" for key, value in hook.items()) + "}"


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which JSON allows and TOML does not
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return _inline_table(value)
    raise TypeError(f"TOML has no {type(value).__name__} that a hook would need")


def _encoded(bom: str, document: _Document) -> bytes:
    return encoded(bom, document.text.removesuffix(document.end) if document.end else document.text)
