"""What this machine tells the hub of its agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support import tenterhook
from tenterhook.cli import hub_machine
from tenterhook.hub import service
from tenterhook.hub_client import membership

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def only_what_is_here(monkeypatch: pytest.MonkeyPatch, project: Path) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")


def about(name: str) -> dict[str, object]:
    (found,) = [each for each in hub_machine.agents_here() if each["name"] == name]
    return found


def test_an_agent_is_connected_once_it_is_guarded(home: Path) -> None:
    (home / ".claude").mkdir()
    assert about("claude-code") == {
        "name": "claude-code",
        "title": "Claude Code",
        "connected": False,
        "why": "it does not call Tenterhook",
        "remedy": "tenterhook install claude-code",
    }
    assert hub_machine.not_connected(hub_machine.agents_here()) == [
        "Claude Code is not connected yet: tenterhook install claude-code"
    ]
    assert tenterhook("install", "claude-code", "--no-daemon").returncode == 0
    assert about("claude-code")["connected"] is True
    assert hub_machine.not_connected(hub_machine.agents_here()) == []


def test_an_agent_that_keeps_its_own_question_says_what_it_asks_about(home: Path) -> None:
    (home / ".gemini").mkdir()
    assert tenterhook("install", "gemini", "--no-daemon").returncode == 0
    assert (about("gemini")["connected"], about("gemini")["why"]) == (True, "where a hook or a rule says ask")


def test_unreadable_settings_are_a_reason(home: Path) -> None:
    (home / ".claude").mkdir()
    assert tenterhook("install", "claude-code", "--no-daemon").returncode == 0
    (home / ".claude/settings.json").write_text("{")
    found = about("claude-code")
    assert found["connected"] is False
    assert str(found["why"]).startswith(("unreadable settings: ", "would not block: ")), found
    assert found["remedy"] == "tenterhook doctor claude-code"


def test_after_ones_own_hub_was_stopped_no_agent_is_installed_for_it(home: Path) -> None:
    (home / ".claude").mkdir()
    url = "http://127.0.0.1:1"
    membership.save(membership.Membership(url, "th_agent_x", "laptop"))
    service.save_address(url)
    service.SERVICE.enable({})
    assert "so that its questions reach the hub" in tenterhook().stdout
    service.SERVICE.disable()
    assert "the hub" not in tenterhook().stdout


def test_a_hub_that_is_away_does_not_keep_an_agent_from_being_installed(home: Path) -> None:
    (home / ".claude").mkdir()
    membership.save(membership.Membership("http://127.0.0.1:1", "th_agent_x", "laptop"))
    assert "tenterhook install claude-code   so that its questions reach the hub" in tenterhook().stdout
    installed = tenterhook("install", "claude-code", "--no-daemon")
    assert installed.returncode == 0
    assert "it asks at the hub, too, before each call that it would ask its user about" in installed.stdout
    assert "no hook on tool calls yet" not in installed.stdout
    assert about("claude-code")["connected"] is True
