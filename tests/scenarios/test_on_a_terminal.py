"""The first commands of a new user on a real terminal of 80 by 24: what is on the screen, and what it fits on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from install.installations import SETTINGS, put, records
from scenarios.screens import Terminal, below
from support import tenterhook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def machine(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with settings of two agents, and a program of one of them, which does nothing."""
    put(home, "claude-code", b"{}\n")
    (home / ".kimi-code").mkdir()
    (home / "bin").mkdir()
    (home / "bin/claude").write_text("#!/bin/sh\nexit 3\n")
    (home / "bin/claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{home / 'bin'}:/usr/bin:/bin")


def test_bare_tenterhook_leads_to_setup_and_setup_to_guards() -> None:
    status, lines = Terminal().end()
    assert status == 0
    assert below(lines, lambda line: line.startswith("next"))[0].split("  ")[2].strip() == "tenterhook setup"
    terminal = Terminal("setup")
    lines = terminal.wait_for("Go ahead? [Y/n]")
    assert lines[0].startswith("agents  Claude Code    ~/.claude/settings.json")  # all of it is on one screen
    assert [line.split()[0] for line in lines if line[:1].isalpha()] == [
        *("agents", "guards", "then", "daemon", "If", "Go"),
    ]
    terminal.type("\r")
    lines = terminal.wait_for("tries a command that a temporary guard forbids:")
    assert "added block-dangerous-commands, protect-secrets and protect-hooks" in lines
    lines = terminal.wait_for("…           plain")  # what is under way
    status, lines = terminal.end()
    assert status == 1  # this Claude Code shows nothing
    assert not any("…" in line for line in lines)
    assert below(lines, lambda line: line == "installed, but not proven")[1:6] == [
        "  Claude Code    not proven: the agent made no tool call: it ended with status 3",
        "    to try again: tenterhook doctor claude-code --live",
        "  Kimi Code      not proven: kimi-code or kimi is not on the PATH",
        "    to try again: tenterhook doctor kimi-code --live",
        "  with block-dangerous-commands, protect-secrets and protect-hooks",
    ]
    assert terminal.too_wide() == []


def test_setup_that_is_interrupted_tries_no_further_agent_and_leaves_no_progress_behind(home: Path) -> None:
    for name in ("claude", "kimi"):
        (home / "bin" / name).write_text("#!/bin/sh\nexec sleep 100\n")
        (home / "bin" / name).chmod(0o755)
    terminal = Terminal("setup", "--yes")
    terminal.wait_for("…           plain")
    terminal.type("\x03")
    status, lines = terminal.end()
    assert status == 130
    assert below(lines, lambda line: line.endswith("tries a command that a temporary guard forbids:")) == [
        "Claude Code tries a command that a temporary guard forbids:",
        "interrupted: everything was restored",
    ]


def test_install_shows_the_change_above_its_question(home: Path) -> None:
    tenterhook("add", "block-dangerous-commands")
    terminal = Terminal("install", "claude-code")
    lines = terminal.wait_for("install into Claude Code? [Y/n]:")
    assert any(line.startswith("+") for line in lines)
    assert records(home) == []
    terminal.type("y\r")
    status, lines = terminal.end()
    assert status == 0
    assert "Claude Code: guarded  (SessionStart, PreToolUse)" in lines
    assert not any("? [" in line for line in below(lines, lambda line: line.startswith("Claude Code: guarded")))
    terminal = Terminal("uninstall", "claude-code")
    terminal.wait_for("remove it from Claude Code? [y/N]:")
    terminal.type("y\r")
    assert terminal.end()[0] == 0
    assert (home / SETTINGS["claude-code"]).read_bytes() == b"{}\n"


def test_remove_names_every_file_before_it_deletes_them(home: Path) -> None:
    tenterhook("add", "notify")
    terminal = Terminal("remove", "notify")
    lines = terminal.wait_for("Delete it permanently? [y/N]:")
    assert [line.strip() for line in lines[:2]] == ["notify  ~/.config/agents/hooks/notify", "HOOK.md"]
    terminal.type("\r")
    assert terminal.end()[0] == 1
    assert (user_hooks(home) / "notify").exists()
    terminal = Terminal("remove", "notify")
    terminal.wait_for("[y/N]:")
    terminal.type("y\r")
    status, lines = terminal.end()
    assert (status, terminal.too_wide()) == (0, [])
    assert "removed ~/.config/agents/hooks/notify" in lines
    assert not (user_hooks(home) / "notify").exists()


def test_disable_says_for_how_long_and_bare_tenterhook_shows_it() -> None:
    tenterhook("add", "block-dangerous-commands")
    terminal = Terminal("disable", "block-dangerous-commands", "--for", "1h")
    terminal.wait_for("Disable it for 1h? [Y/n]:")
    terminal.type("\r")
    status, lines = terminal.end()
    assert (status, terminal.too_wide()) == (0, [])
    assert any("tenterhook enable block-dangerous-commands" in line for line in lines)
    _, lines = Terminal().end()
    assert any("block-dangerous-commands is not: disabled" in line for line in lines)
