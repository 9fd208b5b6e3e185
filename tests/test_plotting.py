"""The plots of the benchmarks: whatever is measured can be drawn, and a drawing holds all of it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from bench import comparing, curves, peers, plotting
from bench.measuring import Effort, Setting
from bench.plotting import Chart, Point, Series
from bench.requests import text_of
from documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.curves import Curve

SVG = "{http://www.w3.org/2000/svg}"
THREE = (
    Series("Tenterhook", (Point(1, 900, 1000, 1200), Point(8, 5000, 6000, 6100), Point(32, 20_000, 24_000, 25_000))),
    Series("C & <others>", (Point(1, 800, 900, 1100), Point(8, 4000, 5800, 6000), Point(32, 20_000, 23_900, 25_000))),
    Series("asyncio", (Point(1, 1900, 2000, 2200), Point(8, 9000, 9000, 9000))),
)
TINY = Effort(blocks=2, loads=2)


def drawn(*series: Series, is_log: bool = True) -> ElementTree.Element:
    chart = Chart("A title", "a note", "hooks", series, lambda value: f"{value:g}", curves.shown_time, is_log)
    text = plotting.drawn(chart)
    assert len(text.encode()) < 30_000
    assert "href" not in text and "url(" not in text and "nan" not in text and "inf" not in text
    return ElementTree.fromstring(text)


def words(picture: ElementTree.Element) -> list[str]:
    return ["".join(each.itertext()).strip() for each in picture.iter(f"{SVG}text")]


def places(picture: ElementTree.Element) -> list[tuple[float, float]]:
    """Where the marks are."""
    moved = [each.get("transform", "") for each in picture.iter(f"{SVG}path") if each.get("class") == "mark"]
    return [(float(x), float(y)) for x, y in (re.findall(r"-?[\d.]+", each) for each in moved)]


def test_every_series_is_drawn_named_and_told_with_its_values() -> None:
    picture = drawn(*THREE)
    assert words(picture)[:2] == ["A title", "a note"]
    assert {"hooks", "1", "8", "32", "1 ms", "10 ms"} <= set(words(picture))
    assert {"Tenterhook 24 ms", "C & <others> 23.9 ms", "asyncio 9 ms"} <= set(words(picture))
    assert len(places(picture)) == 8
    told = picture.findtext(f"{SVG}desc") or ""
    assert "C & <others>: 1: 900 µs (800 µs to 1.1 ms)," in told
    hovered = [each.text for each in picture.iter(f"{SVG}title")]
    assert "asyncio, 8: 9 ms (9 ms to 9 ms)" in hovered


def test_what_takes_longer_is_higher_and_what_is_more_is_further_right() -> None:
    for is_log in (True, False):
        for (x, y), (later_x, later_y) in pairwise(places(drawn(THREE[0], is_log=is_log))):
            assert later_x > x
            assert later_y < y


def test_names_of_lines_that_end_together_do_not_cover_each_other() -> None:
    same = [Series(f"number {number}", (Point(1, 5, 5, 5), Point(2, 7, 7, 7))) for number in range(6)]
    texts = [each for each in drawn(*same).iter(f"{SVG}text") if each.get("class") == "name"]
    heights = sorted(float(each.get("y", "0")) for each in texts)
    assert len(heights) == 6
    assert all(later - earlier > 12 for earlier, later in pairwise(heights))


@pytest.mark.parametrize("is_log", [True, False])
@pytest.mark.parametrize(
    "points",
    [
        [Point(7, 3, 3, 3)],
        [Point(1, 5, 5, 5), Point(10, 5, 5, 5)],
        [Point(1, 1e-7, 1e-6, 1e-5), Point(1e12, 1e9, 1e10, 1e13)],
        [Point(1, 1000, 1000.0001, 1000.0002)],
        [Point(number, number, number, number) for number in range(1, 60)],
    ],
    ids=["one point", "no range", "a very large range", "a very small range", "many points"],
)
def test_any_range_is_drawn_inside_the_axes(points: Sequence[Point], is_log: bool) -> None:
    picture = drawn(Series("a", points), is_log=is_log)
    found = places(picture)
    assert len(found) == len(points)
    assert all(plotting._LEFT < x < plotting._WIDTH and plotting._TOP <= y <= plotting._BOTTOM for x, y in found)
    lines = [each for each in picture.iter(f"{SVG}path") if each.get("class") == "grid"]
    assert 2 <= len(lines) <= 12


def test_a_linear_axis_begins_at_zero_and_a_logarithmic_one_has_none() -> None:
    nothing = Series("a", (Point(1, 0, 0, 0),))
    assert "0" in words(drawn(nothing, is_log=False))
    with pytest.raises(ValueError, match="no zero"):
        drawn(nothing)


@pytest.mark.parametrize("series", [(), (Series("a", ()),), THREE * 3], ids=["none", "no point", "too many"])
def test_what_cannot_be_told_apart_is_not_drawn(series: tuple[Series, ...]) -> None:
    with pytest.raises(ValueError, match="one to 6 series"):
        drawn(*series)


def test_colours_are_for_light_and_dark() -> None:
    style = drawn(*THREE).findtext(f"{SVG}style") or ""
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    for name in ("card", "grid", "axis", "heading", *(f"s{number}" for number in range(6))):
        assert f".{name} {{" in light and f".{name} {{" in dark


@pytest.mark.parametrize("size", [0, 1, 37, 38, 39, 1000, 65536])
def test_a_text_is_as_long_in_json_as_it_should_be(size: int) -> None:
    assert len(json.dumps(text_of(size))) == size + 2


@pytest.mark.parametrize(
    ("microseconds", "shown"),
    [
        (0, "0"),
        (0.2, "0.2 µs"),
        (1.84, "1.84 µs"),
        (999.9, "1 ms"),
        (1234, "1.23 ms"),
        (154_321, "154 ms"),
        (2e6, "2 s"),
    ],
)
def test_times_are_shown_with_three_digits(microseconds: float, shown: str) -> None:
    assert curves.shown_time(microseconds) == shown


def test_anything_can_take_turns() -> None:
    turns: list[tuple[str, int]] = []

    def turn(name: str, x: int) -> Callable[[], list[float]]:
        def run() -> list[float]:
            turns.append((name, x))
            return [float(x)]

        return run

    found = comparing.take_turns({(name, x): turn(name, x) for x in (1, 2) for name in "ab"}, 3)
    assert found["b", 2] == [[2.0]] * 3
    assert len(turns) == 4 * 4  # once to warm up


@pytest.mark.parametrize("picture", ["hooks", "payload", "definitions", "loading"])
def test_the_pictures_of_the_docs_are_there_and_shown(picture: str) -> None:
    file = ROOT / "docs" / "pictures" / f"bench-{picture}.svg"
    assert ElementTree.fromstring(file.read_text()).tag == f"{SVG}svg"
    assert file.stat().st_size < 30_000
    assert f"](pictures/{file.name})" in (ROOT / "docs" / "performance.md").read_text()


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    """A run in which no other engine can be had."""
    monkeypatch.setattr(peers, "PEERS", {"Codex": peers.codex})
    directory = tmp_path / "bench"
    directory.mkdir()
    return Setting(directory, TINY)


def names(curve: Curve) -> set[str]:
    return {series.name for series in curve.series}


@pytest.mark.slow
def test_hooks_and_payloads_are_measured(setting: Setting, tmp_path: Path) -> None:
    found = [curves.against_hooks(setting, (1, 2)), curves.against_payload(setting, (1024, 256 * 1024))]
    for curve in found:
        assert {"Tenterhook", "asyncio"} <= names(curve)
        assert ("C program" in names(curve)) is ("C program" not in curve.skipped)
        assert all(0 < point.low <= point.middle <= point.high for each in curve.series for point in each.points)
    assert "whole session" in found[0].skipped["Codex"]
    curves.write(found, tmp_path)
    assert "256 KiB" in words(ElementTree.parse(tmp_path / "bench-payload.svg").getroot())
    data = json.loads(json.dumps(curves.as_json(found)))
    assert [each["picture"] for each in data] == ["bench-hooks.svg", "bench-payload.svg"]
    assert [point["x"] for point in data[0]["series"][0]["microseconds"]] == [1, 2]
    text = curves.as_text(found)
    assert "Skipped: Codex" in text and "| 256 KiB |" in text


def test_loading_is_measured(setting: Setting) -> None:
    pytest.importorskip("strictyaml")
    curve = curves.of_loading(setting, (1, 3))
    assert names(curve) == {"Engine.load", "Engine.load, again", "strictyaml", "a stat of each file"}
    assert all([point.x for point in series.points] == [1, 3] for series in curve.series)


@pytest.mark.slow
def test_definitions_are_measured_with_the_daemon_and_without(setting: Setting) -> None:
    curve = curves.against_definitions(setting, (1, 3))
    assert names(curve) == {"Tenterhook", "Tenterhook, daemon", "python -I -S -c pass"}
    assert "0" in words(ElementTree.fromstring(curve.drawn()))
