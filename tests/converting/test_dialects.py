"""An expression rewritten for the other dialect finds what it found."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tenterhook.converting.dialects import rewrite
from tenterhook.deciding import expressions
from tenterhook.deciding.expressions import JAVASCRIPT, PYTHON

settings.register_profile(
    "dialects", deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
settings.load_profile("dialects")


@pytest.mark.parametrize(
    ("python", "javascript"),
    [
        ("Shell", "Shell"),
        ("Read.*|Write.*", "Read.*|Write.*"),
        ("mcp__[a-z]+__run$", "mcp__[a-z]+__run$"),
        (r"(?P<tool>Bash)\Z", "(?<tool>Bash)$"),
        (r"\ABash", "^Bash"),
        ("(?i)bash", "[bB][aA][sS][hH]"),
        ("(?i:b)ash", "(?:[bB])ash"),
        ("(?i)[a-c]x", "[ABCabc][xX]"),
        ("(?s)a.b", r"a[\s\S]b"),
        ("(?m)^a$", r"(?<=^|\n)a(?=\n|$)"),
        ("(?x) a # a letter\n b", "ab"),
        ("(?#note)a", "a"),
        ("[]a]", r"[\]a]"),
        ("a{,3}", "a{0,3}"),
        (r"\N{LATIN SMALL LETTER A}\U00000062\101", r"\x61\x62\x41"),
        ("(?<=ab)c(?!d)", "(?<=ab)c(?!d)"),
    ],
)
def test_python_in_the_words_of_javascript(python: str, javascript: str) -> None:
    assert rewrite(python, PYTHON, JAVASCRIPT, names=True).expression == javascript


@pytest.mark.parametrize(
    ("javascript", "python"),
    [
        ("^(Bash|Write)$", "^(Bash|Write)$"),
        ("(?<tool>Bash)", "(?P<tool>Bash)"),
        ("[^]", r"[\s\S]"),
        ("[]", "(?!)"),
        ("[[a]", r"[\[a]"),
        ("a{,3}", r"a\{,3}"),
        (r"\A\Z\cA\u{41}\/", r"AZ\x01\U00000041\/"),
        ("[a&&b]", r"[a&\&b]"),
    ],
)
def test_javascript_in_the_words_of_python(javascript: str, python: str) -> None:
    assert rewrite(javascript, JAVASCRIPT, PYTHON, names=True).expression == python


@pytest.mark.parametrize(
    ("expression", "own", "why"),
    [
        ("(?P<a>x)(?P=a)", PYTHON, "back-reference"),
        (r"(x)\1", PYTHON, "back-reference"),
        ("(?>x)", PYTHON, "atomic"),
        ("x++", PYTHON, "possessive"),
        ("(x)?(?(1)y|z)", PYTHON, "condition"),
        ("(?i)é", PYTHON, "case"),
        (r"\p{L}", JAVASCRIPT, "\\p"),
        (r"(x)\1", JAVASCRIPT, "back-reference"),
        ("(?<=a|bc)d", JAVASCRIPT, "look-behind"),
        ("(?<$a>x)", JAVASCRIPT, "group named"),
        ("(", PYTHON, "not a Python"),
    ],
)
def test_what_the_other_dialect_cannot_say_is_said(expression: str, own: str, why: str) -> None:
    other = JAVASCRIPT if own == PYTHON else PYTHON
    rewritten = rewrite(expression, own, other, names=True)
    assert rewritten.expression is None
    assert why in rewritten.why


def test_classes_that_know_other_scripts_are_told_apart() -> None:
    assert rewrite(r"\d+\w", PYTHON, JAVASCRIPT, names=False).differs == (r"\d", r"\w")
    assert rewrite(r"(?a)\d+\w", PYTHON, JAVASCRIPT, names=False).differs == ()
    assert rewrite(r"\d", JAVASCRIPT, PYTHON, names=False).expression == "[0-9]"


PIECES = [
    *(
        "a",
        "b",
        "S",
        "k",
        "_",
        "-",
        " ",
        ".",
        "^",
        "$",
        "|",
        "(?:a|b)",
        "(x)",
        "[ab]",
        "[^ab]",
        "[a-c]",
        "[]",
        "]",
        "{",
    ),
    *(r"\.", r"\n", r"\t", r"\x41", r"\u0041", r"\s", r"\S", r"\[", "(?=a)", "(?!b)", "(?<=a)", "(?<!b)", "}", "/"),
    *("*", "+", "?", "*?", "{2}", "{1,2}", "{,2}", "{1,}", "[]a]", "[^]", "[a-]", "[-a]", r"[\s_]", r"[\n]"),
]
FROM_PYTHON = [
    *PIECES,
    r"\A",
    r"\Z",
    "(?P<n>a)",
    "(?i:s)",
    "(?i:[a-c])",
    "(?s:.)",
    "(?m:^a$)",
    r"(?a:\w\b)",
    r"(?a:\B)",
    r"\a",
]
FROM_JAVASCRIPT = [
    *PIECES,
    "(?<n>a)",
    r"\d",
    r"\D",
    r"\w",
    r"\W",
    r"\b",
    r"\B",
    r"\cJ",
    r"\q",
    r"[\d-]",
    r"[\D]",
    r"[\W]",
]
TEXTS = [
    *(
        "",
        "a",
        "b",
        "ab",
        "aab",
        "abc",
        "a\n",
        "\na",
        "a\nb",
        "a\r\nb",
        "S",
        "s",
        "k",
        "K",
        "\u017f",
        "\u212a",
        "x",
        "_",
    ),
    *(
        "a b",
        "-",
        "1",
        "a1",
        "\u0661",
        "é",
        "a é b",
        "\u2028",
        "\ufeff",
        "\x1c",
        "\x85",
        "\xa0",
        "[a",
        "]",
        "{,2}",
        "a{",
        "/",
    ),
    *("A", "aaa", "bab", "a.b", "\t", "x]", "q", "\x07"),
]


def _is_sound(expression: str) -> bool:
    """Whether Python takes it without a warning."""
    try:
        re.compile(expression)
    except (re.error, FutureWarning):
        return False
    return True


@pytest.mark.parametrize(("own", "pieces"), [(PYTHON, FROM_PYTHON), (JAVASCRIPT, FROM_JAVASCRIPT)])
@settings(max_examples=300)
@given(data=st.data())
def test_what_is_rewritten_is_found_in_the_same_texts(own: str, pieces: list[str], data: st.DataObject) -> None:
    expression = "".join(data.draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=5)))
    if own == PYTHON:
        assume(_is_sound(expression))
    other = JAVASCRIPT if own == PYTHON else PYTHON
    rewritten = rewrite(expression, own, other, names=False)
    assume(rewritten.expression is not None and not rewritten.differs)
    assert rewritten.expression is not None
    before, after = expressions.search(own, expression), expressions.search(other, rewritten.expression)
    for text in TEXTS:
        assert bool(before(text)) == bool(after(text)), (expression, rewritten.expression, text)


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed: a real engine of JavaScript")
def test_a_real_engine_takes_what_was_rewritten() -> None:
    written = [
        rewrite(each, PYTHON, JAVASCRIPT, names=names).expression
        for each in ("(?i)ba[s-t]h", r"(?P<x>a)\Z", "[]a]", r"(?m)^\s$", "(?s).", "a{,3}", "{")
        for names in (True, False)
    ]
    script = "for (const each of process.argv.slice(1)) new RegExp(each)"
    subprocess.run(["node", "-e", script, *map(str, written)], check=True)
