"""Commands run in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tenterhook import cli

if TYPE_CHECKING:
    import os


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
