"""Record the demo as an animation: docs/pictures/demo.svg.

The demo runs in a terminal. The picture omits faint lines, indented details and some scenes, which are marked; the
rest is as it was printed, except for the names of temporary directories.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pexpect
import pyte

from .moving_picture import Line, Piece, drawn, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"
COLUMNS = 92
_WIDE, _LONG = 600, 400  # a terminal in which the demo fits as it is
_LONGEST = 300  # seconds
_CUT = Line([Piece(2, "⋮", "dim")])
_LEFT_OUT = ("The session begins", "The context is compacted", "The session ends", "/hooks: ")
_SAID_ALREADY = {"dim", "red"}  # details, and what the model is told of a refusal
_COLOURS = {"brown": "yellow", "brightblack": "dim"}  # as the emulator calls them


class Scene(NamedTuple):
    """A heading of the demo and the lines below it."""

    heading: str
    lines: list[Line]


def main() -> int:
    shown = [Line([Piece(0, "$ ", "dim"), Piece(2, "make demo", "bold")])]
    for scene in _scenes(_lines(_said())):
        if scene.heading.startswith(_LEFT_OUT):
            shown += [_CUT] if shown[-1] is not _CUT else []
        else:
            shown += [Line([]), *(part for line in scene.lines if _matters(line) for part in wrapped(line, COLUMNS))]
    PICTURE.write_text(drawn(shown, COLUMNS, "A session of the bundled agent: hooks refuse, approve and send it back"))
    print(f"{PICTURE.relative_to(ROOT)}: {len(shown)} lines, {PICTURE.stat().st_size // 1024} kB")
    return 0


def _said() -> str:
    """Return what the demo prints to a terminal."""
    child = pexpect.spawn(
        sys.executable,
        [str(ROOT / "examples" / "demo.py")],
        env={**os.environ, "TERM": "xterm-256color"},
        dimensions=(_LONG, _WIDE),
        encoding="utf-8",
        timeout=_LONGEST,
    )
    child.expect(pexpect.EOF)
    child.close()
    said = str(child.before)
    if child.exitstatus != 0:
        sys.exit(f"the demo ended with {child.exitstatus}:\n{said}")
    said = said.replace("\x1b[2m", "\x1b[90m")  # the emulator knows no faint text
    return re.sub(r"/\S*/tenterhook-demo-\w+/project", "~/project", said)


def _lines(said: str) -> list[Line]:
    """Return the lines of the final screen, each in pieces of one style."""
    screen = pyte.Screen(_WIDE, _LONG)
    pyte.Stream(screen).feed(said)
    lines = []
    for number in range(_LONG):
        row = screen.buffer[number]
        pieces: list[Piece] = []
        for column in range(_WIDE):
            cell = row[column]
            style = _COLOURS.get(cell.fg, cell.fg) + (" bold" if cell.bold else "")
            if pieces and pieces[-1].style == style:
                pieces[-1] = pieces[-1]._replace(text=pieces[-1].text + cell.data)
            else:
                pieces.append(Piece(column, cell.data, style))
        kept = [piece._replace(text=piece.text.rstrip()) for piece in pieces[-1:]]
        lines.append(Line([piece for piece in (*pieces[:-1], *kept) if piece.text.strip()]))
    return lines


def _scenes(lines: list[Line]) -> Iterator[Scene]:
    scene: Scene | None = None
    for line in lines:
        if line.text.startswith("── "):
            if scene is not None:
                yield scene
            scene = Scene(line.text.removeprefix("── "), [line])
        elif scene is not None and line.pieces:
            scene.lines.append(line)
    if scene is not None:
        yield scene


def _matters(line: Line) -> bool:
    return not line.text.startswith("    ") and not any(piece.style in _SAID_ALREADY for piece in line.pieces)


if __name__ == "__main__":
    sys.exit(main())
