"""PROTOCOL 2, the table and the array format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from formats.toml_text import read
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("hooks = 3\n", "bad-hooks-section"),
        ("hooks = ['a']\n", "bad-hooks-section"),
        ("model = 'x'\n", "no-hooks"),
        ("hooks = [\n", "bad-toml"),
        (f"a = {'9' * 5000}\n", "bad-toml"),
        ("[[hooks]]\nevent = 'Stop'\ncommand = 'a'\n[hooks.before_tool]\n", "unknown-key"),
    ],
)
def test_a_file_of_neither_format_is_an_error(tmp_path: Path, text: str, code: str) -> None:
    found = read(tmp_path, text)
    assert found.hooks == ()
    assert [problem.code for problem in found.problems] == [code]


def test_broken_toml_names_its_line(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, "a = 1\nb = \n").problems
    assert problem.line == 2


def test_a_file_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    (problem,) = toml_files.read(str(tmp_path / "none.toml")).problems
    assert problem.code == "unreadable"


def test_lines_are_right_after_strings_over_several_lines(tmp_path: Path) -> None:
    several = "'''\n[[hooks]]\ntimeout = 5\n'''"
    text = f"[[hooks]]\nevent = 'Stop'\ncommand = {several}\n[[hooks]]\nevent = 'Nope'\ncommand = 'x'\n"
    (problem,) = read(tmp_path, text).problems
    assert problem.line == 8
