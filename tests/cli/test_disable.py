"""`tenterhook disable` and `tenterhook enable`: a hook switched off, for a while or for good, and back."""

from __future__ import annotations

import json
import re
import subprocess
import time
import tomllib
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from support import folder_hook, on_a_terminal, project_hooks, tenterhook, user_hooks
from tenterhook import Engine
from tenterhook.basics import agent_marks, processes
from tenterhook.bundled_agent.overview import Tally, overview

if TYPE_CHECKING:
    from pathlib import Path

MINE = "# mine\n[hooks]\nenabled = true\n\n[[hooks.override]]\nname = 'guard'\npriority = 7"


def settings(home: Path) -> Path:
    return user_hooks(home) / "hooks.toml"


def decision() -> str:
    ended = tenterhook("trigger", "pre-tool-call", "--tool", "Shell", "--json")
    found: str = json.loads(ended.stdout)["decision"]
    return found


def succeeded(*arguments: str) -> str:
    ended = tenterhook(*arguments)
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    return ended.stdout


def refused(*arguments: str, status: int = 1) -> str:
    ended: subprocess.CompletedProcess[str] = tenterhook(*arguments)
    assert (ended.returncode, ended.stdout) == (status, "")
    return ended.stderr


@pytest.fixture
def guard(home: Path, project: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", "exit 2")


def test_nobody_else_can_write_to_the_directories_it_makes(home: Path, project: Path) -> None:
    folder_hook(project_hooks(project), "guard", "exit 2")
    ended = tenterhook("disable", "guard", "--yes", umask=0o002)
    assert ended.returncode == 0, ended.stderr
    made = [path for path in home.rglob("*") if path.is_dir()]
    assert user_hooks(home) in made
    assert [str(path) for path in made if path.stat().st_mode & 0o022] == []
    folder_hook(user_hooks(home), "other", "exit 2")
    assert decision() == "deny"


@pytest.mark.usefixtures("guard")
def test_a_disabled_hook_does_not_run_until_it_is_enabled(home: Path) -> None:
    settings(home).write_text(MINE)
    said = succeeded("disable", "guard", "--yes")
    assert said.startswith("guard\n  disabled by ~/.config/agents/hooks/hooks.toml\n")
    assert settings(home).read_text().startswith(MINE)
    assert decision() == "none"
    assert "disabled by ~/.config/agents/hooks/hooks.toml" in succeeded("list")
    assert "        guard is not: disabled by ~/.config/agents/hooks/hooks.toml\n" in succeeded()
    assert "guard  its entry was removed from ~/.config" in succeeded("enable", "guard")
    assert settings(home).read_text() == MINE
    assert decision() == "deny"
    assert succeeded("enable", "guard") == "guard is not disabled\n"


@pytest.mark.usefixtures("guard")
def test_every_command_says_that_it_is_disabled(home: Path) -> None:
    succeeded("disable", "guard", "--for", "1h", "--yes")
    (shown,) = json.loads(succeeded("show", "guard", "--json"))["hooks"]
    (listed,) = json.loads(succeeded("list", "--json"))["hooks"]
    for hook in (shown, listed):
        assert (hook["in_force"], hook["why_not"].startswith("disabled until ")) == (False, True)
    assert "disabled until " in succeeded("show", "guard")
    engine = Engine.load(journal=False)
    lines = list(overview(engine, Tally(), {}))
    assert any(line.startswith("  guard is not in force: disabled until ") for line in lines)
    assert any("disable NAME --for 1h, enable NAME" in line for line in lines)


@pytest.mark.usefixtures("guard")
def test_what_would_have_asked_it_says_so(home: Path) -> None:
    succeeded("disable", "guard", "--yes")
    ended = tenterhook("trigger", "before_tool", "--tool", "Shell")
    assert "not asked: guard is disabled by" in ended.stderr
    assert "disabled" not in tenterhook("trigger", "Stop").stderr
    assert succeeded("check") == "1 hook (1 disabled), 0 errors, 0 warnings\n"


@pytest.mark.usefixtures("guard")
def test_doctor_and_an_agent_at_its_start_say_that_it_is_disabled(home: Path, project: Path) -> None:
    assert tenterhook("install", "claude-code").returncode == 0
    succeeded("disable", "guard", "--yes")
    assert "'guard' does not run: disabled by" in succeeded("doctor", "claude-code")
    (entry,) = json.loads((home / ".claude/settings.json").read_text())["hooks"]["SessionStart"]
    for session in ("one", "two"):  # as loaded, and by the index
        payload = {"session_id": session, "cwd": str(project), "hook_event_name": "SessionStart", "source": "startup"}
        answer = subprocess.run(
            entry["hooks"][0]["command"], shell=True, input=json.dumps(payload), capture_output=True, text=True
        )
        assert "guard is disabled by" in answer.stdout, answer.stderr


@pytest.mark.usefixtures("guard")
def test_a_settings_file_behind_a_link_stays_when_nothing_is_left_in_it(home: Path) -> None:
    own = home / "dotfiles.toml"
    own.touch()
    settings(home).symlink_to(own)
    succeeded("disable", "guard", "--yes")
    assert "guard" in own.read_text()
    succeeded("enable", "guard")
    assert own.read_text() == ""
    assert settings(home).is_symlink()
    succeeded("check")


@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize(("given", "seconds"), [("90s", 90), ("30m", 1800), ("1h", 3600), ("2d", 172800)])
def test_for_a_while_is_written_as_a_time_and_shown(home: Path, given: str, seconds: int) -> None:
    now = time.time()
    found = json.loads(succeeded("disable", "guard", "--for", given, "--yes", "--json"))
    (entry,) = tomllib.loads(settings(home).read_text())["hooks"]["disable"]
    assert entry == {"name": "guard", "until": datetime.fromisoformat(found["until"])}
    assert now + seconds <= entry["until"].timestamp() <= time.time() + seconds + 1
    assert entry["until"].utcoffset() is not None
    for shown in (succeeded("list"), succeeded()):
        assert re.search(r"disabled until (\d{4}-\d\d-\d\d )?\d\d:\d\d \(~/.config/agents/hooks/hooks.toml\)", shown)
    assert [each["disabled"] for each in found["hooks"]] == [True]
    assert decision() == "none"


@pytest.mark.usefixtures("guard")
def test_it_is_in_force_again_by_itself_and_enable_cleans_up(home: Path) -> None:
    succeeded("disable", "guard", "--for", "1s", "--yes")
    time.sleep(2.1)
    assert decision() == "deny"
    assert "in force" in succeeded("list")
    assert "its entry was removed from" in succeeded("enable", "guard")
    assert not settings(home).exists()


@pytest.mark.usefixtures("guard")
@pytest.mark.parametrize("given", ["", "1", "h", "1x", "-1h", "0s", "1 h", "1h30m", "9999999999d"])
def test_a_time_that_is_none_is_wrong_usage(home: Path, given: str) -> None:
    assert "--for" in refused("disable", "guard", "--for", given, "--yes", status=64)
    assert not settings(home).exists()


@pytest.mark.usefixtures("guard")
def test_without_a_terminal_it_needs_yes_and_on_one_it_asks(home: Path) -> None:
    assert "--yes" in refused("disable", "guard")
    status, seen = on_a_terminal(["disable", "guard"], {b"Disable it until it is enabled again? [Y/n]": b"n\n"})
    assert (status, settings(home).exists()) == (1, False), seen
    status, seen = on_a_terminal(["disable", "guard", "--for", "1h"], {b"Disable it for 1h? [Y/n]": b"\n"})
    assert (status, settings(home).exists()) == (0, True), seen


@pytest.mark.parametrize("command", [("disable", "guard", "--yes"), ("enable", "guard"), ("remove", "guard", "--yes")])
def test_an_agent_that_is_guarded_may_not(guard: Path, home: Path, command: tuple[str, ...]) -> None:
    settings(home).write_text('[[hooks.disable]]\nname = "guard"\n')
    agent_marks.mark(processes.this())
    assert "was called from an agent that Tenterhook guards" in refused(*command)
    assert settings(home).read_text() == '[[hooks.disable]]\nname = "guard"\n'
    assert guard.exists()


def test_a_projects_hook_is_disabled_in_ones_own_settings(home: Path, project: Path) -> None:
    folder_hook(project_hooks(project), "theirs", "exit 2")
    succeeded("trust", "theirs", "--yes")
    assert decision() == "deny"
    succeeded("disable", "theirs", "--yes")
    assert tomllib.loads(settings(home).read_text())["hooks"]["disable"] == [{"name": "theirs"}]
    assert not (project_hooks(project) / "hooks.toml").exists()
    assert decision() == "none"
    succeeded("enable", "theirs")
    assert decision() == "deny"


@pytest.mark.usefixtures("guard")
def test_settings_that_cannot_be_edited_are_left_alone(home: Path) -> None:
    settings(home).write_text("hooks = { enabled = true }\n")
    said = refused("disable", "guard", "--yes")
    assert "hooks.toml: line 1: `hooks.disable` is written in a form that cannot be edited and restored" in said
    assert "write [hooks] and [[hooks.disable]] as tables of their own, not inline" in said
    assert settings(home).read_text() == "hooks = { enabled = true }\n"


@pytest.mark.usefixtures("guard")
def test_settings_that_have_no_effect_are_said(home: Path) -> None:
    settings(home).write_text("[hooks]\n")
    settings(home).chmod(0o666)
    ended = tenterhook("disable", "guard", "--yes")
    assert ended.returncode == 1
    assert "guard is still in force" in ended.stderr
    assert "writable-by-others" in ended.stderr


@pytest.mark.usefixtures("guard")
def test_several_are_disabled_and_enabled_at_once_and_none_if_a_name_is_unknown(home: Path) -> None:
    folder_hook(user_hooks(home), "other", "exit 2")
    assert "no hook is called 'nosuch'" in refused("disable", "guard", "nosuch", "--yes")
    assert not settings(home).exists()
    question = b"Disable them until they are enabled again? [Y/n]"
    assert on_a_terminal(["disable", "guard", "other"], {question: b"\n"})[0] == 0
    assert decision() == "none"
    assert "no hook is called 'nosuch'" in refused("enable", "guard", "nosuch")
    assert decision() == "none"
    found = json.loads(succeeded("enable", "guard", "other", "--json"))
    assert [(each["name"], each["changed"]) for each in found["results"]] == [
        ("guard", [str(settings(home))]), ("other", [str(settings(home))]),
    ]  # fmt: skip
    assert not settings(home).exists()
    found = json.loads(succeeded("disable", "guard", "other", "--yes", "--json"))
    assert [(each["name"], each["hooks"][0]["disabled"]) for each in found["results"]] == [
        ("guard", True), ("other", True),
    ]  # fmt: skip
