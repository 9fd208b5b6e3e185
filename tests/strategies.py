"""Values for tests of what holds for every input, not only for those that a test names."""

from __future__ import annotations

from hypothesis import strategies as st

any_text = st.text(st.characters(), max_size=40)  # lone surrogates too
sendable_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
json_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | any_text
json_values = st.recursive(
    json_scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(any_text, inner, max_size=4),
    max_leaves=12,
)
