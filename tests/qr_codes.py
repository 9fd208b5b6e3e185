"""Reading the QR codes that a terminal shows."""

from __future__ import annotations

import re

import zxingcpp

_SCALE, _QUIET = 4, 4  # pixels of a module, modules of light around


def read(shown: str) -> str:
    """The text of the one QR code among the lines of a terminal."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    lines = [line.rstrip("\r") for line in plain.split("\n") if re.fullmatch(r"[█▀▄ ]{21,}", line.rstrip("\r"))]
    rows = [[char in light for char in line] for line in lines for light in ("█▀", "█▄")]
    width = len(rows[0]) + 2 * _QUIET
    border = [True] * _QUIET
    framed = [[True] * width] * _QUIET + [[*border, *row, *border] for row in rows] + [[True] * width] * _QUIET
    pixels = bytes(
        255 if is_light else 0 for row in framed for _ in range(_SCALE) for is_light in row for _ in range(_SCALE)
    )
    picture = memoryview(pixels).cast("B", (len(framed) * _SCALE, width * _SCALE))
    (found,) = zxingcpp.read_barcodes(picture)
    return str(found.text)
