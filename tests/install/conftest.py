"""Fixtures of several of these files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import folder_hook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def guard(home: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "echo 'not with me' >&2; exit 2")
