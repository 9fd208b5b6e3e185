"""Runs contenders in turn, and compares two of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from statistics import median, quantiles
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tenterhook.journal.statistics import percentile

if TYPE_CHECKING:
    from collections.abc import Mapping

Block = Callable[[], Sequence[float]]
Blocks = list[list[float]]
Name = TypeVar("Name")


class Comparison(NamedTuple):
    """Microseconds of both contenders, and their ratio."""

    ours: float
    theirs: float
    ratio: float  # the median of the blocks' ratios: what slows down a whole block slows down both sides
    p95: float  # the ratio of both 95th percentiles
    spread: tuple[float, float]  # the middle half of the blocks' ratios
    over: tuple[float, float]  # ours minus theirs, at the median and at the 95th percentile
    of_minima: float  # the ratio of both minima: other load on the machine hardly changes it


def take_turns(contenders: Mapping[Name, Block], blocks: int) -> dict[Name, Blocks]:
    """Run a block of each in turn, repeatedly, so that noise affects all of them; the order rotates."""
    names = list(contenders)
    found: dict[Name, Blocks] = {name: [] for name in names}
    for name in names:
        contenders[name]()  # to warm up
    for number in range(blocks):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(list(contenders[name]()))
    return found


def compare(ours: Blocks, theirs: Blocks) -> Comparison:
    """Return the ratio of ours to theirs, block by block."""
    ratios = [median(one) / median(other) for one, other in zip(ours, theirs, strict=True)]
    low, _, high = quantiles(ratios, n=4, method="inclusive")
    mine, other = list(chain.from_iterable(ours)), list(chain.from_iterable(theirs))
    over = median(mine) - median(other), p95(mine) - p95(other)
    of_minima = min(mine) / min(other)
    return Comparison(median(mine), median(other), median(ratios), p95(mine) / p95(other), (low, high), over, of_minima)


def scaled(blocks: Blocks, factor: float) -> Blocks:
    """Return the durations multiplied by `factor`."""
    return [[value * factor for value in block] for block in blocks]


def p95(values: Sequence[float]) -> float:
    return percentile(sorted(values), 0.95)
