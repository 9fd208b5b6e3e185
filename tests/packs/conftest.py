from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from packs.repositories import PackRepository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def pack(tmp_path: Path) -> PackRepository:
    """A pack with one hook, committed and tagged v1.0.0."""
    made = PackRepository(tmp_path / "agent-hooks")
    made.hook("no-deploy", "deploy")
    made.commit("v1.0.0")
    return made
