"""What was interrupted leaves files and directories as they were."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from install.trees import tree
from tenterhook.install.rollback import Rollback

if TYPE_CHECKING:
    from pathlib import Path


def test_everything_that_was_kept_becomes_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "records/backups").mkdir(parents=True)
    (tmp_path / "records/one.json").write_text("one")
    (tmp_path / "records/one.json").chmod(0o640)
    (tmp_path / "records/gone.json").write_text("gone")
    (tmp_path / "launcher").write_text("old")
    before = tree(tmp_path)
    rollback = Rollback()
    rollback.keep(str(tmp_path / "records"))
    rollback.keep(str(tmp_path / "launcher"))
    rollback.keep(str(tmp_path / "new"))
    rollback.keep_missing(str(tmp_path / "deep/state/tenterhook"))
    (tmp_path / "records/one.json").write_text("another")
    (tmp_path / "records/gone.json").unlink()
    (tmp_path / "records/two.json").write_text("two")
    (tmp_path / "records/backups/settings").write_text("x")
    (tmp_path / "launcher").write_text("new")
    (tmp_path / "new").write_text("new")
    (tmp_path / "deep/state/tenterhook/sessions").mkdir(parents=True)
    rollback.undo()
    assert tree(tmp_path) == before


def test_what_another_program_made_meanwhile_stays(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    rollback = Rollback()
    rollback.keep_missing(str(tmp_path / "state"))
    rollback.keep_missing(str(tmp_path / "config/agents/hooks/guard"))
    (tmp_path / "state/others").write_text("x")
    (tmp_path / "config/agents/hooks/guard").mkdir(parents=True)
    (tmp_path / "config/another").write_text("x")
    rollback.undo()
    assert sorted(os.listdir(tmp_path / "config")) == ["another"]
    assert (tmp_path / "state/others").exists()


def test_a_directory_that_was_deleted_comes_back_with_its_files(tmp_path: Path) -> None:
    (tmp_path / "records").mkdir()
    (tmp_path / "records/one.json").write_text("one")
    rollback = Rollback()
    rollback.keep(str(tmp_path / "records"))
    shutil.rmtree(tmp_path / "records")
    rollback.undo()
    assert (tmp_path / "records/one.json").read_text() == "one"
