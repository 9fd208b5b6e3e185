"""What an agent may not change, by any name of it; and which of our commands would."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

from tenterhook.basics import places
from tenterhook.basics.protected_places import SECRETS, ProtectedPlaces, command_in, existing_below, protected

if TYPE_CHECKING:
    from pathlib import Path


def is_protected(path: Path | str, removes: bool = False, **variables: str) -> str | None:
    return protected(str(path), removes, ProtectedPlaces({**os.environ, **variables}))


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
        "/other/project/.agents/hooks.toml",
        "/other/project/.agents/hooks.lock",
        "/etc/agents/hooks/x",
        "/usr/lib/python3/site-packages/tenterhook/engine/engine.py",
    ],
)
def test_hooks_settings_state_and_the_program_itself_are_protected_wherever_they_are(home: Path, path: str) -> None:
    assert is_protected(path.format(home=home))


@pytest.mark.parametrize(
    "path", ["", "{home}/code.py", "{home}/.claude/notes.md", "/x/agents/hooks/y", "{home}/.config/other", "/tmp/x"]
)
def test_other_files_are_not(home: Path, path: str) -> None:
    assert is_protected(path.format(home=home), removes=True) is None


def test_a_directory_with_something_protected_in_it_may_be_written_to_but_not_removed(home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".codex" / "hooks.json").touch()
    for directory in (home / ".codex", home):
        assert is_protected(directory) is None
        assert is_protected(directory, removes=True)


def test_a_link_and_a_hard_link_are_other_names_of_the_same_file(home: Path, tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "claude.json").touch()
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(dotfiles / "claude.json")
    assert is_protected(dotfiles / "claude.json")
    (home / ".config" / "tenterhook").mkdir(parents=True)
    (home / ".config" / "tenterhook" / "config.toml").touch()
    os.link(home / ".config" / "tenterhook" / "config.toml", tmp_path / "innocent")
    assert is_protected(tmp_path / "innocent") is None  # a file in a directory has no name of its own in the list
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").touch()
    os.link(home / ".codex/config.toml", tmp_path / "other")
    assert is_protected(tmp_path / "other", CODEX_HOME=str(home / ".codex")) == "settings of an agent"


def test_what_a_record_of_an_installation_names_is_protected_and_a_broken_record_is_passed_over(
    home: Path, tmp_path: Path
) -> None:
    installed = home / ".local" / "state" / "tenterhook" / "installed"
    installed.mkdir(parents=True)
    (installed / "broken.json").write_text("{")
    named = {"settings": str(tmp_path / "moved.json"), "configs": [str(tmp_path / "more.toml")]}
    (installed / "codex.json").write_text(json.dumps({**named, "agent_home": str(tmp_path / "codex")}))
    for path in ("moved.json", "more.toml", "codex/config.toml"):
        assert is_protected(tmp_path / path), path


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


def test_our_own_program_and_its_environment_are_protected(home: Path) -> None:
    for path in (places.PACKAGE, f"{places.PACKAGE}/bridge.py", f"{home}/.local/bin/tenterhook"):
        assert is_protected(path) == "Tenterhook itself"
    if sys.prefix != sys.base_prefix:
        assert is_protected(sys.executable) == "Tenterhook itself"


def test_credentials_of_the_hub_are_told_from_what_is_around_them(home: Path) -> None:
    state = home / ".local/state/tenterhook"
    assert is_protected(state / "hub/person.json") == is_protected(home / ".config/tenterhook/hub.json") == SECRETS
    assert is_protected(state / "hub-rules/x.json") == is_protected(state / "trust.json") != SECRETS
    assert is_protected("/x/tenterhook/hub/person.json", XDG_STATE_HOME="/x") == SECRETS


@pytest.mark.parametrize("path", ["/a\0b", "\0", "/\ud800", "/" + "x" * 5000, "/" + "x/" * 5000], ids=ascii)
def test_a_path_that_no_system_call_takes_is_looked_up_without_an_error(path: str) -> None:
    assert is_protected(path, removes=False) is None


def test_files_that_a_search_below_a_directory_would_find_are_listed(home: Path, tmp_path: Path) -> None:
    for path in (".agents/hooks/mine/scripts/run.sh", ".claude/settings.json", "src/settings.json"):
        (tmp_path / "p" / path).parent.mkdir(parents=True)
        (tmp_path / "p" / path).touch()
    known = ProtectedPlaces(os.environ)
    found = existing_below(str(tmp_path / "p"), known)
    assert {os.path.relpath(path, tmp_path / "p") for path in found} == {
        *(".agents/hooks", ".agents/hooks/mine/scripts/run.sh", ".claude/settings.json"),
    }
    assert str(tmp_path / "p/.claude/settings.json") in existing_below(str(tmp_path / "p/.claude"), known)
