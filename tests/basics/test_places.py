"""Directories of the person's own are made so that no other account can write to them."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, tenterhook, user_hooks
from tenterhook.basics import places

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(params=[0o000, 0o002, 0o077], ids="{:03o}".format)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_nobody_else_can_write_to_what_is_made(tmp_path: Path, umask: int) -> None:
    places.make_directories(str(tmp_path / "a" / "b"))
    assert [mode(tmp_path / each) for each in ("a", "a/b")] == [0o755 & ~umask] * 2


def test_a_private_directory_is_private_and_nobody_else_can_write_above_it(tmp_path: Path, umask: int) -> None:
    places.make_private(str(tmp_path / "a" / "b" / "c"))
    assert [mode(tmp_path / each) for each in ("a", "a/b", "a/b/c")] == [0o755 & ~umask] * 2 + [0o700]


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a").chmod(0o770)
    places.make_private(str(tmp_path / "a"))
    assert mode(tmp_path / "a") == 0o770


@pytest.mark.promise("another account")
@pytest.mark.parametrize("kind", ["state", "cache"])
def test_our_own_directories_are_private(home: Path, umask: int, kind: str) -> None:
    """Other accounts cannot look into Tenterhook's state directory: records, journal, tokens, sessions. A directory
    that an earlier version made readable is closed when something is next written there."""
    own = Path(getattr(places, kind)())
    assert home in own.parents
    places.make_private(str(own / "hooks" / "mine"))
    assert [mode(each) for each in (own, own / "hooks", own / "hooks" / "mine")] == [0o700] * 3
    own.chmod(0o755)
    places.make_private(str(own / "hooks" / "mine"))
    assert mode(own) == 0o700
    places.make_private(str(own))
    assert mode(own.parent) == 0o755 & ~umask


@pytest.mark.promise("another account")
def test_a_command_closes_the_state_directory_of_an_earlier_version(home: Path, project: Path) -> None:
    """A state directory that other accounts can read is closed by the next event or command that writes to it."""
    state = home / ".local" / "state" / "tenterhook"
    state.mkdir(parents=True)
    state.chmod(0o755)
    folder_hook(user_hooks(home), "mine", "exit 0")
    assert tenterhook("trigger", "pre-tool-call", "--tool", "Shell").returncode == 0
    assert mode(state) == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make directories for another account")
def test_a_directory_of_another_account_is_left_as_it_is(home: Path) -> None:
    state = Path(places.state())
    state.mkdir(parents=True)
    state.chmod(0o755)
    os.chown(state, 12345, 12345)
    places.make_private(str(state / "hooks"))
    assert mode(state) == 0o755


def test_a_relative_path_and_one_with_a_slash_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    places.make_directories("a/b/")
    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("below", ["file", "file/a", "link"])
def test_what_is_no_directory_is_named(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(NotADirectoryError) as caught:
        places.make_directories(str(tmp_path / below))
    assert caught.value.filename == str(tmp_path / below.partition("/")[0])


def test_several_at_once_make_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(100):
            wanted = str(tmp_path / str(number) / "a" / "b")
            list(pool.map(places.make_private, [wanted] * 8))
            assert os.path.isdir(wanted)


def test_a_path_that_cannot_be_looked_up_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: str) -> str:
        raise PermissionError(13, "Permission denied", path)

    assert places.real_path("/a/../b\0c") == "/b\0c"
    monkeypatch.setattr(os.path, "realpath", denied)  # root may read every link
    assert places.real_path("/proc/1/root/../x") == "/proc/1/x"
