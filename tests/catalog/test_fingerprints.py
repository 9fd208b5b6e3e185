"""The fingerprint of a folder: any change of what it holds is another one, and what cannot be pinned down has none."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from support import folder_hook
from tenterhook.catalog import fingerprints
from tenterhook.catalog.fingerprints import Untrustable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = folder_hook(tmp_path / "hooks", "guard", "exit 2")
    (made / "scripts" / "other.sh").write_text("exit 0\n")
    (made / "link.sh").symlink_to("scripts/run.sh")
    return made


def hash_of(folder: Path) -> str:
    return fingerprints.of_folder(str(folder)).hash


def test_the_same_files_elsewhere_have_the_same_hash(folder: Path, tmp_path: Path) -> None:
    before = hash_of(folder)
    folder.rename(tmp_path / "moved")
    assert hash_of(tmp_path / "moved") == before


def test_every_file_mode_directory_and_link_counts(folder: Path) -> None:
    seen = [hash_of(folder)]
    (folder / "scripts" / "run.sh").chmod(0o700)
    seen.append(hash_of(folder))
    (folder / "data").mkdir()
    seen.append(hash_of(folder))
    (folder / "link.sh").unlink()
    (folder / "link.sh").symlink_to("scripts/other.sh")
    seen.append(hash_of(folder))
    (folder / "link.sh").unlink()
    (folder / "link.sh").write_text("scripts/other.sh")  # not a link any more
    seen.append(hash_of(folder))
    assert len(set(seen)) == 5


def test_a_name_cannot_pass_for_two_files(folder: Path) -> None:
    """The line of one entry could be part of another one's name."""
    (folder / "a").write_text("")
    (entry,) = [each for each in fingerprints.of_folder(str(folder)).entries if each.path == "a"]
    before = hash_of(folder)
    (folder / "a").unlink()
    (folder / f"a {entry.mode:o} {entry.digest}\n1:b").write_text("")
    assert hash_of(folder) != before


@pytest.mark.parametrize(
    "target", ["../../outside.sh", "/etc/hostname", "../../back/scripts/run.sh", "gone/../../../x"]
)
def test_a_link_that_leads_out_has_none_even_if_it_leads_back_in(folder: Path, tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.sh").write_text("exit 0\n")
    (tmp_path / "back").symlink_to(folder)
    (folder / "out.sh").symlink_to(target)
    with pytest.raises(Untrustable, match="leads out"):
        fingerprints.of_folder(str(folder))


def test_what_is_itself_a_link_has_none(folder: Path) -> None:
    (folder.parent / "linked").symlink_to(folder)
    (folder.parent / "hooks.toml").symlink_to(folder / "HOOK.md")
    with pytest.raises(Untrustable, match="is a link"):
        fingerprints.of_folder(str(folder.parent / "linked"))
    with pytest.raises(Untrustable, match="is a link"):
        fingerprints.of_file(str(folder.parent / "hooks.toml"))


def test_a_pipe_has_none_and_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    with pytest.raises(Untrustable, match="not a regular file"):
        fingerprints.of_folder(str(folder))


def test_a_folder_larger_than_a_person_would_look_through_has_none(folder: Path) -> None:
    with (folder / "huge").open("wb") as file:
        file.truncate(1 << 30)
    with pytest.raises(Untrustable, match="MiB"):
        fingerprints.of_folder(str(folder))


def test_what_was_touched_since_a_moment_is_seen_without_reading_it(folder: Path) -> None:
    later = time.time() + 1
    assert not fingerprints.touched_since(str(folder), later)
    assert fingerprints.touched_since(str(folder), later - 3600)
    assert fingerprints.touched_since(str(folder / "gone"), later)
