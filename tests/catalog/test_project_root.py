"""Where a project begins, and which repository it is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tenterhook.catalog import project_root

if TYPE_CHECKING:
    from pathlib import Path


def test_the_nearest_ancestor_with_git_or_hooks_is_the_root(project: Path) -> None:
    deep = project / "a" / "b"
    deep.mkdir(parents=True)
    (project / ".git").mkdir()
    assert project_root.project_root(str(deep)) == str(project)
    (project / "a" / ".agents" / "hooks").mkdir(parents=True)
    assert project_root.project_root(str(deep)) == str(project / "a")


def test_without_either_the_directory_itself_is_the_root(project: Path) -> None:
    assert project_root.project_root(str(project)) == str(project)


def test_from_inside_home_the_search_ends_there(home: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (home / "work").mkdir()
    assert project_root.project_root(str(home / "work")) == str(home / "work")


def test_a_git_file_that_nothing_points_back_to_is_no_identity(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / ".git"
    (other / "worktrees" / "x").mkdir(parents=True)
    (project / ".git").write_text(f"gitdir: {other}/worktrees/x\n")
    (other / "worktrees" / "x" / "commondir").write_text("../..\n")
    assert project_root.identity(str(project)) == f"path:{project}"
    (other / "worktrees" / "x" / "gitdir").write_text(f"{project}/.git\n")
    assert project_root.identity(str(project)) == f"git:{os.path.realpath(other)}"


@pytest.mark.promise("a hostile repository")
@pytest.mark.parametrize("pipe", [".git", "private/worktrees/x/commondir", "private/worktrees/x/gitdir"])
def test_a_pipe_in_place_of_a_git_file_is_not_waited_for(tmp_path: Path, pipe: str) -> None:
    """An archive with a pipe where git has a file holds up no event and no command."""
    private = tmp_path / "private/worktrees/x"
    private.mkdir(parents=True)
    for name, text in {".git": f"gitdir: {private}", "commondir": "../..", "gitdir": f"{tmp_path}/.git"}.items():
        (tmp_path / name if name == ".git" else private / name).write_text(f"{text}\n")
    assert project_root.identity(str(tmp_path)) == f"git:{tmp_path}/private"
    (tmp_path / pipe).unlink()
    os.mkfifo(tmp_path / pipe)
    assert project_root.identity(str(tmp_path)) == f"path:{tmp_path}"
