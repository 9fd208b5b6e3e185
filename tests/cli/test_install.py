"""`tenterhook install`: which agents are meant, and what it says that it changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pexpect
import pytest

from install.installations import SETTINGS, install, kept, put, records, refused
from support import folder_hook, on_a_terminal, tenterhook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def hooks(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard and a gate; agents only where the test puts them."""
    monkeypatch.setenv("PATH", "/nowhere")
    folder_hook(user_hooks(home), "guard", "exit 2")
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_an_unknown_agent_is_wrong_usage_and_told_the_names(home: Path, command: str) -> None:
    before = kept(home)
    ended = tenterhook(command, "claude", "--dry-run")
    assert (ended.returncode, ended.stdout) == (64, "")
    assert all(agent in ended.stderr for agent in SETTINGS)
    assert kept(home) == before


def test_without_an_agent_and_a_terminal_it_names_the_command(home: Path) -> None:
    (home / ".claude").mkdir()
    (home / ".qwen").mkdir()
    ended = tenterhook("install", stdin=subprocess.DEVNULL)
    assert ended.returncode == 1
    assert "tenterhook install claude-code qwen" in ended.stderr
    assert "gemini" not in ended.stderr
    assert not (home / SETTINGS["qwen"]).exists()


def test_where_no_agent_is_found_it_names_all_of_them(home: Path) -> None:
    said = refused("install")
    assert "no agent was found" in said
    assert all(agent in said for agent in SETTINGS)


def test_it_shows_the_change_then_asks_once_then_makes_it(home: Path) -> None:
    for folder in (".claude", ".gemini", ".qwen"):
        (home / folder).mkdir()
    before = kept(home)
    question = b"install into Claude Code, Gemini CLI and Qwen Code? [Y/n]"
    status, seen = on_a_terminal(["install"], {question: b"n\n"})
    assert status == 1
    assert seen.count(b"(then)") == 3
    assert kept(home) == before
    status, seen = on_a_terminal(["install"], {question: b"\n"})
    assert (status, seen.count(b"? [")) == (0, 1)
    assert seen.index(b"+++ ") < seen.index(question) < seen.index(b": guarded")
    assert records(home) == ["claude-code.json", "gemini.json", "qwen.json"]
    status, seen = on_a_terminal(["install"], {})  # nothing to change, nothing to ask
    assert (status, b"? [" in seen) == (0, False)


@pytest.mark.parametrize("option", ["-y", "--yes"])
def test_with_yes_it_asks_nothing(home: Path, option: str) -> None:
    (home / ".claude").mkdir()
    assert b"? [" not in on_a_terminal(["install", option], {})[1]
    assert records(home) == ["claude-code.json"]
    assert tenterhook("uninstall", option).returncode == 0
    assert records(home) == []


def test_before_a_hook_is_in_force_it_is_only_installed(home: Path) -> None:
    shutil.rmtree(user_hooks(home))
    assert "Claude Code: installed, no hook in force  (SessionStart)" in install("claude-code")
    for command in ((), ("agents",), ("doctor",), ("list",)):
        assert "guarded" not in tenterhook(*command).stdout.replace("not guarded", "").replace(
            "on          guarded", ""
        )
    assert "Claude Code  no hook yet  installed (SessionStart)" in tenterhook().stdout
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert "Claude Code: guarded  (SessionStart, PreToolUse)" in install("claude-code")
    assert "Claude Code  guarded" in tenterhook().stdout


def test_an_agent_named_twice_is_installed_into_once(home: Path) -> None:
    found = json.loads(install("gemini", "gemini", "--json"))
    assert [each["agent"] for each in found["installed"]] == ["gemini"]


def test_as_json_it_names_files_events_and_changes(home: Path) -> None:
    put(home, "claude-code", b"{}\n")
    found = json.loads(install("claude-code", "codex", "--dry-run", "--json"))
    assert (found["schema"], found["dry_run"]) == (1, True)
    claude, codex = found["installed"]
    assert (claude["agent"], claude["settings"]) == ("claude-code", str(home / SETTINGS["claude-code"]))
    assert claude["events"] == {
        "SessionStart": "pre-session", "Stop": "pre-agent-turn-stop", "PreToolUse": "pre-tool-call",
    }  # fmt: skip
    assert claude["closed"] is False
    assert [change.splitlines()[0] for change in claude["changes"]] == [f"--- {home / SETTINGS['claude-code']} (now)"]
    assert len(codex["changes"]) == 2
    assert records(home) == []
    done = json.loads(install("claude-code", "--json"))
    assert (done["dry_run"], done["installed"]) == (False, [claude])
    assert json.loads(install("claude-code", "--json"))["installed"][0]["changes"] == []


def test_an_agents_own_file_is_not_named_for_that_agent(home: Path) -> None:
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}}')
    before = settings.read_bytes()
    ended = tenterhook("install", "gemini", "--config", str(settings))
    assert ended.returncode == 1
    assert "Gemini CLI runs the hooks of" in ended.stderr
    assert settings.read_bytes() == before
    assert tenterhook("install", "claude-code", "--config", str(settings)).returncode == 0


def on_terminal(*arguments: str, width: int) -> str:
    """What a command prints on a terminal, without its colours."""
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    child = pexpect.spawn(
        sys.executable,
        ["-m", "tenterhook", *arguments],
        env=environment,
        dimensions=(40, width),
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    child.close()
    return re.sub(r"\x1b\[[0-9;]*m", "", child.before or "").replace("\r\n", "\n")


def test_on_a_terminal_long_lines_of_a_change_go_on_below() -> None:
    whole = tenterhook("install", "claude-code", "--dry-run").stdout
    assert max(map(len, whole.splitlines())) > 200
    told = json.loads(tenterhook("install", "claude-code", "--dry-run", "--json").stdout)
    assert told["installed"][0]["changes"][0] in whole
    for more in (["--dry-run"], [], ["--dry-run"]):  # the last has nothing to change
        shown = on_terminal("install", "claude-code", "--no-hub", "--yes", *more, width=100)
        diff = shown[: shown.find("Claude Code:")].splitlines()
        assert all(len(line) <= 100 for line in diff)
        assert ("timeout" in "".join(diff)) == any(line.startswith("+") for line in diff)
        assert "…" not in shown
    assert tenterhook("install", "claude-code", "--dry-run").stdout == "Claude Code: nothing to change\n"
