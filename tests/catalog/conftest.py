"""What the tests of the catalog share: a project with hooks of every kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog.changes import indexed
from support import array_hook, folder_hook, project_hooks, user_hooks, write_config

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Change = Callable[[Path, Path], object]


@pytest.fixture
def config(home: Path) -> Path:
    hooks = array_hook("true", matcher="Bash") + array_hook("true", event="Nothing")
    return write_config(home / "more.toml", hooks)


@pytest.fixture
def root(home: Path, project: Path, config: Path) -> str:
    """A project with hooks of every kind, and an index of them that is known to be true."""
    (project / ".git").mkdir()
    folder_hook(user_hooks(home), "guard", "exit 2", metadata={"on_failure": "block", "list": [1, {"a": None}]})
    folder_hook(user_hooks(home), "second", "true", matcher={"tool": "Shell", "pattern": "rm"})
    folder_hook(project_hooks(project), "theirs", "true")
    (user_hooks(home) / "notes.txt").write_text("no hook")
    (user_hooks(home) / "empty").mkdir()
    elsewhere = home / "linked"
    folder_hook(elsewhere, "far", "true")
    (user_hooks(home) / "far").symlink_to(elsewhere / "far")
    (user_hooks(home) / "dangling").mkdir()
    (user_hooks(home) / "dangling" / "HOOK.md").symlink_to(home / "not-yet.md")
    (home / ".local/state/tenterhook").mkdir(parents=True)
    indexed(str(project), [str(config)])
    return str(project)
