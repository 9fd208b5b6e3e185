"""`tenterhook doctor`: its exit status, `--fix` and `--live`; what it finds: doctor/test_checks.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, project_hooks, user_hooks

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run


@pytest.fixture(autouse=True)
def installed(home: Path, project: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation in Claude Code, of which the program is not found; returns its settings."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert run("install", "claude-code").status == 0
    return home / ".claude/settings.json"


def test_a_guard_that_is_installed_holds(home: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", trigger="pre-session")
    assert run("doctor").status == 0
    found = json.loads(run("doctor", "--json").out)
    assert (found["holds"], [agent["agent"] for agent in found["agents"]]) == (True, ["claude-code"])


def test_without_hooks_nothing_is_said_to_hold(run: Run) -> None:
    assert "\nno hook is in force" in run("doctor").out


def test_hooks_that_are_disabled_or_untrusted_are_not_said_to_hold(home: Path, project: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2", trigger="pre-session")
    assert run("disable", "guard", "--yes").status == 0
    assert run("doctor").out.splitlines()[-1] == "no hook is in force: nothing would be blocked"
    folder_hook(project_hooks(project), "untrusted", "exit 2", trigger="pre-session")
    assert run("doctor").out.splitlines()[-1] == "no hook is in force: nothing would be blocked"


def test_fix_renews_the_entries_as_they_were_chosen(home: Path, installed: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert run("install", "claude-code", "--closed").status == 0
    before = installed.read_bytes()
    installed.write_text("{}")
    assert run("doctor").status == 1
    assert run("doctor", "--fix").status == 0
    assert json.loads(installed.read_bytes()) == json.loads(before)


def test_an_unknown_agent_is_wrong_usage(run: Run) -> None:
    ended = run("doctor", "claude")
    assert ended.status == 64
    assert "did you mean claude-code?" in ended.err


def test_a_live_run_that_cannot_be_made_is_no_guard_that_fails(home: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert run("install", "claude-code").status == 0
    ended = run("doctor", "claude-code", "--live")
    assert ended.status == 1
    assert ended.out.splitlines()[-1].startswith("not tried: ")
