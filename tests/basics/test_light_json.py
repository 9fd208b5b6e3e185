"""JSON without the import of json: the same texts and values as json, and any Python value as plain JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import any_text, json_values
from tenterhook.basics import light_json
from tenterhook.basics.light_json import input_texts

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclasses.dataclass
class Box:
    value: Any
    name: str = "box"


hashable = st.none() | st.booleans() | st.integers() | st.floats() | any_text | st.binary(max_size=5)


anything = st.recursive(
    hashable | st.complex_numbers() | st.dates() | st.decimals() | st.sets(hashable, max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(hashable, inner, max_size=3)
        | st.builds(Box, inner)
    ),
    max_leaves=10,
)


@given(anything)
@settings(max_examples=100)
def test_any_value_becomes_json_on_one_line(value: Any) -> None:
    data = light_json.encode(light_json.plain(value))
    assert b"\n" not in data
    assert json.loads(data) == light_json.plain(value)


@given(json_values)
@settings(max_examples=100)
def test_json_stays_what_it_is(value: Any) -> None:
    assert light_json.plain(value) == value
    assert json.loads(light_json.encode(value)) == value
    assert json.dumps(light_json.plain(light_json.plain(value))) == json.dumps(light_json.plain(value))


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_that_json_cannot_hold_is_its_string_form(value: float) -> None:
    plain = light_json.plain(value)
    assert plain == (value if math.isfinite(value) else str(value))


@given(any_text)
def test_printable_text_can_be_encoded(value: str) -> None:
    assert light_json.printable(value).encode().decode() == light_json.printable(value)
    assert len(light_json.printable(value)) == len(value)


@given(json_values)
@settings(max_examples=100)
def test_every_string_of_an_input_is_searched(value: Any) -> None:
    def strings(item: Any) -> Iterator[str]:
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            for each in item.values():
                yield from strings(each)
        elif isinstance(item, list):
            for each in item:
                yield from strings(each)

    assert set(strings(value)) <= set(input_texts({"input": value}))


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(JSON_VALUES, st.booleans(), st.booleans())
def test_light_json_writes_what_json_writes(value: Any, ascii_only: bool, sort_keys: bool) -> None:
    expected = json.dumps(value, ensure_ascii=ascii_only, sort_keys=sort_keys)
    assert light_json.dumps(value, ascii_only=ascii_only, sort_keys=sort_keys) == expected


@given(JSON_VALUES.map(lambda value: json.dumps(value, indent=1)) | st.text(alphabet='[]{}",:01e-.nulltrueNaN \\\n\t'))
def test_light_json_reads_what_json_reads(text: str) -> None:
    try:
        expected = json.loads(text)
    except (ValueError, RecursionError):
        with pytest.raises((ValueError, RecursionError)):
            light_json.loads(text)
    else:
        assert repr(light_json.loads(text)) == repr(expected)
