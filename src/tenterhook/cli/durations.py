"""Durations on the command line: `90s`, `2h`, `7d`."""

from __future__ import annotations

import re

import click

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def seconds(option: str, text: str) -> float:
    """Return the seconds of a duration like `2h`. Raises `UsageError` if it is not one."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip(), re.ASCII)
    if not found:
        raise click.UsageError(f"{option} {text}: write a number and a unit: 30s, 10m, 2h, 7d, 4w")
    return float(found[1]) * _UNITS[found[2]]
