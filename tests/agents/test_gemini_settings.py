"""Gemini CLI's settings, which may have comments: timeouts are milliseconds, and they can switch hooks off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hosts.homes import HOOKS, prepared
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ["gemini", "qwen"])
def test_gemini_and_qwen_keep_hooks_beside_comments(name: str, home: Path) -> None:
    before = '{"hooks": %s, // mine\n "ui": {"theme": "http://x"}, "security": {"auth": {"apiKey": "sk-real"}}}'
    after = prepared(home, name, before % json.dumps(HOOKS))
    assert after["hooks"] == HOOKS
    assert after["ui"] == {"theme": "http://x"}
    assert list(after["security"]["auth"]) == ["selectedType"]


def test_an_entry_has_milliseconds() -> None:
    assert AGENTS["gemini"].entry("BeforeTool", "line", 5)["hooks"][0]["timeout"] == 5000


@pytest.mark.parametrize(
    ("switches", "said"),
    [
        ({}, None),
        ({"enabled": True, "disabled": ["another"]}, None),
        ({"enabled": False}, "hooksConfig.enabled"),
        ({"disabled": [3, "python -I -S /x/tenterhook/bridge.py --host gemini --event BeforeTool"]}, "names our line"),
        ("nonsense", None),
    ],
)
def test_its_settings_switch_all_hooks_off_or_ours_by_name(
    home: Path, project: Path, switches: object, said: str | None
) -> None:
    (home / ".gemini").mkdir()
    (home / ".gemini" / "settings.json").write_text(json.dumps({"hooksConfig": switches}))
    agent = AGENTS["gemini"]
    found = [what for what, _ in agent.switches(agent.settings(), str(project))]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]
