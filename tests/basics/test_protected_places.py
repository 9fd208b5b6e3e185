"""What an agent may not change, by any name of it; and which of our commands would."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from tenterhook.basics.protected_places import command_in, known_places, protected

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "path",
    [
        "{home}/.config/agents/hooks/guard/HOOK.md",
        "{home}/.claude/settings.json",
        "{home}/.CLAUDE/Settings.JSON",  # on a file system that takes capitals for small letters
        "{home}/.claude/../.claude/settings.json",
        "{home}/.local/state/tenterhook/trust.json",
        "{home}/.cache/tenterhook/index/x",
        "/other/project/.agents/hooks/guard/scripts/run.sh",
        "/etc/agents/hooks/x",
        "/usr/lib/python3/site-packages/tenterhook/engine/engine.py",
    ],
)
def test_hooks_settings_state_and_the_program_itself_are_protected_wherever_they_are(home: Path, path: str) -> None:
    assert protected(path.format(home=home), removes=False)


@pytest.mark.parametrize(
    "path", ["", "{home}/code.py", "{home}/.claude/notes.md", "/x/agents/hooks/y", "{home}/.config/other", "/tmp/x"]
)
def test_other_files_are_not(home: Path, path: str) -> None:
    assert protected(path.format(home=home), removes=True) is None


def test_a_directory_with_something_protected_in_it_may_be_written_to_but_not_removed(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").touch()
    for directory in (home / ".codex", home):
        assert protected(str(directory), removes=False) is None
        assert protected(str(directory), removes=True)


def test_a_link_and_a_hard_link_are_other_names_of_the_same_file(home: Path, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "claude.json").touch()
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(dotfiles / "claude.json")
    assert protected(str(dotfiles / "claude.json"), removes=False)
    (home / ".config" / "tenterhook").mkdir(parents=True)
    (home / ".config" / "tenterhook" / "config.toml").touch()
    os.link(home / ".config" / "tenterhook" / "config.toml", tmp_path / "innocent")
    places = known_places({str(home / ".config/tenterhook/config.toml"): "rules"})
    assert protected(str(tmp_path / "innocent"), removes=False, places=places) == "rules"


def test_what_a_record_of_an_installation_names_is_protected_and_a_broken_record_is_passed_over(
    home: Path, tmp_path: Path
) -> None:
    installed = home / ".local" / "state" / "tenterhook" / "installed"
    installed.mkdir(parents=True)
    (installed / "broken.json").write_text("{")
    named = {"settings": str(tmp_path / "moved.json"), "configs": [str(tmp_path / "more.toml")]}
    (installed / "codex.json").write_text(json.dumps({**named, "agent_home": str(tmp_path / "codex")}))
    for path in ("moved.json", "more.toml", "codex/config.toml"):
        assert protected(str(tmp_path / path), removes=False), path


@pytest.mark.parametrize(
    ("line", "command", "is_refused"),
    [
        ("trust --all", "trust", True),
        ("trust --help", "trust", False),
        ("list --json", "list", False),
        ("install codex", "install", True),
        ("install codex --dry-run", "install", False),
        ("doctor --fix=all", "doctor", True),
        ("add", "add", False),
        ("add block-dangerous-commands", "add", True),
        ("hub --url x token add", "hub token add", True),
        ("hub token list", "hub token list", False),
        ("log list", "log", False),
        ("nothing of ours", "", False),
    ],
)
def test_a_command_that_weakens_protection_is_told_from_one_that_reads(
    line: str, command: str, is_refused: bool
) -> None:
    assert command_in(line.split()) == (command, is_refused)
