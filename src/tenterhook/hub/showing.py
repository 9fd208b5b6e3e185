"""What a person sees on the pages: nothing hidden in a text, dangers marked, changes coloured, times in words."""

from __future__ import annotations

import datetime
import functools
import importlib
import json
import os
import re
import sys
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup, escape

from ..basics import places, shell_lines
from ..basics.shown import is_hidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_NOT_PRINTABLE, _PERHAPS_HIDDEN = re.compile(r"[^ -~]"), re.compile(r"[^ -~\n\t]")
_HOOK = os.path.join(places.PACKAGE, "hooks", "block-dangerous-commands", "scripts")
_LONGEST_JUDGED = 20_000  # characters of a command
_DANGER, _NOTABLE = 2, 1

# Words of a command that nobody should overlook, even where they do no harm.
_RUNS_ANOTHER = frozenset(("sudo", "doas", "env", "xargs", "nohup", "time", "command", "exec", "timeout", "nice"))
_NOTABLE_PROGRAMS = frozenset(
    (
        *("chmod", "chown", "curl", "dd", "doas", "eval", "kill", "killall", "mkfs", "pkill", "reboot", "rm", "rmdir"),
        *("scp", "shred", "shutdown", "ssh", "su", "sudo", "truncate", "wget"),
    )
)
_NOTABLE_OPTIONS = frozenset(
    ("-rf", "-fr", "-Rf", "-f", "--force", "--hard", "--no-verify", "--delete", "--privileged", "-delete")
)


def plain(text: str, kept: str = "") -> str:
    """The text with every hidden character written out, as in ⟨U+202E⟩."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(char) if is_hidden(char) and char not in kept else char for char in text)


def one_line(text: object) -> Markup:
    """A name or a path; a line break in it is as visible as anything else that is hidden."""
    return _marked(str(text), "")


def lines(text: object) -> Markup:
    """A text of several lines."""
    return _marked(str(text), "\n\t")


def _marked(text: str, kept: str) -> Markup:
    if not (_PERHAPS_HIDDEN if kept else _NOT_PRINTABLE).search(text):
        return escape(text)
    parts = groupby(text, lambda char: is_hidden(char) and char not in kept)
    return Markup("").join(
        Markup("").join(map(_mark, chars)) if hidden else escape("".join(chars)) for hidden, chars in parts
    )


def _mark(char: str) -> Markup:
    name = unicodedata.name(char, "no printable character").lower()
    return Markup('<span class="mark" title="{}">{}</span>').format(name, _written_out(char))


def _written_out(char: str) -> str:
    return f"⟨U+{ord(char):04X}⟩"


def formatted(value: Any) -> str:
    """A value as JSON that people can read."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


class Excerpt(NamedTuple):
    """The beginning of a text, and how many lines it has in all if that is not the whole."""

    text: str
    all_lines: int | None = None


def excerpt(text: str, most_lines: int | None, most_characters: int = 4000) -> Excerpt:
    """As much of a text as a card has room for; everything if there is no limit."""
    if most_lines is None:
        return Excerpt(text)
    every = text.split("\n")
    cut = "\n".join(every[:most_lines])[:most_characters]
    return Excerpt(text) if cut == text else Excerpt(cut, len(every))


class Danger(NamedTuple):
    """One thing that is dangerous about a command: which part, why, and whether it surely destroys."""

    part: str
    why: str
    is_grave: bool


class Command(NamedTuple):
    """A shell line with its dangers marked."""

    marked: Markup
    dangers: tuple[Danger, ...]


def command(line: str, directory: str = "/") -> Command:
    """A shell line as somebody who decides must see it."""
    if len(line) > _LONGEST_JUDGED:
        return Command(lines(line), (Danger("", "Too long to be looked through for dangers", is_grave=False),))
    return _looked_through(line, directory)


@functools.lru_cache(maxsize=512)
def _looked_through(line: str, directory: str) -> Command:
    dangers = tuple(_dangers(line, directory))
    levels = bytearray(len(line))
    for start, end in _notable(line):
        levels[start:end] = bytes([_NOTABLE]) * (end - start)
    for start, end in (span for danger in dangers for span in _found(danger.part, line)):
        levels[start:end] = bytes([_DANGER]) * (end - start)
    return Command(Markup("").join(_with_levels(line, levels)), dangers)


