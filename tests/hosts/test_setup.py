"""`tenterhook setup` with real agents: from nothing to guards that were seen to block, and back when interrupted."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pexpect
import pytest

from hosts import agents
from install.trees import tree
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]
NAMES = ("claude-code", "kimi-code")


@pytest.fixture(autouse=True)
def programs(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        if name in agents.skipped():
            pytest.skip(f"{name}: {agents.skipped()[name]}")
    folders = [*(agents.executable(name).parent for name in NAMES), agents.node()]
    monkeypatch.setenv("PATH", os.pathsep.join([*map(str, folders), "/usr/bin", "/bin"]))


def test_from_nothing_to_guards_that_were_seen_to_block(home: Path) -> None:
    ended = tenterhook("setup", "--yes", "--json", timeout=500)
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert [(each["agent"], each["proof"]) for each in found["agents"]] == [(name, "proven") for name in NAMES]
    assert all(mode["held"] for each in found["agents"] for mode in each["live"])
    again = tenterhook("setup", "--yes")
    assert (again.returncode, again.stdout.splitlines()[0]) == (0, "everything is already set up: nothing to change")
    assert again.stdout.count("guards block, as an earlier live run showed") == 2


@pytest.mark.parametrize("point", ["blocked     plain", "Kimi Code tries"])
def test_interrupted_while_an_agent_runs_it_leaves_everything_as_it_was(home: Path, point: str) -> None:
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text('{"model": "opus"}\n')
    before = tree(home)
    child = pexpect.spawn(sys.executable, ["-m", "tenterhook", "setup", "--yes"], encoding="utf-8", timeout=300)
    child.expect(point.replace(" ", r"(\x1b\[\d*m| )+"))
    child.kill(signal.SIGINT)
    child.expect_exact("everything was restored")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert tree(home) == before
