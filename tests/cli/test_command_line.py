"""Every command: help, wrong usage, and one boundary for errors."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support import (
    tenterhook,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_help_teaches(project: Path) -> None:
    assert "trigger" in tenterhook("--help").stdout
    for command in ("list", "show", "check", "trigger", "trust", "untrust"):
        text = tenterhook(command, "--help").stdout
        assert f"tenterhook {command}" in text.partition("Options:")[0].partition("\n")[2]  # an example


def test_output_that_nobody_reads_is_no_error(blocker: Path, project: Path) -> None:
    ended = subprocess.run(
        f"{sys.executable} -m tenterhook list --json | true", shell=True, capture_output=True, text=True
    )
    assert ended.stderr == ""


def test_a_command_that_is_misspelt_is_guessed() -> None:
    ended = tenterhook("instal")
    assert (ended.returncode, ended.stdout) == (64, "")
    assert "No such command 'instal'. Did you mean 'install'?" in ended.stderr
    assert "Did you mean" not in tenterhook("xyzzy").stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["trigger"],
        ["trigger", "no-such-event"],
        ["trigger", "Stop", "--nope"],
        ["trigger", "Stop", "--payload", "no-such-file"],
        ["trigger", "Stop", "--payload", "-"],
        ["trigger", "pre-tool-call", "--input", "{"],
        ["trigger", "pre-tool-call", "--payload", "no-json"],
        ["trigger", "Stop", "--cwd", "/no/such/directory"],
        ["trigger", "Stop", "--agent", "nobody"],
        ["no-such-command"],
        ["list", "--event", "no-such-event"],
        ["trust", "--yes"],
        ["untrust"],
        ["check", "--format", "nope"],
    ],
)
def test_wrong_use_exits_with_64_and_says_why(project: Path, arguments: list[str]) -> None:
    ended = tenterhook(*arguments, input="[1]")
    assert ended.returncode == 64
    assert ended.stdout == ""
    assert "Error:" in ended.stderr
    assert "Traceback" not in ended.stderr
