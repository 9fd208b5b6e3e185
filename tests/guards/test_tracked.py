"""What git can restore."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from guards.lines import judged
from hooks.lines import git
from tenterhook.guards import tracked

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", ".")
    for name in ("src/a.py", "src/deep/b with blank.py", "src/" + "long" * 60 + ".py", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "src" / "link").symlink_to("a.py")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "all")
    return tmp_path


def can_restore(repository: Path, name: str) -> bool:
    return tracked.can_restore(str(repository / name), str(repository))


def test_what_is_committed_can_be_restored(repository: Path) -> None:
    assert can_restore(repository, "src")
    assert can_restore(repository, "src/deep")
    assert can_restore(repository, "notes.txt")


def test_what_was_changed_cannot(repository: Path) -> None:
    (repository / "src" / "a.py").write_text("other")
    assert not can_restore(repository, "src")
    assert can_restore(repository, "src/deep")


def test_what_git_does_not_track_cannot(repository: Path) -> None:
    (repository / "src" / "new.py").write_text("new")
    assert not can_restore(repository, "src")
    assert not can_restore(repository, "nothing")
    (repository / "empty").mkdir()
    assert not can_restore(repository, "empty")


def test_an_index_of_another_version_is_not_read(repository: Path) -> None:
    git(repository, "update-index", "--index-version", "4")
    assert not can_restore(repository, "src")


def test_an_index_that_is_broken_is_not_read(repository: Path) -> None:
    index = repository / ".git" / "index"
    for content in (b"", b"DIRC", index.read_bytes()[:200]):
        index.write_bytes(content)
        assert not can_restore(repository, "src")


def test_too_many_files_are_not_compared(repository: Path) -> None:
    for number in range(tracked.MOST_FILES):
        (repository / "src" / f"{number}.py").touch()
    git(repository, "add", ".")
    assert not can_restore(repository, "src")
    assert can_restore(repository, "src/deep")


def test_a_directory_that_git_can_restore_may_be_deleted_but_not_erased(repository: Path) -> None:
    assert not judged("block_dangerous_commands", "rm -rf src/deep", repository)
    assert judged("block_dangerous_commands", "rm -rf src", repository)  # at the top of the project
    assert judged("block_dangerous_commands", "shred -u notes.txt", repository)
    assert judged("block_dangerous_commands", "rm -rf src/deep .git", repository)
    next(path for path in (repository / "src" / "deep").iterdir()).write_text("uncommitted")
    assert judged("block_dangerous_commands", "rm -rf src/deep", repository)
