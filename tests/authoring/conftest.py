"""Fixtures of several of these files."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import pytest

from authoring.trying import left_behind

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A directory for temporary files of each test's own, in which nothing may be left."""
    directory = tmp_path / "tmp"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", None)
    yield directory
    assert left_behind() == []
