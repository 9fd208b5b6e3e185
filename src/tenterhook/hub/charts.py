"""Small plots as SVG, each with a text alternative; the style sheet has the colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from .request_html import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Points = Sequence[tuple[float, float | None]]  # time, and the value if there is one

_WIDTH, _HEIGHT, _TOP, _FOOT = 320, 110, 16, 16


def curves(title: str, series: Mapping[str, Points], said: Callable[[float], str]) -> Markup:
    """Return a line chart of several series; a value that is None is a gap."""
    values = [value for points in series.values() for _, value in points if value is not None]
    most = max(values, default=0.0)
    drawn = [
        Markup('<path class="curve c{}" d="{}"/>').format(number, _path(points, most))
        for number, points in enumerate(series.values())
    ]
    alternative = "; ".join(f"{name}: {_summary(points, said)}" for name, points in series.items())
    return _plot(title, alternative, drawn, next(iter(series.values()), ()), said(most) if values else "")


def bars(title: str, points: Points, said: Callable[[float], str]) -> Markup:
    """Return a bar chart of counts over time."""
    most = max((value or 0 for _, value in points), default=0)
    step = _WIDTH / max(len(points), 1)
    drawn = [
        Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            number * step + step * 0.15, _y(value, most), step * 0.7, _HEIGHT - _FOOT - _y(value, most)
        )
        for number, (_, value) in enumerate(points)
        if value
    ]
    total = sum(value or 0 for _, value in points)
    alternative = f"{said(total)} in total, at most {said(most)} in one interval" if total else "none"
    return _plot(title, alternative, drawn, points, said(most) if total else "")


def spark(title: str, points: Points, said: Callable[[float], str]) -> Markup:
    """Return a sparkline."""
    most = max((value for _, value in points if value is not None), default=0.0)
    return Markup(
        '<svg class="plot spark" role="img" aria-label="{}" viewBox="0 0 {} {}" preserveAspectRatio="none">'
        '<path class="curve" vector-effect="non-scaling-stroke" d="{}"/></svg>'
    ).format(f"{title}: {_summary(points, said)}", _WIDTH, _HEIGHT, _path(points, most))


def _plot(title: str, alternative: str, drawn: Sequence[Markup], points: Points, most: str) -> Markup:
    ends = [clock(points[at][0]).removesuffix(" UTC") for at in (0, -1)] if points else ["", ""]
    return Markup(
        '<svg class="plot" role="img" aria-label="{}" viewBox="0 0 {} {}">'
        '<line class="axis" x1="0" y1="{base}" x2="{width}" y2="{base}"/>'
        '<line class="grid" x1="0" y1="{top}" x2="{width}" y2="{top}"/>'
        '{}<text x="0" y="{}">{}</text><text x="0" y="{foot}">{}</text>'
        '<text class="end" x="{width}" y="{foot}">{}</text></svg>'
    ).format(
        f"{title}: {alternative}",
        _WIDTH,
        _HEIGHT,
        Markup("").join(drawn),
        _TOP - 4,
        most,
        *ends,
        base=_HEIGHT - _FOOT,
        top=_TOP,
        width=_WIDTH,
        foot=_HEIGHT - 3,
    )


def _path(points: Points, most: float) -> str:
    step = _WIDTH / max(len(points) - 1, 1)
    path, is_drawing = [], False
    for number, (_, value) in enumerate(points):
        if value is not None:
            path.append(f"{'L' if is_drawing else 'M'}{number * step:.1f} {_y(value, most):.1f}")
            if not is_drawing:
                path.append("h.1")  # makes a single point visible
        is_drawing = value is not None
    return "".join(path)


def _y(value: float | None, most: float) -> float:
    return _HEIGHT - _FOOT - (value or 0) / (most or 1) * (_HEIGHT - _FOOT - _TOP)


def _summary(points: Points, said: Callable[[float], str]) -> str:
    values = [value for _, value in points if value is not None]
    if not values:
        return "nothing yet"
    return f"between {said(min(values))} and {said(max(values))}, last {said(values[-1])}"
