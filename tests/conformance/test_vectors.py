"""The vectors themselves: they keep to their schema, and our engine passes every one in process."""

from __future__ import annotations

import json
import os
import sys
import time
from itertools import groupby
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from conformance import leftovers, places, reading, trying
from conformance.engines.tenterhook_engine import decided
from conformance.page import ENGINES, PAGE, TENTERHOOK, as_if_passed, tenterhook_part
from conformance.reading import VECTORS, Vector

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conformance.places import Place

ALL = reading.load()
FIRST = [next(vectors) for _, vectors in groupby(ALL, lambda vector: vector.area)]
OURS = [sys.executable, str(ENGINES / "tenterhook_engine.py")]
SCHEMA = json.loads((VECTORS.parent / "vector.schema.json").read_text())


def passes(vector: Vector, tmp_path: Path) -> None:
    result = trying.attempt(vector, OURS, f"{tmp_path.name}-", patience=100)
    assert (result.status, result.why, result.differences) == (trying.PASSED, "", ())


@pytest.fixture
def place(vector: Vector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """The folder of a vector, with the variables and the working directory of an engine there."""
    place = places.make(vector, f"{tmp_path.name}-")
    environment = place.environment(vector.environment)
    for name in os.environ.keys() - environment.keys():
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.project)
    yield place
    leftovers.sweep(place.mark, place.root)
    place.remove()


@pytest.mark.parametrize("vector", ALL, ids=lambda vector: vector.id)
def test_our_engine_passes_in_process(vector: Vector, place: Place) -> None:
    begun = time.monotonic()
    answer = decided(place.request(vector))
    result = trying.judged(vector, answer, place, time.monotonic() - begun)
    assert (result.status, result.why, result.differences) == (trying.PASSED, "", ())


@pytest.mark.slow
@pytest.mark.parametrize("vector", FIRST, ids=lambda vector: vector.id)
def test_our_adapter_passes_the_first_of_each_area(vector: Vector, tmp_path: Path) -> None:
    passes(vector, tmp_path)


@pytest.mark.parametrize("file", sorted(VECTORS.glob("*.json")), ids=lambda file: file.stem)
def test_vectors_keep_to_the_schema(file: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(file.read_text("utf-8")), SCHEMA)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("level", "ours"),
        ("source", None),
        ("format", "xml"),
        ("files", {"/etc/passwd": "x"}),
        ("expect", {"reason": "no decision"}),
        ("expect", {"decision": "deny", "rann": []}),
        ("more", 1),
    ],
)
def test_the_schema_refuses_mistakes(key: str, value: Any) -> None:
    area = json.loads((VECTORS / "exit-codes.json").read_text())
    vector = area["vectors"][0]
    assert vector["level"] == "format"
    vector[key] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(area, SCHEMA)


def test_the_example_of_the_readme_is_a_vector_that_passes(tmp_path: Path) -> None:
    text = (VECTORS.parent / "README.md").read_text().partition("```json\n")[2].partition("```")[0]
    folder = tmp_path / "vectors"
    folder.mkdir()
    area = {"about": "an example", "vectors": [json.loads(text)]}
    jsonschema.validate(area, SCHEMA)
    (folder / "example.json").write_text(json.dumps(area))
    (vector,) = reading.load(folder)
    passes(vector, tmp_path)


def test_every_level_and_format_is_there() -> None:
    found = {(vector.level, vector.format) for vector in ALL}
    assert found == {(level, form) for level in ("format", "tenterhook") for form in ("folder", "table", "array")}


def test_the_page_shows_every_area_with_its_vectors() -> None:
    _, begun, rest = PAGE.read_text().partition(f"<!-- table: {TENTERHOOK} -->")
    shown = rest.partition("<!-- end of table -->")[0].strip()
    assert begun
    assert shown == tenterhook_part(as_if_passed(ALL)), "run: python -m conformance.page --write tenterhook"
