"""An agent that dies before its first hook call is started once more; nothing else is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hosts.real import Guarded
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    return tmp_path / "starts"


def dying(home: Path, project: Path, starts: Path, before: str = "") -> Guarded:
    """An agent that fails at each start."""
    executable = starts.with_name("agent")
    executable.write_text(f"#!/bin/sh\necho started >>{starts}\n{before}\nexit 1\n")
    executable.chmod(0o755)
    return Guarded(AGENTS["claude-code"], executable, home, project, [])


def test_an_agent_that_dies_before_its_first_hook_call_is_started_once_more(
    home: Path, project: Path, starts: Path
) -> None:
    agent = dying(home, project, starts)
    assert agent.run().exit_code == 1
    assert starts.read_text() == "started\n" * 2
    assert agent.restarts == ["exit 1: "]


def test_an_agent_that_dies_after_a_hook_call_is_not_started_again(home: Path, project: Path, starts: Path) -> None:
    journal = home / ".local/state/tenterhook/journal"
    agent = dying(home, project, starts, f"mkdir -p {journal}; echo a record >>{journal}/1.jsonl")
    assert agent.run().exit_code == 1
    assert starts.read_text() == "started\n"
    assert agent.restarts == []
