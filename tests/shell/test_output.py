"""What programs print."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tenterhook.shell import reader
from tenterhook.shell.output import decoded, echo, filtered, printf
from tenterhook.shell.syntax import DECODED, GENERATED, NETWORK, STAR, UNKNOWN


def stdin_of_last(line: str) -> str | None:
    """Return what the last command of a line reads."""
    return reader.read(line, "/home/me/project", {"HOME": "/home/me"}).commands[-1].stdin


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("echo a | cat > f; cat f f | tee", "a\na\n"),
        ("pwd | tee", "/home/me/project"),
        ("dirname /a/b | tee", "/a"),
        ("basename /a/b | tee", "b"),
        ("realpath x | tee", "/home/me/project/x"),
        ("git rev-parse --show-toplevel | tee", "/home/me/project"),
        ("find d e | tee", "d\ne\n"),
        ("find d e -print0 | tee", "d\0e\0"),
        ("ls | tee", STAR),
        ("mkdir x | tee", ""),
        ("echo a > f; cp f g; cat g | tee", "a\n"),
        ("echo a | tee f; cat f | tee", "a\n"),
        ("curl x | tee", NETWORK),
        ("curl -o f x; cat f | tee", NETWORK),
        ("wget x/y; cat y | tee", NETWORK),
        ("curl x | base64 -d | tee", NETWORK),
        ("echo YQ== | base64 -d | tee", DECODED + "a"),
        ("base64 f | tee", UNKNOWN),
        ("date | tee", UNKNOWN),
    ],
)
def test_what_a_program_prints_is_known_as_far_as_the_line_decides_it(line: str, text: str) -> None:
    assert stdin_of_last(line) == text


@pytest.mark.parametrize(
    ("name", "words", "text", "result"),
    [
        ("grep", ["a"], "a\nb\n", "a\nb\n"),
        ("grep", ["a"], STAR, UNKNOWN),
        ("grep", ["-v", "a"], STAR, STAR),
        ("head", ["-1"], "a\n", "a\n"),
        ("sort", [], STAR, STAR),
        ("rev", [], "abc\n", "cba\n"),
        ("tr", ["a-z", "A-Z"], "abc", "ABC"),
        ("tr", ["-d", "b"], "abc", "ac"),
        ("sed", ["s/b/x/"], "abc", "axc"),
        ("sed", ["s/.*/x/"], "abc", GENERATED),
        ("awk", ["BEGIN {}"], "", GENERATED),
        ("cut", ["-c1"], "abc", GENERATED),
        ("cut", ["-c1"], UNKNOWN, UNKNOWN),
        ("cut", ["-c1"], f"a{NETWORK}", NETWORK),
    ],
)
def test_a_filter_prints_what_it_reads_changed_or_a_mark(name: str, words: list[str], text: str, result: str) -> None:
    assert filtered(name, words, text) == result


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(
    "words",
    [
        ["a", "b"],
        ["-e", "a\\tb\\x41"],
        ["-n", "a"],
        ["%s-%s\\n", "a", "b", "c"],
        ["%%|%b|%s", "a\\nb", "c\\nd"],
        ["--", "%s", "-v"],
        ["x"],
    ],
)
def test_echo_and_printf_print_as_in_bash(words: list[str]) -> None:
    def in_bash(name: str) -> str:
        return subprocess.run(["bash", "-c", f'{name} "$@"', name, *words], capture_output=True, text=True).stdout

    if words[0].startswith("-") and words[0] != "--":
        assert echo(words).rstrip("\n") == in_bash("echo").rstrip("\n")
    else:
        assert printf(words) == in_bash("printf")


def test_what_cannot_be_decoded_is_nothing() -> None:
    assert decoded("base64", "YQ==\n") == "a"
    assert decoded("xxd", "61") == "a"
    assert decoded("base64", "é") == ""
