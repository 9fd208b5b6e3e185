"""What a command puts in force is wired in every guarded agent before the command ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from install.installations import EDITED, SETTINGS, events, install, wired
from support import folder_hook, project_hooks, tenterhook

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("project")


def test_what_a_command_puts_in_force_is_wired_at_once_in_every_agent(home: Path, project: Path) -> None:
    install(*SETTINGS)
    apart = {agent: names for agent, names in EDITED.items() if len(set(names)) == 4}  # in Vibe tool calls are wired
    said = tenterhook("new", "guard", "--on", "pre-tool-call").stdout
    assert said.count("wired in") == len(apart) == len(SETTINGS) - 1
    assert events(home) == {agent: set(names[:2]) for agent, names in EDITED.items()}
    assert tenterhook("add", "enforce-tests").returncode == 0
    assert all(names[3] in events(home)[agent] for agent, names in EDITED.items())
    folder_hook(project_hooks(project), "prompts", "exit 0", "pre-agent-turn")
    assert all(names[2] not in events(home)[agent] for agent, names in apart.items())
    said = tenterhook("trust", "prompts", "--yes").stdout
    assert said.count("wired in") == len(apart)
    assert all(names[2] in events(home)[agent] for agent, names in apart.items())


def test_a_trusted_guard_that_is_to_fail_closed_closes_the_lines_at_once(home: Path, project: Path) -> None:
    install("claude-code")
    folder_hook(project_hooks(project), "strict", "exit 0", metadata={"on_failure": "block"})
    assert tenterhook("trust", "strict", "--yes").returncode == 0
    assert wired(home, "claude-code")["PreToolUse"].endswith("PreToolUse closed || exit 2")


def test_settings_that_were_moved_are_found_again(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "moved"))
    install("claude-code")
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    assert "wired in Claude Code: PreToolUse" in tenterhook("new", "guard", "--on", "pre-tool-call").stdout
    assert "PreToolUse" in (tmp_path / "moved" / "settings.json").read_text()
    assert not (home / SETTINGS["claude-code"]).exists()
