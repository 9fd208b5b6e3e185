"""How what happened differs from what was expected, and what --update makes of it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings

from authoring.generated_expectations import EXPECTS, actuals
from tenterhook.authoring import expectations


@given(expect=EXPECTS, actual=actuals())
@settings(max_examples=400, deadline=None)
def test_after_an_update_there_is_no_difference(expect: dict[str, Any], actual: dict[str, Any]) -> None:
    before = copy.deepcopy(expect)
    changed = expectations.updated(expect, actual)
    assert expectations.differences(changed, actual) == []
    assert list(expectations.problems_of(changed)) == []
    assert expect == before


@given(actual=actuals())
@settings(max_examples=200, deadline=None)
def test_what_was_observed_holds(actual: dict[str, Any]) -> None:
    expect = expectations.updated(None, actual)
    assert expect == expectations.observed(actual)
    assert expectations.differences(expect, actual) == []
