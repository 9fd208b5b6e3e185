"""What is built: the same bytes wherever and whenever, with everything in it that is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pytest

from support import UNPACKED

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.slow


def cloned(folder: Path, umask: int) -> Path:
    """This commit in another folder, with other modes."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone of the repository")
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder)], check=True, umask=umask)
    return folder


def built(folder: Path, *kinds: str) -> dict[str, bytes]:
    """What a build makes, by file name."""
    target = folder.parent / f"{folder.name}-built"
    line = [sys.executable, "-m", "hatchling", "build", "-d", str(target), *(f"-t{kind}" for kind in kinds)]
    subprocess.run(line, cwd=folder, check=True, capture_output=True)
    return {file.name: file.read_bytes() for file in target.iterdir()}


class Made(NamedTuple):
    """A clone, and what a build made in it."""

    clone: Path
    files: dict[str, bytes]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    clone = cloned(tmp_path_factory.mktemp("building") / "clone", 0o022)
    return Made(clone, built(clone))


def test_a_commit_gives_the_same_bytes_in_any_folder_with_any_umask_at_any_time(made: Made, tmp_path: Path) -> None:
    other = cloned(tmp_path / "another place" / "two", 0o077)
    for path in other.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    kinds = sorted(name.partition("-")[2].lstrip("0123456789.") for name in made.files)
    assert kinds == ["-py3-none-any.whl", "tar.gz"]
    assert built(other) == made.files


def test_the_source_archive_gives_the_same_wheel_and_has_the_tests(made: Made, tmp_path: Path) -> None:
    (archive,) = (name for name in made.files if name.endswith(".tar.gz"))
    with tarfile.open(fileobj=BytesIO(made.files[archive])) as packed:
        packed.extractall(tmp_path, **UNPACKED)
    unpacked = tmp_path / archive.removesuffix(".tar.gz")
    (wheel,) = (name for name in made.files if name.endswith(".whl"))
    assert built(unpacked, "wheel")[wheel] == made.files[wheel]
    # with a place for its files of its own: it would delete those of earlier runs, which takes long
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'files'}"]
    source = {**os.environ, "PYTHONPATH": str(unpacked / "src")}
    subprocess.run([*tests, "tests/test_events.py"], cwd=unpacked, env=source, check=True, capture_output=True)


def test_the_archive_has_what_the_repository_has_and_nothing_else(made: Made) -> None:
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=made.clone, check=True, capture_output=True, text=True).stdout
    (data,) = (content for name, content in made.files.items() if name.endswith(".tar.gz"))
    with tarfile.open(fileobj=BytesIO(data)) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert held - {"PKG-INFO"} == set(filter(None, listed.split("\0")))
