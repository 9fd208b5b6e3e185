"""Cursor, by its documentation: what its events mean, and what it is answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hosts.recorded import DATA, answer, read
from support import folder_hook, tenterhook, user_hooks
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

CURSOR = AGENTS["cursor"]


def said(file: str, verdict: Verdict) -> object:
    return json.loads(answer(f"cursor/{file}", verdict).stdout or "null")


def test_a_refused_call_tells_the_person_and_the_model_why() -> None:
    told = said("preToolUse", Verdict("", Action.DENY, "not this"))
    assert told == {"permission": "deny", "user_message": "not this", "agent_message": "not this"}


def test_a_refused_prompt_is_not_sent() -> None:
    told = said("beforeSubmitPrompt", Verdict("", Action.DENY, "not this"))
    assert told == {"continue": False, "user_message": "not this"}


@pytest.mark.parametrize("file", ["stop", "subagentStop"])
def test_a_refused_stop_is_the_next_message(file: str) -> None:
    assert said(file, Verdict("", Action.DENY, "run the tests")) == {"followup_message": "run the tests"}


def test_a_gate_without_an_answer_says_that_the_call_may_proceed() -> None:
    """Users report that Cursor blocks a call whose hook prints nothing."""
    assert said("preToolUse", Verdict("")) == {"permission": "allow"}
    assert said("subagentStart", Verdict("")) == {"permission": "allow"}
    assert said("beforeSubmitPrompt", Verdict("")) == {"continue": True}
    assert said("postToolUse", Verdict("")) is None


def test_a_question_is_a_refusal_as_cursor_does_not_enforce_one() -> None:
    answered = answer("cursor/preToolUse", Verdict("", Action.ASK, "really?"))
    assert json.loads(answered.stdout)["permission"] == "deny"
    assert answered.lost == ("ask: denied",)


def test_a_changed_input_is_sent_with_the_permission() -> None:
    told = said("preToolUse", Verdict("", modified_input={"command": "npm ci"}))
    assert told == {"permission": "allow", "updated_input": {"command": "npm ci"}}


def test_only_the_output_of_an_mcp_tool_is_replaced() -> None:
    told = said("postToolUse-mcp", Verdict("", modified_output="[redacted]"))
    assert told == {"updated_mcp_tool_output": {"content": [{"type": "text", "text": "[redacted]"}]}}
    as_it_is: dict[str, list[str]] = {"rows": []}
    assert said("postToolUse-mcp", Verdict("", modified_output=as_it_is)) == {"updated_mcp_tool_output": as_it_is}
    assert answer("cursor/postToolUse", Verdict("", modified_output="[redacted]")).lost


def test_a_tool_of_an_mcp_server_has_a_name_although_the_server_is_not_told() -> None:
    event = read(DATA / "cursor/preToolUse-mcp.json").event
    assert (event.tool_name, event.mcp_names) == ("MCP:query", ["mcp:unknown/query"])
    assert "mcp_names" not in read(DATA / "cursor/preToolUse.json").event.fields


def test_a_turn_that_was_aborted_is_no_stop_that_a_gate_could_refuse() -> None:
    event = read(DATA / "cursor/stop-aborted.json").event
    assert event.canonical == "post-agent-turn-failure"
    assert event.fields["error_type"] == "aborted"


def test_a_stop_after_a_follow_up_says_so() -> None:
    assert read(DATA / "cursor/stop.json").event.fields["stop_hook_active"] is False
    assert read(DATA / "cursor/stop-continued.json").event.fields["stop_hook_active"] is True


def test_no_call_is_judged_by_two_of_its_events() -> None:
    both = {"beforeShellExecution", "beforeMCPExecution", "beforeReadFile", "afterFileEdit", "afterShellExecution"}
    assert not both & set(CURSOR.events)


def test_an_entry_is_in_cursors_words() -> None:
    assert CURSOR.entry("preToolUse", "line", 5) == {"command": "line", "timeout": 5}


def test_it_is_said_wherever_it_is_shown_that_no_run_proved_it(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "cursor-agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 2026.07.23\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    folder_hook(user_hooks(home), "guard", "exit 2")
    installed = tenterhook("install", "cursor").stdout
    assert "by documentation, not proven" in installed
    assert "--live" not in installed
    checked = tenterhook("doctor", "cursor")
    assert checked.returncode == 0, checked.stdout
    assert "by documentation, not proven" in checked.stdout
    assert "in Cursor by documentation only" in checked.stdout
    live = tenterhook("doctor", "cursor", "--live")
    assert live.returncode == 1
    assert live.stdout.count("the released program was never run with it") > 1
    assert "no live run showed" in live.stdout
