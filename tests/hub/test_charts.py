"""Plots: inside their frame, and with their figures in words."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tenterhook.hub import charts, request_html


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e9)), max_size=40))
def test_a_plot_stays_inside_its_frame_and_says_its_figures(values: list[float | None]) -> None:
    points = [(1.7e9 + 3600 * number, value) for number, value in enumerate(values)]
    drawn = charts.curves("<Latency>", {"p50": points, "p95": points}, request_html.duration)
    bars = charts.bars("Blocks", points, "{:.0f}".format)
    assert "<Latency>" not in drawn
    assert "nan" not in drawn + bars
    assert "inf" not in drawn + bars
    for y in re.findall(r"[ML][\d.]+ (-?[\d.]+)", drawn):
        assert 0 <= float(y) <= 110
    known = [value for value in values if value is not None]
    assert (f"last {request_html.duration(known[-1])}" in drawn) if known else ("nothing yet" in drawn)
