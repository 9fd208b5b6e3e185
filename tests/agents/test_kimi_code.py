"""Kimi Code: more events than Kimi CLI has, and text of a prompt hook that reaches the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hosts.homes import write
from hosts.recorded import DATA, answer, read
from tenterhook import Action, Verdict
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


def test_text_for_the_model_is_plain_for_json_would_be_shown_as_it_is() -> None:
    said = answer("kimi-code/UserPromptSubmit", Verdict("", additional_context=("one", "two")))
    assert (said.stdout, said.stderr, said.blocks, said.lost) == ("one\n\ntwo", "", False, ())


def test_it_takes_no_approval_and_no_changed_input() -> None:
    approved = answer("kimi-code/PreToolUse", Verdict("", Action.APPROVE, "fine"))
    assert (approved.stdout, approved.blocks, approved.lost) == ("", False, ("approve: no decision",))
    changed = answer("kimi-code/PreToolUse", Verdict("", modified_input={"command": "ls"}))
    assert changed.blocks
    assert '{"command": "ls"}' in changed.stderr


def test_its_own_events_have_names_here_that_kimi_cli_does_not_know() -> None:
    received = read(DATA / "kimi-code" / "TurnStarted.json")
    assert received.event.canonical == "turn-started"
    own = AGENTS["kimi-cli"].read_event(received.payload, "TurnStarted")
    assert own.event.canonical == "agent-event"


def test_an_entry_that_it_cannot_read_costs_every_hook(home: Path) -> None:
    file = write(home, "kimi-code", '[[hooks]]\nevent = "Nothing"\ncommand = "x"\n')
    ((what, _),) = AGENTS["kimi-code"].switches(str(file), "/")
    assert what.endswith("Kimi Code drops every hook")
