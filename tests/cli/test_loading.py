"""What options and shell completion have in common: names of hooks, events, agents and sessions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
import pytest

from tenterhook.cli import loading

if TYPE_CHECKING:
    from pathlib import Path


def test_only_names_that_no_shell_reads_more_into_are_offered() -> None:
    names = ["guard", "guard.two", "guard one", "$(id)", "-x", "gu;ard", "über", "other"]
    assert loading.offered(names, "gu") == ["guard", "guard.two"]
    assert loading.offered(names, "") == ["guard", "guard.two", "other"]


def test_the_last_used_is_offered_first_and_without_its_ending(home: Path) -> None:
    kept = home / ".local/state/tenterhook/agent"
    kept.mkdir(parents=True)
    for age, name in enumerate(("new.jsonl", "old.jsonl", "notes.txt")):
        (kept / name).touch()
        os.utime(kept / name, (1000 - age, 1000 - age))
    assert loading.ids_in("agent", "", ".jsonl") == ["new", "old"]
    assert loading.ids_in("nothing-yet", "") == []


def test_an_agent_named_twice_is_one_and_a_misspelt_one_is_wrong_usage() -> None:
    assert [agent.name for agent in loading.agents_named(["codex", "qwen", "codex"])] == ["codex", "qwen"]
    with pytest.raises(click.UsageError, match="did you mean claude-code"):
        loading.agents_named(["claude"])
    with pytest.raises(click.UsageError, match="there is no agent 'zzz'; one of: "):
        loading.agents_named(["zzz"])


def test_a_name_that_is_not_close_to_any_is_not_guessed() -> None:
    with pytest.raises(click.UsageError) as raised:
        loading.known_name("nosuch", ["infrastructure", "protect-hooks"], "built-in hook")
    assert "did you mean" not in str(raised.value)
    assert "infrastructure, protect-hooks" in str(raised.value)
