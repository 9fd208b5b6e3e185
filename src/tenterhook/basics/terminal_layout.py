"""Fits tables and paragraphs to a terminal's width, with rich. Used by commands, never while an agent waits."""

from __future__ import annotations

import os
from io import StringIO
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .display_text import LEFT_OUT, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from rich.console import RenderableType

_LEAST_TEXT = 24  # columns of a last column whose text is wrapped
_GAP = 2  # columns between columns, and before the first
_UNLIMITED = 1_000_000
_LONGEST_WHOLE = 32  # characters of a header and cell that are not broken into lines
_NO_BREAK = "\u2800"  # a blank that no cell contains, since `one_line` escapes it


def table_lines(
    headers: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, *, colour: bool = False
) -> list[str]:
    """Return the lines of a table, one line per row if `width` is None, else fitted to it.

    The text of the last column is wrapped. If that is not enough, the columns that do not fit are placed below each
    row, with their headers.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    if len(headers) > 1 and not any(row[-1] for row in cells):
        return table_lines(headers[:-1], [row[:-1] for row in cells], width, colour=colour)
    widths = [max(cell_len(row[number]) for row in (headers, *cells)) for number in range(len(headers))]
    ends = [sum(widths[: number + 1]) + _GAP * (number + 1) for number in range(len(widths))]  # of each column
    if width is None or ends[-1] <= width:
        return _table(headers, cells, _UNLIMITED, colour=colour)
    if len(ends) == 1 or width - ends[-2] - _GAP >= _LEAST_TEXT:
        return _table(headers, cells, width, colour=colour)
    kept = max(sum(end <= width for end in ends), 1)
    head, *lines = _table(headers[:kept], [row[:kept] for row in cells], width, colour=colour, wrap=False)
    found = [head]
    for line, row in zip(lines, cells, strict=True):
        found += [line, *_below(list(zip(headers, row, strict=True))[kept:], width, colour=colour)]
    return found


def _below(pairs: Sequence[tuple[str, str]], width: int, *, colour: bool) -> list[str]:
    """Return the lines for the cells that do not fit on the line of a row, with headers unless it is a single cell."""
    texts = [cell if len(pairs) == 1 else f"{name} {cell}".strip() for name, cell in pairs if cell not in ("", "-")]
    together = [text.replace(" ", _NO_BREAK) if len(text) <= _LONGEST_WHOLE else text for text in texts]
    lines = wrapped(" · ".join(together), width, first=" " * 6, colour=colour) if texts else []
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _table(
    headers: Sequence[str], rows: Sequence[Sequence[str]], width: int, *, colour: bool, wrap: bool = True
) -> list[str]:
    table = Table(box=None, padding=(0, 0, 0, _GAP), pad_edge=True, header_style="dim", show_edge=False)
    for number, header in enumerate(headers):
        is_text = wrap and number == len(headers) - 1
        style = "" if number else "bold"
        table.add_column(Text(header), style=style, no_wrap=not is_text, overflow="fold" if is_text else "ellipsis")
    for row in rows:
        table.add_row(*map(Text, row))
    return _lines(table, width, colour=colour)


def wrapped(text: str, width: int, *, first: str = "", indent: int | None = None, colour: bool = False) -> list[str]:
    """Return a text in lines that fit into a width, all but the first indented by `indent` columns.

    `first` is placed before the text, or above it if it is wider than `indent` and not everything fits on one line.
    Without `indent`, the text is a column beside `first`. Both may have ANSI styles.
    """
    lead, said = Text.from_ansi(first), Text.from_ansi(text)
    indent = lead.cell_len if indent is None else indent
    whole = lead + said
    if whole.cell_len <= width and "\n" not in text:
        return _lines(whole, width, colour=colour)
    lines = [Text(" " * indent) + line for line in said.wrap(_console(width), max(width - indent, _LEAST_TEXT))]
    if lead.cell_len > indent:
        lines.insert(0, lead)
    elif first:
        lines[0] = lead + lines[0][indent:]
    return [each for line in lines for each in _lines(line, width, colour=colour)]


def _lines(shown: RenderableType, width: int, *, colour: bool) -> list[str]:
    console = _console(width, colour=colour)
    console.print(shown)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def _console(width: int, *, colour: bool = False) -> Console:
    """Return a console that writes into memory and ignores the environment."""
    return Console(
        file=StringIO(),
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )


def is_coloured(stream: TextIO | None) -> bool:
    """Whether a stream gets colours: it is a terminal and not a dumb one, and NO_COLOR is not set."""
    is_terminal = stream is not None and stream.isatty()  # None if it was closed
    return is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def folded(line: str, width: int) -> list[str]:
    """Return a line in pieces that fit into `width` columns, all but the first indented. No character is lost."""
    first, *others = chop_cells(line, width - 4)
    return [first, *(f"    {piece}" for piece in others)]


def shortened(line: str, width: int) -> str:
    """Return a line cut off at its end to fit into `width` columns."""
    return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + LEFT_OUT


def without_middle(line: str, width: int) -> str:
    """Return a line shortened in the middle to fit into `width` columns."""
    if cell_len(line) <= width:
        return line
    kept = max(width - cell_len(LEFT_OUT), 2)
    return set_cell_size(line, kept - kept // 2) + LEFT_OUT + set_cell_size(line[::-1], kept // 2)[::-1]
