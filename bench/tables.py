"""Formats rows as a Markdown table, which is readable in a terminal, too, and as JSON."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

from .rows import Measure

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    from .rows import Row

_HEADINGS = ("what", "against", "ours", "theirs", "ratio", "p95", "spread", "over (p95)", "target", "")
_RIGHT = range(2, 9)


def machine() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores"


def table(rows: Sequence[Row]) -> str:
    return lined_up([_HEADINGS, *map(_cells, rows)], _RIGHT)


def lined_up(lines: Sequence[Sequence[str]], right: Container[int]) -> str:
    """Return a Markdown table with aligned columns, those in `right` to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = [f"{'-' * (width - 1)}:" if column in right else "-" * width for column, width in enumerate(widths)]
    return "\n".join(
        "| " + " | ".join(_aligned(cell, column in right, widths[column]) for column, cell in enumerate(line)) + " |"
        for line in (lines[0], rule, *lines[1:])
    )


def put(page: Path, command: str, text: str) -> None:
    """Put a text into a page, between the marks that name the command it comes from; exit if there are none."""
    begin, end = f"<!-- table: {command} -->", "<!-- end of table -->"
    before, found, rest = page.read_text().partition(begin)
    _, ended, after = rest.partition(end)
    if not (found and ended):
        raise SystemExit(f"bench: {page.name} has no place for the table: put '{begin}' and '{end}' there")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")


def cells(page: Path, command: str) -> list[tuple[str, ...]]:
    """Return the rows of the table that a command has put into a page, without its headings."""
    _, _, rest = page.read_text().partition(f"<!-- table: {command} -->")
    lines = [line for line in rest.partition("<!-- end of table -->")[0].splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in line[2:-2].split(" | ")) for line in lines[2:]]


def reasons(rows: Sequence[Row]) -> list[str]:
    """Return the reasons why rows were skipped."""
    return [f"Skipped: {row.what}: {row.skipped}" for row in rows if row.skipped]


def as_json(rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "schema": 1,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "rows": [
            {
                "what": row.what,
                "against": row.against,
                "target": row.target._asdict() if row.target else None,
                "mark": row.mark or None,
                "skipped": row.skipped,
                row.unit: {"ours": row.result.ours, "theirs": row.result.theirs} if row.result else None,
                "ratio": row.result.ratio if row.result else None,
                "p95": row.result.p95 if row.result else None,
                "spread": row.result.spread if row.result else None,
                "over": row.result.over if row.result else None,
            }
            for row in rows
        ],
    }


def _cells(row: Row) -> tuple[str, ...]:
    target = str(row.target) if row.target else ""
    if row.result is None:
        return (row.what, row.against, "", "", "", "", "", "", target, row.mark)
    ours, theirs, ratio, p95, (low, high), over, _ = row.result
    spread = f"{_number(low)}–{_number(high)}"
    shown = _size if row.unit == "bytes" else _time
    is_about_it = row.target is not None and row.target.measure in (Measure.OVER, Measure.MEMORY)
    return (
        row.what,
        row.against,
        shown(ours),
        shown(theirs),
        f"{_number(ratio)}×",
        f"{_number(p95)}×",
        spread,
        f"{shown(over[0])} ({shown(over[1])})" if is_about_it else "",
        target,
        row.mark,
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def _time(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f} ms" if abs(microseconds) >= 1000 else f"{microseconds:.3g} µs"


def _size(size: float) -> str:
    return f"{size / 1e6:.1f} MB"


def _aligned(cell: str, right: bool, width: int) -> str:
    return cell.rjust(width) if right else cell.ljust(width)
