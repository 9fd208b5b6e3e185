"""`tenterhook agents`: which agents are known, which are here, and in which of them hooks are in force."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from support import folder_hook, tenterhook, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.doctor import proofs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def programs(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs on PATH, with Codex in the version that was proven and a newer Claude Code."""
    folder = home / "bin"
    folder.mkdir()
    proof = proofs.last_proof(AGENTS["codex"])
    assert proof is not None
    for name, said in (("codex", f"codex-cli {proof['version']}"), ("claude", "99.0.1 (Claude Code)")):
        (folder / name).write_text(f"#!/bin/sh\necho '{said}'\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def listed(*options: str) -> str:
    ended = tenterhook("agents", *options)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def facts() -> dict[str, dict[str, Any]]:
    found = json.loads(listed("--json"))
    assert (found["schema"], found["root"]) == (1, os.getcwd())
    return {each["name"]: each for each in found["agents"]}


def row(name: str) -> list[str]:
    return next(line.split() for line in listed().splitlines() if line.split()[0] == name)


def test_a_person_finds_an_agent_guards_it_and_sees_that_it_is_newer_than_what_was_proven(
    home: Path, project: Path, programs: Path
) -> None:
    text = listed()
    assert [line.split()[0] for line in text.splitlines()[1 : len(AGENTS) + 1]] == list(AGENTS)
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "not guarded: tenterhook install claude-code codex" in text
    assert row("claude-code")[1] == "99.0.1"
    assert row("qwen")[1:3] == ["not", "found"]
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert tenterhook("install", "claude-code", "codex").returncode == 0
    text = listed()
    assert (row("claude-code")[-1], row("codex")[-1], row("qwen")[-1]) == ("yes", "yes", "no")
    assert "not guarded:" not in text
    assert text.splitlines()[-1] == "not the version that was proven: tenterhook doctor claude-code --live"


def test_programs_are_told_the_same(project: Path, programs: Path) -> None:
    found = facts()
    assert list(found) == list(AGENTS)
    claude = found["claude-code"]
    assert (claude["program"], claude["version"]) == (str(programs / "claude"), "99.0.1")
    assert claude["guarded"] == {"managed": False, "user": False, "project": False}
    assert found["codex"]["proven"]["version"] == found["codex"]["version"]
    assert (found["qwen"]["program"], found["qwen"]["version"]) == (None, None)


def test_an_installation_for_a_project_counts_there(home: Path, project: Path, programs: Path) -> None:
    (project / ".git").mkdir()
    assert tenterhook("install", "claude-code", "--project").returncode == 0
    assert facts()["claude-code"]["guarded"] == {
        "managed": False,
        "user": False,
        "project": False,
    }  # nothing would be refused yet
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert tenterhook("install", "claude-code", "--project").returncode == 0
    assert (
        facts()["claude-code"]["guarded"]
        == facts()["claude-code"]["installed"]
        == {"managed": False, "user": False, "project": True}
    )
    assert row("claude-code")[-3:] == ["in", "this", "project"]
    os.chdir(home)
    assert facts()["claude-code"]["guarded"] == {"managed": False, "user": False, "project": False}


def test_settings_that_cannot_be_read_are_said_to_be_so(home: Path, project: Path, programs: Path) -> None:
    assert tenterhook("install", "claude-code").returncode == 0
    (home / ".claude" / "settings.json").write_text("{")
    assert facts()["claude-code"]["guarded"]["user"] is None
    assert row("claude-code")[-2:] == ["unreadable", "settings"]


def test_a_program_that_prints_no_version_is_here_all_the_same(project: Path, programs: Path) -> None:
    (programs / "codex").write_text("#!/bin/sh\nexit 1\n")
    assert facts()["codex"]["version"] is None
    assert row("codex")[1:3] == ["no", "version"]
