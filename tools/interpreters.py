"""Finds the Python interpreters of this machine that Tenterhook supports."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = (3, 11)
_ABOUT = "import ensurepip, sys; print(*sys.version_info[:3]); print(sys.executable)"


def found() -> dict[str, Path]:
    """Return an interpreter with `ensurepip` for each minor version, oldest first; for this version, this one."""
    newest: dict[tuple[int, int], tuple[int, Path]] = {}
    for candidate in (Path(sys.executable), *_on_path(), *_of_pyenv(), *_of_uv()):
        about = _about(candidate)
        if about is None or about[0][:2] < OLDEST:
            continue
        (major, minor, patch), executable = about
        if (major, minor) not in newest or (
            patch > newest[major, minor][0] and newest[major, minor][1] != Path(sys.executable)
        ):
            newest[major, minor] = (patch, executable)
    return {f"{major}.{minor}": path for (major, minor), (_, path) in sorted(newest.items())}


def _on_path() -> Iterator[Path]:
    for directory in os.get_exec_path():
        if os.path.isdir(directory):
            yield from (Path(directory, name) for name in os.listdir(directory) if re.fullmatch(r"python3\.\d+", name))


def _of_pyenv() -> Iterator[Path]:
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    return (root / "versions").glob("3.*/bin/python")


def _of_uv() -> Iterator[Path]:
    if shutil.which("uv"):
        line = ["uv", "python", "list", "--only-installed"]
        listed = subprocess.run(line, capture_output=True, text=True, check=False).stdout
        yield from (Path(path) for path in re.findall(r"\s(/\S+)", listed))


def _about(python: Path) -> tuple[tuple[int, int, int], Path] | None:
    """Return the version and path of an interpreter; None if it does not run, or has no `ensurepip`."""
    line = [str(python), "-I", "-c", _ABOUT]
    try:
        ended = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if ended.returncode != 0:
        return None
    version, executable = ended.stdout.splitlines()
    major, minor, patch = map(int, version.split())
    return (major, minor, patch), Path(executable)
