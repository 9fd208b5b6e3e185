"""What is written as TOML is read again as it was."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhook.formats.toml_writing import array_table

TEXTS = st.text(st.characters(codec="utf-8")) | st.text("'\"\\\n\r\t\x7f\0 a")
VALUES = st.recursive(
    TEXTS | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(TEXTS, VALUES, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_a_table_is_read_again_as_it_was(entry: dict[str, Any], newline: str) -> None:
    assert tomllib.loads(array_table(["hooks", "a b"], entry, newline)) == {"hooks": {"a b": [entry]}}


def test_texts_are_written_as_a_person_would() -> None:
    entry = {"a": "plain", "b": 'echo "x"', "c": "it's", "d": "one\ntwo\n", "e": datetime(2026, 1, 2, tzinfo=UTC)}
    assert array_table(["hooks"], entry).splitlines() == [
        "[[hooks]]",
        'a = "plain"',
        "b = 'echo \"x\"'",
        'c = "it\'s"',
        *("d = '''", "one", "two", "'''"),
        "e = 2026-01-02T00:00:00+00:00",
    ]


def test_what_toml_has_no_value_for_is_an_error() -> None:
    with pytest.raises(TypeError):
        array_table(["hooks"], {"a": None})
