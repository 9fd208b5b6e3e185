"""Words: for lines without effects, the reader's words are those that bash has."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from shell.generated import Lines
from support import takes_less_than
from tenterhook.shell import reader
from tenterhook.shell.syntax import ONE, SET, STAR, UNKNOWN, Budget, decoded
from tenterhook.shell.words import Pattern, encoded, pattern_matches, small_number, split_words

if TYPE_CHECKING:
    from pathlib import Path

needs_bash = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")

VARIABLES = "v=abc; w=; empty=; spaces='a b  c'; list=(x 'y z' ''); name=v; set -- 1 'two 2'"
# Prints the number of its arguments and the arguments, for each line that it is given.
SHOW = f"""show() {{ printf '%s\\0' "$#" "$@"; }}
{VARIABLES}
while IFS= read -r -d '' line; do ( eval "show $line" ); printf '\\2'; done"""


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    """An empty directory: no pattern matches anything there."""
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def words_in_bash(lines: list[str], directory: Path) -> list[list[str] | None]:
    """Return the words of each line, None where bash reports an error. The lines only have words in them."""
    ran = subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", SHOW],
        input="".join(line + "\0" for line in lines).encode(),
        env={"HOME": "/home/me", "LC_ALL": "C.UTF-8"},
        cwd=directory,
        capture_output=True,
    )
    shown = ran.stdout.decode("utf-8", "replace").split("\2")[:-1]
    assert len(shown) == len(lines)
    return [each.split("\0")[1:-1] if each else None for each in shown]


@needs_bash
@pytest.mark.parametrize("seed", range(5))
def test_generated_words_are_those_of_bash(seed: int, empty: Path) -> None:
    generated = Lines(seed)
    lines = [generated.words() for _ in range(200)]
    compared = 0
    for line, expected in zip(lines, words_in_bash(lines, empty), strict=True):
        reading = reader.read(f"{VARIABLES}\nshow {line}", str(empty), {"HOME": "/home/me"})
        # the last reading takes variables without a value for empty
        found = [command.words[1:] for command in reading.commands if command.name == "show"][-1]
        words = [decoded(word) for word in found]
        if expected is not None and not any(UNKNOWN in word for word in words):
            assert words == expected, line
            compared += 1
    assert compared > 150


@needs_bash
def test_braces_are_expanded_as_in_bash(empty: Path) -> None:
    lines = [
        *(
            "{a,b}c{d,e}",
            "{a,{b,{c,d}}}",
            "{1..12..5}",
            "{010..8..-1}",
            "{z..w}",
            "{-3..-1}",
            "{a,b}{",
            "}{a,b}",
            "{{a,b},c}",
        ),
        *(
            "{a,b}{c,d}{e,f}",
            "{,}{,}x",
            "{a,b\\,c}",
            "{a..}",
            "{..b}",
            "{1..2..0}",
            "a{b,c",
            "a,b",
            "{'a,b',c}",
            "{a,b}'{c,d}'",
        ),
        *(
            "{a}{b,c}{d}",
            "{{{a,b}}}",
            "x{1..3}y{a..b}",
            '"{a,b}"',
            "{0..0}",
            "{a,,b}",
            "{a,b}\\{c,d}",
            "{1..a}",
            "{A..C}",
        ),
    ]
    for line, expected in zip(lines, words_in_bash(lines, empty), strict=True):
        found = reader.read(f"show {line}", str(empty), {}).commands[0].words[1:]
        assert [decoded(word) for word in found] == expected, line


@needs_bash
def test_patterns_match_as_in_bash(empty: Path) -> None:
    values = ("", "a", "ab", "abc", "aXbXc", "a/b.c", "]", "a-b", "AbC", "a b")
    patterns = (
        "*",
        "?",
        "a*",
        "*b",
        "*X*",
        "a*c",
        "[ab]",
        "[!a]*",
        "[a-c]*",
        "[]]",
        "[[:upper:]]*",
        "*[[:digit:]]",
        "?b?",
        "**c",
    )
    operators = ("#", "##", "%", "%%", "/", "//", "/#", "/%")
    lines = [
        f'"${{x{operator}{pattern}{"/Y" if operator[0] == "/" else ""}}}"'
        for operator in operators
        for pattern in patterns
        if not (operator in ("/#", "/%") and pattern.startswith(("#", "%")))
    ]
    for value in values:
        script = [f"$(x='{value}'; printf '%s.' {line})" for line in lines]
        expected = words_in_bash([f'"{each}"' for each in script], empty)
        for line, words in zip(lines, expected, strict=True):
            reading = reader.read(f"x='{value}'; show {line}", str(empty), {})
            assert [decoded(reading.commands[-1].words[1]) + "."] == words, (value, line)


@pytest.mark.parametrize(
    ("pattern", "text", "is_match"),
    [
        (f"/us{STAR}", "/usr", True),
        (f"/us{STAR}", "/usr/bin", False),
        (f"/us{ONE}", "/usr", True),
        (f"/{SET}a-z]sr", "/usr", True),
        (f"/{SET}!u]sr", "/usr", False),
        (f"{STAR}/{STAR}", "a/b", True),
        ("/usr", "/usr", True),
        (f"/{SET}", "/[", True),
        (f"/{STAR * 50}x", "/" + "a" * 50, False),
        (f"/{(STAR + 'a') * 50}x", "/" + "a" * 100, False),
        ("/" + STAR + "a" * 5000, "/usr", True),  # too long to be looked at
    ],
)
def test_a_pattern_matches_a_path(pattern: str, text: str, is_match: bool) -> None:
    assert pattern_matches(pattern, text) == is_match
    assert takes_less_than(0.05, lambda: pattern_matches(pattern, text))


def test_a_pattern_has_shortest_and_longest_matches() -> None:
    pattern = Pattern(f"{STAR}b")
    assert (pattern.prefix("abab", longest=False), pattern.prefix("abab", longest=True)) == (2, 4)
    assert (pattern.suffix("abab", longest=False), pattern.suffix("abab", longest=True)) == (1, 4)
    assert pattern.find("xxb yb", 0) == (0, 6)
    assert Pattern("q").find("abc", 0) is None


def test_a_value_is_split_at_separators_unless_it_is_quoted() -> None:
    assert split_words(encoded("a b\tc", False, " \t\n"), Budget()) == ["a", "b", "c"]
    assert split_words(encoded("a b", True, " \t\n"), Budget()) == ["a b"]
    assert split_words(encoded("a,b c", False, ","), Budget()) == ["a", "b c"]
    assert split_words(encoded("*.py", False, " \t\n"), Budget()) == [f"{STAR}.py"]


@pytest.mark.parametrize(
    ("text", "number"), [("12", 12), ("-3", -3), ("", None), ("²", None), ("9" * 5000, None), ("1a", None)]
)
def test_a_number_has_few_decimal_digits(text: str, number: int | None) -> None:
    assert small_number(text) == number
