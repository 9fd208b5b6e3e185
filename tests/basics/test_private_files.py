"""Files that are used only if no other account could have written them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from tenterhook.basics import private_files

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "own" / "file"
    made.parent.mkdir(mode=0o700)
    made.touch(0o600)
    made.write_bytes(b"content")
    return made


def test_a_file_of_ones_own_is_read(file: Path) -> None:
    assert private_files.read(str(file)) == b"content"
    assert private_files.read(str(file) + ".none") is None


@pytest.mark.parametrize("spoil", ["others", "group", "directory", "link", "pipe", "no file"])
def test_what_another_account_could_have_written_or_what_is_no_file_is_not(file: Path, spoil: str) -> None:
    match spoil:
        case "others":
            file.chmod(0o602)
        case "group":
            file.chmod(0o620)
        case "directory":
            file.parent.chmod(0o770)
        case "link":
            file.rename(file.with_name("real"))
            file.symlink_to("real")
        case "pipe":
            file.unlink()
            os.mkfifo(file)
        case "no file":
            file.unlink()
            file.mkdir()
    assert private_files.read(str(file)) is None


def test_a_file_is_parsed_again_only_when_it_has_changed(file: Path) -> None:
    parsed: list[bytes] = []

    def parse(data: bytes) -> int:
        parsed.append(data)
        return len(data)

    for content in (None, None, b"other", None):
        if content is not None:
            before = file.stat()
            file.write_bytes(content)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # an edit that hides
        assert private_files.parsed(str(file), parse) == len(file.read_bytes())
    assert parsed == [b"content", b"other"]


def test_what_is_written_is_private_and_no_place_to_write_is_no_error(tmp_path: Path) -> None:
    private_files.write(str(tmp_path / "new" / "file"), b"x")
    assert private_files.read(str(tmp_path / "new" / "file")) == b"x"
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    private_files.write("/dev/null/nowhere/file", b"x")


def test_old_files_are_forgotten_and_looked_for_once_a_day(tmp_path: Path) -> None:
    directory = tmp_path / "kept"
    directory.mkdir()

    def old() -> Path:
        (directory / "old" / "deep").mkdir(parents=True)
        os.utime(directory / "old", (time.time() - 100,) * 2)
        return directory / "old"

    (directory / "new").touch()
    old()
    private_files.forget_old(str(directory), 50)
    assert [each.name for each in directory.iterdir()] == ["new"]
    old()
    private_files.forget_old(str(directory), 50)
    assert (directory / "old").exists()


@pytest.mark.parametrize("spoil", ["file", "parent", "target", "way to the target"])
def test_the_file_or_directory_that_others_could_change_is_named(tmp_path: Path, spoil: str) -> None:
    own, real = tmp_path / "own", tmp_path / "real"
    for directory in (own, real):
        directory.mkdir()
    (real / "file").touch()
    (own / "link").symlink_to(real / "file")
    assert private_files.writable_by_others(str(own / "link")) is None
    spoilt = {"file": real / "file", "parent": own, "target": real / "file", "way to the target": real}[spoil]
    spoilt.chmod(0o777)
    assert private_files.writable_by_others(str(own / "link")) == str(spoilt)


def test_a_sticky_directory_of_root_or_ones_own_is_no_danger_to_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "file").touch()
    (tmp_path / "shared").chmod(0o1777)
    assert private_files.writable_by_others(str(tmp_path / "shared" / "file")) is None
    assert private_files.writable_by_others(str(tmp_path / "shared")) == str(tmp_path / "shared")
