"""How long a search may take is bounded from above: an expression that runs away is never called quick."""

from __future__ import annotations

import pytest

from tenterhook.basics import expression_cost


@pytest.mark.parametrize("expression", ["(a+)+$", "(a|aa)*b", "(?:x*y?)*z", "(?x) a  # verbose", r"(\w+\s?)*$"])
def test_repetitions_of_what_repeats_or_branches_are_exponential(expression: str) -> None:
    assert expression_cost.is_exponential(expression)
    assert not expression_cost.is_quick(expression, 1)


@pytest.mark.parametrize("expression", ["Shell", "^rm -rf", "[ab]c", "a?b?", r"\bkey\b", "one|two|three"])
def test_an_expression_without_repetitions_is_quick_for_any_text(expression: str) -> None:
    assert not expression_cost.is_exponential(expression)
    assert expression_cost.is_quick(expression, 1000)


def test_words_are_linear_and_repetitions_are_not() -> None:
    assert expression_cost.is_linear("Shell|Write")
    assert not expression_cost.is_linear("a+")


def test_a_repetition_costs_as_much_as_its_longest_run_in_the_text() -> None:
    assert not expression_cost.is_quick("a+b+c", 100_000)
    assert expression_cost.is_quick_for("a+b+c", ["x" * 100_000])
    assert not expression_cost.is_quick_for("a+b+c", ["a" * 10_000])


def test_the_limit_can_be_raised() -> None:
    text = ["a" * 2_000]
    assert not expression_cost.is_quick_for("a+b", text)
    assert expression_cost.is_quick_for("a+b", text, 10_000_000)
