"""What the tests with real agents share: each gets one in a home and a project of its own, or is skipped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from hosts import agents
from hosts.real import Guarded
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def guarded(name: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Guarded:
    """The agent of this name. It has no hooks, and nothing is installed in it, until the test says so."""
    if name in agents.skipped():
        pytest.skip(f"{name}: {agents.skipped()[name]}")
    (project / ".git").mkdir()
    executable = agents.executable(name)
    folders = (str(executable.parent), str(agents.node()), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    return Guarded(AGENTS[name], executable, home, project)
