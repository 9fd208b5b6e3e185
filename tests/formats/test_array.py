"""The array format (section 2 of the contract): one mistake refuses the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from formats.toml_text import read
from support import array_hook

if TYPE_CHECKING:
    from pathlib import Path


def test_every_array_field_is_read(tmp_path: Path) -> None:
    (hook,) = read(tmp_path, array_hook("x", matcher="Bash", timeout=5, fail_mode="closed")).hooks
    assert (hook.event, hook.declared, hook.command, hook.tool) == ("pre-tool-call", "PreToolUse", "x", "Bash")
    assert (hook.timeout, hook.fail_closed, hook.dialect, hook.priority) == (5.0, True, "javascript", 100)
    assert hook.name == "PreToolUse[0]"


@pytest.mark.parametrize(
    ("entry", "code", "key"),
    [
        (array_hook("x", matchr="Bash"), "unknown-key", "matchr"),
        (array_hook("x", priority=3), "unknown-key", "priority"),
        (array_hook("x", event="PreToolUsed"), "unknown-event", "event"),
        (array_hook(""), "bad-value", "command"),
        (array_hook("   "), "bad-value", "command"),
        (array_hook("x", timeout=0), "bad-value", "timeout"),
        (array_hook("x", timeout=601), "bad-value", "timeout"),
        (array_hook("x", timeout="5"), "bad-value", "timeout"),
        (array_hook("x", fail_mode="shut"), "bad-value", "fail_mode"),
        ('[[hooks]]\nevent = "Stop"\n', "missing-key", "command"),
        ('[[hooks]]\ncommand = "x"\n', "missing-key", "event"),
    ],
)
def test_one_mistake_refuses_an_array_file_and_names_line_and_key(
    tmp_path: Path, entry: str, code: str, key: str
) -> None:
    found = read(tmp_path, array_hook("good") + "\n" + entry)
    assert found.hooks == ()
    (problem,) = found.problems
    assert (problem.code, problem.key) == (code, key)
    lines = (tmp_path / "config.toml").read_text().splitlines()
    assert problem.line is not None
    expected = key if code != "missing-key" else "[[hooks]]"
    assert lines[problem.line - 1].startswith(expected)
    assert problem.line > 3
    assert problem.remedy


def test_a_misspelt_key_is_told_the_right_one(tmp_path: Path) -> None:
    (problem,) = read(tmp_path, array_hook("x", matchr="Bash")).problems
    assert problem.remedy == "did you mean 'matcher'?"


def test_array_files_in_a_kimi_folder_hold_python_expressions(tmp_path: Path) -> None:
    (hook,) = read(tmp_path, array_hook("x", matcher="(?P<a>Sh)ell"), ".kimi/config.toml").hooks
    assert hook.dialect == "python"
    assert not hook.never_matches


def test_an_invalid_array_matcher_matches_nothing_and_is_reported(tmp_path: Path) -> None:
    found = read(tmp_path, array_hook("x", matcher="(") + array_hook("y"))
    assert [hook.never_matches for hook in found.hooks] == [True, False]
    assert [problem.code for problem in found.problems] == ["never-matches-expression"]
    assert found.problems[0].severity == "warning"


def test_event_names_that_kimi_code_refuses_are_warned_of(tmp_path: Path) -> None:
    found = read(tmp_path, array_hook("x", event="before_tool"))
    assert [(hook.event, hook.declared) for hook in found.hooks] == [("pre-tool-call", "before_tool")]
    assert [problem.code for problem in found.problems] == ["foreign-event-name"]
    assert "'PreToolUse'" in found.problems[0].remedy
