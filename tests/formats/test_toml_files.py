"""PROTOCOL 2, the table and the array format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import array_hook, table_hook, write_config
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from pathlib import Path


def read(tmp_path: Path, text: str, name: str = "config.toml") -> toml_files.TomlDefinitions:
    return toml_files.read(str(write_config(tmp_path / name, text)))


def test_every_array_field_is_read(tmp_path: Path) -> None:
    (hook,) = read(tmp_path, array_hook("x", matcher="Bash", timeout=5, fail_mode="closed")).hooks
    assert (hook.event, hook.declared, hook.command, hook.tool) == ("pre-tool-call", "PreToolUse", "x", "Bash")
    assert (hook.timeout, hook.fail_closed, hook.dialect, hook.priority) == (5.0, True, "javascript", 100)
    assert hook.name == "PreToolUse[0]"


def test_every_table_field_is_read(tmp_path: Path) -> None:
    text = table_hook(
        "x",
        name="n",
        type="command",
        matcher={"tool": "Shell", "pattern": "rm"},
        timeout=1000,
        async_=True,
        description="d",
    )
    (hook,) = read(tmp_path, text).hooks
    assert (hook.name, hook.event, hook.declared, hook.command) == ("n", "pre-tool-call", "before_tool", "x")
    assert (hook.tool, hook.pattern, hook.timeout, hook.async_, hook.description) == ("Shell", "rm", 1.0, True, "d")
    assert hook.dialect == "python"


def test_an_unnamed_table_hook_is_named_by_event_and_number(tmp_path: Path) -> None:
    found = read(tmp_path, table_hook("a") + table_hook("b")).hooks
    assert [hook.name for hook in found] == ["before_tool[0]", "before_tool[1]"]


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


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        (table_hook("x", event="before_toll"), "unknown-event"),
        ("[hooks.before_agent]\ncommand = 'x'\n", "bad-hooks-section"),
        ("[[hooks.before_agent]]\nname = 'n'\n", "missing-key"),
        (table_hook("x", timeout=50), "bad-value"),
        (table_hook("x", type="prompt"), "bad-value"),
        (table_hook("x", matcher={"pattern": "("}), "bad-expression"),
        (table_hook("sh -c 'echo {{tool_name}}'"), "placeholder-in-code"),
    ],
)
def test_one_mistake_in_a_table_file_refuses_that_hook_only(tmp_path: Path, entry: str, code: str) -> None:
    found = read(tmp_path, table_hook("good", event="after_tool") + "\n" + entry)
    assert [hook.command for hook in found.hooks] == ["good"]
    assert [problem.code for problem in found.problems] == [code]
    assert found.problems[0].line is not None


def test_an_unknown_table_key_is_a_warning(tmp_path: Path) -> None:
    found = read(tmp_path, table_hook("x", asynk=True))
    assert len(found.hooks) == 1
    assert [(problem.code, problem.severity) for problem in found.problems] == [("ignored-key", "warning")]


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


def test_lines_are_right_after_strings_over_several_lines(tmp_path: Path) -> None:
    several = "'''\n[[hooks]]\ntimeout = 5\n'''"
    text = f"[[hooks]]\nevent = 'Stop'\ncommand = {several}\n[[hooks]]\nevent = 'Nope'\ncommand = 'x'\n"
    (problem,) = read(tmp_path, text).problems
    assert problem.line == 8
