"""How long something lasts, as people write it on the command line."""

from __future__ import annotations

import re

import click

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


def seconds(option: str, text: str) -> float:
    """The seconds of an option like `2h`; wrong usage if it is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", text.strip(), re.ASCII)
    if not found:
        raise click.UsageError(f"{option} {text}: write a number and a unit: 30s, 10m, 2h, 7d, 4w")
    return float(found[1]) * _UNITS[found[2]]
