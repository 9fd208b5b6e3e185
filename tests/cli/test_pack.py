"""Packs that are in force, also without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.packs_in_use import decision
from packs.repositories import PackRepository
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path


def test_without_a_network_everything_in_the_store_works(pack: PackRepository, repository: Path) -> None:
    pack.path.rename(pack.path.with_name("away"))
    assert decision() == "deny"
    assert tenterhook("pack", "verify").returncode == 0
    refused = tenterhook("pack", "update", "--project")
    assert refused.returncode == 1
    assert "cannot be fetched" in refused.stderr
    assert decision() == "deny"
