"""A hook's folder is written whole or not at all, and never over another one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from authoring.killed import left_by_a_kill
from tenterhook.authoring import folders
from tenterhook.authoring.templates import File
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from pathlib import Path

FILES = {"scripts/run.sh": File("#!/bin/sh\n", executable=True), "HOOK.md": File("---\n---\n")}


@pytest.mark.parametrize("name", ["", "a/b", "..", ".", ".hidden", "x" * 65, "a\nb", "hooks.toml"])
def test_a_name_that_is_no_folder_of_its_own_is_refused(name: str) -> None:
    with pytest.raises(HookError) as refused:
        folders.check_name(name)
    assert "lower-case letters, digits and hyphens" in refused.value.remedy or "1 to 64" in str(refused.value)


@pytest.mark.parametrize("name", ["pre-tool-call", "PreToolUse", "before_tool"])
def test_the_name_of_an_event_is_no_name_of_a_hook(name: str) -> None:
    with pytest.raises(HookError, match="is the name of an event"):
        folders.check_name(name)


def test_others_cannot_write_what_was_made_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        folders.write(str(tmp_path / "hooks/guard"), FILES, replace=False)
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if path.name != "home"]
    assert [str(path) for path in made if path.stat().st_mode & 0o022] == []
    assert os.access(tmp_path / "hooks/guard/scripts/run.sh", os.X_OK)
    assert not os.access(tmp_path / "hooks/guard/HOOK.md", os.X_OK)


def test_one_that_is_there_is_replaced_only_if_asked_and_kept_each_time(tmp_path: Path) -> None:
    folder = tmp_path / "guard"
    folder.mkdir()
    (folder / "precious").touch()
    with pytest.raises(HookError, match="there is already a hook"):
        folders.write(str(folder), FILES, replace=False)
    assert (folder / "precious").exists()
    kept = [folders.write(str(folder), FILES, replace=True) for _ in range(3)]
    assert len(set(kept)) == 3
    assert os.listdir(kept[0] or "") == ["precious"]


def test_a_folder_that_cannot_be_finished_leaves_the_one_before(tmp_path: Path) -> None:
    folder = tmp_path / "guard"
    folder.mkdir()
    (folder / "precious").touch()
    with pytest.raises(OSError):
        folders.write(str(folder), {"a": File(""), "a/b": File("")}, replace=True)
    assert os.listdir(folder) == ["precious"]


def test_deleting_a_link_leaves_what_it_leads_to(tmp_path: Path) -> None:
    folder = tmp_path / "dotfiles"
    folders.write(str(folder), FILES, replace=False)
    link = tmp_path / "hooks" / "guard"
    link.parent.mkdir()
    link.symlink_to(folder)
    folders.delete(str(link))
    assert os.listdir(link.parent) == []
    assert (folder / "HOOK.md").exists()
    folders.delete(str(folder))
    assert not folder.exists()


KILLED = """
import os, random, signal, sys, time
from tenterhook.authoring import folders
from tenterhook.authoring.templates import File

def read(folder):
    return [open(os.path.join(folder, name)).read() for name in ("scripts/run.sh", "HOOK.md")]

folder, left, number = sys.argv[1], 0, 0
folders.write(folder, {"scripts/run.sh": File("0"), "HOOK.md": File("0")}, replace=False)
for _ in range(150):
    number += 1000
    child = os.fork()
    while child == 0:
        number += 1
        text = File(str(number))
        folders.write(folder, {"scripts/run.sh": text, "HOOK.md": text}, replace=True)
    time.sleep(random.random() / 100)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    lost = folders.interrupted()
    assert len(lost) == (not os.path.exists(folder)), lost
    for each in lost:
        assert each.folder == folder
        assert each.remedy.startswith("put it back: mv ")
        left += 1
        os.system(each.remedy.partition(": ")[2])
    script, definition = read(folder)
    assert script == definition, (script, definition)
print(left)
"""


@pytest.mark.parametrize("state", ["same file system", "other file system"])
def test_a_kill_at_any_time_leaves_a_whole_folder_or_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        if state == "other file system":
            if os.stat(other).st_dev == tmp_path.stat().st_dev:
                pytest.skip("there is one file system")
            monkeypatch.setenv("XDG_STATE_HOME", other)
        command = [sys.executable, "-c", KILLED, str(tmp_path / "hooks/guard")]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr


def test_a_folder_that_was_put_back_or_replaced_is_no_longer_reported(tmp_path: Path) -> None:
    folder = tmp_path / "guard"
    folders.write(str(folder), FILES, replace=False)
    lost = left_by_a_kill(folder)
    assert sorted(os.listdir(lost.kept)) == ["HOOK.md", "scripts"]
    assert not folder.exists()
    os.rename(lost.kept, folder)
    assert folders.interrupted() == []
    kept = folders.write(str(folder), FILES, replace=True)
    assert os.listdir(os.path.dirname(kept or "")) == [os.path.basename(kept or "")]
