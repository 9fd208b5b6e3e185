"""Expressions that are nothing but words are found without an expression engine, where an engine finds them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenterhook.basics import literal_search
from tenterhook.formats import expressions


@given(
    st.sampled_from(["python", "javascript"]),
    st.text(alphabet="ab^$|( )_", max_size=8),
    st.text(alphabet="ab \n_", max_size=6),
)
def test_words_are_found_where_the_expression_would_find_them(dialect: str, expression: str, text: str) -> None:
    found = literal_search.search(dialect, expression)
    if found is not None:
        assert found(text) == bool(expressions.search(dialect, expression)(text))


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("git push.*--force", ["git push"]),
        ("rm|dd if=", ["rm", "dd if="]),
        (r"\brm\b", ["rm"]),
        ("(rm|dd) x?yz", ["yz"]),
        ("(?:publish|deprecate)( x)?", ["publish", "deprecate"]),
        ("^(?!help)(?:a|git) (?=push)", ["push"]),
        (r"(?:ab|c(?:de|fg))+[x)]", ["ab", "de", "fg"]),
    ],
)
def test_an_expression_needs_the_longest_word_of_each_alternative(expression: str, words: list[str]) -> None:
    needed = literal_search.required_words(expression)
    assert needed is not None
    assert [text for text, _, _ in needed] == words


@pytest.mark.parametrize(
    "expression",
    ["", "a", "(?i)rm", "(?:rm|dd)?", "(?!rm)", "(?P<a>rm)", ".*", "rm|.", "[]x]ab", r"\x72m -rf", "ab{x}"],
)
def test_an_expression_that_a_look_does_not_settle_needs_nothing_that_is_known(expression: str) -> None:
    assert literal_search.required_words(expression) is None


@pytest.mark.parametrize("expression", ["a.b", "(a)", "a+", r"\w", "^(a|(b))$"])
def test_what_is_more_than_words_is_left_to_an_engine(expression: str) -> None:
    assert literal_search.words(expression) is None
    assert literal_search.search("python", expression) is None


def test_in_python_the_end_is_also_before_a_last_newline() -> None:
    for dialect, found in (("python", True), ("javascript", False)):
        find = literal_search.search(dialect, "rm$")
        assert find is not None
        assert (find("rm\n"), find("rm"), find("rm x")) == (found, True, False)
