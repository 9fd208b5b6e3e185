"""`tenterhook convert`, as a person uses it."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from authoring.convert.ways import read, tenterhook
from support import array_hook, folder_hook, table_hook, write_config
from tenterhook.formats import toml_files

if TYPE_CHECKING:
    from pathlib import Path

GUARD = "cat > /dev/null; echo no >&2; exit 2"


def config(project: Path, text: str | None = None, name: str = "config.toml") -> Path:
    return write_config(project / name, array_hook(GUARD, matcher="Bash", timeout=5) if text is None else text)


def tree(directory: Path) -> dict[str, Any]:
    """Everything below a directory, to see that nothing has changed."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() else None
        for path in sorted(directory.rglob("*"))
    }


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
    start = lines.index("2 things cannot be carried into the table format:")
    assert lines[start + 1] == "  PreToolUse[0] fail_mode closed  config.toml:1 a block is lost"
    assert "fail" in lines[start + 2]
    assert lines[start + 3].startswith("      instead: ")
    assert lines[start + 4] == "  SessionStart[1] matcher startup  config.toml:5 left out"


def test_folders_go_where_they_are_told_or_into_the_current_directory(project: Path) -> None:
    source = config(project, table_hook(GUARD, name="guard", description="Guards"))
    ended = tenterhook("convert", source, "--to", "folder")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "written: guard\n", "")
    assert [hook.name for hook in read(project / "guard")] == ["guard"]
    ended = tenterhook("convert", source, "--to", "folder", "--out", "new/hooks")
    assert (ended.returncode, ended.stdout) == (0, "written: new/hooks/guard\n")
    assert sorted(tree(project / "new")) == [
        *("hooks", "hooks/guard", "hooks/guard/HOOK.md", "hooks/guard/scripts", "hooks/guard/scripts/run.sh")
    ]


def test_what_was_written_is_in_force_whatever_the_umask(project: Path, home: Path) -> None:
    source = config(project, table_hook(GUARD, name="guard", description="Guards"))
    hooks = home / ".config" / "agents" / "hooks"
    tenterhook("convert", source, "--to", "folder", "--out", hooks, umask=0o002)
    for path in (home / ".config").rglob("*"):
        assert not path.stat().st_mode & 0o022, path
    ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "ls"}')
    assert ended.returncode == 2, ended.stdout + ended.stderr


@pytest.mark.parametrize("to", ["table", "array", "claude", "codex", "gemini"])
def test_with_out_the_file_is_written_and_named(project: Path, to: str) -> None:
    ended = tenterhook("convert", config(project), "--to", to, "--out", f".{to}/new.file")
    assert ended.returncode in (0, 3)
    assert ended.stdout == f"written: .{to}/new.file\n"
    assert (project / f".{to}/new.file").stat().st_mode & 0o777 == 0o644
    assert list((project / f".{to}").iterdir()) == [project / f".{to}/new.file"]


def test_codex_can_be_toml(project: Path) -> None:
    ended = tenterhook("convert", config(project), "--to", "codex", "--out", "codex.toml")
    (hook,) = toml_files.read(str(project / "codex.toml")).hooks
    assert (hook.format, hook.command, hook.timeout) == ("codex", GUARD, 5.0)
    assert "Tenterhook reads" not in ended.stderr


def test_a_file_that_would_be_taken_for_another_agents_is_noted(project: Path) -> None:
    ended = tenterhook("convert", config(project), "--to", "codex", "--out", "codex.json")
    assert "Tenterhook reads codex.json as Claude Code's settings unless it is in a folder .codex" in ended.stderr


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
        assert "no hook is left" in ended.stderr
        assert not (project / "new").exists()


# ---- never over something else


