"""Front matter: the YAML between the first two lines of HOOK.md that are exactly `---`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from tenterhook.errors import Problem
from tenterhook.formats import front_matter
from tenterhook.formats.front_matter import FrontMatter

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, content: str | bytes) -> FrontMatter | Problem:
    file = tmp_path / "HOOK.md"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return front_matter.read(str(file))


def values(found: FrontMatter | Problem) -> dict[str, Any]:
    assert isinstance(found, FrontMatter), found
    return found.raw


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"no front matter", "no-front-matter"),
        (b"", "no-front-matter"),
        (b"---\nname: guard\n", "no-front-matter"),
        (b"--- \nname: guard\n---\n", "no-front-matter"),
        (b"---\nname: [\n---\n", "bad-yaml"),
        (b"---\n- a\n- b\n---\n", "bad-yaml"),
        (b"---\nname: !!python/object:os.system x\n---\n", "bad-yaml"),
        (b"---\n\xff\xfe\n---\n", "not-text"),
        (b'---\nname: "\\."\nsince: 2001-13-45\n---\n', "bad-yaml"),
        (
            b"---\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
            b"c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
            b"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n---\n",
            "bad-yaml",
        ),
    ],
)
def test_a_broken_head_is_a_problem_and_nothing_else(tmp_path: Path, content: bytes, code: str) -> None:
    found = read(tmp_path, content)
    assert isinstance(found, Problem)
    assert found.code == code
    assert found.remedy


@pytest.mark.parametrize("opening", ["a: " + "[" * 30000, "- " * 30000, "? " * 30000, "a: " + "{a: " * 30000])
def test_a_head_that_nests_without_end_is_a_problem_not_a_crash(tmp_path: Path, opening: str) -> None:
    found = read(tmp_path, f"---\n{opening}\n---\n")
    assert isinstance(found, Problem)
    assert found.code == "bad-yaml"


def test_a_key_that_is_there_twice_is_a_problem(tmp_path: Path) -> None:
    found = read(tmp_path, "---\nname: twice\ntrigger: before_tool\ntrigger: after_tool\n---\n")
    assert isinstance(found, Problem)
    assert (found.code, found.line, found.key) == ("bad-yaml", 4, "trigger")


@pytest.mark.parametrize(
    ("spelling", "meaning"),
    [
        ('"\\.py$"', "\\.py$"),
        ("'\\.py$'", "\\.py$"),
        ("\\.py$", "\\.py$"),
        ('"\\\\.py$"', "\\.py$"),
        ('"\\.(py|js)$"', "\\.(py|js)$"),
        ('"\\d\\.\\w"', "\\d\\.\\w"),
    ],
)
def test_a_backslash_in_double_quotes_is_kept(tmp_path: Path, spelling: str, meaning: str) -> None:
    found = read(tmp_path, f"---\npattern: {spelling}\n---\n")
    assert values(found) == {"pattern": meaning}
    assert isinstance(found, FrontMatter)
    is_unknown = spelling.startswith('"') and "\\\\" not in spelling
    assert [problem.code for problem in found.problems] == ["escape-in-quotes"] * is_unknown


def test_crlf_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    found = read(tmp_path, "\ufeff---\r\nname: guard\r\ntrigger: Stop\r\n---\r\nBody\r\n")
    assert values(found) == {"name": "guard", "trigger": "Stop"}


def test_three_dashes_inside_a_value_do_not_end_the_front_matter(tmp_path: Path) -> None:
    found = read(tmp_path, "---\ndescription: |\n  a --- b\n  ---\n  c\ntrigger: Stop\n---\n# Body\n\n---\n\nmore\n")
    assert values(found) == {"description": "a --- b\n---\nc\n", "trigger": "Stop"}


def test_a_key_is_on_the_line_where_it_stands_and_a_missing_one_on_the_first(tmp_path: Path) -> None:
    found = read(tmp_path, "---\nname: guard\nmatcher:\n  tool: Shell\n---\n")
    assert isinstance(found, FrontMatter)
    assert [found.line_of(key) for key in ("name", "tool", "trigger")] == [2, 4, 1]


def test_a_pipe_instead_of_a_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "HOOK.md")
    found = front_matter.read(str(tmp_path / "HOOK.md"))
    assert isinstance(found, Problem)
    assert found.code == "unreadable"


def test_only_the_head_of_a_long_file_is_read(tmp_path: Path) -> None:
    assert values(read(tmp_path, b"---\nname: long\n---\n" + b"\xff" * 1_000_000)) == {"name": "long"}
