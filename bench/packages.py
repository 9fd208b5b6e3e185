"""Installs peers from package registries into a cache folder: $TENTERHOOK_BENCH_CACHE, or .cache/bench here.

A package that is there in the required version is reused.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST = 900  # seconds for one of them
_STAMP = "installed"


class CannotInstall(Exception):
    """A package cannot be installed; the message says why."""


class Package(NamedTuple):
    """A package in the version that a worker was written against."""

    name: str
    version: str


NODE = Package("node", "24")


def from_pypi(package: Package) -> Path:
    """Return the interpreter of an environment with this package; raises `CannotInstall`."""
    folder = _folder(package)
    if _stamp(folder) != package.version:
        python = _newer_python()
        shutil.rmtree(folder, ignore_errors=True)
        _run([python, "-m", "venv", str(folder)])
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        _run([*pip, f"{package.name}=={package.version}"])
        (folder / _STAMP).write_text(package.version)
    return folder / "bin" / "python"


def from_npm(package: Package, *, scripts: bool = False) -> Path:
    """Return the folder of this package; its install scripts run only with `scripts`. Raises `CannotInstall`."""
    folder = _folder(package)
    if _stamp(folder) != package.version:
        npm = shutil.which("npm")
        if npm is None:
            raise CannotInstall("there is no npm here")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # without a package.json here npm would use one of a parent folder
        (folder / "package.json").write_text('{"private": true}\n')
        flags = ["--no-audit", "--no-fund", "--loglevel=error", *([] if scripts else ["--ignore-scripts"])]
        _run([npm, "install", *flags, f"{package.name}@{package.version}"], folder)
        (folder / _STAMP).write_text(package.version)
    return folder / "node_modules" / package.name


def node() -> Path:
    """Return a `node` that is new enough for all peers; raises `CannotInstall`."""
    return from_npm(NODE, scripts=True).parent / ".bin" / "node"


def cache() -> Path:
    """Return the cache folder, which may not exist yet."""
    beside = Path(__file__).resolve().parent.parent / ".cache" / "bench"
    named = os.environ.get("TENTERHOOK_BENCH_CACHE")
    return Path(named).absolute() if named else beside


def _folder(package: Package) -> Path:
    return cache() / package.name.replace("/", "-").lstrip("@")


def _stamp(folder: Path) -> str:
    try:
        return (folder / _STAMP).read_text()
    except OSError:
        return ""


def _newer_python() -> str:
    """Return a Python 3.12 or 3.13: this one, one on PATH, or one of pyenv's; raises `CannotInstall`."""
    known = [sys.executable] if (3, 12) <= sys.version_info[:2] <= (3, 13) else []
    known += filter(None, map(shutil.which, ("python3.13", "python3.12")))
    for pattern in ("3.13*", "3.12*"):
        known += map(str, sorted(Path.home().glob(f".pyenv/versions/{pattern}/bin/python"), reverse=True))
    for python in known:  # pyenv's shims are on PATH even for versions that are not installed
        if subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode == 0:
            return python
    raise CannotInstall("it needs Python 3.12 or 3.13, and neither was found")


def _run(command: Sequence[str], where: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command, cwd=where, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LONGEST, check=False
        )
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"{Path(command[0]).name} did not end in {_LONGEST} seconds") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        raise CannotInstall(f"{Path(command[0]).name} failed: {said[-1] if 'pip' in command else said[0]}")
