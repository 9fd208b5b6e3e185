"""What `install` records, and which of it only a person's own command may change."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tenterhook.agents import AGENTS
from tenterhook.install import records

if TYPE_CHECKING:
    import pytest

CLAUDE = AGENTS["claude-code"]
EVENTS = {"PreToolUse": "pre-tool-call"}


def made(before: dict[str, Any], *, by_person: bool = True) -> dict[str, Any]:
    return records.new_record(
        CLAUDE, None, EVENTS, before, closed=False, everywhere=False, configs=(), by_person=by_person
    )


def test_an_installation_of_a_project_has_a_record_of_its_own(project: Path) -> None:
    own, of_project = records.file(CLAUDE, None), records.file(CLAUDE, str(project))
    assert os.path.basename(own) == "claude-code.json"
    assert os.path.basename(of_project).startswith("claude-code@")
    assert of_project != records.file(CLAUDE, str(project / "other"))


def test_the_agents_process_keeps_what_the_person_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/persons")
    before = made({}) | {"python": "/persons/python", "home": "/persons/home"}
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/agents")
    monkeypatch.setenv("PATH", "/agents/bin")
    after = made(before, by_person=False)
    for name in ("python", "home", "steering", "interpreters", "environment", "agent_home"):
        assert after[name] == before[name], name
    renewed = made(before)
    assert renewed["python"] == sys.executable
    assert renewed["environment"] == {"CLAUDE_CONFIG_DIR": "/agents"}
    assert renewed["steering"]["PATH"] == "/agents/bin"


def test_a_record_is_written_for_this_account_alone_and_read_again() -> None:
    file = records.file(CLAUDE, None)
    records.write(file, made({}))
    assert os.stat(file).st_mode & 0o077 == 0
    assert records.read(file) == made({})


def test_a_broken_record_hides_no_other_one() -> None:
    for name in ("gemini", "codex"):
        records.write(records.file(AGENTS[name], None), {"schema": 1, "host": name, "root": None})
    Path(records.file(CLAUDE, None)).write_text("{")
    Path(records.directory(), "notes.txt").write_text(json.dumps({"schema": 1}))
    assert [record["host"] for record in records.all_records()] == ["codex", "gemini"]


def test_where_nothing_was_installed_there_are_no_records() -> None:
    assert records.all_records() == []
