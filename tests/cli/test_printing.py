"""What commands print: nothing from outside moves the cursor, and paths are short."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tenterhook import Hook
from tenterhook.cli import printing
from tenterhook.errors import Problem

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "\x1b[2J\u202e"


def test_a_path_is_said_from_here_or_from_home(home: Path, project: Path) -> None:
    assert printing.short_path(str(project / "a/b")) == "a/b"
    assert printing.short_path(str(home / "a")) == "~/a"
    assert printing.short_path(f"{home}s/a") == f"{home}s/a"
    assert printing.short_path("/etc/x") == "/etc/x"
    assert printing.in_home(str(home)) == "~"


def test_control_characters_are_written_out(capsys: pytest.CaptureFixture[str], project: Path) -> None:
    printing.print_problems([Problem("bad-toml", f"/x{EVIL}", 3, None, EVIL, EVIL)])
    printing.print_diff(f"-{EVIL}\n+{EVIL}\n")
    said = capsys.readouterr().out + printing.below(f"one\n{EVIL}") + printing.run_line(EVIL, "failed", "1 ms")
    assert "\x1b[2J" not in said
    assert "\u202e" not in said
    assert "\\x1b[2J" in said


def test_further_lines_of_what_a_hook_said_are_moved_in() -> None:
    assert printing.below("one\ntwo") == "one\n      two"


def test_json_is_one_line_that_any_program_can_read(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_json({"name": "ü", "lines": "a\nb"})
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert json.loads(said) == {"name": "ü", "lines": "a\nb"}


def test_columns_are_as_wide_as_their_widest_cell(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_table(("a", "b"), [("long", "x"), ("s", "")])
    assert capsys.readouterr().out.splitlines() == ["  a     b", "  long  x", "  s"]


def test_a_diff_is_whole_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    printing.print_diff(f"+{'x' * 5000}\n")
    assert capsys.readouterr().out == f"+{'x' * 5000}\n"


@pytest.mark.parametrize(
    ("form", "matchers", "text"),
    [
        ("folder", {"tool": "Shell", "pattern": "rm"}, "tool=Shell pattern=rm"),
        ("folder", {}, ""),
        ("array", {"tool": "Bash"}, "Bash"),
        ("array", {"target": "startup"}, "startup"),
    ],
)
def test_matchers_are_one_cell(form: str, matchers: dict[str, str], text: str) -> None:
    assert printing.matcher_text(Hook("guard", "pre-tool-call", "PreToolUse", form, **matchers)) == text  # type: ignore[arg-type]
