"""The files of built-in hooks, as `add` writes them, and what became of a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.authoring import folders
from tenterhook.authoring.built_in_hooks import built_in_hooks, files, state_of

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
    assert not source & {"guards/secrets.py", "guards/protect_hooks.py", "engine/guard_hooks.py"}


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
