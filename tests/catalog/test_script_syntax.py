"""An interpreter is asked whether it would refuse a script, and nothing of the repository is run by that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from support import folder_hook, project_hooks
from tenterhook.catalog import script_syntax

if TYPE_CHECKING:
    from pathlib import Path

# It warns before it refuses: to show either, most versions of Python import some of their own modules.
REFUSED = "#!/usr/bin/env python3\nx = 1\nx is 1\nbreak\n"
MODULES = ("sys", "ast", "tokenize", "linecache", "traceback", "warnings", "re", "io", "encodings", "sitecustomize")


def checked(programs: Path) -> list[dict[str, Any]]:
    """What `check` finds in the current directory, with these programs before all others."""
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    command = [sys.executable, "-I", "-m", "tenterhook", "check", "--json"]  # -I: as the installed command starts
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    found: list[dict[str, Any]] = json.loads(ended.stdout)["problems"]
    return [each for each in found if each["code"] == "script-syntax"]


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    (tmp_path / "programs").mkdir()
    return tmp_path / "programs"


def python(programs: Path, line: str) -> None:
    """Another `python3` than ours."""
    (programs / "python3").write_text(f"#!/bin/sh\n{line}\n")
    (programs / "python3").chmod(0o755)


def test_no_module_of_the_repository_is_imported(project: Path, tmp_path: Path, programs: Path) -> None:
    python(programs, f'echo "$@" >> {tmp_path}/asked; exec {os.path.realpath(sys.executable)} "$@"')
    folder_hook(project_hooks(project), "guard", REFUSED, file="run.py")
    for name in MODULES:
        (project / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write(__name__ + ' ')\n")
    assert len(checked(programs)) == 1
    assert (tmp_path / "asked").exists()
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("exit 0", False),
        ("exit 1", True),
        ('[ "$1" = -I ] && echo "Unknown option: -I" >&2 && exit 2', False),  # Python 2
    ],
)
def test_what_another_version_says_counts(project: Path, programs: Path, line: str, refused: bool) -> None:
    python(programs, line)
    folder_hook(project_hooks(project), "guard", REFUSED, file="run.py")
    assert bool(checked(programs)) is refused


def test_a_shell_says_why_it_refuses_a_line_and_runs_nothing(tmp_path: Path) -> None:
    assert script_syntax.refusal_by_shell("/bin/sh", "-c", f"touch {tmp_path}/ran") is None
    assert script_syntax.refusal_by_shell("/bin/sh", "-c", "if then")
    assert not (tmp_path / "ran").exists()
    assert script_syntax.refusal_by_shell("/no/such/shell", "-c", "true") is None  # it cannot be asked
