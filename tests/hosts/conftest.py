"""What the tests with real agents share: each gets one in a home and a project of its own, or is skipped."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from hosts import agents
from hosts.real import Guarded
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_RESTARTED = "agent started once more"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many agents were started once more, and which; of workers, reports carry it here."""
    found = [
        f"{report.nodeid}: {value}"
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for key, value in report.user_properties
        if key == _RESTARTED
    ]
    if found or terminalreporter.config.option.markexpr == "agents":
        terminalreporter.write_line(
            f"agents started once more, as they died before their first hook call: {len(found)}"
        )
    for line in found:
        terminalreporter.write_line(line)


@pytest.fixture
def guarded(
    name: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> Iterator[Guarded]:
    """The agent of this name. It has no hooks, and nothing is installed in it, until the test says so."""
    if name in agents.skipped():
        pytest.skip(f"{name}: {agents.skipped()[name]}")
    (project / ".git").mkdir()
    executable = agents.executable(name)
    folders = (str(executable.parent), str(agents.node()), os.environ["PATH"])
    monkeypatch.setenv("PATH", os.pathsep.join(folders))
    restarts: list[str] = []
    yield Guarded(AGENTS[name], executable, home, project, restarts)
    request.node.user_properties.extend((_RESTARTED, each) for each in restarts)
