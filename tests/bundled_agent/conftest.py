"""A stage for each test of the agent, and one session in which every event happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bundled_agent.life import Life
from bundled_agent.playing import Play

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def play(tmp_path: Path, home: Path, project: Path) -> Play:
    """An empty home and project, without hooks until the test says so."""
    return Play(tmp_path, home, project)


@pytest.fixture(scope="session")
def life(tmp_path_factory: pytest.TempPathFactory) -> Life:
    """A session that was played once: whatever hooks of each format were sent in it, and what came of it."""
    return Life.played(tmp_path_factory.mktemp("life"))
