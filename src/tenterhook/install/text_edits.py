"""Editing a list inside a text so that everything else keeps its bytes, and what JSON and TOML settings share.

Inserting and removing are inverse: the text before an item of ours, back to the last comment, comma or bracket, is
ours; the text after it is not.
"""

from __future__ import annotations

import json
import re

from ..basics.named_tuples import NamedTuple
from ..errors import HookError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

# In `created`, beside the names of keys.
FILE = "(file)"  # the file was empty or missing
_BOM = "\ufeff"


class EditRefused(HookError):
    """A file that cannot be edited; it is unchanged."""

    def __init__(self, message: str, line: int, remedy: str) -> None:
        super().__init__(f"line {line}: {message}", remedy)
        self.line = line


class Edited(NamedTuple):
    """A file's new text, and what was created in it: needed for the next edit and for the removal."""

    text: bytes
    created: frozenset[str]


class BracketedList(NamedTuple):
    """A bracketed list inside a text: offsets of its inside, its items, the comma behind each, the file's comments."""

    opening: int
    items: tuple[tuple[int, int], ...]
    commas: tuple[int, ...]
    closing: int
    comments: tuple[tuple[int, int], ...]

    @property
    def ends_with_comma(self) -> bool:
        return bool(self.items) and len(self.commas) == len(self.items)

    def comment_between(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the last comment in a part of the text."""
        return max((span for span in self.comments if start <= span[0] and span[1] <= end), default=None)


def diff_entries(
    there: Sequence[Any], wanted: Sequence[Any], is_ours: Callable[[Any], bool]
) -> tuple[list[Any], list[int]]:
    """Return the wanted entries that are missing, and the indexes of entries of ours that are not wanted."""
    spare = [index for index, entry in enumerate(there) if is_ours(entry)]
    missing = []
    for entry in wanted:
        equal = next((index for index in spare if _same(there[index], entry)), None)
        if equal is None:
            missing.append(entry)
        else:
            spare.remove(equal)
    return missing, spare


def _same(one: object, other: object) -> bool:
    # not ==, for which 1, 1.0 and true are the same
    return json.dumps(one, sort_keys=True, default=repr) == json.dumps(other, sort_keys=True, default=repr)


def listing_at(plain: str, at: int, comments: tuple[tuple[int, int], ...], tokens: re.Pattern[str]) -> BracketedList:
    """Return the list whose bracket is at an offset, in a well-formed text without comments."""
    items: list[tuple[int, int]] = []
    commas: list[int] = []
    depth, last = 0, at
    first: int | None = None
    for token in tokens.finditer(plain, at):  # ends with the closing bracket
        mark = token[0]
        if mark in "]}":
            depth -= 1
        if depth == 0 and token.start() > at:
            break
        if depth == 1 and mark == ",":
            assert first is not None
            items.append((first, last))
            commas.append(token.start())
            first = None
        elif token.start() > at:
            first = token.start() if first is None else first
            last = token.end()
        if mark in "[{":
            depth += 1
    if first is not None:
        items.append((first, last))
    return BracketedList(at + 1, tuple(items), tuple(commas), token.start(), comments)


def appended(text: str, listing: BracketedList, item: str, tail: str = "") -> str:
    """Return the text with an item, with its white space, after the last one of a list and its comments."""
    end = listing.items[-1][1] if listing.items else listing.opening
    behind = listing.commas[-1] + 1 if listing.ends_with_comma else end
    comment = listing.comment_between(end, listing.closing)
    at = max(behind, comment[1]) if comment else behind
    if listing.ends_with_comma:
        item += ","
    comma = "," if listing.items and not listing.ends_with_comma else ""
    return text[:end] + comma + text[end:at] + item + tail + text[at:]


def removed(text: str, listing: BracketedList, index: int) -> str:
    """Return the text without an item of a list, and without the white space and comma of `appended`."""
    start, end = listing.items[index]
    after = text[end:]
    if index < len(listing.commas):
        comma = listing.commas[index]
        between = text[end:comma]
        after = (between if between.strip() else "") + text[comma + 1 :]
    if index + 1 < len(listing.items):
        return text[:start] + after.lstrip(" \t\r\n")
    previous = listing.opening
    if index:
        previous = listing.commas[index - 1] + 1
    comment = listing.comment_between(previous, start)
    keep = comment[1] if comment else previous
    if not index and start > keep and not listing.comment_between(listing.opening, listing.closing):
        return text[:keep] + text[listing.closing :]
    if comment and text[comment[0] : comment[0] + 2] != "/*" and not re.match(r"[ \t]*\r?(?:\n|\Z)", after):
        keep = start  # else the following text would become part of the line comment
    before = text[:keep]
    if index and not listing.ends_with_comma:
        comma = listing.commas[index - 1]
        before = before[:comma] + before[comma + 1 :]
    return before + after


def starts_line(text: str, at: int, after: int) -> bool:
    """Return whether an offset is the first on its line, and the line begins after the offset `after`."""
    start = text.rfind("\n", 0, at) + 1
    return start > after and not text[start:at].strip()


def indent_of(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    found = re.compile(r"[ \t]*").match(text, start, at)
    return found[0] if found else ""


def newline_of(text: str) -> str:
    """Return the line ending of most lines."""
    windows = text.count("\r\n")
    return "\r\n" if windows > text.count("\n") - windows else "\n"


def decoded(data: bytes) -> tuple[str, str]:
    """Return the byte order mark, if there is one, and the rest of the text."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EditRefused("not UTF-8 text", line, "save the file as UTF-8") from None
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def encoded(bom: str, text: str) -> bytes:
    return (bom + text).encode()
