"""Which arguments are code or program text."""

from __future__ import annotations

import pytest

from tenterhook.shell import program_text


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["sed", "-n", "s/a/b/", "f"], ["s/a/b/"]),
        (["sed", "-e", "1d", "f"], ["1d"]),
        (["jq", "--arg", "a", "b", ".a", "f"], [".a"]),
        (["sqlite3", "db", "select 1"], ["select 1"]),
        (["vim", "+1d", "f"], ["+1d"]),
        (["make", "-C", "x", "all"], ["-C", "x", "all"]),
        (["python3", "check.py", "a"], ["check.py"]),
        (["grep", "-e", "a", "f"], []),
    ],
)
def test_program_text_is_what_a_program_is_given_in_its_own_language(words: list[str], text: list[str]) -> None:
    assert list(dict.fromkeys(program_text.texts(words, None))) == text


def test_programs_that_run_their_input_are_known() -> None:
    assert all(
        program_text.runs_stdin(line.split()) for line in ("sh", "bash -s a", "python3 - a", "psql db", "ssh host")
    )
    assert not any(
        program_text.runs_stdin(line.split()) for line in ("sh f", "cat", "python3 f.py", "jq .", "ssh host ls")
    )


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("git -c core.pager=less log", ["-c core.pager=less"]),
        ("git log -c", []),
        ("git diff --ext-diff a", ["--ext-diff a"]),
        ("python3 -m pytest", ["-m pytest"]),
        ("make SHELL=sh all", ["SHELL=sh"]),
        ("ls -c a", []),
    ],
)
def test_options_that_name_code_are_known_by_program_and_subcommand(line: str, found: list[str]) -> None:
    words = line.split()
    assert [" ".join(words[first : last + 1]) for first, last in program_text.code_options(words)] == found
