"""Draws a terminal as an animated SVG: lines that appear one by one and scroll, or the screens of a recording."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyte

_Shown = TypeVar("_Shown")
_ROWS = 27
_CELL = 8.4  # pixels a character is wide, at the size below
_HEIGHT = 20
_MARGIN = 20
_TOP = 44  # the window's bar
_LONGEST = 20.0  # seconds until the last line appears
_PAUSE = 4.0  # seconds that the end of a recording is shown
_BESIDE, _GAP = 300, 16  # the width of a picture beside the terminal, and its distance
_STYLE = """\
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace;
  fill: #d5dbe3; white-space: pre }
.bold { font-weight: 700; fill: #ffffff } .dim { fill: #8b949e } .blue { fill: #79b8ff } .cyan { fill: #6fd6e0 }
.yellow { fill: #f2cc60 } .red { fill: #ff8f85 } .green { fill: #7ee787 } .blue.bold { fill: #79b8ff }
.line { animation: appear 1ms linear both } @keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { .line, .roll { animation: none !important } }"""


class Piece(NamedTuple):
    """Text of one style, and the column at which it begins."""

    column: int
    text: str
    style: str = "default"


class Line(NamedTuple):
    """One line of the terminal."""

    pieces: list[Piece]

    @property
    def text(self) -> str:
        filled = ""
        for piece in self.pieces:
            filled = filled.ljust(piece.column) + piece.text
        return filled


class Picture(NamedTuple):
    """An image beside the terminal, from a moment on."""

    moment: float
    address: str


class Frame(NamedTuple):
    """The lines of a screen, from a moment on."""

    moment: float
    lines: list[Line]


def screen_lines(screen: pyte.Screen) -> list[Line]:
    """Return the lines of a screen, each in pieces of one style."""
    lines = []
    for number in range(screen.lines):
        row = screen.buffer[number]
        pieces: list[Piece] = []
        for column in range(screen.columns):
            cell = row[column]
            colour = cell.bg if cell.reverse and cell.bg != "default" else cell.fg
            style = _COLOURS.get(colour, colour) + (" bold" if cell.bold else "")
            if pieces and pieces[-1].style == style:
                pieces[-1] = pieces[-1]._replace(text=pieces[-1].text + cell.data)
            else:
                pieces.append(Piece(column, cell.data, style))
        kept = [piece._replace(text=piece.text.rstrip()) for piece in pieces[-1:]]
        lines.append(Line([piece for piece in (*pieces[:-1], *kept) if piece.text.strip()]))
    return lines


_COLOURS = {"brown": "yellow", "brightblack": "dim"}  # by the emulator's names


def drawn(lines: list[Line], columns: int, title: str) -> str:
    """Return the SVG of lines that appear one by one. Without animation it shows the last ones."""
    moments = _moments(lines)
    width, height = round(columns * _CELL + 2 * _MARGIN), _TOP + _ROWS * _HEIGHT + _MARGIN
    hidden = max(0, len(lines) - _ROWS)
    rows = "\n".join(_row(number, line, moments[number]) for number, line in enumerate(lines) if line.pieces)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{escape(title)}</title>
<style>
{_STYLE}
.roll {{ transform: translateY({-hidden * _HEIGHT}px); animation: roll {moments[-1]:.2f}s both }}
@keyframes roll {{ {_rolling(moments)} }}
</style>
<clipPath id="window"><rect x="0" y="{_TOP}" width="{width}" height="{_ROWS * _HEIGHT + 4}"/></clipPath>
{_window(width, height)}
<g clip-path="url(#window)"><g class="roll">
{rows}
</g></g>
</svg>
"""


def played(frames: list[Frame], pictures: list[Picture], columns: int, title: str) -> str:
    """Return the SVG of a recording, which is played in a loop. Without animation it shows the last frame."""
    rows = len(frames[0].lines)
    width, height = round(columns * _CELL + 2 * _MARGIN), _TOP + rows * _HEIGHT + _MARGIN
    end = max([frame.moment for frame in frames] + [picture.moment for picture in pictures]) + _PAUSE
    shown: dict[tuple[float, float], list[str]] = {}
    for row in range(rows):
        for start, until, line in _stretches([(frame.moment, frame.lines[row]) for frame in frames], end):
            if line.pieces:
                baseline = _TOP + row * _HEIGHT + 15
                shown.setdefault((start, until), []).append(f'<text y="{baseline}">{_pieces(line)}</text>')
    whole = width + (_BESIDE + _GAP if pictures else 0)
    for start, until, address in _stretches([(each.moment, each.address) for each in pictures], end):
        box = f'x="{width + _GAP}" y="0" width="{_BESIDE}" height="{height}"'
        shown.setdefault((start, until), []).append(f'<image {box} clip-path="inset(0 round 10px)" href="{address}"/>')
    border = f'<rect x="{width + _GAP}.5" y="0.5" width="{_BESIDE - 1}" height="{height - 1}" rx="10" class="border"/>'
    newline, groups, keyframes = "\n", [], []
    for number, ((start, until), parts) in enumerate(sorted(shown.items())):
        always = start == 0 and until == end
        kept = " last" if until == end else ""
        groups.append("\n".join((f'<g class="{"" if always else f"part{kept}"}" id="g{number}">', *parts, "</g>")))
        if not always:
            keyframes.append(
                f"#g{number} {{ animation-name: k{number} }} @keyframes k{number} {{ {_shown(start, until, end)} }}"
            )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {height}" width="{whole}" height="{height}" role="img">
<title>{escape(title)}</title>
<style>
{_STYLE}
.border {{ fill: none; stroke: #6e7681 }}
.part {{ visibility: hidden; animation: {end:.2f}s step-end infinite }} .last {{ visibility: visible }}
@media (prefers-reduced-motion: reduce) {{ .part {{ animation: none !important }} }}
{newline.join(keyframes)}
</style>
{_window(width, height)}
{newline.join(groups)}
{border if pictures else ""}
</svg>
"""


def _stretches(moments: list[tuple[float, _Shown]], end: float) -> Iterator[tuple[float, float, _Shown]]:
    """Yield the start and end of each thing that is shown, with equal adjacent ones merged."""
    changes = [each for number, each in enumerate(moments) if number == 0 or each[1] != moments[number - 1][1]]
    for number, (start, thing) in enumerate(changes):
        yield start, changes[number + 1][0] if number + 1 < len(changes) else end, thing


def _shown(start: float, until: float, end: float) -> str:
    """Return the key frames of something that is visible for part of the time."""
    states = {0.0: "hidden", start: "visible", until: "hidden"}
    return " ".join(f"{100 * moment / end:.2f}% {{ visibility: {state} }}" for moment, state in sorted(states.items()))


def _window(width: int, height: int) -> str:
    dots = "".join(f'<circle cx="{22 + 20 * n}" cy="20" r="6" fill="{c}"/>' for n, c in enumerate(_DOTS))
    box = f'x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10"'
    return f'<rect {box} fill="#161b22" stroke="#6e7681"/>\n{dots}'


_DOTS = ("#ff5f57", "#febc2e", "#28c840")


def _moments(lines: list[Line]) -> list[float]:
    """Return when each line appears, depending on the length of those before it."""
    moments, now = [], 0.6
    for line in lines:
        if line.text.startswith(("── ", "$ ")):
            now += 0.5
        moments.append(now)
        now += 0.15 + 0.007 * len(line.text.strip())
    scale = min(1.0, _LONGEST / moments[-1])
    return [moment * scale for moment in moments]


def _row(number: int, line: Line, moment: float) -> str:
    baseline = _TOP + number * _HEIGHT + 15
    return f'<text class="line" y="{baseline}" style="animation-delay: {moment:.2f}s">{_pieces(line)}</text>'


def _pieces(line: Line) -> str:
    return "".join(
        f'<tspan x="{_MARGIN + piece.column * _CELL:.1f}" textLength="{len(piece.text) * _CELL:.1f}"'
        f' lengthAdjust="spacingAndGlyphs" {_look(piece.style)}>{escape(piece.text)}</tspan>'
        for piece in line.pieces
    )


def _look(style: str) -> str:
    """Return the class of a named colour, or a style for a colour of six hexadecimal digits."""
    colour, _, weight = style.partition(" ")
    if re.fullmatch("[0-9a-f]{6}", colour):
        return f'style="fill: #{colour}" class="{weight}"' if weight else f'style="fill: #{colour}"'
    return f'class="{style}"'


def _rolling(moments: list[float]) -> str:
    """Return the key frames that scroll up a line whenever a new one does not fit."""
    frames = ["0% { transform: translateY(0) }"]
    for number, moment in enumerate(moments[_ROWS:]):
        before, after = -number * _HEIGHT, -(number + 1) * _HEIGHT
        frames.append(f"{_percent(moment - 0.08, moments)} {{ transform: translateY({before}px) }}")
        frames.append(f"{_percent(moment, moments)} {{ transform: translateY({after}px) }}")
    return " ".join(frames)


def _percent(moment: float, moments: list[float]) -> str:
    return f"{100 * moment / moments[-1]:.3f}%"
