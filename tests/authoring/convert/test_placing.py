"""Converted hooks are written all or nothing, and never over other files unless forced."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from authoring.convert.ways import GUARD, config, read, tenterhook, tree
from support import folder_hook, table_hook

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_written_is_in_force_whatever_the_umask(project: Path, home: Path) -> None:
    source = config(project, table_hook(GUARD, name="guard", description="Guards"))
    hooks = home / ".config" / "agents" / "hooks"
    tenterhook("convert", source, "--to", "folder", "--out", hooks, umask=0o002)
    for path in (home / ".config").rglob("*"):
        assert not path.stat().st_mode & 0o022, path
    ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "ls"}')
    assert ended.returncode == 2, ended.stdout + ended.stderr


def test_a_file_that_would_be_taken_for_another_agents_is_noted(project: Path) -> None:
    ended = tenterhook("convert", config(project), "--to", "codex", "--out", "codex.json")
    assert "Tenterhook reads codex.json as Claude Code's settings unless it is in a folder .codex" in ended.stderr


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
