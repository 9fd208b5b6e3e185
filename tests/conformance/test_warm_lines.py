"""The vectors of tables and arrays, with each line of the shell begun in a prepared interpreter."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from conformance import reading
from conformance.places import Place
from vector_ways import passes, put, swept
from warm_lines import COUNT, warm_lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.reading import Vector

__all__ = ["warm_lines"]  # a fixture

FEW = 20  # of which one is always tried
LINES = [vector for vector in reading.load() if vector.format != "folder"]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    place = Place(tmp_path.resolve(), uuid.uuid4().hex)
    for folder in (place.project, place.records):
        folder.mkdir(mode=0o755)
    yield place
    swept(place)


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(each, id=each.id, marks=() if number % FEW == 0 else pytest.mark.thorough)
        for number, each in enumerate(LINES)
    ],
)
def test_a_line_that_begins_warm_is_the_same(vector: Vector, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    put(vector, place)
    before = COUNT[0]
    if {"ok", "blocked"} & set(passes(vector, place, monkeypatch)):  # others are in the background, or never began
        assert COUNT[0] > before, "no line began in a prepared interpreter"


def test_these_are_all_that_are_no_folders() -> None:
    assert len(LINES) == 269
