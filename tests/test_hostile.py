"""What a hostile repository, disk or caller could do to an event, and does not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from support import array_hook, folder_hook, project_hooks, shell_call, tenterhook, user_hooks, write_config
from tenterhook import Engine
from tenterhook.catalog import fingerprints
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def guard(home: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "echo no >&2; exit 2", priority=1)


@pytest.mark.promise("a hostile repository")
def test_an_untrusted_folder_is_not_even_looked_through(guard: Path, project: Path) -> None:
    """Of an untrusted hook only HOOK.md is read, to name it."""
    made = folder_hook(project_hooks(project), "theirs")
    with (made / "huge").open("wb") as file:
        file.truncate(1 << 40)  # a terabyte, of nothing
    assert Engine.load().decide(shell_call()).denied


def test_a_trusted_folder_that_grows_without_end_takes_no_verdict_with_it(guard: Path, project: Path) -> None:
    made = folder_hook(project_hooks(project), "theirs")
    Trust(str(project)).grant(str(made))
    deep = made
    for _ in range(100):
        deep = deep / "d"
    deep.mkdir(parents=True)
    verdict = Engine.load().decide(shell_call())
    assert verdict.denied
    with pytest.raises(fingerprints.Untrustable, match="too many files or levels"):
        Trust(str(project)).grant(str(made))


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
