"""Hooks in JSON settings, with or without comments, edited so that everything else keeps its bytes.

This is a scanner, not a syntax tree: with its comments blanked out, the text must satisfy `json`, which is as strict as
the agents; then only brackets and commas are left to find.
"""

from __future__ import annotations

import json
import re

from ..basics.named_tuples import NamedTuple
from .text_edits import (
    FILE,
    BracketedList,
    Edited,
    EditRefused,
    appended,
    decoded,
    diff_entries,
    encoded,
    indent_of,
    listing_at,
    newline_of,
    removed,
    starts_line,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, NoReturn

ROOT = "(object)"  # the file had only white space and comments

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?P<comment>//[^\n]*?(?=\r?(?:\n|\Z))|/\*[\s\S]*?\*/)')
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')
_NOT_JSON = re.compile(r'"(?:[^"\\\n]|\\.)*"|(?P<constant>NaN|-?Infinity)')


def hooks_of(text: bytes, *, flat: bool = False) -> dict[str, list[Any]]:
    """Return the parsed groups by event; empty if there are none. Raises `EditRefused` if the file cannot be edited.

    `flat`: events are members of the file itself, unless it has `hooks`.
    """
    return _read(decoded(text)[1], flat=flat).hooks


def with_entries(
    text: bytes,
    entries: Mapping[str, Sequence[Any]],
    is_ours: Callable[[Any], bool],
    created: frozenset[str] = frozenset(),
    beside: Mapping[str, Any] | None = None,
    *,
    flat: bool = False,
) -> Edited:
    """Return the file in which our entries are exactly these; everything else keeps its bytes and its place.

    An existing entry stays where it is; the same call again changes nothing. `beside` are members that the file needs
    next to `hooks`. `created` is what an earlier call returned; what this one returns includes it. `flat` as above.
    """
    bom, body = decoded(text)
    made = set(created)
    if not text and not any(entries.values()):
        return Edited(text, frozenset())
    if not text:
        made.add(FILE)
        body = "{}\n"
    document = _read(body, flat=flat)
    if document.root is None:
        made.add(ROOT)
        document = _put(document, document.outside(), lambda _indent, _lines: "{}")
    for name, value in (beside or {}).items():
        if name not in document.value:
            document = _put_member(document, (), name, value)
            made.add(name)
    for event in [*document.hooks, *(event for event in entries if event not in document.hooks)]:
        wanted = list(entries.get(event, ()))
        if event in document.hooks:
            document = _settle(document, event, wanted, is_ours)
        elif wanted and (document.is_flat or "hooks" in document.value):
            document = _put_member(document, document.path, event, wanted)
            made.add(f"hooks.{event}")
        elif wanted:
            # all of them at once, so that the new object is written in one style
            fresh = {name: list(groups) for name, groups in entries.items() if groups}
            document = _put_member(document, (), "hooks", fresh)
            made |= {"hooks", *(f"hooks.{name}" for name in fresh)}
    document = _without_empty_events(document, made)
    existing = {FILE, ROOT, *document.value, *(f"hooks.{event}" for event in document.hooks)}
    return Edited(encoded(bom, document.text), frozenset(made & existing))


def without_entries(
    text: bytes, is_ours: Callable[[Any], bool], created: frozenset[str] = frozenset(), *, flat: bool = False
) -> bytes:
    """Return the file without our entries, and without what was `created` for them, unless it is used by now.

    After `with_entries` this restores the original bytes.
    """
    bom, body = decoded(text)
    document = _read(body, flat=flat)
    for event in document.hooks:
        document = _settle(document, event, [], is_ours)
    document = _without_empty_events(document, created)
    if "hooks" in created:
        document = _without_empty_member(document, (), "hooks")
    if FILE not in created or not any(document.hooks.values()):
        # in a file that we created, other hooks may need a member beside `hooks` by now
        for name in [name for name in reversed(document.value) if name in created and name != "hooks"]:
            document = _without_member(document, (), name)
    if FILE in created and not document.value and document.plain.strip() == document.text.strip() == "{}":
        return b""
    if ROOT in created and document.root is not None and _is_bare(document, document.listing(())):
        document = document.with_text(removed(document.text, document.outside(), 0))
    return encoded(bom, document.text)


class _Document(NamedTuple):
    text: str
    plain: str  # the same length, with blanks for comments
    comments: tuple[tuple[int, int], ...]
    root: tuple[int, int] | None
    value: dict[str, Any]
    flat: bool = False

    def with_text(self, text: str) -> _Document:
        return _read(text, flat=self.flat)

    @property
    def is_flat(self) -> bool:
        return self.flat and "hooks" not in self.value

    @property
    def path(self) -> tuple[str, ...]:
        """Where the events are."""
        return () if self.is_flat else ("hooks",)

    @property
    def hooks(self) -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = self.value if self.is_flat else self.value.get("hooks", {})
        return found

    def outside(self) -> BracketedList:
        """Return the file as a list whose one item is the object."""
        return BracketedList(0, (self.root,) if self.root else (), (), len(self.text), self.comments)

    def listing(self, path: tuple[str, ...]) -> BracketedList:
        """Return the items of the array, or the members of the object, at a path of keys."""
        assert self.root is not None
        at = self.root[0]
        for key in path:
            at = dict(self.pairs(at))[key]
        return self._listing_at(at)

    def pairs(self, at: int) -> list[tuple[str, int]]:
        """Return the keys of the object at an offset, each with the offset of its value."""
        found = []
        for start, end in self._listing_at(at).items:
            key = _TOKEN.match(self.plain, start)
            assert key is not None
            colon = _TOKEN.search(self.plain, key.end())
            assert colon is not None
            value = _TOKEN.search(self.plain, colon.end(), end)
            assert value is not None
            found.append((json.loads(key[0]), value.start()))
        return found

    def _listing_at(self, at: int) -> BracketedList:
        return listing_at(self.plain, at, self.comments, _TOKEN)


def _read(text: str, *, flat: bool = False) -> _Document:
    comments = tuple(found.span("comment") for found in _STRING_OR_COMMENT.finditer(text) if found["comment"])
    plain = _STRING_OR_COMMENT.sub(
        lambda found: re.sub(r"[^\n]", " ", found[0]) if found["comment"] else found[0], text
    )
    if not plain.strip(" \t\r\n"):
        return _Document(text, plain, comments, None, {}, flat)
    try:
        value = json.loads(plain)
    except json.JSONDecodeError as error:
        _refuse_syntax(plain, error)
    except (ValueError, RecursionError) as error:
        raise EditRefused(f"not readable as JSON: {error}", 1, "shorten the number, or reduce the nesting") from None
    for found in _NOT_JSON.finditer(plain):
        if found["constant"]:
            raise EditRefused(f"{found['constant']} is not JSON", _line(text, found.start()), "write a number or null")
    start = len(plain) - len(plain.lstrip())
    if not isinstance(value, dict):
        raise EditRefused("the file is not a JSON object", _line(text, start), "put the settings between { and }")
    document = _Document(text, plain, comments, (start, len(plain.rstrip())), value, flat)
    _refuse_shape(document)
    return document


def _refuse_syntax(plain: str, error: json.JSONDecodeError) -> NoReturn:
    # which of the two the error points at differs between versions of Python
    before = plain[: error.pos].rstrip()
    here = len(before) - 1 if before.endswith(",") else error.pos
    if re.match(r",\s*[\]}]", plain[here:]):
        remedy = "remove the comma: agents cannot read the file with it either"
        raise EditRefused("not JSON: a comma after the last item", _line(plain, here), remedy) from None
    raise EditRefused(f"not JSON: {error.msg}", error.lineno, f"fix it at column {error.colno}") from None


def _refuse_shape(document: _Document) -> None:
    assert document.root is not None
    found = [at for key, at in document.pairs(document.root[0]) if key == "hooks"]
    if document.is_flat:
        found = [document.root[0]]
    if not found:
        return
    if len(found) > 1:
        line = _line(document.text, found[1])
        raise EditRefused('"hooks" occurs twice', line, "merge the two: the agent reads only the last one")
    hooks: Any = document.hooks
    if not isinstance(hooks, dict):
        line = _line(document.text, found[0])
        raise EditRefused('"hooks" is not an object', line, 'write "hooks": {"Event": [...]}')
    seen: set[str] = set()
    for event, at in document.pairs(found[0]):
        line = _line(document.text, at)
        if event in seen:
            raise EditRefused(f'"{event}" occurs twice', line, "merge the two: the agent reads only the last one")
        if not isinstance(hooks[event], list):
            raise EditRefused(f'"{event}" of the hooks is not an array', line, f'write "{event}": [...]')
        seen.add(event)


def _settle(document: _Document, event: str, wanted: list[Any], is_ours: Callable[[Any], bool]) -> _Document:
    """Keep our entries that are wanted, replace others by missing ones, then add or remove the rest."""
    path = (*document.path, event)
    document = _parted(document, path, is_ours)
    missing, spare = diff_entries(document.hooks[event], wanted, is_ours)
    while spare and missing:
        start, end = document.listing(path).items[spare.pop(0)]
        indent, lines = indent_of(document.text, start), "\n" in document.text[start:end]
        new = _rendered(document, missing.pop(0), indent, lines)
        document = document.with_text(document.text[:start] + new + document.text[end:])
    for index in reversed(spare):
        document = document.with_text(removed(document.text, document.listing(path), index))
    for entry in missing:
        document = _put(document, document.listing(path), _renderer(document, entry))
    return document


def _parted(document: _Document, path: tuple[str, ...], is_ours: Callable[[Any], bool]) -> _Document:
    """Remove our hooks from groups that also contain others: such a group is not ours."""
    for index, group in enumerate(document.hooks[path[-1]]):
        inner = group.get("hooks") if isinstance(group, dict) else None
        if not isinstance(inner, list) or is_ours(group):
            continue
        for place in reversed([place for place, hook in enumerate(inner) if is_ours(hook)]):
            start, _ = document.listing(path).items[index]
            listing = listing_at(document.plain, dict(document.pairs(start))["hooks"], document.comments, _TOKEN)
            document = document.with_text(removed(document.text, listing, place))
    return document


def _put_member(document: _Document, path: tuple[str, ...], key: str, value: object) -> _Document:
    return _put(document, document.listing(path), _renderer(document, value, key))


def _renderer(document: _Document, value: object, key: str | None = None) -> Callable[[str, bool], str]:
    def render(indent: str, lines: bool) -> str:
        start = "" if key is None else json.dumps(key, ensure_ascii=False) + (": " if _spaced(document) else ":")
        return start + _rendered(document, value, indent, lines)

    return render


def _rendered(document: _Document, value: object, indent: str, lines: bool) -> str:
    if not lines:
        separators = (", ", ": ") if _spaced(document) else (",", ":")
        return json.dumps(value, ensure_ascii=False, separators=separators)
    written = json.dumps(value, ensure_ascii=False, indent=_unit(document))
    return written.replace("\n", newline_of(document.text) + indent)


def _put(document: _Document, listing: BracketedList, render: Callable[[str, bool], str]) -> _Document:
    """Add an item at the end of a list, in the style of the list."""
    text, newline = document.text, newline_of(document.text)
    inside = text[listing.opening : listing.closing]
    indent = "" if listing.opening == 0 else indent_of(text, listing.opening)
    inner = indent + ("" if listing.opening == 0 else _unit(document))
    lead = tail = ""
    lines = not _on_one_line(document)
    if listing.items:
        start, end = listing.items[-1]
        indent = indent_of(text, start)
        comment = listing.comment_between(end, listing.closing)
        if starts_line(text, start, listing.opening) or (comment and "\n" in text[comment[1] : listing.closing]):
            lead = newline + indent
        else:
            lead = " " if _spaced(document) else ""
            lines = "\n" in text[start:end]
    elif listing.comment_between(listing.opening, listing.closing):
        lead, indent = (newline + inner, inner) if "\n" in inside or "//" in inside else (" ", indent)
    elif not inside and lines and listing.opening:
        lead, tail, indent = newline + inner, newline + indent, inner
    return document.with_text(appended(text, listing, lead + render(indent, lines), tail))


def _without_empty_events(document: _Document, created: frozenset[str] | set[str]) -> _Document:
    for event in reversed(document.hooks):
        if f"hooks.{event}" in created:
            document = _without_empty_member(document, document.path, event)
    return document


def _without_empty_member(document: _Document, path: tuple[str, ...], key: str) -> _Document:
    """Remove an empty array or object that we created; one with a comment stays."""
    parent = document.value
    for name in path:
        parent = parent[name]
    if key not in parent or parent[key] or not _is_bare(document, document.listing((*path, key))):
        return document
    return _without_member(document, path, key)


def _without_member(document: _Document, path: tuple[str, ...], key: str) -> _Document:
    listing = document.listing(path)
    keys = [name for name, _ in document.pairs(listing.opening - 1)]
    return document.with_text(removed(document.text, listing, keys.index(key)))


def _is_bare(document: _Document, listing: BracketedList) -> bool:
    return not document.text[listing.opening : listing.closing].strip()


def _spaced(document: _Document) -> bool:
    """Return whether the file has a space after colons."""
    if document.root is None:
        return True
    return all(document.plain[at - 1] != ":" for _, at in document.pairs(document.root[0])[:1])


def _on_one_line(document: _Document) -> bool:
    if document.root is None:
        return False
    start, end = document.root
    return bool(document.value) and "\n" not in document.text[start:end]


def _unit(document: _Document) -> str:
    """Return the indentation of one level: that of the first member on a line of its own."""
    if document.root is not None:
        outer = indent_of(document.text, document.root[0])
        for start, _ in document.listing(()).items:
            indent = indent_of(document.text, start)
            if starts_line(document.text, start, document.root[0]) and len(indent) > len(outer):
                return indent[len(outer) :]
    return "  "


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
