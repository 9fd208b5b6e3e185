"""A command that needs confirmation without a terminal, or is called from a guarded agent, is refused."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from support import (
    folder_hook,
    project_hooks,
    tenterhook,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def theirs(project: Path) -> Path:
    return folder_hook(project_hooks(project), "theirs", "echo theirs >&2; exit 2")


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        (["trust"], 1),
        (["trust", "theirs"], 1),
        (["trust", "--replace"], 1),
        (["trust", "--code"], 1),
        (["trust", "--yes"], 64),
        (["untrust"], 64),
        (["untrust", "theirs"], 1),
    ],
)
def test_without_a_terminal_the_remedy_is_a_command_that_works(theirs: Path, typed: list[str], status: int) -> None:
    if typed[0] == "untrust":
        tenterhook("trust", "theirs", "--yes")
    ended = tenterhook(*typed, stdin=subprocess.DEVNULL)
    assert ended.returncode == status
    remedy = ended.stderr.rpartition(": tenterhook ")[2].split()
    assert "--yes" in remedy
    followed = tenterhook(*remedy, stdin=subprocess.DEVNULL)
    assert followed.returncode == 0, followed.stderr
    assert "trusted" in followed.stdout


@pytest.mark.parametrize("command", ["hub join", "inbox sign-in"])
def test_without_a_terminal_a_token_is_to_come_from_a_file(command: str) -> None:
    ended = tenterhook(*command.split(), "http://127.0.0.1:1", stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert f"tenterhook {command} http://127.0.0.1:1 --token-file FILE --yes\n" in ended.stderr
