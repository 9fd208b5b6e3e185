"""Cases of a pack that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.packs_in_use import CASE
from packs.repositories import PackRepository
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path


def test_an_update_whose_cases_fail_is_not_taken_without_a_person(pack: PackRepository, repository: Path) -> None:
    cases = pack.path / "hooks/no-deploy/cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE.replace("deny", "allow"))
    pack.commit("v1.1.0")
    refused = tenterhook("pack", "update", "--project", "--yes")
    assert refused.returncode == 1
    assert "cases of agent-hooks v1.1.0 fail" in refused.stderr
    assert "v1.0.0" in (repository / ".agents/hooks.toml").read_text()
