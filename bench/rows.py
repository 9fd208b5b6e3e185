"""The rows of the table: what is compared with what, and the target it has."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from .comparing import Comparison


class Measure(StrEnum):
    """The figure of a comparison that a target limits."""

    RATIO = "ratio"
    P95 = "p95"  # the ratio of both 95th percentiles
    OVER = "over"  # ours minus theirs at the 95th percentile, in milliseconds
    TIME = "time"  # ours, in seconds
    MEMORY = "memory"  # ours minus theirs, in megabytes; the comparison is of bytes

    def of(self, result: Comparison) -> float:
        if self is Measure.TIME:
            return result.ours / 1e6
        if self is Measure.OVER:
            return result.over[1] / 1000
        if self is Measure.MEMORY:
            return result.over[1] / 1e6
        return result.p95 if self is Measure.P95 else result.ratio


class Target(NamedTuple):
    """A limit of a figure: at most, or at least."""

    limit: float
    at_least: bool = False
    measure: Measure = Measure.RATIO

    def met_by(self, result: Comparison) -> bool:
        found = self.measure.of(result)
        return found >= self.limit if self.at_least else found <= self.limit

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        if self.measure is Measure.OVER:
            return f"{sign} {self.limit:g} ms over, p95"
        if self.measure is Measure.TIME:
            return f"{sign} {self.limit:g} s"
        if self.measure is Measure.MEMORY:
            return f"{sign} {self.limit:g} MB over"
        return f"{sign} {self.limit:g}×" + (", p95" if self.measure is Measure.P95 else "")


class Row(NamedTuple):
    """One comparison, or the reason why there is none."""

    what: str
    against: str
    result: Comparison | None
    target: Target | None = None
    skipped: str | None = None

    @property
    def unit(self) -> str:
        """The unit of both sides."""
        return "bytes" if self.target is not None and self.target.measure is Measure.MEMORY else "microseconds"

    @property
    def mark(self) -> str:
        if self.result is None:
            return "skipped"
        if self.target is None:
            return ""
        return "pass" if self.target.met_by(self.result) else "miss"
