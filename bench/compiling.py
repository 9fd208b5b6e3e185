"""Compiles spawn.c."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "spawn.c")


class NoCompiler(Exception):
    """spawn.c cannot be compiled; the message says why."""


def spawn_program(directory: Path) -> Path:
    """Compile spawn.c into a directory; raises `NoCompiler` where that is impossible."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise NoCompiler("no C compiler (cc) on PATH")
    program = directory / "spawn"
    compiled = subprocess.run(
        [compiler, "-O2", "-o", os.fspath(program), _SOURCE], capture_output=True, text=True, check=False
    )
    if compiled.returncode:
        raise NoCompiler(f"cc cannot compile spawn.c: {compiled.stderr.strip().splitlines()[:1]}")
    return program
