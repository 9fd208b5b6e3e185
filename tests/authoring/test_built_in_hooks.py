"""The files of built-in hooks, as `add` writes them, and what became of a folder."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tenterhook.authoring import folders
from tenterhook.authoring.built_in_hooks import LARGEST, built_in_hooks, content, files, paths, state_of

if TYPE_CHECKING:
    from pathlib import Path

HOOKS = {hook.name: hook for hook in built_in_hooks()}
GUARD = HOOKS["block-dangerous-commands"]


def test_guards_come_first_and_others_by_name() -> None:
    names = list(HOOKS)
    guards = [name for name in names if HOOKS[name].guard is not None]
    assert names[: len(guards)] == guards
    assert guards[0] == "block-dangerous-commands"
    assert names[len(guards) :] == sorted(names[len(guards) :])


def test_the_definition_is_written_last_so_that_no_half_hook_is_found() -> None:
    for hook in HOOKS.values():
        assert [*files(hook)][-1] == "HOOK.md"
        assert [*files(hook, copy=True)][-1] == "HOOK.md"


def test_a_copy_has_the_source_that_the_guard_needs_and_names_no_guard() -> None:
    found = files(HOOKS["infrastructure"], copy=True)
    assert "guard:" not in found["HOOK.md"].text
    assert found["scripts/run.py"].executable
    assert "scripts/run.sh" not in found
    source = {name.removeprefix("scripts/source/") for name in found if name.startswith("scripts/source/")}
    assert {"guards/infrastructure.py", "guards/infrastructure_table.py", "shell/reader.py"} <= source
    assert not source & {"guards/protect_secrets.py", "guards/protect_hooks.py", "engine/guard_hooks.py"}


def test_a_copy_of_a_hook_that_is_no_guard_is_the_hook() -> None:
    assert files(HOOKS["notify"], copy=True) == files(HOOKS["notify"])


@pytest.mark.parametrize(("copy", "state"), [(False, "as it comes"), (True, "copy")])
def test_byte_code_beside_the_files_is_no_change_and_another_file_is(tmp_path: Path, copy: bool, state: str) -> None:
    folder = tmp_path / GUARD.name
    assert state_of(GUARD, str(folder)) is None
    folders.write(str(folder), files(GUARD, copy=copy), replace=False)
    (folder / "scripts/__pycache__").mkdir()
    (folder / "scripts/__pycache__/run.pyc").touch()
    assert state_of(GUARD, str(folder)) == state
    (folder / "notes.txt").touch()
    assert state_of(GUARD, str(folder)) == "changed"


def test_a_link_to_a_folder_counts_as_changed(tmp_path: Path) -> None:
    folders.write(str(tmp_path / "real"), files(GUARD), replace=False)
    (tmp_path / GUARD.name).symlink_to(tmp_path / "real")
    assert state_of(GUARD, str(tmp_path / GUARD.name)) == "changed"


def test_every_shipped_file_is_smaller_than_what_is_read_of_a_file() -> None:
    for hook in HOOKS.values():
        assert len(files(hook, copy=True)) < 100
        for file in files(hook, copy=True).values():
            assert len(file.text.encode()) < LARGEST / 2


def test_links_pipes_devices_and_large_files_count_as_changed_and_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / GUARD.name
    folders.write(str(folder), files(GUARD), replace=False)
    script = folder / "scripts/run.sh"
    text = script.read_bytes()
    script.unlink()
    os.mkfifo(script)
    assert state_of(GUARD, str(folder)) == "changed"
    for target in ("/dev/zero", tmp_path / "same"):
        script.unlink()
        script.symlink_to(target)
        (tmp_path / "same").write_bytes(text)
        assert state_of(GUARD, str(folder)) == "changed"
        assert content(str(script)) is None
    script.unlink()
    with script.open("wb") as file:
        file.truncate(2**40)
    assert len(content(str(script)) or b"") == LARGEST
    assert state_of(GUARD, str(folder)) == "changed"


def test_of_many_files_and_levels_only_some_are_listed(tmp_path: Path) -> None:
    (tmp_path / "/".join("abcdefghijklmnopqrst")).mkdir(parents=True)
    assert list(paths(str(tmp_path))) == ["a/b/c/d/e/f/g/h/i"]
    (tmp_path / "scripts").symlink_to("/")
    assert list(paths(str(tmp_path))) == ["scripts", "a/b/c/d/e/f/g/h/i"]
    for number in range(1000):
        (tmp_path / str(number)).touch()
    assert len(paths(str(tmp_path))) < 500
