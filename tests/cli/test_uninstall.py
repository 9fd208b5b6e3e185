"""`tenterhook uninstall` takes entries out of settings only where a person says so."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from install.installations import install, kept, put, records, refused
from support import folder_hook, on_a_terminal, tenterhook, user_hooks
from tenterhook.basics import agent_marks, processes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def guard(home: Path, project: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "exit 2")


def test_it_needs_a_terminal_or_yes(home: Path) -> None:
    install("gemini")
    before = kept(home)
    ended = tenterhook("uninstall", "gemini", stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "--yes" in ended.stderr
    assert kept(home) == before


def test_on_a_terminal_no_is_the_default(home: Path) -> None:
    install("gemini")
    before = kept(home)
    question = b"Gemini CLI? [y/N]"
    for answer, expected in ((b"\n", 1), (b"n\n", 1)):
        assert on_a_terminal(["uninstall", "gemini"], {question: answer})[0] == expected
        assert kept(home) == before
    assert on_a_terminal(["uninstall", "gemini"], {question: b"y\n"})[0] == 0
    assert records(home) == []


def test_it_does_not_work_below_an_agent_that_is_guarded(home: Path) -> None:
    install("gemini")
    before = kept(home)
    agent_marks.mark(processes.this())
    said = refused("uninstall", "gemini", "--yes")
    assert "an agent that Tenterhook guards" in said
    assert "outside the agent" in said
    assert kept(home) == before


def test_a_dry_run_needs_no_confirmation_and_changes_nothing(home: Path) -> None:
    path = put(home, "gemini", b"{}\n")
    install("gemini")
    before = kept(home)
    ended = tenterhook("uninstall", "gemini", "--dry-run", stdin=subprocess.DEVNULL)
    assert ended.returncode == 0
    assert f"+++ {path} (then)" in ended.stdout
    assert kept(home) == before
    assert records(home) == ["gemini.json"]


def test_with_the_last_agent_it_names_what_it_leaves(home: Path) -> None:
    install("gemini")
    install("codex")
    assert "left as they are" not in tenterhook("uninstall", "gemini", "--yes").stdout
    tenterhook("trigger", "pre-tool-call", "--tool", "Shell")
    (home / ".local/state/tenterhook/journal").mkdir(exist_ok=True)
    (home / ".cache/tenterhook").mkdir(parents=True, exist_ok=True)
    assert tenterhook("uninstall", "codex", "--yes").stdout.splitlines()[-1] == (
        "left as they are: your hooks (~/.config/agents/hooks), the journal (~/.local/state/tenterhook/journal),"
        " other state (~/.local/state/tenterhook) and the cache (~/.cache/tenterhook)"
    )