def test_nothing_is_overwritten_unless_forced(project: Path) -> None:
    source = config(project)
    (project / "out.toml").write_text("[[hooks]]\n")
    before = tree(project)
    ended = tenterhook("convert", source, "--to", "table", "--out", "out.toml")
    assert ended.returncode == 1
    assert "out.toml exists" in ended.stderr
    assert "--force" in ended.stderr
    assert tree(project) == before
    (project / "out.toml").chmod(0o600)
    assert tenterhook("convert", source, "--to", "table", "--out", "out.toml", "--force").returncode == 3
    assert len(read(project / "out.toml")) == 1
    assert (project / "out.toml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("name", "text"),
    [("settings.json", '{"model": "opus", "hooks": {}} // mine'), ("config.toml", 'model = "m"\n[[hooks]]\n')],
)
def test_other_settings_are_not_lost_even_if_forced(project: Path, name: str, text: str) -> None:
    file = project / "agent" / name
    file.parent.mkdir()
    file.write_text(text)
    ended = tenterhook("convert", config(project), "--to", "claude", "--out", file, "--force")
    assert ended.returncode == 1
    assert "other settings as well (model)" in ended.stderr
    assert file.read_text() == text


def test_what_is_converted_is_not_overwritten_by_what_it_becomes(project: Path) -> None:
    source = config(project)
    ended = tenterhook("convert", source, "--to", "array", "--out", source, "--force")
    assert (ended.returncode, "is what is being converted" in ended.stderr) == (1, True)
    folder_hook(project / "hooks", "guard", GUARD)
    before = tree(project)
    ended = tenterhook("convert", "hooks", "--to", "folder", "--out", "hooks", "--force")
    assert (ended.returncode, "is what is being converted" in ended.stderr) == (1, True)
    assert tree(project) == before


def test_a_folder_is_replaced_as_a_whole_if_forced_and_if_it_is_a_hooks(project: Path) -> None:
    source = config(project, table_hook(GUARD, name="guard") + table_hook("true", "before_stop", name="other"))
    (project / "hooks" / "other").mkdir(parents=True)
    (project / "hooks" / "other" / "precious").write_text("x")
    before = tree(project)
    for force in ([], ["--force"]):
        ended = tenterhook("convert", source, "--to", "folder", "--out", "hooks", *force)
        assert (ended.returncode, "hooks/other" in ended.stderr) == (1, True)
        assert tree(project) == before
    (project / "hooks" / "other" / "HOOK.md").write_text("old")
    assert tenterhook("convert", source, "--to", "folder", "--out", "hooks", "--force").returncode == 0
    assert {hook.name for hook in read(project / "hooks")} == {"guard", "other"}
    assert not (project / "hooks" / "other" / "precious").exists()


def test_nothing_is_half_written_when_a_folder_cannot_be_copied(project: Path) -> None:
    folder_hook(project / "hooks", "a", GUARD)
    os.mkfifo(folder_hook(project / "hooks", "b", GUARD) / "pipe")
    ended = tenterhook("convert", "hooks", "--to", "folder", "--out", "new")
    assert ended.returncode == 1
    assert "cannot copy" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (project / "new").exists()


def test_a_place_that_cannot_be_written_is_said(project: Path) -> None:
    source = config(project)
    (project / "file").write_text("")
    for to, out in (("table", "file/x.toml"), ("table", "."), ("folder", "file"), ("folder", "file/x")):
        ended = tenterhook("convert", source, "--to", to, "--out", out)
        assert ended.returncode == 1
        assert len(ended.stderr.splitlines()) <= 4
        assert "Traceback" not in ended.stderr


# ---- bad input


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


def test_a_broken_folder_among_good_ones_stops_the_conversion(project: Path) -> None:
    folder_hook(project / "hooks", "good", GUARD)
    folder_hook(project / "hooks", "bad", GUARD, priority=1001)
    ended = tenterhook("convert", "hooks", "--to", "table", "--out", "new.toml")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "error hooks/bad/HOOK.md:5 [bad-value] 'priority' is 1001" in ended.stderr
    assert not (project / "new.toml").exists()


def test_nothing_to_convert_is_an_error(project: Path) -> None:
    (project / "empty").mkdir()
    (project / "none.json").write_text("{}")
    for path in ("empty", "none.json", "missing.toml"):
        ended = tenterhook("convert", path, "--to", "table")
        assert (ended.returncode, ended.stdout) == (1, "")
        assert path in ended.stderr


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
