"""How what happened differs from what was expected, and what --update makes of it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings

from authoring.generated_expectations import EXPECTS, actuals
from tenterhook.authoring import expectations, update_cases


@given(expect=EXPECTS, actual=actuals())
@settings(max_examples=400, deadline=None)
def test_after_an_update_there_is_no_difference(expect: dict[str, Any], actual: dict[str, Any]) -> None:
    changed = copy.deepcopy(expect)
    update_cases._apply(changed, expectations.changes(expect, actual))
    assert expectations.differences(changed, actual) == []
    assert list(expectations.problems_of(changed)) == []


@given(actual=actuals())
@settings(max_examples=200, deadline=None)
def test_what_was_observed_holds(actual: dict[str, Any]) -> None:
    expect = expectations.observed(actual)
    written: dict[str, Any] = {}
    update_cases._apply(written, expectations.additions(expect))
    assert written == expect
    assert expectations.differences(expect, actual) == []
