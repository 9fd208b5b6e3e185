"""What commands print on real terminals of 60, 80 and 120 columns, without colours, and into a pipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scenarios.screens import Terminal
from support import tenterhook

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = (
    *("", "list", "add", "agents", "doctor", "log", "log stats", "show protect-hooks", "show pre-tool-call"),
    "test block-dangerous-commands",
)
PUSH = '{"command": "git push --force origin main"}'


@pytest.fixture(autouse=True)
def machine(home: Path, project: Path) -> None:
    """A machine with three hooks, one of them disabled, that were sent an event, and with settings of Claude Code."""
    (home / ".claude").mkdir()
    tenterhook("add", "block-dangerous-commands", "protect-hooks", "auto-format-python", "enforce-tests")
    tenterhook("disable", "enforce-tests", "--yes")
    tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--input", PUSH)


SAID = {  # with the exit status
    "setup --dry-run --agents claude-code": 0,
    "new no-mail --on pre-tool-call --tool ^mcp:mail/": 0,
    "try ls": 0,
    "allow": 0,
    "hub status": 0,
    "agent --sessions": 0,
    "trust --code --yes": 0,
    "add nothing-known": 64,
    "install nothing-known": 64,
    "disable nothing-known --yes": 1,
}


@pytest.mark.parametrize("width", [60, 80])
def test_texts_and_errors_are_wrapped_between_words(width: int) -> None:
    running = {line: Terminal(*line.split(), columns=width) for line in SAID}
    for line, terminal in running.items():
        status, _ = terminal.end()
        assert status == SAID[line], terminal.written
        assert terminal.too_wide() == [], line


@pytest.mark.parametrize("width", [60, 80, 120])
def test_everything_fits_the_terminal(width: int) -> None:
    running = {command: Terminal(*command.split(), columns=width) for command in COMMANDS}
    for command, terminal in running.items():
        status, _ = terminal.end()
        text = terminal.written.partition("# Protect hooks")[0]  # what follows is the hook's own text
        assert status == 0, text
        assert [line for line in terminal.too_wide() if line in text] == [], command


def test_log_shows_on_one_screen_what_was_refused_and_why() -> None:
    terminal = Terminal("log")
    status, lines = terminal.end()
    assert status == 0
    head, about, *others = [line for line in lines if line]
    assert head.split()[2:] == ["pre-tool-call", "Shell", "ask", "(trigger)"]
    assert about.endswith("git push --force origin main")
    assert any(line.startswith("    block-dangerous-commands     asked") for line in others)
    assert terminal.too_wide() == []
    assert "\x1b[3" in terminal.written
    stats = Terminal("log", "stats")
    status, lines = stats.end()
    assert lines[0].split()[:5] == ["hook", "runs", "blocks", "asked", "failed"]
    assert [line.split()[:2] for line in lines[1:] if line.startswith("  block-")] == [
        ["block-dangerous-commands", "1"]
    ]
    assert stats.too_wide() == []


def test_without_a_terminal_or_with_no_color_there_are_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = tenterhook("list").stdout
    assert "\x1b" not in piped
    assert "tool=WriteFile|StrReplaceFile|apply_patch|MultiEdit pattern=\\.pyi?$" in piped
    assert [line for line in piped.splitlines() if line.startswith("  enforce-tests") and "disabled" in line]
    monkeypatch.setenv("NO_COLOR", "1")
    running = [Terminal(*command.split()) for command in ("list", "log", "")]
    for terminal in running:
        terminal.end()
        assert "\x1b" not in terminal.written
