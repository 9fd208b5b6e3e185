"""The corpus of labelled shell lines that guards are measured on."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

CORPUS = Path(__file__).parent / "corpus" / "policy.jsonl"
CLASSES = {
    *("cloud", "containers", "database", "disk", "files", "git", "network-code", "other", "persistence", "publish"),
    *("secrets", "system"),
}


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return [json.loads(row) for row in CORPUS.read_text().splitlines()]


def test_every_line_has_a_label_and_a_class(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        assert list(row) == ["id", "source", "line", "label", "class", "sure"]
        assert row["source"] == "tenterhook"
        assert row["label"] in ("refuse", "ask", "pass")
        assert row["class"] in ({""} if row["label"] == "pass" else CLASSES), row
        assert isinstance(row["sure"], bool)


def test_ids_and_lines_are_unique(rows: list[dict[str, Any]]) -> None:
    assert not [name for name, count in Counter(row["id"] for row in rows).items() if count > 1]
    assert not [line for line, count in Counter(row["line"].strip() for row in rows).items() if count > 1]


def test_there_are_hundreds_of_lines_of_every_label_and_some_of_every_class(rows: list[dict[str, Any]]) -> None:
    sure = [row for row in rows if row["sure"]]
    assert min(Counter(row["label"] for row in sure).values()) >= 200
    assert {row["class"] for row in sure} == CLASSES | {""}
