"""Durations on the command line: a number and a unit."""

from __future__ import annotations

import click
import pytest

from tenterhook.cli import durations


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("1.5m", 90), ("2h", 7200), (" 1d ", 86400), ("4w", 28 * 86400), ("0s", 0)]
)
def test_a_number_with_a_unit_is_taken(text: str, seconds: float) -> None:
    assert durations.seconds("--since", text) == seconds


@pytest.mark.parametrize("text", ["", "2", "h", "2 h", "-2h", "2h30m", "1e3s", "٢h", "2y"])
def test_anything_else_is_wrong_usage_and_names_the_option(text: str) -> None:
    with pytest.raises(click.UsageError, match="write a number and a unit: 30s"):
        durations.seconds("--since", text)
