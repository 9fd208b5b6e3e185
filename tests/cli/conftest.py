"""Commands run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import pytest

from support import folder_hook, user_hooks
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
