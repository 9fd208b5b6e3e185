"""Factory Droid: it never asks for a hook, and a hooks.json beside its settings replaces the hooks in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hosts.homes import HOOKS, prepared
from hosts.recorded import DATA, answer, read
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


def test_a_question_is_a_refusal_for_it_would_run_the_tool() -> None:
    said = answer("droid/PreToolUse", Verdict("", Action.ASK, "sure?"))
    assert (said.blocks, said.stdout, said.lost) == (True, "", ("ask: denied",))


def test_its_names_of_a_subagents_end_and_of_a_compaction_are_ours() -> None:
    subagent = read(DATA / "droid" / "SubagentStop.json")
    assert subagent.event.fields["subagent_name"] == subagent.payload["task_name"]
    assert subagent.event.fields["response"] == subagent.payload["task_result"]
    compact = read(DATA / "droid" / "PreCompact.json")
    assert compact.event.fields["token_count"] == compact.payload["estimated_tokens"]


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("settings.json", {"hooks": HOOKS}, None),
        ("settings.json", {"hooks": {"hooksDisabled": True}}, "hooks.hooksDisabled in "),
        ("hooks.json", HOOKS, "replaces the hooks of"),
        ("hooks.json", {"hooks": HOOKS}, None),  # with a `hooks` around them it does not read them
        ("hooks.json", {}, None),
    ],
)
def test_what_switches_its_hooks_off_is_found(
    home: Path, project: Path, file: str, content: dict[str, object], said: str | None
) -> None:
    (home / ".factory").mkdir()
    (home / ".factory" / file).write_text(json.dumps(content))
    agent = AGENTS["droid"]
    found = [what for what, _ in agent.switches(agent.settings(), str(project))]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_it_keeps_hooks_and_loses_its_account_and_models(home: Path) -> None:
    before = {"hooks": HOOKS, "apiKey": "fk-real", "model": "mine", "customModels": [{"apiKey": "sk-real"}]}
    after = prepared(home, "droid", json.dumps(before))
    assert after["hooks"] == HOOKS
    assert "real" not in json.dumps(after)
    assert len(after["customModels"]) == 1
