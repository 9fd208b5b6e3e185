"""The file that an agent runs: it imports nothing of the project, ends by itself, and no usage error is a block."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dispatch.bridges import (
    BRIDGE,
    HANG,
    install,
    payload,
    reason,
    record,
)
from support import folder_hook, tenterhook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("arguments", [[], ["--host"], ["--what", "x"], ["--help"]])
def test_a_usage_error_is_never_a_block(project: Path, arguments: list[str]) -> None:
    ended = tenterhook("dispatch", *arguments, input="{}")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "usage: tenterhook dispatch" in ended.stderr
    direct = subprocess.run([sys.executable, "-I", "-S", BRIDGE, *arguments], input=b"", capture_output=True)
    assert direct.returncode == 70


def test_a_bridge_that_hangs_is_ended_by_the_system(home: Path, project: Path) -> None:
    """Nobody sends the payload's end: there is no answer, and no bridge left behind either."""
    folder_hook(user_hooks(home), "guard", "exit 0")
    install("claude-code")
    written = json.loads(record("claude-code").read_text())
    written["timeouts"] = dict.fromkeys(written["timeouts"], 2)
    record("claude-code").write_text(json.dumps(written))
    arguments = ["--host", "claude-code", "--event", "PreToolUse", "--record", str(record("claude-code"))]
    with subprocess.Popen(
        [sys.executable, "-I", "-S", BRIDGE, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as started:
        try:
            assert started.wait(HANG / 2) != 0
        finally:
            started.kill()


def test_modules_of_the_project_are_not_imported(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo held >&2; exit 2")
    install("claude-code")
    for name in ("json", "os", "tenterhook", "selectors", "signal", "sitecustomize", "usercustomize"):
        (project / f"{name}.py").write_text("raise SystemExit(0)")
    for _ in range(2):
        assert reason("claude-code", payload("claude-code", project), cwd=project) == "held"
