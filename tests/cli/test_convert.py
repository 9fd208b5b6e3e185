"""`tenterhook convert`, as a person uses it."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING

import pytest

from authoring.convert.ways import GUARD, config, read, tenterhook, tree
from support import array_hook, folder_hook, table_hook

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_goes_to_stdout_and_nothing_else_does(project: Path) -> None:
    ended = tenterhook("convert", config(project), "--to", "table")
    assert ended.returncode == 3  # the command is to be checked
    assert tomllib.loads(ended.stdout) == {
        "hooks": {"before_tool": [{"matcher": {"tool": "Bash"}, "command": GUARD, "timeout": 5000}]}
    }
    assert tree(project).keys() == {"config.toml"}


def test_what_cannot_be_carried_is_listed_and_the_status_is_three(project: Path) -> None:
    text = array_hook(GUARD, fail_mode="closed") + array_hook("x", "SessionStart", matcher="startup")
    ended = tenterhook("convert", config(project, text), "--to", "table")
    assert ended.returncode == 3
    assert list(tomllib.loads(ended.stdout)["hooks"]) == ["before_tool"]
    lines = ended.stderr.splitlines()
    assert lines[0] == "converted: 1 of 2 hooks"
    start = lines.index("lost: 2, which the table format cannot express")
    assert lines[start + 1] == "  PreToolUse[0] fail_mode closed  config.toml:1 a block is lost"
    assert "fail" in lines[start + 2]
    assert lines[start + 3].startswith("      instead: ")
    assert lines[start + 4] == "  SessionStart[1] matcher startup  config.toml:5 left out"


def test_folders_go_where_they_are_told_or_into_the_current_directory(project: Path) -> None:
    source = config(project, table_hook(GUARD, name="guard", description="Guards"))
    ended = tenterhook("convert", source, "--to", "folder")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines() == [
        "converted: 1 of 1 hook; nothing is lost, and nothing has to be checked",
        "  hook   event        from",
        "  guard  before_tool  config.toml:1",
    ]
    assert [hook.name for hook in read(project / "guard")] == ["guard"]
    ended = tenterhook("convert", source, "--to", "folder", "--out", "new/hooks")
    assert ended.returncode == 0
    assert ended.stdout.startswith("converted: 1 of 1 hook to new/hooks; nothing is lost")
    assert sorted(tree(project / "new")) == [
        *("hooks", "hooks/guard", "hooks/guard/HOOK.md", "hooks/guard/scripts", "hooks/guard/scripts/run.sh")
    ]


@pytest.mark.parametrize("to", ["table", "array", "claude", "codex", "gemini"])
def test_with_out_the_file_is_written_and_named(project: Path, to: str) -> None:
    ended = tenterhook("convert", config(project), "--to", to, "--out", f".{to}/new.file")
    assert ended.returncode in (0, 3)
    assert ended.stdout.startswith(f"converted: 1 of 1 hook to .{to}/new.file")
    assert (project / f".{to}/new.file").stat().st_mode & 0o777 == 0o644
    assert list((project / f".{to}").iterdir()) == [project / f".{to}/new.file"]


def test_commands_that_are_alike_are_to_be_checked_once(project: Path) -> None:
    text = "".join(array_hook(command, matcher="Bash") for command in ("./one", "./two", "notify-send x"))
    ended = tenterhook("convert", config(project, text), "--to", "folder", "--out", "new")
    assert [line.split()[0] for line in ended.stdout.splitlines()[2:]] == ["one", "two", "notify-before-shell"]
    assert "lost: 2, which the folder format cannot express" in ended.stderr  # that they ran side by side
    checks = ended.stderr.partition("to check: 3 commands; ")[2].splitlines()
    assert [line.split()[0] for line in checks[1:4]] == ["one", "two", "notify-before-shell"]
    assert [line.split()[0] for line in checks[4:]] == ["stdin:", "instead:"]
    assert [hook.description for hook in read(project / "new")] == [
        "Notifies you before a shell command",
        "Runs one before a shell command",
        "Runs two before a shell command",
    ]


def test_json_says_everything_in_one_object(project: Path) -> None:
    text = array_hook(GUARD, fail_mode="closed") + array_hook("x", "SessionStart", matcher="startup")
    ended = tenterhook("convert", config(project, text), "--to", "table", "--json")
    assert (ended.returncode, ended.stderr) == (3, "")
    said = json.loads(ended.stdout)
    assert (said["schema"], said["to"], said["hooks"], said["lossless"], said["written"]) == (1, "table", 1, False, [])
    assert tomllib.loads(said["output"])["hooks"]["before_tool"][0]["command"] == GUARD
    assert [loss.keys() for loss in said["losses"]] == [
        {"hook", "source", "line", "key", "value", "why", "instead", "left_out", "severity", "to_check"}
    ] * 3
    assert said["losses"][0] | {"why": "", "instead": ""} == {
        **{"hook": "PreToolUse[0]", "source": str(project / "config.toml"), "line": 1, "key": "fail_mode"},
        **{"value": "closed", "why": "", "instead": "", "left_out": False},
        **{"severity": "error", "to_check": False},
    }
    ended = tenterhook("convert", config(project, table_hook(GUARD)), "--to", "table", "--out", "t.toml", "--json")
    said = json.loads(ended.stdout)
    assert (said["lossless"], said["output"], said["written"]) == (True, None, [str(project / "t.toml")])
    assert ended.returncode == 0


def test_a_file_without_a_hook_is_not_written(project: Path) -> None:
    source = config(project, array_hook("x", "SessionStart", matcher="startup"))
    for to in ("table", "folder"):
        ended = tenterhook("convert", source, "--to", to, "--out", "new")
        assert (ended.returncode, ended.stdout) == (3, "")
        assert "no hook can be converted" in ended.stderr
        assert not (project / "new").exists()


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("[[hooks]\n", 1, "bad-toml"),
        ('[[hooks]]\nevent = "PreToolUse"\ncommand = "x"\nmatchers = "Bash"\n', 4, "matchers"),
        ('[[hooks]]\nevent = "PreTool"\ncommand = "x"\n', 2, "PreTool"),
        ('[[hooks.before_tool]]\ncommand = "x"\ntimeout = 5\n', 3, "timeout"),
        ('[[hooks.before_tool]]\ncommand = "eval {{tool_input.command}}"\n', 2, "placeholder-in-code"),
    ],
)
def test_a_mistake_in_the_source_is_said_with_its_place_and_remedy(
    project: Path, text: str, line: int, key: str
) -> None:
    good = config(project, name="good.toml")
    bad = config(project, text, "bad.toml")
    before = tree(project)
    ended = tenterhook("convert", good, bad, "--to", "folder", "--out", "hooks")
    assert ended.returncode == 1
    assert ended.stdout == ""
    assert f"error bad.toml:{line} [" in ended.stderr
    assert key in ended.stderr
    assert "nothing was converted" in ended.stderr
    assert tree(project) == before
    said = json.loads(tenterhook("convert", bad, "--to", "table", "--json").stdout)
    assert said["problems"][0]["line"] == line


@pytest.mark.parametrize("arguments", [["x.toml"], ["--to", "table"], ["x.toml", "--to", "yaml"]])
def test_wrong_usage_is_sixty_four(project: Path, arguments: list[str]) -> None:
    assert tenterhook("convert", *arguments).returncode == 64


def test_control_characters_of_a_hook_do_not_reach_the_terminal(project: Path) -> None:
    source = config(project, table_hook(GUARD, name="a\u001b[31mb\nfake", description="d\u202e"))
    ended = tenterhook("convert", source, "--to", "array")
    assert "\x1b[31m" not in ended.stderr
    assert "\u202e" not in ended.stderr
    assert "\nfake" not in ended.stderr


def test_a_project_is_converted_by_its_hooks(project: Path) -> None:
    folder_hook(project / ".agents" / "hooks", "guard", GUARD)
    ended = tenterhook("convert", ".", "--to", "table")
    assert ended.returncode == 0
    assert 'name = "guard"' in ended.stdout
