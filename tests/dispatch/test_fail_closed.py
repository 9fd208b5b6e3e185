"""Through the installed line: a guard that can no longer be loaded refuses, is journalled, and can be given up."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from dispatch.bridges import serving
from install.installations import DATA, NAMES, fire, install, is_blocked, wired
from support import array_hook, end_of_the_agent, few_first, folder_hook, tenterhook, user_hooks, write_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BLOCK = {"on_failure": "block"}
BREAKS: dict[str, Callable[[Path], object]] = {
    "writable by others": lambda guard: guard.parents[2].chmod(0o777),
    "broken": lambda guard: (guard / "HOOK.md").write_text("no hook"),
    "gone": shutil.rmtree,
}


@pytest.fixture(params=["alone", "daemon"])
def answering(request: pytest.FixtureRequest, home: Path, project: Path) -> Iterator[str]:
    """Who answers: a process for each event, or one that runs all the time."""
    with serving() if request.param == "daemon" else nullcontext():
        yield request.param


def call(home: Path, tool: str = "Bash", command: str = "rm -rf /etc") -> Any:
    """A tool call of one session of Claude Code; nothing of it is run."""
    said = json.loads((DATA / "claude-code/PreToolUse.json").read_text())
    said |= {"session_id": "one", "cwd": os.getcwd(), "tool_name": tool, "tool_input": {"command": command}}
    line = wired(home, "claude-code")["PreToolUse"]
    return subprocess.run(["/bin/sh", "-c", line], input=json.dumps(said), capture_output=True, text=True, timeout=60)


def journal(home: Path) -> str:
    return "".join(each.read_text() for each in (home / ".local/state/tenterhook/journal").rglob("*.jsonl"))


@pytest.mark.promise("a model that tries")
@pytest.mark.parametrize("broken", BREAKS)
def test_closed_means_closed_in_a_session_that_runs(home: Path, answering: str, broken: str) -> None:
    """Making a directory above the guards writable, or breaking or deleting them, alone lets no tool call pass."""
    guard = folder_hook(user_hooks(home), "guard", "exit 0", metadata=BLOCK, matcher={"tool": "Bash"})
    folder_hook(user_hooks(home), "open", "exit 0", matcher={"tool": "Write"})
    install("claude-code")
    for _ in range(3):  # by then it is known which events reach a hook
        assert call(home).stdout == ""
    BREAKS[broken](guard)
    for _ in range(3):
        ended = call(home)
        assert is_blocked(ended, "'guard' failed (cannot be loaded: "), ended
        assert "tenterhook remove guard" in ended.stdout + ended.stderr
    assert '"deny"' in journal(home)
    assert "cannot be loaded" in journal(home)
    assert not is_blocked(call(home, "Read"), "")  # it was never for that
    refused = tenterhook("remove", "guard", "--yes")  # this process plays the agent
    assert refused.returncode != 0
    assert is_blocked(call(home), "tenterhook remove guard")
    end_of_the_agent()
    assert tenterhook("remove", "guard", "--yes").returncode == 0
    for _ in range(2):
        ended = call(home)
        assert (ended.returncode, is_blocked(ended, "")) == (0, False)


def test_a_session_begins_with_the_news(home: Path, project: Path) -> None:
    guard = folder_hook(user_hooks(home), "guard", "exit 0", metadata=BLOCK)
    install("claude-code")
    line = wired(home, "claude-code")["SessionStart"]
    assert fire("claude-code", "SessionStart", line).stdout == ""
    (guard / "HOOK.md").write_text("no hook")
    ended = fire("claude-code", "SessionStart", line)
    assert "tenterhook remove guard" in ended.stdout


def test_a_broken_hook_that_blocks_nothing_is_said_when_a_session_begins(home: Path, project: Path) -> None:
    made = folder_hook(user_hooks(home), "open", "exit 0")
    install("claude-code")
    assert call(home).stdout == ""
    made.chmod(0o777)
    assert not is_blocked(call(home), "")
    ended = fire("claude-code", "SessionStart", wired(home, "claude-code")["SessionStart"])
    assert "1 of your hooks cannot be used: tenterhook check" in ended.stdout


def test_a_guard_of_a_file_that_install_named_is_one_of_the_persons(home: Path, project: Path, answering: str) -> None:
    file = write_config(home / "guards.toml", array_hook("exit 0", fail_mode="closed"))
    install("claude-code", "--config", str(file))
    assert call(home).stdout == ""
    file.unlink()
    assert is_blocked(call(home), "tenterhook remove 'PreToolUse[0]'")
    end_of_the_agent()
    assert tenterhook("remove", "PreToolUse[0]", "--yes").returncode == 0
    assert not is_blocked(call(home), "")


@pytest.mark.parametrize("agent", few_first(NAMES))
def test_every_agent_is_told(home: Path, project: Path, agent: str) -> None:
    guard = folder_hook(user_hooks(home), "guard", "exit 0", metadata=BLOCK)
    install(agent)
    tool = NAMES[agent][1]
    line = wired(home, agent)[tool]
    assert not is_blocked(fire(agent, tool, line), "")
    shutil.rmtree(guard)
    assert is_blocked(fire(agent, tool, line), "tenterhook remove guard")
