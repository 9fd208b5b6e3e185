"""Regular expressions of both dialects: which are valid, which are quick for certain, and which can run away."""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from strategies import any_text
from tenterhook.basics import expression_cost
from tenterhook.formats import expressions

if TYPE_CHECKING:
    from collections.abc import Iterator


atoms = st.sampled_from(["a", "b", ".", r"\w", "[ab]", "[^b]", r"\s", "(?:a|b)", "(?:a|ab)", "(a)", r"\b", "^", "$"])


counts = st.sampled_from(["", "", "*", "+", "?", "*?", "+?", "{2}", "{,3}", "{1,20}", "{20}", "{2,}", "{,}", "{0,9}"])


patterns = st.recursive(
    st.tuples(atoms, counts).map("".join),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map("".join)
        | st.tuples(inner, inner).map("(?:{0[0]}|{0[1]})".format)
        | st.tuples(inner, counts).map("({0[0]}){0[1]}".format)
    ),
    max_leaves=7,
)


WORKER = """
import json, sys
from tenterhook.basics import expression_cost
from tenterhook.formats import expressions
for line in sys.stdin:
    dialect, expression, text = json.loads(line)
    expressions.search(dialect, expression)(text)
    print("done", flush=True)
"""


class Worker:
    """Searches in a process that can be killed; restarted when it had to be."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def seconds(self, dialect: str, expression: str, text: str, limit: float) -> float:
        """How long a search takes, at most the limit."""
        process = self._process
        if process is None:
            process = self._process = subprocess.Popen(
                [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            self.seconds(dialect, "a", "a", 30)  # it is up
        assert process.stdin and process.stdout
        begun = time.monotonic()
        process.stdin.write(json.dumps([dialect, expression, text]) + "\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], limit)[0]:
            self.close()
            return limit
        process.stdout.readline()
        return time.monotonic() - begun

    def close(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


@given(
    expression=patterns,
    text=st.sampled_from(["a" * 18 + "!", "a" * 40 + "!", "ab" * 30 + "!", "a b" * 100 + "!", "a" * 3000]),
    dialect=st.sampled_from(["python", "javascript"]),
)
@settings(max_examples=120, phases=[Phase.explicit, Phase.generate])
def test_what_is_matched_on_the_spot_never_takes_long(worker: Worker, expression: str, text: str, dialect: str) -> None:
    try:
        expressions.search(dialect, expression)
    except expressions.BadExpression:
        return
    if expression_cost.is_quick(expression, len(text)):
        assert worker.seconds(dialect, expression, text, 2) < 2


@given(expression=any_text | st.text("ab()[]{}|*+?.\\^$,123", max_size=15))
@settings(max_examples=120)
def test_every_expression_is_either_refused_or_can_be_judged(expression: str) -> None:
    for dialect in ("python", "javascript"):
        try:
            expressions.search(dialect, expression)
        except expressions.BadExpression:
            continue
        assert expression_cost.is_quick(expression, 10) in (True, False)
        assert expression_cost.is_exponential(expression) in (True, False)


@given(text=any_text)
@settings(max_examples=100)
def test_a_literal_is_found_in_itself_in_both_dialects(text: str) -> None:
    escaped = re.sub(r"([^\w\s])", r"\\\1", text) if text.isascii() else ""
    for dialect in ("python", "javascript"):
        assert expressions.search(dialect, escaped)(text) is not None


@settings(max_examples=600, deadline=None, derandomize=True, database=None)
@given(st.text("ab0.*+?|()[]{}^$\\dwsb -,:", max_size=16))
def test_an_expression_taken_at_a_look_is_one_in_both_dialects(expression: str) -> None:
    if re.fullmatch(expressions._VALID, expression):
        for dialect in (expressions.PYTHON, expressions.JAVASCRIPT):
            expressions.search(dialect, expression)  # does not raise
