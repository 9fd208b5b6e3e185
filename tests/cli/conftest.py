"""Commands run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import pytest

from packs.repositories import PackRepository, git
from support import folder_hook, tenterhook, user_hooks
from tenterhook import cli

if TYPE_CHECKING:
    import os
    from pathlib import Path


class Ended(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command without a process of its own, and without a terminal."""

    def run(*arguments: str | os.PathLike[str]) -> Ended:
        capsys.readouterr()
        status = cli.run([str(argument) for argument in arguments])
        return Ended(status, *capsys.readouterr())

    return run


@pytest.fixture
def blocker(home: Path) -> Path:
    """A hook of the person's own that blocks one command."""
    return folder_hook(user_hooks(home), "blocker", "echo 'not here' >&2; exit 2", matcher={"pattern": "rm -rf /"})


@pytest.fixture
def pack(tmp_path: Path) -> PackRepository:
    """A pack with one hook, committed and tagged v1.0.0."""
    made = PackRepository(tmp_path / "agent-hooks")
    made.hook("no-deploy", "deploy")
    made.commit("v1.0.0")
    return made


@pytest.fixture
def repository(tmp_path: Path, pack: PackRepository, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that names the pack and has committed its lock; the working directory."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "main")
    monkeypatch.chdir(project)
    assert tenterhook("pack", "add", f"{pack.source}@v1.0.0", "--project", "--yes").returncode == 0
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "hooks")
    return project
