"""Lines of a terminal as an animated SVG: they appear one after another and scroll."""

from __future__ import annotations

import textwrap
from typing import NamedTuple
from xml.sax.saxutils import escape

_ROWS = 27
_CELL = 8.4  # pixels a character is wide, at the size below
_HEIGHT = 20
_MARGIN = 20
_TOP = 44  # the window's bar
_LONGEST = 20.0  # seconds until the last line is there
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


def wrapped(line: Line, columns: int) -> list[Line]:
    """Return a line, broken between words if it is too long; all parts get the style of its last piece."""
    if len(line.text) <= columns:
        return [line]
    indent = " " * (len(line.text) - len(line.text.lstrip()) + 2)
    parts = textwrap.wrap(line.text, columns, subsequent_indent=indent, break_on_hyphens=False)
    return [Line([Piece(0, part, line.pieces[-1].style)]) for part in parts]


def drawn(lines: list[Line], columns: int, title: str) -> str:
    """Return the SVG; without animation it shows the end."""
    moments = _moments(lines)
    width, height = round(columns * _CELL + 2 * _MARGIN), _TOP + _ROWS * _HEIGHT + _MARGIN
    hidden = max(0, len(lines) - _ROWS)
    rows = "\n".join(_row(number, line, moments[number]) for number, line in enumerate(lines) if line.pieces)
    dots = "".join(f'<circle cx="{22 + 20 * n}" cy="20" r="6" fill="{c}"/>' for n, c in enumerate(_DOTS))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{escape(title)}</title>
<style>
{_STYLE}
.roll {{ transform: translateY({-hidden * _HEIGHT}px); animation: roll {moments[-1]:.2f}s both }}
@keyframes roll {{ {_rolling(moments)} }}
</style>
<clipPath id="window"><rect x="0" y="{_TOP}" width="{width}" height="{_ROWS * _HEIGHT + 4}"/></clipPath>
<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10" fill="#161b22" stroke="#6e7681"/>
{dots}
<g clip-path="url(#window)"><g class="roll">
{rows}
</g></g>
</svg>
"""


_DOTS = ("#ff5f57", "#febc2e", "#28c840")


def _moments(lines: list[Line]) -> list[float]:
    """Return when each line appears, by the length of those before."""
    moments, now = [], 0.6
    for line in lines:
        if line.text.startswith(("── ", "$ ")):
            now += 0.5
        moments.append(now)
        now += 0.12 if line.text.startswith("✓") else 0.15 + 0.007 * len(line.text.strip())
    scale = min(1.0, _LONGEST / moments[-1])
    return [moment * scale for moment in moments]


def _row(number: int, line: Line, moment: float) -> str:
    baseline = _TOP + number * _HEIGHT + 15
    pieces = "".join(
        f'<tspan x="{_MARGIN + piece.column * _CELL:.1f}" textLength="{len(piece.text) * _CELL:.1f}"'
        f' lengthAdjust="spacingAndGlyphs" class="{piece.style}">{escape(piece.text)}</tspan>'
        for piece in line.pieces
    )
    return f'<text class="line" y="{baseline}" style="animation-delay: {moment:.2f}s">{pieces}</text>'


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
