"""Texts that expressions find."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenterhook.authoring.samples import sample


@pytest.mark.parametrize(
    "expression",
    [
        "rm -rf /", r"\.py$", r"^git\s+push\b.*--force(?!-with-lease)", r"(a|b)+c{2,5}", r"[^a-z ]", r"[\d-]{3}",
        r"\w+@\w+\.com", r"(?P<quote>['\"])x(?P=quote)", r"(?i)drop\s+table", r"x{0}", r"\Sx\D", r"(?:sudo|doas)\s",
        r"(?<=a)b", r"a(?=b)", r"é+", r"(?>ab)c++", r"\bword\b", r"\$\(.*\)", r"^\s*$|x", "^$|y", "[一-龥]", r"\\",
    ],
)  # fmt: skip
def test_a_text_is_thought_of(expression: str) -> None:
    found = sample(expression)
    assert found is not None
    assert re.search(expression, found)


@pytest.mark.parametrize("expression", [r"x(?=y)(?=z)", r"[^\s\S]", r"a{5000}", r"^$"])
def test_or_it_is_admitted_that_none_was(expression: str) -> None:
    assert sample(expression) is None


ATOMS = r"(?:[a-c.]|\\[dws.]|\[\^?[a-c0-9]{1,3}\]|\((?:\?:)?[ab|]{1,3}\))"


@given(st.from_regex(rf"(?:{ATOMS}(?:[*+?]|\{{[0-3]\}})?){{1,4}}", fullmatch=True))
@settings(max_examples=300, deadline=None)
def test_whatever_is_returned_is_found(expression: str) -> None:
    try:
        compiled = re.compile(expression)
    except re.error:
        return
    found = sample(expression)
    assert found is None or compiled.search(found)
