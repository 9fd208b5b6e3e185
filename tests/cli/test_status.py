"""`tenterhook` alone: hooks in force, agents guarded or not, and the next useful command."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, project_hooks, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.doctor import proofs

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Run

GUARDED = ("claude-code", "qwen")


def last_line(run: Run) -> str:
    ended = run()
    assert ended.status == 0
    return ended.out.splitlines()[-1]


@pytest.fixture(autouse=True)
def no_agents(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No agent of this machine is found."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


@pytest.fixture
def guarded(home: Path, run: Run) -> Path:
    """A person with one guard, in force in two agents."""
    folder_hook(user_hooks(home), "guard", "exit 2", matcher={"tool": "Shell"})
    assert run("install", *GUARDED).status == 0
    return home


def test_without_hooks_it_names_how_to_get_one(run: Run) -> None:
    text = run().out
    assert "0 in force" in text
    assert "none found" in text
    assert "tenterhook new" in text.splitlines()[-1]


def test_hooks_that_no_agent_calls_yet_are_said_to_be_so(home: Path, project: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert f"1 in force in {project}; no agent calls them yet" in run().out
    assert run("install", "claude-code").status == 0
    assert "no agent calls them yet" not in run().out


def test_hooks_of_the_project_that_are_not_trusted_are_counted(project: Path, run: Run) -> None:
    folder_hook(project_hooks(project), "one", "exit 2")
    assert "\n        1 of this project's hooks is not trusted\n" in run().out
    folder_hook(project_hooks(project), "two", "exit 2")
    assert "\n        2 of this project's hooks are not trusted\n" in run().out


def test_an_agent_that_is_not_guarded_is_the_next_step(home: Path, run: Run) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    (home / ".qwen").mkdir()
    assert "not guarded" in run().out
    assert "tenterhook setup" in last_line(run)


def test_if_another_one_is_guarded_its_installation_is_the_next_step(guarded: Path, run: Run) -> None:
    (guarded / ".gemini").mkdir()
    assert "tenterhook install gemini" in last_line(run)


def test_then_guards_are_to_be_tried_and_then_looked_at(guarded: Path, run: Run) -> None:
    assert run().out.count("guarded  SessionStart, PreToolUse") == 2
    assert "tenterhook doctor --live" in last_line(run)
    for name in GUARDED:
        proofs.record_result(AGENTS[name], None, held=True)
    assert "tenterhook log" in last_line(run)


def test_an_agent_is_to_be_tried_again_after_a_failure_or_a_change(guarded: Path, run: Run) -> None:
    for name in GUARDED:
        proofs.record_result(AGENTS[name], None, held=True)
    proofs.record_result(AGENTS["claude-code"], None, held=False)
    assert "tenterhook doctor claude-code --live" in last_line(run)
    proofs.record_result(AGENTS["claude-code"], None, held=True)
    settings = guarded / ".qwen/settings.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "model": {"name": "other"}}))
    assert "tenterhook doctor qwen --live" in last_line(run)


def test_a_broken_hook_comes_first(guarded: Path, run: Run) -> None:
    (user_hooks(guarded) / "broken").mkdir()
    (user_hooks(guarded) / "broken/HOOK.md").write_text("nothing")
    assert "tenterhook check" in last_line(run)


def test_a_guard_that_would_not_hold_is_said(guarded: Path, project: Path, run: Run) -> None:
    settings = project / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}')
    assert "tenterhook doctor claude-code" in last_line(run)


def test_settings_it_cannot_read_are_said(guarded: Path, run: Run) -> None:
    (guarded / ".claude/settings.json").write_text("{")
    assert "unreadable settings" in run().out
