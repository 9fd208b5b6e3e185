"""Plug-ins that `install` writes whole."""

from __future__ import annotations

import pytest

from tenterhook.agents import AGENTS
from tenterhook.install import plugin_editor
from tenterhook.install.text_edits import EditRefused

ENTRIES = {"tool.before": {"command": "exec 'it'", "timeout": 600}}
OTHERS = b"export const Mine = async () => ({})\n"
TEMPLATES = sorted(
    {name for agent in AGENTS.values() if agent.plugin for name in (agent.plugin, *agent.plugin_files.values())}
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_entries_of_a_written_plug_in_are_those_that_were_given(template: str) -> None:
    text = plugin_editor.written(template, ENTRIES)
    assert plugin_editor.entries_of(text) in (ENTRIES, {})  # a file without entries has none
    assert b"@include" not in text
    assert plugin_editor.with_entries(text, template, ENTRIES) == text
    assert plugin_editor.without_entries(text) == b""


@pytest.mark.parametrize("text", [OTHERS, b""])
def test_a_file_that_is_not_ours_is_neither_replaced_nor_removed(text: bytes) -> None:
    with pytest.raises(EditRefused, match="not ours"):
        plugin_editor.with_entries(text, "ask.js", ENTRIES)
    assert plugin_editor.without_entries(text) == text
    assert plugin_editor.entries_of(text) == {}


def test_a_broken_line_of_entries_has_none() -> None:
    text = plugin_editor.written("ask.js", {}) + b"const ENTRIES = {broken}\n"
    assert plugin_editor.is_ours(text)
    assert plugin_editor.entries_of(text) == {}


def test_a_line_with_the_name_of_an_event_becomes_its_command_or_nothing() -> None:
    entries = {"PreToolUse": {"command": "exec 'it'"}}
    text = plugin_editor.written("cline.sh", entries).decode()
    assert "\nexec 'it'\n" in text
    assert "@entry" not in text
    assert text.startswith("#!/bin/sh\n# Written by")
