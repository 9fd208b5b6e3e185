"""The rows of the table: what is compared with what, and the target it has."""

from __future__ import annotations

from typing import NamedTuple

from .comparing import Comparison


class Target(NamedTuple):
    """The ratio to keep to: at most, or at least."""

    limit: float
    at_least: bool = False

    def met_by(self, ratio: float) -> bool:
        return ratio >= self.limit if self.at_least else ratio <= self.limit

    def __str__(self) -> str:
        return f"≥ {self.limit:g}×" if self.at_least else f"≤ {self.limit:g}×"


class Row(NamedTuple):
    """One comparison, or the reason why there is none."""

    what: str
    against: str
    result: Comparison | None
    target: Target | None = None
    skipped: str | None = None

    @property
    def mark(self) -> str:
        if self.result is None:
            return "skipped"
        if self.target is None:
            return ""
        return "pass" if self.target.met_by(self.result.ratio) else "miss"
