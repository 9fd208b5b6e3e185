"""Requests, texts and times as HTML: hidden characters are made visible, dangers marked, changes coloured."""

from __future__ import annotations

import datetime
import json
import re
import time
import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from ..approvals import presenter
from ..approvals.presenter import DANGEROUS, DIFF, NOTABLE
from ..approvals.requests import Call
from ..basics.display_text import is_hidden
from . import records

if TYPE_CHECKING:
    from ..approvals.presenter import Presentation
    from .database import Row

_NOT_PRINTABLE, _PERHAPS_HIDDEN = re.compile(r"[^ -~]"), re.compile(r"[^ -~\n\t]")


def plain(text: str, kept: str = "") -> str:
    """Return the text with every hidden character made visible, as in ⟨U+202E⟩."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(char) if is_hidden(char) and char not in kept else char for char in text)


def one_line(text: object) -> Markup:
    """Return a name or a path as HTML; line breaks are made visible like other hidden characters."""
    return _marked(str(text), "")


def lines(text: object) -> Markup:
    """Return a text of several lines as HTML."""
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


def capitalized(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def request(presented: Presentation) -> Markup:
    """Return the text of a request as HTML, with marked parts of a command and coloured lines of a difference."""
    if presented.kind == DIFF:
        return diff(presented.text)
    return Markup("").join(_part(text, mark) for text, mark in presented.parts())


def _part(text: str, mark: int) -> Markup:
    kind = {DANGEROUS: "danger", NOTABLE: "notable"}.get(mark)
    return Markup('<mark class="{}">{}</mark>').format(kind, lines(text)) if kind else lines(text)


_DIFF_KINDS = (("@@", "where"), ("+++", "file"), ("---", "file"), ("+", "added"), ("-", "removed"))


def diff(text: str) -> Markup:
    """Return a unified diff as HTML, each line with the class of its kind."""
    return Markup("").join(
        Markup('<span class="{}">{}\n</span>').format(_diff_kind(line, number), _marked(line, "\t"))
        for number, line in enumerate(text.split("\n"))
    )


def _diff_kind(line: str, number: int) -> str:
    """Return the kind of a line. Only the first two name files: `--- x` below may be a removed `-- x`."""
    kinds = _DIFF_KINDS if number < 2 else [row for row in _DIFF_KINDS if row[1] != "file"]
    return next((kind for start, kind in kinds if line.startswith(start)), "same")


def duration(milliseconds: float) -> str:
    """Return a duration as text: 0.4 ms, 12 ms, 3.4 s, 2 min 5 s."""
    if milliseconds < 10:
        return f"{milliseconds:.1f} ms"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.1f} s" if milliseconds < 60_000 else span(milliseconds / 1000)


def span(seconds: float) -> str:
    """Return a time in its two largest units: 12 s, 4 min 12 s, 3 h 5 min, 2 d 4 h."""
    whole = max(int(seconds), 0)
    for unit, size, smaller, parts in (("d", 86400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if whole >= size:
            rest = whole % size // parts
            return f"{whole // size} {unit} {rest} {smaller}" if rest else f"{whole // size} {unit}"
    return f"{whole} s"


_LATEST = 253402300799.0  # the end of the year 9999, after which there are no dates


def moment(seconds: float) -> str:
    """Return a time in ISO 8601; the page's script replaces it with local time."""
    return _date(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(seconds: float) -> str:
    """Return a time in UTC, which the script replaces with local time."""
    return _date(seconds).strftime("%d %b %H:%M UTC")


def _date(seconds: float) -> datetime.datetime:
    """Return the date of a time, at least 1970 and at most 9999: a machine may send any number."""
    return datetime.datetime.fromtimestamp(min(max(seconds, 0.0), _LATEST), datetime.UTC)


_MAX_LINES, _MAX_CHARACTERS = 24, 4000  # of a text in a list of cards
_LABELS = {presenter.COMMAND: "Command", presenter.DIFF: "What would change", presenter.INPUT: "Input"}


class Card(NamedTuple):
    """A request as the templates show it."""

    request: Row
    title: str
    kind: str  # command, diff or input
    label: str
    shown: Markup
    input: str
    left: str
    outcome: str
    by: str
    session_path: str
    path: str | None
    dangers: tuple[presenter.CommandDanger, ...]
    all_lines: int | None  # None: all of them are shown


def card(row: Row, *, whole: bool = False) -> Card:
    """Return the card of a request, shortened for a list unless it is shown whole."""
    call = Call(row["tool_name"], json.loads(row["tool_input"]), row["work_dir"])
    presented = presenter.present(call, json.loads(row["display"]))
    all_lines = presented.text.split("\n")
    text = presented.text if whole else "\n".join(all_lines[:_MAX_LINES])[:_MAX_CHARACTERS]
    ended = (row["state"], row["approved"], row["answered_via"], row["scope"], row["answered_by"])
    ending = presenter.ending(*ended, machine=row["machine"])
    return Card(
        request=row,
        title=capitalized(presented.title),
        kind=presented.kind,
        label=_LABELS[presented.kind],
        shown=request(presented._replace(text=text, marks=presented.marks[: len(text)])),
        input=presenter.formatted(call.tool_input),
        left=span(row["expires"] - time.time()),
        outcome=capitalized(ending.outcome),
        by=ending.by,
        session_path=session_path(row["machine"], row["session"]),
        path=presented.path,
        dangers=presented.dangers,
        all_lines=None if text == presented.text else len(all_lines),
    )


def session_path(machine: str, session: str) -> str:
    """Return the path of a session's timeline."""
    return f"/sessions/{records.path_of(machine, session)}"
