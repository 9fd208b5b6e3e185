"""What is built: the same bytes wherever and whenever, with everything in it that is needed."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

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


def test_a_commit_gives_the_same_bytes_in_any_folder_with_any_umask_at_any_time(tmp_path: Path) -> None:
    one = cloned(tmp_path / "one", 0o022)
    other = cloned(tmp_path / "another place" / "two", 0o077)
    for path in other.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)
    first = built(one)
    assert sorted(name.partition("-")[2].lstrip("0123456789.") for name in first) == ["-py3-none-any.whl", "tar.gz"]
    assert built(other) == first


def test_the_source_archive_gives_the_same_wheel_and_has_the_tests(tmp_path: Path) -> None:
    clone = cloned(tmp_path / "clone", 0o022)
    made = built(clone)
    (archive,) = (name for name in made if name.endswith(".tar.gz"))
    with tarfile.open(tmp_path / "clone-built" / archive) as packed:
        packed.extractall(tmp_path, filter="data")
    unpacked = tmp_path / archive.removesuffix(".tar.gz")
    (wheel,) = (name for name in made if name.endswith(".whl"))
    assert built(unpacked, "wheel")[wheel] == made[wheel]
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/engine/test_verdicts.py"]
    source = {**os.environ, "PYTHONPATH": str(unpacked / "src")}
    subprocess.run(tests, cwd=unpacked, env=source, check=True, capture_output=True)


def test_the_archive_has_what_the_repository_has_and_nothing_else(tmp_path: Path) -> None:
    clone = cloned(tmp_path / "clone", 0o022)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=clone, check=True, capture_output=True, text=True).stdout
    (data,) = (name for name in built(clone, "sdist"))
    with tarfile.open(tmp_path / "clone-built" / data) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert held - {"PKG-INFO"} == set(filter(None, listed.split("\0")))
