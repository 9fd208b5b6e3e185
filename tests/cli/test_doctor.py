"""`tenterhook doctor`: whether a guard would hold, its exit status, and `--live`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from support import (
    folder_hook,
    tenterhook,
    user_hooks,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_live_run_that_cannot_be_made_is_no_guard_that_fails(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert tenterhook("install", "claude-code").returncode == 0
    ended = tenterhook("doctor", "claude-code", "--live", env={**os.environ, "PATH": "/usr/bin:/bin"})
    assert ended.returncode == 1
    assert "not tried: whether guards hold was not shown" in ended.stdout
    assert "a guard would not hold" not in ended.stdout
