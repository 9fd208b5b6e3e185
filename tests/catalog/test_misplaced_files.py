"""Files that are not where, or not called what, a hook's files must be: an error everywhere, with the remedy."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from catalog.checked import checked, only
from support import (
    folder_hook,
    shell_call,
    tenterhook,
    user_hooks,
)
from tenterhook import Engine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["hook.md", "Hook.md", "HOOK.MD"])
def test_a_hook_md_in_other_letters_is_an_error_everywhere(home: Path, project: Path, name: str) -> None:
    made = folder_hook(user_hooks(home), "guard")
    (made / "HOOK.md").rename(made / name)
    for paths in ((), (user_hooks(home),), (made,), (made / name,)):
        status, code, message, remedy = only(*paths)
        assert (status, code) == (1, "wrong-case")
        assert name in message
    for command in (["list"], ["trigger", "pre-tool-call", "--tool", "Shell"]):
        ended = tenterhook(*command)
        assert "[wrong-case]" in ended.stdout + ended.stderr
    assert [problem.code for problem in Engine.load().problems] == ["wrong-case"]
    assert tenterhook("doctor").returncode == 1
    subprocess.run(remedy, shell=True, check=True)
    assert checked() == (0, [])


@pytest.mark.parametrize("below", ["repo", "repo/hooks", "repo/.agents/hooks"])
def test_a_folder_that_lies_too_deep_is_an_error_everywhere(home: Path, project: Path, below: str) -> None:
    folder_hook(user_hooks(home) / below, "deep")
    folder_hook(user_hooks(home), "fine")
    for paths in ((), (user_hooks(home),)):
        status, code, message, remedy = only(*paths)
        assert (status, code) == (1, "misplaced")
        assert "deep" in message
    ended = tenterhook("list")
    assert "[misplaced]" in ended.stdout + ended.stderr
    subprocess.run(remedy, shell=True, check=True)
    assert checked() == (0, [])
    assert len(Engine.load().hooks) == 2


def test_a_hook_right_in_the_hooks_directory_is_an_error(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home).parent, "hooks")
    assert only()[:2] == (1, "misplaced")


def test_what_is_said_of_a_stray_folder_does_not_outlive_it(home: Path, project: Path) -> None:
    made = folder_hook(user_hooks(home), "guard")
    (made / "HOOK.md").rename(made / "hook.md")
    engine = Engine.load()
    engine.decide(shell_call())
    assert [problem.code for problem in engine.problems] == ["wrong-case"]
    (made / "hook.md").rename(made / "notes.md")
    for _ in range(200):
        engine.decide(shell_call())
        if not engine.problems:
            break
    assert engine.problems == ()


def test_other_things_in_a_hooks_directory_are_nobodys_business(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard")
    folder_hook(user_hooks(home) / ".git", "hooks")
    (user_hooks(home) / "README.md").write_text("These are hooks.")
    (user_hooks(home) / "shared" / "lib").mkdir(parents=True)
    assert checked() == (0, [])
