"""`tenterhook add`: what it says of agents and trust; what it copies: hooks/test_add.py."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support import user_hooks
from tenterhook.authoring import built_in_hooks

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

GUARD = "block-dangerous-commands"


@pytest.fixture(autouse=True)
def no_agents(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent of this machine is found."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def test_a_hook_named_twice_is_added_once(home: Path, run: Run) -> None:
    ended = run("add", GUARD, GUARD, "--json")
    assert ended.status == 0
    (added,) = json.loads(ended.out)["added"]
    assert (added["name"], added["state"], added["needs_trust"]) == (GUARD, "added", False)
    assert added["folder"] == str(user_hooks(home) / GUARD)


def test_one_unknown_name_adds_none_of_the_others(home: Path, run: Run) -> None:
    assert run("add", GUARD, "no-such-hook").status == 64
    assert not user_hooks(home).exists()


def test_a_hook_for_a_project_says_that_it_needs_trust(run: Run) -> None:
    ended = run("add", GUARD, "--project")
    assert f"next    tenterhook trust {GUARD} " in ended.out
    assert json.loads(run("add", GUARD, "--project", "--json").out)["added"][0]["needs_trust"] is True


def test_an_agent_that_could_not_be_wired_is_told_and_status_is_one(home: Path, run: Run) -> None:
    assert run("install", "claude-code").status == 0
    (home / ".claude/settings.json").write_text("{ broken")
    ended = run("add", GUARD)
    assert ended.status == 1
    assert f"{GUARD}  added" in ended.out
    assert "not wired in Claude Code: PreToolUse" in ended.err


def test_byte_code_beside_the_files_is_no_change_and_another_file_is(home: Path, run: Run) -> None:
    (hook,) = [hook for hook in built_in_hooks.built_in_hooks() if hook.name == GUARD]
    folder = user_hooks(home) / GUARD
    assert built_in_hooks.state_of(hook, str(folder)) is None
    assert run("add", GUARD).status == 0
    (folder / "scripts/__pycache__").mkdir()
    (folder / "scripts/__pycache__/run.pyc").touch()
    assert built_in_hooks.state_of(hook, str(folder)) == "as it comes"
    (folder / "notes.txt").touch()
    assert built_in_hooks.state_of(hook, str(folder)) == "changed"
