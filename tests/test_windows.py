"""On Windows, simulated by its name and by what it lacks, every way to start Tenterhook ends with one sentence."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SIMULATED = """
import os, sys
sys.platform, os.name = "win32", "nt"
for name in ("fcntl", "pwd", "grp", "resource", "termios", "tty", "pty"):
    sys.modules[name] = None
"""
SENTENCE = "Tenterhook does not run on Windows itself; install it in WSL, the Windows Subsystem for Linux.\n"
SCRIPT = str(Path(sys.executable).with_name("tenterhook"))


def on_windows(tmp_path: Path, *line: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "sitecustomize.py").write_text(SIMULATED)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    return subprocess.run([sys.executable, *line], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("line", [(SCRIPT, "--version"), (SCRIPT, "dispatch"), ("-m", "tenterhook", "install")])
def test_the_command_ends_with_one_sentence(tmp_path: Path, line: tuple[str, ...]) -> None:
    ended = on_windows(tmp_path, *line)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", SENTENCE)


@pytest.mark.parametrize("name", ["tenterhook", "tenterhook.adapters.pydantic_ai"])
def test_an_import_raises_an_import_error_with_the_same_sentence(tmp_path: Path, name: str) -> None:
    program = f"try:\n import {name}\nexcept ImportError as error:\n print(error)"
    assert on_windows(tmp_path, "-c", program).stdout == SENTENCE
