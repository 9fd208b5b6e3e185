"""Every test has a home of its own and writes nowhere else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes start here; each would compile all of us


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty HOME, and none of the caller's settings."""
    home = tmp_path / "home"
    home.mkdir()
    for name in list(os.environ):
        if name.startswith(("TENTERHOOK_", "KIMI_", "XDG_", "CLAUDE_", "CODEX_", "COPILOT_", "GEMINI_", "QWEN_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, and the working directory."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return project
