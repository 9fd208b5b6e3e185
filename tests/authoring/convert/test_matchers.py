"""An expression translated to the other dialect finds the same texts."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tenterhook.authoring.convert.matchers import differing, translate
from tenterhook.formats import expressions
from tenterhook.formats.expressions import JAVASCRIPT, PYTHON

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
        ("(?<=ab)c(?!d)", "(?<=ab)c(?!d)"),
        (r"[\w.-]{2,3}?\.py", r"[\w.-]{2,3}?\.py"),
    ],
)
def test_named_groups_and_anchors_are_translated_and_the_rest_is_shared(python: str, javascript: str) -> None:
    assert translate(python, PYTHON, JAVASCRIPT) == javascript


@pytest.mark.parametrize(
    ("javascript", "python"),
    [
        ("^(Bash|Write)$", "^(Bash|Write)$"),
        ("(?<tool>Bash)", "(?P<tool>Bash)"),
        (r"\/a\u0041", r"\/a\u0041"),
    ],
)
def test_named_groups_of_javascript_are_named_groups_of_python(javascript: str, python: str) -> None:
    assert translate(javascript, JAVASCRIPT, PYTHON) == python


@pytest.mark.parametrize(
    ("expression", "own"),
    [
        *(
            (each, PYTHON)
            for each in ("(?P<a>x)(?P=a)", r"(x)\1", "(?>x)", "x++", "(x)?(?(1)y|z)", "(?i)bash", "(?s).")
        ),
        *((each, PYTHON) for each in ("[]a]", "a{,3}", r"\N{DIGIT ONE}", "(?#note)a", "(", r"\a", "{")),
        *((each, JAVASCRIPT) for each in (r"\p{L}", r"(x)\1", "(?<=a|bc)d", "(?<$a>x)", "[^]", "[]", "[[a]", r"\cA")),
        *((each, JAVASCRIPT) for each in ("[a&&b]", r"\A", r"\u{41}", "a{,3}", "(?i:a)")),
    ],
)
def test_what_the_dialects_do_not_share_is_not_translated(expression: str, own: str) -> None:
    assert translate(expression, own, JAVASCRIPT if own == PYTHON else PYTHON) is None


def test_classes_that_know_other_scripts_are_told_apart() -> None:
    assert differing(r"\d+\w\d x") == [r"\d", r"\w"]
    assert differing(r"a\.b$") == ["$"]
    assert differing("[0-9]") == []


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
def test_what_is_translated_is_found_in_the_same_texts(own: str, pieces: list[str], data: st.DataObject) -> None:
    expression = "".join(data.draw(st.lists(st.sampled_from(pieces), min_size=1, max_size=5)))
    if own == PYTHON:
        assume(_is_sound(expression))
    other = JAVASCRIPT if own == PYTHON else PYTHON
    translated = translate(expression, own, other)
    assume(translated is not None)
    assert translated is not None
    before, after = expressions.search(own, expression), expressions.search(other, translated)
    for text in TEXTS if not differing(expression) else filter(is_name, TEXTS):
        assert bool(before(text)) == bool(after(text)), (expression, translated, text)


def is_name(text: str) -> bool:
    return re.fullmatch(r"[\w-]*", text, re.ASCII) is not None


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed: a real engine of JavaScript")
def test_a_real_engine_takes_what_was_translated() -> None:
    shared = (r"(?P<x>a)\Z", r"\A[a-c]{2,}?", r"(?<!a)\s[\]^-]", r"\x41\u0041\n")
    written = [translate(each, PYTHON, JAVASCRIPT) for each in shared]
    script = "for (const each of process.argv.slice(1)) new RegExp(each)"
    subprocess.run(["node", "-e", script, *map(str, written)], check=True)
