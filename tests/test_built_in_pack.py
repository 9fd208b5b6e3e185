"""The pack of the built-in hooks: it is current, and works as any other pack."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from packs.repositories import PackRepository
from support import tenterhook, trigger
from tenterhook.cli.setup import RECOMMENDED
from tools import built_in_pack

if TYPE_CHECKING:
    from pathlib import Path


def test_the_pack_is_what_the_built_in_hooks_are() -> None:
    below = built_in_pack.PACK
    here = [file for file in below.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    found = {
        str(file.relative_to(below)): (file.read_bytes(), bool(file.stat().st_mode & 0o100)) for file in sorted(here)
    }
    assert found == built_in_pack.files(), "run: make packs"


def test_the_pack_is_added_from_a_repository_that_has_it_in_a_directory(tmp_path: Path, project: Path) -> None:
    repository = PackRepository(tmp_path / "tenterhook")
    shutil.copytree(
        built_in_pack.PACK, repository.path / "packs/built-in", ignore=shutil.ignore_patterns("__pycache__")
    )
    repository.commit("v1.0.0")
    added = tenterhook("pack", "add", f"{repository.source}#packs/built-in@v1.0.0", "--yes")
    assert f"3 hooks of built-in v1.0.0 in force: {', '.join(sorted(RECOMMENDED))}" in added.stdout, added.stderr
    verdict = trigger("pre-tool-call", "--tool", "Shell", "--input", '{"command": "rm -rf ~"}')
    assert verdict["decision"] == "deny"
    assert tenterhook("pack", "verify").returncode == 0
