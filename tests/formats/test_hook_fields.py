"""The one check that holds definitions to a table of fields: what it fills in, refuses and suggests."""

from __future__ import annotations

from typing import Any

import pytest

from tenterhook.formats import hook_fields
from tenterhook.formats.hook_fields import Field

FIELDS = (
    Field("name", str, None, 1, 8, required=True, meaning="of the thing"),
    Field("count", int, 3, 1, 10, meaning="how many"),
    Field("mode", str, "open", choices=("open", "closed")),
    Field("extra", dict, {}),
)


def check(given: dict[str, Any], **options: str) -> tuple[dict[str, Any], list[tuple[str, str | None]]]:
    values, problems = hook_fields.check(FIELDS, given, "file", len, **options)
    assert all(problem.remedy and problem.file == "file" for problem in problems)
    return values, [(problem.code, problem.key) for problem in problems]


def test_what_is_missing_has_its_default_and_null_is_missing() -> None:
    assert check({"name": "a", "count": None}) == ({"name": "a", "count": 3, "mode": "open", "extra": {}}, [])


def test_a_required_key_that_is_missing_or_null_is_a_problem() -> None:
    assert check({})[1] == check({"name": None})[1] == [("missing-key", "name")]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("count", value) for value in (0, 11, "5", 1.5, True)),
        *(("name", value) for value in ("", "  ", "123456789", 5)),
        *(("mode", value) for value in ("shut", "", True)),
        ("extra", []),
    ],
)
def test_a_value_of_another_type_or_out_of_range_is_a_problem_on_its_line(key: str, value: object) -> None:
    _, (problem,) = hook_fields.check(FIELDS, {"name": "a", key: value}, "file", len)
    assert (problem.code, problem.key, problem.line) == ("bad-value", key, len(key))


def test_the_ends_of_a_range_are_in_it() -> None:
    for count in (1, 10):
        assert check({"name": "12345678", "count": count})[1] == []


def test_an_unknown_key_has_the_code_of_its_format_and_suggests_a_close_one() -> None:
    assert check({"name": "a", "cuont": 1})[1] == [("ignored-key", "cuont")]
    assert check({"name": "a", "x": 1}, extra="unknown-key")[1] == [("unknown-key", "x")]
    _, (problem,) = hook_fields.check(FIELDS, {"name": "a", "cuont": 1}, "file", lambda _: None)
    assert problem.remedy == "did you mean 'count'?"
