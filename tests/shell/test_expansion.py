"""Expansion: the values of variables, as far as they are known."""

from __future__ import annotations

import pytest

from tenterhook.shell import reader
from tenterhook.shell.reader import Reading
from tenterhook.shell.syntax import UNKNOWN, decoded

PROJECT = "/home/me/project"


def read(line: str, **variables: str) -> Reading:
    return reader.read(line, PROJECT, {"HOME": "/home/me", **variables})


def words(line: str, **variables: str) -> list[list[str]]:
    return [[decoded(word) for word in each.words] for each in read(line, **variables).commands]


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ("x=a; rm $x", ["rm", "a"]),
        ("x='a b'; rm $x \"$x\"", ["rm", "a", "b", "a b"]),
        ("x=(a 'b c'); rm \"${x[@]}\"", ["rm", "a", "b c"]),
        ("rm $GIVEN", ["rm", "value"]),
        ("rm \"$HOME/x\"", ["rm", "/home/me/x"]),
        ("rm ${x:-a}", ["rm", "a"]),
        ("rm ${GIVEN%ue}", ["rm", "val"]),
        ("x=abc; rm ${x:1:1}", ["rm", "b"]),
        ("rm $(echo a)", ["rm", "a"]),
        ("rm $(dirname a/b)", ["rm", "a"]),
        ("f() { rm \"$2\"; }; f a b", ["rm", "b"]),
        ("x=y y=a; rm ${!x}", ["rm", "a"]),
        ("rm $(ls)", ["rm", "*"]),
    ],
)  # fmt: skip
def test_known_values_are_followed(line: str, last: list[str]) -> None:
    assert words(line, GIVEN="value")[-1] == last


def test_a_variable_with_too_many_values_has_an_unknown_one() -> None:
    line = "; ".join(f"if a; then x={number}; fi" for number in range(20)) + "; rm $x"
    assert [UNKNOWN] in [command.words[1:] for command in read(line).commands if command.name == "rm"]


def test_of_many_combinations_of_values_each_value_is_looked_at() -> None:
    lines = "".join(f"x{name}\n" for name in range(8))
    reading = read(f"while read a; do while read b; do rm $a $b; done <<E\n{lines}E\ndone <<E\n{lines}E\n")
    assert reading.is_complete
    for at in (1, 2):
        assert {command.words[at] for command in reading.commands if command.name == "rm"} == set(lines.split())


def test_a_variable_without_a_value_is_unknown_and_empty() -> None:
    commands = read("rm -rf $unset/x").commands
    assert [each.words[-1] for each in commands] == [f"{UNKNOWN}/x", "/x"]
    assert commands[1].unset == ("unset",)
