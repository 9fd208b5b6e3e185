"""Text as a person may safely look at it."""

from __future__ import annotations

import pytest

from tenterhook.basics.display_text import lines_of, listed, one_line, text_of, visible, with_stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("abc\u202egpj.exe", "abc\\u202egpj.exe"),  # reverses what follows
        ("a\u200bb", "a\\u200bb"),  # no width
        ("a\u3164b", "a\\u3164b"),  # a letter that is blank
        ("a\u00a0b", "a\\u00a0b"),
        ("a\rb", "a\\rb"),
        ("a\u2028b", "a\\u2028b"),
        ("two words, ä and 漢", "two words, ä and 漢"),
    ],
)
def test_what_cannot_be_seen_for_what_it_is_becomes_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_lines_and_tabs_stay_in_a_text_and_not_in_a_name() -> None:
    assert visible("a\n\tb\x00") == "a\n\tb\\x00"
    assert one_line("a\n\tb") == "a\\n\\tb"


def test_a_byte_that_is_no_text_is_shown_as_that_byte() -> None:
    assert visible(text_of(b"caf\xe9 \xff")) == "caf\\xe9 \\xff"
    assert text_of(b"\xff").encode("utf-8", "surrogateescape") == b"\xff"


@pytest.mark.parametrize(("text", "number"), [("", 0), ("a", 1), ("a\n", 1), ("a\x0cb\u2028c\rd", 1), ("\n\n", 2)])
def test_only_a_newline_ends_a_line(text: str, number: int) -> None:
    assert len(lines_of(text)) == number
    assert "".join(lines_of(text)) == text


def test_the_last_lines_of_stderr_stand_below_the_reason_of_a_failure() -> None:
    assert with_stderr("it failed", " \n") == "it failed"
    assert with_stderr("it failed", "  why\n") == "it failed: why"
    said = with_stderr("it failed", "\n".join(map(str, range(9))))
    assert said == "it failed:\n…\n4\n5\n6\n7\n8"
    assert len(with_stderr("x", "y" * 10_000)) < 500


def test_names_are_listed_as_in_a_sentence() -> None:
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