def _with_levels(line: str, levels: bytearray) -> Iterator[Markup]:
    at = 0
    for level, group in groupby(levels):
        text = lines(line[at : (at := at + len(list(group)))])
        kind = {_DANGER: "danger", _NOTABLE: "notable"}.get(level)
        yield Markup('<mark class="{}">{}</mark>').format(kind, text) if kind else text


def _dangers(line: str, directory: str) -> Iterator[Danger]:
    """What the built-in hook block-dangerous-commands knows about a line."""
    known = _known_dangers()
    home = re.match(r"/(?:home|Users)/[^/]+|/root", directory)
    directory = directory.replace("\0", "") if directory.startswith("/") else "/"
    for found in known.judge(line.replace("\0", "\ufffd"), directory, {"HOME": home[0] if home else "/root"}):
        why = found.why.removeprefix("it ")
        yield Danger(found.shown, why[:1].upper() + why[1:], is_grave=found.decision == "deny")


@functools.cache
def _known_dangers() -> Any:
    """The hook's own module; it is a script, which finds its parts beside it."""
    sys.path.insert(0, _HOOK)
    try:
        return importlib.import_module("dangers")
    finally:
        sys.path.remove(_HOOK)


def _found(part: str, line: str) -> Iterator[tuple[int, int]]:
    """Where a part of a line stands in it; the hook shows it with single blanks, and cuts it short."""
    words = part.removesuffix("…").split()
    if words:
        yield from (found.span() for found in re.finditer(r"\s+".join(map(re.escape, words)), line))


def _notable(line: str) -> Iterator[tuple[int, int]]:
    text = line.encode("utf-8", "replace")
    for node in _commands(shell_lines.parse(text)):
        words = [child.children[0] if child.type == "command_name" else child for child in node.children]
        runs_another = False
        for position, word in enumerate(word for word in words if word.type == "word"):
            said = (word.text or b"").decode("utf-8", "replace")
            if said in _NOTABLE_OPTIONS or (said in _NOTABLE_PROGRAMS and (position == 0 or runs_another)):
                start = len(text[: word.start_byte].decode("utf-8", "replace"))
                yield start, start + len(said)
            runs_another = runs_another or (position == 0 and said in _RUNS_ANOTHER)


def _commands(root: Node) -> Iterator[Node]:
    left = [root]
    while left:
        node = left.pop()
        if node.type == "command":
            yield node
        left.extend(node.children)


_DIFF_KINDS = (("@@", "where"), ("+++", "file"), ("---", "file"), ("+", "added"), ("-", "removed"))


def diff(text: str) -> Markup:
    """A unified difference, each line by what it does; the sign stays, for those who see no colour."""
    return Markup("").join(
        Markup('<span class="{}">{}\n</span>').format(_diff_kind(line, number), _marked(line, "\t"))
        for number, line in enumerate(text.split("\n"))
    )


def _diff_kind(line: str, number: int) -> str:
    """A file's name stands in the first two lines alone: `--- x` below may be a removed `-- x`."""
    kinds = _DIFF_KINDS if number < 2 else [row for row in _DIFF_KINDS if row[1] != "file"]
    return next((kind for start, kind in kinds if line.startswith(start)), "same")


def duration(milliseconds: float) -> str:
    """How long something took: 0.4 ms, 12 ms, 3.4 s, 2 min 5 s."""
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.1f} s" if milliseconds < 60_000 else span(milliseconds / 1000)


def span(seconds: float) -> str:
    """A time in its two largest units: 12 s, 4 min 12 s, 3 h 5 min, 2 d 4 h."""
    whole = max(int(seconds), 0)
    for unit, size, smaller, parts in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // parts
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"


def moment(seconds: float) -> str:
    """A point in time, as machines read it; the page's script says it in the reader's own way."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(seconds: float) -> str:
    """A point in time for those whose browser runs no script."""
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%d %b %H:%M UTC")
