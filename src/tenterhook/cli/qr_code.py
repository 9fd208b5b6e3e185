"""QR codes in a terminal, for a phone's camera. Their library comes with the `hub` extra."""

from __future__ import annotations

import shutil
import sys

import click

from .printing import print_text

_BORDER = 2  # modules
_BLOCKS = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}  # light above, light below


def lines(text: str) -> list[str]:
    """Return a QR code as lines of text, two rows of modules in each; light modules are drawn, on a dark background."""
    import segno

    code = segno.make(text, micro=False, error="l", boost_error=False)
    rows = [[not dark for dark in row] for row in code.matrix_iter(border=_BORDER)]
    if len(rows) % 2:
        rows.append([True] * len(rows[0]))
    pairs = zip(rows[::2], rows[1::2], strict=True)
    return ["".join(_BLOCKS[pair] for pair in zip(upper, lower, strict=True)) for upper, lower in pairs]


def print_code(text: str) -> None:
    """Print a QR code; if the terminal cannot show it, print why."""
    found = lines(text)
    try:
        found[0].encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        print_text("no QR code: this terminal cannot show the characters it needs (not UTF-8)", err=True)
        return
    columns = shutil.get_terminal_size().columns
    if sys.stdout.isatty() and columns < len(found[0]):
        print_text(f"no QR code: it needs {len(found[0])} columns, and this terminal has {columns}", err=True)
        return
    for line in found:
        click.echo(click.style(line, fg="bright_white", bg="black"))
