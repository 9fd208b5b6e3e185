"""Rows as people read them, in a terminal and in Markdown, and as JSON."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .rows import Row

_HEADINGS = ("what", "against", "ours", "theirs", "ratio", "p95", "spread", "target", "")
_RIGHT = range(2, 8)


def machine() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores"


def table(rows: Sequence[Row]) -> str:
    """A Markdown table whose columns line up, so that it reads well anywhere."""
    lines = [_HEADINGS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    rule = [f"{'-' * (width - 1)}:" if column in _RIGHT else "-" * width for column, width in enumerate(widths)]
    return "\n".join(
        "| " + " | ".join(_aligned(cell, column, widths[column]) for column, cell in enumerate(line)) + " |"
        for line in (lines[0], rule, *lines[1:])
    )


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why rows were skipped."""
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
                "microseconds": {"ours": row.result.ours, "theirs": row.result.theirs} if row.result else None,
                "ratio": row.result.ratio if row.result else None,
                "p95": row.result.p95 if row.result else None,
                "spread": row.result.spread if row.result else None,
            }
            for row in rows
        ],
    }


def _cells(row: Row) -> tuple[str, ...]:
    target = str(row.target) if row.target else ""
    if row.result is None:
        return (row.what, row.against, "", "", "", "", "", target, row.mark)
    ours, theirs, ratio, p95, (low, high) = row.result
    spread = f"{_number(low)}–{_number(high)}"
    return (
        row.what,
        row.against,
        _time(ours),
        _time(theirs),
        f"{_number(ratio)}×",
        f"{_number(p95)}×",
        spread,
        target,
        row.mark,
    )


def _number(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.3f}"


def _time(microseconds: float) -> str:
    return f"{microseconds / 1000:.2f} ms" if microseconds >= 1000 else f"{microseconds:.3g} µs"


def _aligned(cell: str, column: int, width: int) -> str:
    return cell.rjust(width) if column in _RIGHT else cell.ljust(width)
