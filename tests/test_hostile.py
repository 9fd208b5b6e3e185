"""What a hostile caller or repository could make a command print, and does not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from support import array_hook, folder_hook, project_hooks, tenterhook, write_config

if TYPE_CHECKING:
    from pathlib import Path


def test_a_deny_stays_a_deny_when_it_cannot_be_printed(project: Path) -> None:
    config = write_config(project / "c.toml", array_hook("exit 2"))
    for target in (">/dev/full", ">&-", "| true"):
        line = f"{sys.executable} -m tenterhook trigger PreToolUse --config {config} {target}; exit ${{PIPESTATUS[0]}}"
        ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
        assert ended.returncode == 2, (target, ended.stderr)
        assert "Traceback" not in ended.stderr


def test_a_file_name_cannot_forge_lines_of_what_trust_shows(project: Path) -> None:
    made = folder_hook(project_hooks(project), "theirs")
    (made / "x\n  trusted\nother  y").write_text("z")
    shown = tenterhook("trust", "theirs", "--yes").stdout
    assert shown.count("\n  trusted\n") == 1
    assert "x\\n  trusted\\nother  y" in shown
