"""Builtins that change the state of the shell."""

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
        ("cd sub; rm $PWD", ["rm", f"{PROJECT}/sub"]),
        ("read x <<< a; rm $x", ["rm", "a"]),
        ("set -- a b; rm $2", ["rm", "b"]),
        ("set -- a b; shift; rm $1", ["rm", "b"]),
        ("printf -v x %s a; rm $x", ["rm", "a"]),
        ("mapfile -t x <<< a; rm ${x[0]}", ["rm", "a"]),
        ("read x y <<< 'a b c'; rm $y", ["rm", "b", "c"]),
        ("read -a x <<< 'a b'; rm ${x[1]}", ["rm", "b"]),
        ("read -ra x <<< 'rm a b'; \"${x[@]}\"", ["rm", "a", "b"]),
        ("cat f | while read -ra x; do rm ${x[2]}; done", ["rm", UNKNOWN]),
        ("mapfile -t x < f; rm ${x[2]}", ["rm", UNKNOWN]),
        ("export x=a; rm $x", ["rm", "a"]),
        ("x=a; unset x; rm x$x", ["rm", "x"]),
        ("eval 'x=a'; rm $x", ["rm", "a"]),
        ("alias r='rm a'; r", ["rm", "a"]),
        ("echo x=a > s; . ./s; rm $x", ["rm", "a"]),
        ("getopts ab x; rm $x", ["rm", UNKNOWN]),
    ],
)  # fmt: skip
def test_a_builtin_changes_the_state(line: str, last: list[str]) -> None:
    assert words(line)[-1] == last


@pytest.mark.parametrize(
    ("line", "directory"),
    [
        ("cd", "/home/me"),
        ("cd ~/x", "/home/me/x"),
        ("cd -P /tmp", "/tmp"),
        ("cd -", f"/{UNKNOWN}"),
        ("pushd /tmp; popd", f"/{UNKNOWN}"),
        ("pushd", PROJECT),
    ],
)
def test_the_directory_is_followed(line: str, directory: str) -> None:
    assert read(f"{line}; ls").commands[-1].directory == directory
