"""`tenterhook pack init`: a new pack works at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packs.repositories import git
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_pack_works_at_once(tmp_path: Path, project: Path) -> None:
    made = tenterhook("pack", "init", str(tmp_path / "ours"))
    assert made.returncode == 0
    assert tenterhook("test", f"{tmp_path}/ours/hooks/no-force-push", "--trust-project").returncode == 0
    git(tmp_path / "ours", "init", "-q")
    git(tmp_path / "ours", "add", "-A")
    git(tmp_path / "ours", "commit", "-q", "-m", "x")
    git(tmp_path / "ours", "tag", "v1.0.0")
    assert tenterhook("pack", "add", f"{tmp_path}/ours@v1.0.0", "--yes").returncode == 0
    assert tenterhook("pack", "init", str(tmp_path / "ours")).returncode == 1
