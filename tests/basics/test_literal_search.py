"""Expressions that are nothing but words are found without an expression engine, where an engine finds them."""

from __future__ import annotations

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
