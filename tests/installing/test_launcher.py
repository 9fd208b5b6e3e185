"""The launcher: what agents run at each event, and what it does when Tenterhook was moved, replaced or removed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from installing.test_wiring import NAMES, SETTINGS, fire, install, is_blocked, log, wired
from support import change_launcher, end_of_the_agent, folder_hook, tenterhook, until, user_hooks
from tenterhook.installing import launcher, lines
from tenterhook.installing.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

GUARD = "echo 'not with me' >&2; exit 2"
PYTHON = f"python={sys.executable}"


@pytest.fixture(autouse=True)
def guard(home: Path, project: Path) -> Path:
    return folder_hook(user_hooks(home), "guard", GUARD, metadata={"on_failure": "block"})


def state(home: Path) -> Path:
    return home / ".local/state/tenterhook"


def doctor(*arguments: str) -> str:
    return tenterhook("doctor", *arguments).stdout


# ------------------------------------------------------------------ the entry


@pytest.mark.parametrize("choice", ["--open", "--closed", None])
def test_an_entry_is_at_most_120_characters_besides_the_path(home: Path, choice: str | None) -> None:
    install(*SETTINGS, *([choice] if choice else []))
    for agent in AGENTS.values():
        for event in agent.events:
            mode = {"closed": True, "everywhere": choice == "--closed"}
            for command in (agent.line(event, agent.name, **mode), agent.line(event, agent.name, closed=False)):
                assert len(command) - len(launcher.path()) <= 120, command
                assert f" {agent.name} {event} " in command
    for agent_name in SETTINGS:
        for command in wired(home, agent_name).values():
            assert f"{home}/.local/state/tenterhook/launcher.sh" in command
            assert lines.is_ours({"command": command})


@pytest.mark.promise("a careless model")
@pytest.mark.parametrize("agent", SETTINGS)
def test_a_guard_that_is_to_block_blocks_where_the_launcher_is_gone(home: Path, agent: str) -> None:
    """Where closed was chosen, a tool call is refused even if the launcher itself is gone."""
    install(agent)
    tool = NAMES[agent][1]
    (state(home) / "launcher.sh").unlink()
    ended = fire(agent, tool, wired(home, agent)[tool])
    assert ended.returncode == 2
    assert "launcher.sh" in ended.stderr  # without a word on stderr, some agents would go on


def test_on_a_machine_without_tenterhook_the_entry_says_one_sentence_and_lets_pass(home: Path) -> None:
    install("claude-code")
    shutil.rmtree(state(home))  # as in a container that shares only ~/.claude
    entries = wired(home, "claude-code")
    ended = fire("claude-code", "SessionStart", entries["SessionStart"])
    assert (ended.returncode, ended.stderr) == (1, "Tenterhook is not installed here\n")
    ended = fire("claude-code", "PreToolUse", entries["PreToolUse"])
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_closed_that_a_person_chose_holds_on_every_machine(home: Path) -> None:
    install("claude-code", "--closed")
    shutil.rmtree(state(home))
    ended = fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    assert ended.returncode == 2
    assert "launcher.sh" in ended.stderr


def test_open_lets_pass_without_the_launcher_in_every_agent(home: Path, guard: Path) -> None:
    shutil.rmtree(guard)
    folder_hook(user_hooks(home), "guard", GUARD)
    install(*SETTINGS, "--open")
    (state(home) / "launcher.sh").unlink()
    for agent, (_, tool, *_) in NAMES.items():
        assert fire(agent, tool, wired(home, agent)[tool]).returncode == 0, agent


# ------------------------------------------------------------------ a Tenterhook that works


@pytest.mark.promise("a careless model")
def test_a_bridge_that_was_moved_is_found_again_and_that_is_said_once(home: Path) -> None:
    """Reinstalling Tenterhook, or switching between a checkout and a package, refuses nothing and opens nothing."""
    install("claude-code")
    line = wired(home, "claude-code")["PreToolUse"]
    change_launcher(home, (f"bridge={launcher.BRIDGE}", "bridge=/gone/tenterhook/bridge.py"))
    first, second = (fire("claude-code", "PreToolUse", line) for _ in range(2))
    assert is_blocked(first)
    assert is_blocked(second)
    assert "tenterhook doctor --fix" in first.stderr
    assert second.stderr == ""
    assert log(home) == []
    end_of_the_agent()
    assert "that of" in doctor("claude-code")
    before = (state(home) / "installed/claude-code.json").read_text()
    assert "/gone/tenterhook" not in before  # what install wrote down is as it was
    assert "that of" not in doctor("claude-code", "--fix")
    assert "/gone/tenterhook" not in (state(home) / "launcher.sh").read_text()


@pytest.mark.parametrize("broken", ["a folder for a bridge", "no packages"])
def test_a_bridge_that_cannot_start_is_not_the_last_word(home: Path, tmp_path: Path, broken: str) -> None:
    install("claude-code")
    bridge = tmp_path / "half/tenterhook/bridge.py"
    bridge.parent.mkdir(parents=True)
    if broken == "no packages":
        shutil.copy(launcher.BRIDGE, bridge)
    else:
        bridge.mkdir()
    change_launcher(home, (f"bridge={launcher.BRIDGE}", f"bridge={bridge}"))
    assert is_blocked(fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"]))


def test_a_tool_that_pipx_installed_later_answers_for_an_environment_that_was_deleted(home: Path) -> None:
    install("claude-code")
    change_launcher(home, (PYTHON, "python=/gone/bin/python"))
    line = wired(home, "claude-code")["PreToolUse"]
    assert fire("claude-code", "PreToolUse", line).returncode == 2  # closed, and nothing there
    program = home / ".local/share/pipx/venvs/tenterhook/bin/python"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    program.chmod(0o755)
    assert is_blocked(fire("claude-code", "PreToolUse", line))


@pytest.mark.promise("another account")
def test_no_interpreter_of_another_account_or_a_repository_is_a_candidate(home: Path, tmp_path: Path) -> None:
    """The launcher starts no interpreter that another account or a repository could have put there."""
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    found = launcher.others([f"{repository}/.venv/bin/python", f"{shared}/bin/python", "relative/python"])
    assert all(str(home) in each for each in found)


def test_what_an_agents_process_does_rewrites_nothing_that_a_person_chose(home: Path) -> None:
    install("claude-code")
    record = state(home) / "installed/claude-code.json"
    before = json.loads(record.read_text())
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    line = wired(home, "claude-code")["PreToolUse"]
    hostile = {**os.environ, "PATH": f"{home}/evil:{os.environ['PATH']}", "PIPX_HOME": f"{home}/evil"}
    fire("claude-code", "PreToolUse", line, env=hostile)
    until(lambda: "Stop" in wired(home, "claude-code"))
    after = json.loads(record.read_text())
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"events", "timeouts", "files"}
    assert "evil" not in (state(home) / "launcher.sh").read_text()


# ------------------------------------------------------------------ gone, or never there


def test_gone_is_told_with_a_remedy_that_works(home: Path) -> None:
    install("claude-code")
    change_launcher(home, (PYTHON, "python=/gone/bin/python"))
    ended = fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    assert ended.returncode == 2
    assert "Tenterhook is gone" in ended.stderr
    assert "Install it again, then: tenterhook install claude-code" in ended.stderr
    assert "remove the entries with launcher.sh from the settings" in ended.stderr
    end_of_the_agent()
    install("claude-code")
    assert is_blocked(fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"]))


def test_a_home_on_another_machine_says_that_it_was_never_installed_there_and_is_open(home: Path) -> None:
    install("claude-code")
    other = [line for line in (state(home) / "launcher.sh").read_text().splitlines() if line.startswith("machine=")]
    change_launcher(home, (PYTHON, "python=/gone/bin/python"), (other[0], "machine=another"))
    line = wired(home, "claude-code")["PreToolUse"]
    ended = fire("claude-code", "PreToolUse", line)
    assert ended.returncode == 0
    assert "never installed on this machine: hooks did not run" in ended.stderr
    everywhere = line.replace(" closed ", " closed-everywhere ")
    assert fire("claude-code", "PreToolUse", everywhere).returncode == 2


def test_doctor_and_bare_run_the_launcher_before_they_say_guarded(home: Path) -> None:
    install("claude-code")
    (home / ".claude").mkdir(exist_ok=True)
    assert "Claude Code  guarded" in tenterhook().stdout
    assert "the launcher answers" in doctor("claude-code")
    change_launcher(home, (PYTHON, "python=/gone/bin/python"))
    assert "Claude Code  would not hold" in tenterhook().stdout
    ended = tenterhook("doctor", "claude-code")
    assert ended.returncode == 1
    assert "the launcher fails: Tenterhook is gone" in ended.stdout
    assert tenterhook("doctor", "claude-code", "--fix").returncode == 0
    assert "Claude Code  guarded" in tenterhook().stdout


def test_uninstalling_the_last_agent_removes_the_launcher(home: Path) -> None:
    install("claude-code", "codex")
    assert tenterhook("uninstall", "codex", "--yes").returncode == 0
    assert (state(home) / "launcher.sh").exists()
    assert tenterhook("uninstall", "--yes").returncode == 0
    assert not (state(home) / "launcher.sh").exists()


def test_a_project_that_is_guarded_alone_has_entries_of_its_own(home: Path, project: Path) -> None:
    install("claude-code", "--project")
    settings = json.loads((project / ".claude/settings.local.json").read_text())
    command = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert is_blocked(fire("claude-code", "PreToolUse", command))


# ------------------------------------------------------------------ what version 0.1 wrote

_OLD = (
    "{python} -I -S {bridge} --host {agent} --event {event} --record {record}; s=$?; "
    "case $s in 0) exit 0;; 10) exit 2;; esac; echo 'Tenterhook could not answer: this is refused' >&2; exit 2"
)


def install_as_before(home: Path, agent: str) -> None:
    """The settings and the record that version 0.1 left behind."""
    install(agent)
    record = state(home) / f"installed/{agent}.json"
    known = json.loads(record.read_text())
    path = home / SETTINGS[agent]
    text = path.read_bytes()
    agents = AGENTS[agent]
    words = {"python": sys.executable, "bridge": launcher.BRIDGE, "agent": agent, "record": record}
    old = {event: _OLD.format(event=event, **words) for event in known["events"]}
    path.write_bytes(agents.with_entries(text, old, frozenset()).text)
    for name in ("launcher", "others", "everywhere"):
        del known[name]
    record.write_text(json.dumps(known))
    (state(home) / "launcher.sh").unlink()
    if agent == "codex":
        subprocess.run([sys.executable, "-c", _TRUST, str(path)], check=True)


_TRUST = """
import sys
from pathlib import Path
from tenterhook.installing import codex_trust
hooks = Path(sys.argv[1])
config = hooks.with_name("config.toml")
config.write_bytes(codex_trust.with_trust(config.read_bytes(), str(hooks), hooks.read_bytes()))
"""


@pytest.mark.parametrize("agent", SETTINGS)
def test_an_older_installation_is_upgraded_by_a_sessions_first_event_and_still_guarded(home: Path, agent: str) -> None:
    install_as_before(home, agent)
    (start, tool, *_) = NAMES[agent]
    path = home / SETTINGS[agent]
    (line,) = (line for event, line in _entries(path, agent).items() if event == start)
    assert "bridge.py" in line
    fire(agent, start, line)
    until(lambda: set(wired(home, agent)) == {start, tool})
    assert b"bridge.py" not in path.read_bytes()
    assert is_blocked(fire(agent, tool, wired(home, agent)[tool]))
    end_of_the_agent()
    ended = tenterhook("doctor", agent)
    assert ended.returncode == 0, ended.stdout  # for Codex: its trust fits the new entries


def test_install_upgrades_an_older_installation(home: Path) -> None:
    install_as_before(home, "claude-code")
    install("claude-code")
    assert b"bridge.py" not in (home / SETTINGS["claude-code"]).read_bytes()
    assert is_blocked(fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"]))


def _entries(path: Path, agent: str) -> dict[str, str]:
    return {event: lines.command_of(found[0]) for event, found in AGENTS[agent].entries(path.read_bytes()).items()}
