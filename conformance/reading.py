"""Vectors from their files, one file for each area."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

VECTORS = Path(__file__).resolve().parent / "vectors"


class BadVector(Exception):
    """Why a file of vectors cannot be used."""


class Vector(NamedTuple):
    """One test of an engine: files, an event, and the expected result."""

    id: str
    area: str
    title: str
    level: str
    protocol: str
    format: str
    files: dict[str, Any]
    event: dict[str, Any]
    expect: dict[str, Any]
    source: dict[str, str]
    earlier: list[dict[str, Any]]
    environment: dict[str, str]


def load(folder: Path = VECTORS) -> list[Vector]:
    """Return every vector of a folder, in the order of its files; raise `BadVector` if one is invalid."""
    found: list[Vector] = []
    for file in sorted(folder.glob("*.json"), key=lambda file: file.stem):
        try:
            area = json.loads(file.read_text("utf-8"))
            found += [_vector(file.stem, raw) for raw in area["vectors"]]
        except (ValueError, KeyError, TypeError) as error:
            raise BadVector(f"{file}: {type(error).__name__}: {error}") from None
    ids = [vector.id for vector in found]
    if twice := {each for each in ids if ids.count(each) > 1}:
        raise BadVector(f"{folder}: used twice: {', '.join(sorted(twice))}")
    return found


def _vector(area: str, raw: dict[str, Any]) -> Vector:
    defaults: dict[str, Any] = {"source": {}, "earlier": [], "environment": {}}
    return Vector(**{**defaults, **raw, "area": area, "id": f"{area}/{raw['id']}"})


def chosen(vectors: list[Vector], level: str | None, only: list[str]) -> list[Vector]:
    """Return those of a level whose id matches one of the patterns; a pattern without `/` may match an area."""
    return [
        vector
        for vector in vectors
        if (level is None or vector.level == level)
        and (not only or any(fnmatchcase(vector.id, each) or fnmatchcase(vector.area, each) for each in only))
    ]
