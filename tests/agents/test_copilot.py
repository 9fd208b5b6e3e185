"""Copilot CLI: its own words, sessions of subagents, and folders that it does not trust."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hosts.homes import HOOKS, prepared
from hosts.recorded import DATA, answer, read
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


def test_arguments_that_come_as_text_are_read() -> None:
    payload = {"sessionId": "s", "cwd": "/", "toolName": "bash", "toolArgs": '{"command": "ls"}'}
    assert AGENTS["copilot"].read_event(payload, "preToolUse").event.tool_input == {"command": "ls"}


def test_copilot_keeps_hooks_and_loses_its_login(home: Path) -> None:
    before = {"hooks": HOOKS, "model": "mine", "copilotTokens": {"x": "gho_real"}}
    assert prepared(home, "copilot", json.dumps(before)) == {"hooks": HOOKS}


def test_answers_stand_at_the_top_level_and_never_in_an_exit_status() -> None:
    """With an exit status it drops the reason."""
    for file, told in {
        "preToolUse": {"permissionDecision": "deny", "permissionDecisionReason": "no"},
        "permissionRequest": {"behavior": "deny", "message": "no"},
        "agentStop": {"decision": "block", "reason": "no"},
    }.items():
        said = answer(f"copilot/{file}", Verdict("", Action.DENY, "no"))
        assert (said.blocks, json.loads(said.stdout)) == (False, told)


def test_a_subagent_belongs_to_the_session_around_it_and_its_stop_is_not_the_agents() -> None:
    stop = read(DATA / "copilot" / "agentStop-in-subagent.json")
    assert stop.event.canonical == "agent-event"
    assert stop.event.session_id == stop.payload["parentAgentId"]
    assert read(DATA / "copilot" / "agentStop.json").event.canonical == "pre-agent-turn-stop"


def test_an_entry_has_its_own_names_and_seconds() -> None:
    assert AGENTS["copilot"].entry("preToolUse", "line", 5) == {"type": "command", "bash": "line", "timeoutSec": 5}


def test_hooks_of_a_project_run_only_if_it_or_a_folder_around_it_is_trusted(home: Path, project: Path) -> None:
    agent = AGENTS["copilot"]

    def is_ignored(settings: str) -> bool:
        return any("does not trust" in what for what, _ in agent.switches(settings, str(project)))

    assert is_ignored(agent.settings(str(project)))
    assert not is_ignored(agent.settings())  # the person's own need no such trust
    (home / ".copilot").mkdir()
    for folder, expected in ((project, False), (project.parent, False), (project / "inside", True)):
        (home / ".copilot" / "config.json").write_text(json.dumps({"trustedFolders": [str(folder), 3]}))
        assert is_ignored(agent.settings(str(project))) is expected
