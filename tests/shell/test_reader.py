"""The reader: which commands a line would run, how certain that is, and where they stand."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from shell.generated import Lines
from tenterhook.shell import reader
from tenterhook.shell.reader import Reading, ShellCommand
from tenterhook.shell.syntax import UNKNOWN, UNKNOWNS, decoded

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = "/home/me/project"


def read(line: str, **variables: str) -> Reading:
    return reader.read(line, PROJECT, {"HOME": "/home/me", **variables})


def command(line: str, name: str) -> ShellCommand:
    """Return the last command of a line with this name."""
    return [each for each in read(line).commands if each.name == name][-1]


def words(line: str, **variables: str) -> list[list[str]]:
    return [[decoded(word) for word in each.words] for each in read(line, **variables).commands]


# -- certainty ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "ls",
        "ls -la 'a b' \"c\" d\\ e",
        "ls a,b {} [x '*' \"?\" '{a,b}' \\*",
        "A=b ls",
        "sudo ls",
        "env A=b timeout 5 ls a",
        "sh -c 'ls a'",
        "true && ls > f 2>&1",
        "cat f | ls",
        "(cd a; ls)",
        "if true; then ls; fi",
        "ls <<'E'\n$x\nE",
        "ls $'a\\tb'",
        "echo $x; ls",
        "f() { ls a; }; f",
        "for i in a b; do ls; done",
        "ls [",
        "watch ls",
    ],
)
def test_a_command_is_certain_if_its_words_are_written_as_they_are(line: str) -> None:
    assert command(line, "ls").is_certain


@pytest.mark.parametrize(
    "line",
    [
        "ls $x",
        'ls "$HOME"',
        "ls ~",
        "ls ~/a",
        "ls *",
        "ls a?",
        "ls [ab]",
        "ls {a,b}",
        "ls {1..3}",
        "ls $(echo a)",
        "ls `echo a`",
        "ls $((1+1))",
        "ls <(echo a)",
        "ls > $x",
        "A=$x ls",
        "A=$(echo b) ls",
        "x=ls; $x",
        "f() { ls $1; }; f a",
        'f() { ls "$@"; }; f a',
        "for i in a b; do ls $i; done",
        "sudo ls $x",
        'sh -c "ls $x"',
        "sh -c 'ls \"$1\"' x y",
        'eval "$x ls"',
        "echo ls | sh",
        "sh <<'E'\nls\nE",
        "echo a | xargs ls",
        "find . -exec ls {} +",
        "parallel ls ::: a",
        "fd -x ls",
        "echo ls > s; sh s",
        "python3 -c 'import os; os.system(\"ls\")'",
        "ls extglob!(a)",
    ],
)
def test_a_command_is_not_certain_if_something_is_expanded(line: str) -> None:
    assert not command(line, "ls").is_certain


# -- completeness -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["", "ls", "ls $x | grep a", "cat <<E\n$x\nE", "$x a", "cat f | sh", "sh f", "git log {a,b}{c,d}"]
)
def test_a_line_is_complete_if_it_was_understood_to_its_end(line: str) -> None:
    assert read(line).is_complete


@pytest.mark.parametrize(
    "line",
    [
        "ls 'a",
        "ls (",
        "if ls; then ls",
        "echo `if`; ls",
        'cat <<E\n${x:-"}\nE',
        "sh -c 'ls (' ",
        "eval 'ls )'",
        "sudo " * 20 + "ls",
        "eval " * 20 + "ls",
        "ls " + "{a,b}" * 10,
        "ls;" * 100_000,
        "((" * 100,
        "$(" * 100 + ")" * 100,
    ],
)
def test_a_line_that_was_not_understood_is_not_complete(line: str) -> None:
    reading = read(line)
    assert not reading.is_complete
    assert [note.kind for note in reading.notes if note.kind == "unreadable"]


@pytest.mark.parametrize(
    "line", ["ls; rm a; (", "ls\nrm a\nif", "rm a; ls 'b", "{ rm a; (", "if rm a; then", "rm a | (", "x=$(rm a) ("]
)
def test_the_commands_before_a_syntax_error_are_kept(line: str) -> None:
    assert ["rm", "a"] in words(line)


def test_what_is_wrong_is_said_with_the_part_of_the_line() -> None:
    (note,) = read("ls 'a").notes
    assert note.shown == "ls 'a: a quote is not closed"
    (note,) = read("ls a;" * 100_000).notes
    assert note.shown.endswith("…: it is too long") or note.shown.endswith(": it is too long")


# -- places -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "name", "part"),
    [
        ("ls a; rm b", "rm", "rm b"),
        ("ls a  # rm c", "ls", "ls a"),
        ("sudo rm b && ls", "rm", "sudo rm b"),
        ("ls | A=b rm c > d | ls", "rm", "A=b rm c > d"),
        ("echo \"$(rm a)\"", "rm", "rm a"),
        ("echo `rm a`", "rm", "rm a"),
        ("sh -c 'ls; rm a; ls'", "rm", "rm a"),
        ("sh <<'E'\nls\nrm a\nE", "rm", "rm a"),
        ("f() { rm \"$1\"; }; f x", "rm", "rm \"$1\""),
        ("if ls; then rm a; fi", "rm", "rm a"),
        ("cat <<E\n$(rm a)\nE", "rm", "rm a"),
        ("x='rm a'; $x", "rm", "$x"),
        ("ssh host 'cd x; rm a'", "rm", "rm a"),
        ("{ ls; } > f", "", "{ ls; } > f"),
    ],
)  # fmt: skip
def test_a_command_has_its_place_in_the_line(line: str, name: str, part: str) -> None:
    span = command(line, name).span
    assert span is not None
    assert line[slice(*span)] == part


@pytest.mark.parametrize(
    "line", ["eval \"r\"'m a'", "echo cm0gYQo= | base64 -d | sh", 'x=rm; sh -c "$x a"', "printf 'r%s a' m | sh"]
)
def test_a_command_that_is_not_literally_in_the_line_has_no_place(line: str) -> None:
    assert command(line, "rm").span is None


def test_a_command_without_a_shell_has_no_place() -> None:
    (first, second) = reader.read(["sudo", "rm", "a b"], PROJECT, {}).commands
    assert (first.words, second.words, second.through, second.span) == (
        ["sudo", "rm", "a b"],
        ["rm", "a b"],
        ("sudo",),
        None,
    )
    assert second.is_certain


# -- what belongs to a command ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "name", "assignments"),
    [
        ("A=b C='d e' ls", "ls", (("A", "b"), ("C", "d e"))),
        ("x=1; A=$x ls", "ls", (("A", "1"),)),
        ("env A=b C=d ls", "ls", (("A", "b"), ("C", "d"))),
        ("sudo A=b ls", "ls", (("A", "b"),)),
        ("A=b C+=d", "", (("A", "b"), ("C", "d"))),
        ("a=(x y)", "", (("a", "x y"),)),
        ("A=b; ls", "ls", ()),
        ("A=b ls $(cat c)", "cat", ()),
    ],
)
def test_a_command_has_its_assignments(line: str, name: str, assignments: tuple[tuple[str, str], ...]) -> None:
    assert command(line, name).assignments == assignments


@pytest.mark.parametrize(
    ("line", "redirects"),
    [
        ("ls > f", [(">", "f")]),
        ("ls >> f 2> g", [(">>", "f"), ("2>", "g")]),
        ("ls &> f", [("&>", "f")]),
        ("ls >| f < g", [(">|", "f")]),
        ("ls 2>&1", []),
        ("ls > a$((1))", [(">", f"a{UNKNOWN}")]),
    ],
)
def test_a_command_has_the_files_that_its_output_goes_to(line: str, redirects: list[tuple[str, str]]) -> None:
    assert command(line, "ls").redirects == redirects


@pytest.mark.parametrize(
    ("line", "stdin"),
    [
        ("echo a b | tee", "a b\n"),
        ("printf '%s-%s\\n' a b c d | tee", "a-b\nc-d\n"),
        ("tee <<< a", "a\n"),
        ("tee <<E\na $HOME\nE", "a /home/me\n"),
        ("tee <<'E'\na $HOME\nE", "a $HOME\n"),
        ("cat <<-E | tee\n\ta\n\tE", "a\n"),
        ("echo a > f; tee < f", "a\n"),
        ("date | tee", None),
        ("tee", None),
        ("{ echo a; echo b; } | tee", "a\nb\n"),
        ("for i in 1 2; do echo $i; done | tee", "1\n2\n"),
        ("echo a | tr a b | tee", "b\n"),
    ],
)
def test_a_command_has_the_text_that_it_reads(line: str, stdin: str | None) -> None:
    found = command(line, "tee").stdin
    assert (found if found is None or UNKNOWN not in found else None) == stdin


def test_a_command_has_the_commands_before_it_in_the_pipeline() -> None:
    assert command("curl a | tee b | sh", "sh").upstream == [["curl", "a"], ["tee", "b"]]


def test_a_nul_character_is_in_no_word() -> None:
    assert not read("rm a\0b").is_complete
    assert words("rm a\0b") == [["rm", "a\ufffdb"]]
    assert words("rm $(printf 'a\\0b')")[-1] == ["rm", "ab"]
    assert ["rm", "a"] in words("printf 'r\\0m a' | sh")
    assert words("printf 'a\\0b' | xargs -0 rm")[-1] == ["rm", "a", "b"]


def test_characters_for_marks_cannot_be_written_in_a_line() -> None:
    assert words("rm \ue000\ue004") == [["rm", "\ufffd\ufffd"]]
    assert words("rm $x", x="\ue001")[0] == ["rm", "\ufffd"]
    assert words("rm $'\\ue000'") == [["rm", "\ufffd"]]


def test_surrogates_that_no_program_can_be_given_are_in_no_word() -> None:
    assert words("rm \ud800 \udc41 \udfff \udc80 $'\\ud800'") == [
        ["rm", "\ufffd", "\ufffd", "\ufffd", "\udc80", "\ufffd"]
    ]


# -- real shells --------------------------------------------------------------------------------------------------

# A function that writes its arguments to a file: the only command of the scripts that has an effect.
SHOW = "show() { { printf '\\3'; printf '%s\\37' \"$@\"; } >> \"$SHOWN\"; }\n"


def ran_by_bash(script: str, directory: Path) -> list[str]:
    """Return the arguments of each `show` that bash runs. Without a PATH it finds no other program."""
    file = directory / "shown"
    file.write_bytes(b"")
    subprocess.run(
        [shutil.which("bash") or "bash", "--norc", "--noprofile", "-c", SHOW + script],
        env={"HOME": "/home/me", "PATH": "", "LC_ALL": "C.UTF-8", "SHOWN": str(file)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
    )
    return [each.removesuffix("\37") for each in file.read_text().split("\3")[1:]]


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize("seed", range(5))
def test_every_command_that_bash_runs_is_in_the_reading(seed: int, tmp_path: Path) -> None:
    lines = Lines(seed)
    for _ in range(60):
        script = lines.script()
        reading = reader.read(script, str(tmp_path), {"HOME": "/home/me"})
        assert reading.is_complete, script
        texts = ["\37".join(map(decoded, each.words[1:])) for each in reading.commands if each.name == "show"]
        patterns = [re.sub(f"[{''.join(UNKNOWNS)}]", ".*", re.escape(text)) for text in texts]
        for shown in ran_by_bash(script, tmp_path):
            assert any(re.fullmatch(pattern, shown, re.DOTALL) for pattern in patterns), (shown, script)
