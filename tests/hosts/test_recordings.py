"""`make recordings` makes the pictures of real agents for the documentation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from typing import TYPE_CHECKING

import pytest

from hosts import agents, recordings
from hub.browser.running import CHROMIUM

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.agents, pytest.mark.timeout(400)]


def last_screen(file: Path) -> str:
    """What a recording shows at its end."""
    groups = re.findall(r'<g class="(?:part last)?" id="\w+">\n(.*?)\n</g>', file.read_text(), re.DOTALL)
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", group) for group in groups))


def test_the_agents_are_recorded_as_the_guard_refuses_and_the_page_approves(tmp_path: Path) -> None:
    if {"claude-code", "kimi-code"} & agents.skipped().keys() or CHROMIUM is None:
        pytest.skip("needs Claude Code, Kimi Code and Chromium")
    environment = {**os.environ, "TENTERHOOK_AGENTS": str(agents.FOLDER)}
    subprocess.run([sys.executable, recordings.__file__, tmp_path], check=True, env=environment)
    for name in ("claude-code", "kimi-code"):
        screen = last_screen(tmp_path / f"{name}.svg")
        assert "[delete-outside]" in screen
        assert "/home/anna/projects" in screen
        assert str(tmp_path) not in screen
    assert "Version 41 is live." in last_screen(tmp_path / "approval.svg")
    assert "Do you want to proceed?" in (tmp_path / "approval.svg").read_text()
