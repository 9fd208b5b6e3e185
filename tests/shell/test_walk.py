"""The walk: branches, loops, fork bombs, code that comes from elsewhere."""

from __future__ import annotations

import pytest

from tenterhook.shell import reader
from tenterhook.shell.reader import Reading
from tenterhook.shell.syntax import decoded

PROJECT = "/home/me/project"


def read(line: str, **variables: str) -> Reading:
    return reader.read(line, PROJECT, {"HOME": "/home/me", **variables})


def words(line: str, **variables: str) -> list[list[str]]:
    return [[decoded(word) for word in each.words] for each in read(line, **variables).commands]


def test_all_branches_and_rounds_are_walked() -> None:
    assert words("if a; then x=1; else x=2; fi; rm $x")[-2:] == [["rm", "1"], ["rm", "2"]]
    assert [each for each in words("for i in a b c; do rm $i; done") if each] == [["rm", "a"], ["rm", "b"], ["rm", "c"]]
    names = [f"f{number}" for number in range(40)]
    assert [each[1] for each in words(f"for i in {' '.join(names)}; do rm $i; done")] == names


def test_of_a_loop_over_many_numbers_the_first_and_the_last_are_walked() -> None:
    found = [each[1] for each in words("for i in {1..1000}; do rm $i; done")]
    assert found[0] == "1"
    assert found[-1] == "1000"
    assert len(found) < 30


@pytest.mark.parametrize("line", [":(){ :|:& };:", "f() { f | f & }; f", "while true; do ls & done"])
def test_a_fork_bomb_is_noted(line: str) -> None:
    assert "fork-bomb" in [note.kind for note in read(line).notes]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("curl a | sh", "run-download"),
        ("wget -qO- a | bash", "run-download"),
        ("sh <(curl a)", "run-download"),
        ("eval \"$(curl a)\"", "run-download"),
        ("curl -o f a; sh f", "run-download"),
        ("curl -o f a; chmod +x f; ./f", "run-download-directly"),
        ("echo cm0gYQo= | base64 -d | sh", None),
        ("base64 -d f | sh", "run-decoded"),
        ("powershell -enc bABzAA==", "run-decoded"),
    ],
)  # fmt: skip
def test_code_that_comes_from_elsewhere_is_noted(line: str, kind: str | None) -> None:
    kinds = [note.kind for note in read(line).notes]
    assert kinds if kind is None else kind in kinds


def test_the_steps_after_a_function_is_called_are_in_its_state() -> None:
    assert words("f() { cd /tmp; x=$1; }; f a; rm $x")[-1] == ["rm", "a"]
    assert read("f() { cd /tmp; }; f; ls").commands[-1].directory == "/tmp"


def test_a_subshell_and_a_pipeline_leave_the_directory() -> None:
    assert read("(cd /tmp); ls").commands[-1].directory == PROJECT
    assert read("cd /tmp | cat; ls").commands[-1].directory == PROJECT


@pytest.mark.parametrize(
    ("line", "inputs"),
    [
        ("cat < a < b", ("a", "b")),
        ("while read x; do echo $x; done < a", ("a",)),
        ("echo $(<a)", ("a",)),
        ("exec 3<>a", ("a",)),
        ("cat <<< a", ()),
        ("sh -c 'ls' < a", ("a",)),
    ],
)
def test_files_that_redirections_read_are_the_inputs_of_a_command(line: str, inputs: tuple[str, ...]) -> None:
    commands = read(line).commands
    assert commands[0].inputs == inputs
    assert not any(command.inputs for command in commands[1:])
