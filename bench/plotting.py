"""Draws a line chart as a self-contained SVG; each line has a band from the first to the third quartile."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WIDTH, _HEIGHT = 760, 430
_LEFT, _TOP, _BOTTOM = 66, 78, 370
_CHARACTER = 6.9  # pixels; enough for a wide font
_LINE = 17  # from one name to the next
_PADDING = 16  # from the axes to the first and the last point
_MOST_TICKS = 10
_STYLE = """\
text { font: 12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; fill: #57606a }
.heading { font-size: 16px; font-weight: 600; fill: #1f2328 } .name { font-size: 12.5px; fill: currentColor }
.ours .name { font-weight: 700 } .name .value { font-weight: 400; fill: #57606a }
.card { fill: #ffffff; stroke: #d0d7de } .grid { stroke: #e4e8ec } .axis { stroke: #8c959f }
.line { fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linejoin: round }
.ours .line { stroke-width: 2.75 }
.band { fill: currentColor; fill-opacity: .16 } .bar { stroke: currentColor; stroke-opacity: .4; stroke-width: 5 }
.mark { fill: currentColor; stroke: #ffffff; stroke-width: 1 } .leader { stroke: currentColor; stroke-opacity: .5 }
%s
@media (prefers-color-scheme: dark) {
text, .name .value { fill: #9aa4af } .heading { fill: #e6edf3 } .name { fill: currentColor }
.card { fill: #14181e; stroke: #3d444d } .grid { stroke: #262c34 } .axis { stroke: #6b7480 } .mark { stroke: #14181e }
%s
}"""
_LIGHT = ("#0a5fc2", "#5d6670", "#b25400", "#1a7f4b", "#8b3fb0", "#b81f4e")
_DARK = ("#66aeff", "#a3adb8", "#f0a04b", "#56cf8d", "#d093f0", "#ff8aa5")
_MARKS = (
    "M-4.2,0a4.2,4.2 0 1,0 8.4,0a4.2,4.2 0 1,0 -8.4,0z",
    "M-3.4,-3.4h6.8v6.8h-6.8z",
    "M0,-4.6l4.4,7.8h-8.8z",
    "M0,-4.8l4.4,4.8l-4.4,4.8l-4.4,-4.8z",
    "M0,4.6l4.4,-7.8h-8.8z",
    "M-1.4,-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",
)


class Point(NamedTuple):
    """A median, with the first and the third quartile."""

    x: float
    low: float
    middle: float
    high: float


class Series(NamedTuple):
    """One line, from left to right."""

    name: str
    points: Sequence[Point]


class Chart(NamedTuple):
    """A line chart. The first series is ours. The horizontal axis is logarithmic."""

    title: str
    note: str
    x_title: str
    series: Sequence[Series]
    x_label: Callable[[float], str]
    y_label: Callable[[float], str]
    is_log: bool = True  # the vertical axis, which begins at zero otherwise


class _Scale(NamedTuple):
    """Maps values to pixels."""

    low: float
    high: float
    begin: float
    end: float
    is_log: bool

    def at(self, value: float) -> float:
        low, high, value = map(math.log, (self.low, self.high, value)) if self.is_log else (self.low, self.high, value)
        if low == high:
            return (self.begin + self.end) / 2
        return self.begin + (value - low) / (high - low) * (self.end - self.begin)


class _Axes(NamedTuple):
    x: _Scale
    y: _Scale


def drawn(chart: Chart) -> str:
    """Return the SVG; its colours follow the reader's preference, light or dark."""
    points = [point for series in chart.series for point in series.points]
    if not points or not all(series.points for series in chart.series) or len(chart.series) > len(_MARKS):
        raise ValueError(f"a chart has one to {len(_MARKS)} series with points")
    across = sorted({point.x for point in points})
    up = _ticks(min(point.low for point in points), max(point.high for point in points), chart.is_log)
    right = _WIDTH - 30 - _CHARACTER * max(len(series.name) + len(_last(chart, series)) + 1 for series in chart.series)
    axes = _Axes(
        _Scale(across[0], across[-1], _LEFT + _PADDING, right - _PADDING, True),
        _Scale(up[0], up[-1], _BOTTOM, _TOP, chart.is_log),
    )
    lines = [_line(chart, axes, number) for number in range(len(chart.series))]
    colours = ["\n".join(f".s{n} {{ color: {colour} }}" for n, colour in enumerate(each)) for each in (_LIGHT, _DARK)]
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}" role="img">
<title>{escape(chart.title)}</title>
<desc>{escape(_in_words(chart))}</desc>
<style>
{_STYLE % tuple(colours)}
</style>
<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{_HEIGHT - 1}" rx="8"/>
<text class="heading" x="20" y="31">{escape(chart.title)}</text>
<text x="20" y="51">{escape(chart.note)}</text>
{_grid(chart, axes, up, right)}
{_bottom(chart, axes, across, right)}
{"".join(reversed(lines))}{_names(chart, axes, right)}
</svg>
"""


def _ticks(low: float, high: float, is_log: bool) -> list[float]:
    """Return round values, the first at or below the lowest and the last at or above the highest."""
    return _log_ticks(low, high) if is_log else _linear_ticks(high)


def _log_ticks(low: float, high: float) -> list[float]:
    if low <= 0:
        raise ValueError("a logarithmic axis has no zero")
    if low == high:
        low, high = low / 1.5, high * 1.5
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = math.ceil(len(decades) / _MOST_TICKS)
    for steps, stride in (((1, 2, 5), 1), ((1,), 1), ((1,), every)):
        ticks = [step * 10.0**decade for decade in range(decades[0], decades[-1] + stride, stride) for step in steps]
        first = max((tick for tick in ticks if tick <= low), default=ticks[0])
        last = min((tick for tick in ticks if tick >= high), default=ticks[-1])
        kept = [tick for tick in ticks if first <= tick <= last]
        if len(kept) <= _MOST_TICKS:
            break
    return kept


def _linear_ticks(high: float) -> list[float]:
    """Return round values from zero to at least `high`."""
    rough = (high or 1.0) / (_MOST_TICKS - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    return [step * number for number in range(math.ceil((high or 1.0) / step) + 1)]


def _grid(chart: Chart, axes: _Axes, ticks: Sequence[float], right: float) -> str:
    return "\n".join(
        f'<path class="grid" d="M{_LEFT},{axes.y.at(tick):.1f}H{right:.1f}"/>'
        f'<text x="{_LEFT - 8}" y="{axes.y.at(tick) + 4:.1f}" text-anchor="end">{escape(chart.y_label(tick))}</text>'
        for tick in ticks
    )


def _bottom(chart: Chart, axes: _Axes, across: Sequence[float], right: float) -> str:
    """Return the horizontal axis, with a tick for each measured value, and a label where there is room."""
    parts = [f'<path class="axis" d="M{_LEFT},{_BOTTOM}H{right:.1f}"/>']
    free = 0.0
    for value in across:
        x, label = axes.x.at(value), chart.x_label(value)
        parts.append(f'<path class="axis" d="M{x:.1f},{_BOTTOM}v5"/>')
        if x - len(label) * _CHARACTER / 2 >= free:
            parts.append(f'<text x="{x:.1f}" y="{_BOTTOM + 20}" text-anchor="middle">{escape(label)}</text>')
            free = x + (len(label) + 1) * _CHARACTER / 2
    middle = (_LEFT + right) / 2
    return "\n".join(
        [*parts, f'<text x="{middle:.1f}" y="{_BOTTOM + 42}" text-anchor="middle">{escape(chart.x_title)}</text>']
    )


def _line(chart: Chart, axes: _Axes, number: int) -> str:
    series = chart.series[number]
    places = [(axes.x.at(point.x), axes.y.at(point.middle)) for point in series.points]
    highs = [(axes.x.at(point.x), axes.y.at(point.high)) for point in series.points]
    lows = [(axes.x.at(point.x), axes.y.at(point.low)) for point in series.points]
    band = f'<path class="band" d="{_path([*highs, *reversed(lows)])}z"/>'
    if len(places) == 1:
        band = f'<path class="bar" d="{_path([*highs, *lows])}"/>'
    marks = "".join(
        f'<path class="mark" transform="translate({x:.1f},{y:.1f})" d="{_MARKS[number]}">'
        f"<title>{escape(f'{series.name}, {_value(chart, point)}')}</title></path>\n"
        for (x, y), point in zip(places, series.points, strict=True)
    )
    return f'<g class="{_class(number)}">{band}<path class="line" d="{_path(places)}"/>\n{marks}</g>\n'


def _names(chart: Chart, axes: _Axes, right: float) -> str:
    """Return each line's name and last value at its end, moved apart where they would overlap."""
    ends = [series.points[-1] for series in chart.series]
    wanted = [axes.y.at(point.middle) for point in ends]
    parts = []
    for number, y in enumerate(_apart(wanted, _LINE, _TOP, _BOTTOM)):
        x, series = axes.x.at(ends[number].x), chart.series[number]
        leader = _path([(x + 6, wanted[number]), (right, y)])
        parts.append(
            f'<g class="{_class(number)}"><path class="leader" d="{leader}"/>'
            f'<text class="name" x="{right + 5:.1f}" y="{y + 4:.1f}">{escape(series.name)}'
            f' <tspan class="value">{escape(_last(chart, series))}</tspan></text></g>'
        )
    return "\n".join(parts)


def _apart(wanted: Sequence[float], distance: float, low: float, high: float) -> list[float]:
    """Return the nearest places that are `distance` apart, in the same order, and within the limits if they fit."""
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    groups: list[tuple[float, list[int]]] = []  # neighbours that touch, by their middle
    for number in order:
        middle, members = wanted[number], [number]
        while groups and groups[-1][0] + distance * (len(groups[-1][1]) + len(members)) / 2 > middle:
            members = groups.pop()[1] + members
            half = distance * (len(members) - 1) / 2
            middle = sum(wanted[each] for each in members) / len(members)
            middle = max(min(middle, high - half), low + half)
        groups.append((middle, members))
    places = {
        number: middle + distance * (place - (len(members) - 1) / 2)
        for middle, members in groups
        for place, number in enumerate(members)
    }
    return [places[number] for number in range(len(wanted))]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _class(number: int) -> str:
    return f"s{number}" if number else "s0 ours"


def _last(chart: Chart, series: Series) -> str:
    return chart.y_label(series.points[-1].middle)


def _value(chart: Chart, point: Point) -> str:
    x, low, middle, high = chart.x_label(point.x), *map(chart.y_label, point[1:])
    return f"{x}: {middle} ({low} to {high})"


def _in_words(chart: Chart) -> str:
    """Describe the lines for readers who cannot see them."""
    lines = (f"{each.name}: {', '.join(_value(chart, point) for point in each.points)}." for each in chart.series)
    return f"By {chart.x_title}: {' '.join(lines)}"
