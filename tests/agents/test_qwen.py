"""Qwen Code: Claude Code's JSON with Gemini CLI's tools; it asks, and takes no approval and no changed input."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hosts.recorded import DATA, answer, read, told
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_question_is_its_own() -> None:
    said = answer("qwen/PreToolUse", Verdict("", Action.ASK, "sure?"))
    specific = {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}
    assert json.loads(said.stdout) == {"hookSpecificOutput": {"hookEventName": "PreToolUse", **specific}}


def test_an_approval_is_lost_and_a_changed_input_is_a_refusal_that_names_it() -> None:
    assert answer("qwen/PreToolUse", Verdict("", Action.APPROVE)).lost == ("approve: no decision",)
    changed = answer("qwen/PreToolUse", Verdict("", Action.APPROVE, modified_input={"command": "ls"}))
    assert changed.blocks
    assert '{"command": "ls"}' in changed.stderr


def test_both_ids_of_a_call_reach_its_own_hooks_as_they_came() -> None:
    received = read(DATA / "qwen" / "PreToolUse.json")
    for key in ("tool_use_id", "tool_call_id"):
        assert told(received, "qwen").get(key) == received.payload.get(key)


def test_its_settings_switch_all_hooks_off(home: Path, project: Path) -> None:
    agent = AGENTS["qwen"]
    (home / ".qwen").mkdir()
    (home / ".qwen" / "settings.json").write_text('{"disableAllHooks": true, // for now\n}')
    ((what, _),) = agent.switches(agent.settings(), str(project))
    assert what.startswith("disableAllHooks in ")
