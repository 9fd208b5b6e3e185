"""The launcher: what agents run at each event, and what it does when Tenterhook was moved, replaced or removed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from install.installations import DATA, EDITED, NAMES, SETTINGS, fire, install, is_blocked, log, wired
from install.older_version import install_as_before
from support import (
    FEW,
    change_launcher,
    end_of_the_agent,
    few_first,
    folder_hook,
    lose_tenterhook,
    tenterhook,
    until,
    user_hooks,
)
from tenterhook.agents import AGENTS
from tenterhook.agents.codex import AGENT as CODEX
from tenterhook.basics import protected_places
from tenterhook.formats.own_entries import is_own_command
from tenterhook.install import entries, launcher, trust_tables

IN_VERSION_0_1 = ("claude-code", "kimi-code", "kimi-cli", "codex", "gemini", "qwen", "copilot")
GUARD = "echo 'not with me' >&2; exit 2"


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
            for command in (
                entries.line(agent, event, agent.name, **mode),
                entries.line(agent, event, agent.name, closed=False),
            ):
                assert len(command) - len(launcher.path()) <= 120, command
                assert f" {agent.name} {event} " in command
    for agent_name in SETTINGS:
        for command in wired(home, agent_name).values():
            assert f"{home}/.local/state/tenterhook/launcher.sh" in command
            assert is_own_command(command)


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
    for agent, (_, tool, *_) in EDITED.items():
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
    assert "answers instead" in doctor("claude-code")
    before = (state(home) / "installed/claude-code.json").read_text()
    assert "/gone/tenterhook" not in before  # what install wrote down is as it was
    assert "answers instead" not in doctor("claude-code", "--fix")
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
    change_launcher(home, (os.path.dirname(sys.executable), "/gone/bin"))
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
    planted = [f"{repository}/.venv/bin/python", f"{shared}/bin/python", "relative/python"]
    found = launcher.others(planted)
    assert found
    assert not set(planted) & set(found)


def test_the_interpreter_of_install_counts_wherever_it_is_and_by_its_other_names_too(home: Path) -> None:
    install("claude-code")
    record = json.loads((state(home) / "installed/claude-code.json").read_text())
    directory = os.path.dirname(sys.executable)
    assert {record["python"], *record["others"]} >= {f"{directory}/python", f"{directory}/python3"}
    assert f"{home}/.local/share/uv/tools/tenterhook/bin/python" in record["others"]


def test_the_places_that_the_launcher_falls_back_on_are_protected(home: Path) -> None:
    """Where the launcher would look for another Tenterhook, protect-hooks and our commands let no agent write."""
    tools = [each for each in launcher.others([]) if each.startswith(str(home))]
    assert len(tools) == 3
    assert [each for each in tools if not protected_places.protected(each, False, None)] == []


def test_what_an_agents_process_does_rewrites_nothing_that_a_person_chose(home: Path) -> None:
    install("claude-code")
    record = state(home) / "installed/claude-code.json"
    before = json.loads(record.read_text())
    (state(home) / "fallback").write_text("another\n")  # only a person's command ends that
    folder_hook(user_hooks(home), "gate", "exit 0", "pre-agent-turn-stop")
    line = wired(home, "claude-code")["PreToolUse"]
    hostile = {**os.environ, "PATH": f"{home}/evil:{os.environ['PATH']}", "PIPX_HOME": f"{home}/evil"}
    fire("claude-code", "PreToolUse", line, env=hostile)
    until(lambda: "Stop" in wired(home, "claude-code"))
    after = json.loads(record.read_text())
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"events", "timeouts", "files"}
    assert "evil" not in (state(home) / "launcher.sh").read_text()
    assert (state(home) / "fallback").exists()
    end_of_the_agent()
    install("claude-code")
    assert not (state(home) / "fallback").exists()


# ------------------------------------------------------------------ every shell, any path

SHELLS = {
    "dash": ["dash"],
    "bash": ["bash"],
    "bash as sh": ["bash", "--posix"],
    "busybox": ["busybox", "sh"],
    "zsh as sh": ["zsh", "--emulate", "sh"],
}
each_shell = pytest.mark.parametrize("shell", SHELLS)


def shell_or_skip(name: str) -> list[str]:
    program, *options = SHELLS[name]
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    return [program, *options]


def launch(home: Path, shell: list[str], mode: str, event: str = "PreToolUse") -> subprocess.CompletedProcess[str]:
    """Run the launcher as an entry would, with another shell."""
    line = shlex.join([*shell, str(state(home) / "launcher.sh"), "claude-code", event, mode])
    ended: subprocess.CompletedProcess[str] = fire("claude-code", event, line)
    return ended


@each_shell
@pytest.mark.slow
def test_every_shell_does_the_same(home: Path, tmp_path: Path, shell: str) -> None:
    program = shell_or_skip(shell)
    install("claude-code")
    read = subprocess.run([*program, "-n", state(home) / "launcher.sh"], capture_output=True, text=True)
    assert (read.returncode, read.stderr) == (0, "")
    assert is_blocked(launch(home, program, "closed"))
    change_launcher(home, (f"bridge={launcher.BRIDGE}", "bridge=/gone/tenterhook/bridge.py"))
    ended = launch(home, program, "closed")
    assert is_blocked(ended)
    assert "is not where it was installed" in ended.stderr
    assert launch(home, program, "check").returncode == 0
    lose_tenterhook(home)
    for mode, status in {"open": 1, "closed": 2, "closed-everywhere": 2, "check": 1}.items():
        ended = launch(home, program, mode)
        assert (ended.returncode, ended.stdout) == (status, "")
        assert ended.stderr.startswith("Tenterhook is gone (status 127): ")
        assert ended.stderr.count("\n") == 1
    on_machine(home, tmp_path, *MACHINES["a container with its host's id"])
    assert launch(home, program, "closed").returncode == 0
    assert "never installed" in launch(home, program, "open", "SessionStart").stderr


@pytest.mark.parametrize("agent", few_first(["claude-code", "codex", "kimi-code", "copilot"], FEW[::2]))
@pytest.mark.slow
def test_a_home_with_line_breaks_and_quotes_in_its_path_is_guarded_and_left_without_a_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    home = tmp_path / 'it\'s\n"my" $HOME; \\t für'
    (tmp_path / "home").rename(home)
    monkeypatch.setenv("HOME", str(home))
    tool = NAMES[agent][1]
    for choice in ((), ("--closed",)):
        install(agent, *choice)
        assert is_blocked(fire(agent, tool, wired(home, agent)[tool]))
        end_of_the_agent()
        assert tenterhook("doctor", agent).returncode == 0
    lose_tenterhook(home, shlex.quote(str(home / "no python")))
    ended = fire(agent, tool, wired(home, agent)[tool])
    assert is_blocked(ended, "Tenterhook is gone")
    end_of_the_agent()
    assert tenterhook("uninstall", "--yes").returncode == 0
    assert not (home / SETTINGS[agent]).exists()


def test_a_disk_that_is_full_changes_no_answer(home: Path) -> None:
    install("claude-code")
    (state(home) / "bridge.log").symlink_to("/dev/full")
    (state(home) / "fallback").symlink_to("/nowhere/at/all")
    line = wired(home, "claude-code")["PreToolUse"]
    change_launcher(home, (f"bridge={launcher.BRIDGE}", "bridge=/gone/tenterhook/bridge.py"))
    assert is_blocked(fire("claude-code", "PreToolUse", line))
    lose_tenterhook(home)
    ended = fire("claude-code", "PreToolUse", line)
    assert ended.returncode == 2
    assert ended.stderr.startswith("Tenterhook is gone")


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_state_directory_that_cannot_be_written_changes_no_answer(home: Path) -> None:
    install("claude-code")
    line = wired(home, "claude-code")["PreToolUse"]
    change_launcher(home, (f"bridge={launcher.BRIDGE}", "bridge=/gone/tenterhook/bridge.py"))
    state(home).chmod(0o500)
    try:
        assert is_blocked(fire("claude-code", "PreToolUse", line))
    finally:
        state(home).chmod(0o700)


# ------------------------------------------------------------------ one event, one answer


def counting_guard(guard: Path, home: Path) -> Path:
    """Have the guard note each event that it was asked about; returns the file."""
    noted = home / "noted"
    (guard / "scripts/run.sh").write_text(f"#!/bin/sh\ngrep -o 'the .* command' >>{noted}; {GUARD}\n")
    return noted


def payload_with(command: str) -> str:
    payload = json.loads((DATA / "claude-code/PreToolUse.json").read_text())
    return json.dumps(payload | {"cwd": os.getcwd(), "tool_input": {"command": command}})


def begin_with(home: Path, tmp_path: Path, script: str) -> None:
    """Have the launcher start this script first, and then the Tenterhook that there is."""
    first = tmp_path / "first"
    first.write_text(f"#!/bin/sh\n{script}\n")
    first.chmod(0o755)
    change_launcher(home, (f"python={sys.executable}", f"python={first}"), ("other in", f"other in {sys.executable}"))


def send(home: Path, text: str) -> subprocess.CompletedProcess[str]:
    line = wired(home, "claude-code")["PreToolUse"]
    return subprocess.run(["/bin/sh", "-c", line], input=text, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("status", [1, 2, 126, 127])
def test_an_event_that_was_not_read_reaches_the_next_tenterhook(
    home: Path, tmp_path: Path, guard: Path, status: int
) -> None:
    noted = counting_guard(guard, home)
    install("claude-code")
    begin_with(home, tmp_path, f"exit {status}")
    assert is_blocked(send(home, payload_with("the one and only command")))
    assert noted.read_text() == "the one and only command\n"


@pytest.mark.promise("a careless model")
@pytest.mark.parametrize("status", [1, 2, 126, 127, 70, 137])
@pytest.mark.parametrize("length", [10, 3_000_000])
def test_an_event_that_was_lost_is_refused_where_closed_was_chosen(
    home: Path, tmp_path: Path, guard: Path, status: int, length: int
) -> None:
    """If Tenterhook breaks after it has read a tool call, that call is refused where closed was chosen."""
    noted = counting_guard(guard, home)
    install("claude-code")
    begin_with(home, tmp_path, f"head -c 1048576 >/dev/null; exit {status}")
    ended = send(home, payload_with("x" * length))
    assert ended.returncode == 2
    assert "this is refused" in ended.stderr
    assert not noted.exists()


def test_no_hook_runs_twice_for_an_answer_that_was_lost(home: Path, tmp_path: Path, guard: Path) -> None:
    noted = counting_guard(guard, home)
    install("claude-code")
    begin_with(home, tmp_path, f'{shlex.quote(sys.executable)} "$@" >/dev/null 2>&1; exit 1')
    ended = send(home, payload_with("the one and only command"))
    assert ended.returncode == 2
    assert noted.read_text() == "the one and only command\n"


def test_an_event_that_was_read_for_the_daemon_is_not_given_to_another(home: Path, tmp_path: Path, guard: Path) -> None:
    noted = counting_guard(guard, home)
    install("claude-code")
    package = tmp_path / "half/tenterhook"
    shutil.copytree(Path(launcher.BRIDGE).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "dispatch/dispatch.py").write_text("raise ImportError('half of it')\n")
    change_launcher(home, (f"bridge={launcher.BRIDGE}", f"bridge={package}/bridge.py"), ("/usr/bin/perl", "/no/perl"))
    assert is_blocked(send(home, payload_with("the first command")))  # nothing was read: another answers
    (state(home) / "daemon.sock").touch()
    (state(home) / "fallback").unlink()
    ended = send(home, payload_with("the second command"))
    assert ended.returncode == 2
    assert "is not where it was installed" not in ended.stderr
    assert "could not answer (status 70): this is refused" in ended.stderr
    assert noted.read_text() == "the first command\n"


# ------------------------------------------------------------------ gone, or never there


def test_gone_is_told_with_a_remedy_that_works(home: Path) -> None:
    install("claude-code")
    lose_tenterhook(home)
    ended = fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    assert ended.returncode == 2
    assert "Tenterhook is gone" in ended.stderr
    assert "Install it again, then: tenterhook install claude-code" in ended.stderr
    assert "remove the entries with launcher.sh from the settings" in ended.stderr
    end_of_the_agent()
    install("claude-code")
    assert is_blocked(fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"]))


MACHINES = {  # where it was installed, and where it is not: an id, and whether it is a container
    "another computer": (("host", False), ("another", False)),
    "a container with an id of its own": (("host", False), ("container", True)),
    "a container with its host's id": (("host", False), ("host", True)),
    "a container without an id": (("host", False), ("", True)),
    "a container on a computer without ids": (("", False), ("", True)),
    "a host, from a container without an id": (("", True), ("host", False)),
}


def on_machine(home: Path, tmp_path: Path, there: tuple[str, bool], here: tuple[str, bool]) -> None:
    """Have the launcher find this machine, and have been written on that one."""
    (tmp_path / "machine-id").write_text(f"{here[0]}\n" if here[0] else "")
    if here[1]:
        (tmp_path / "dockerenv").touch()
    written = (state(home) / "launcher.sh").read_text()
    [before] = [line.partition("  #")[0] for line in written.splitlines() if line.startswith("machine=")]
    changes = {before: f"machine='{there[0]}{' in a container' if there[1] else ''}'"}
    changes |= {"/etc/machine-id": f"{tmp_path}/machine-id", "/.dockerenv": f"{tmp_path}/dockerenv"}
    changes |= {"/run/.containerenv": f"{tmp_path}/containerenv"}
    change_launcher(home, *changes.items())


@pytest.mark.parametrize("case", MACHINES)
@pytest.mark.slow
def test_a_home_on_another_machine_says_so_at_the_start_of_a_session_and_is_open(
    home: Path, tmp_path: Path, case: str
) -> None:
    install("claude-code")
    lose_tenterhook(home)
    on_machine(home, tmp_path, *MACHINES[case])
    entries = wired(home, "claude-code")
    ended = fire("claude-code", "SessionStart", entries["SessionStart"])
    assert ended.returncode == 1
    assert ended.stderr.startswith("Tenterhook was never installed on this machine: hooks did not run. Install it here")
    ended = fire("claude-code", "PreToolUse", entries["PreToolUse"])
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    end_of_the_agent()
    install("claude-code", "--closed")
    lose_tenterhook(home)
    on_machine(home, tmp_path, *MACHINES[case])
    ended = fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    assert ended.returncode == 2
    assert "was never installed on this machine: this is refused" in ended.stderr


@pytest.mark.parametrize("machine", [("host", False), ("", False), ("", True)])
def test_on_the_machine_where_it_was_installed_it_is_gone(
    home: Path, tmp_path: Path, machine: tuple[str, bool]
) -> None:
    install("claude-code")
    lose_tenterhook(home)
    on_machine(home, tmp_path, machine, machine)
    ended = fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    assert ended.returncode == 2
    assert "Tenterhook is gone (status 127): this is refused" in ended.stderr


def test_install_writes_down_this_machine_as_the_launcher_finds_it(home: Path) -> None:
    install("claude-code")
    lose_tenterhook(home)
    ended = fire("claude-code", "PreToolUse", wired(home, "claude-code")["PreToolUse"])
    assert "Tenterhook is gone" in ended.stderr


def test_doctor_and_bare_run_the_launcher_before_they_say_guarded(home: Path) -> None:
    install("claude-code")
    (home / ".claude").mkdir(exist_ok=True)
    assert "Claude Code  guarded" in tenterhook().stdout
    assert "the launcher answers" in doctor("claude-code")
    lose_tenterhook(home)
    assert "Claude Code  would not block" in tenterhook().stdout
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


@pytest.mark.parametrize("agent", few_first(IN_VERSION_0_1))
def test_an_older_installation_is_upgraded_by_a_sessions_first_event_and_still_guarded(home: Path, agent: str) -> None:
    install_as_before(home)
    (start, tool, *_) = NAMES[agent]
    path = home / SETTINGS[agent]
    before = _entries(path, agent)
    assert min(map(len, before.values())) > 1000
    assert is_blocked(fire(agent, tool, before[tool]))
    assert fire(agent, start, before[start]).returncode == 0
    until(lambda: b"bridge.py" not in path.read_bytes())
    check_upgraded(home, agent)
    # what is still running has read the old entries
    assert is_blocked(fire(agent, tool, before[tool]))


def check_upgraded(home: Path, agent: str) -> None:
    """The entries are short and closed, lead to the guard, and are trusted by Codex."""
    (start, tool, *_) = NAMES[agent]
    entries = until(lambda: set(wired(home, agent)) == {start, tool} and wired(home, agent))
    assert max(map(len, entries.values())) - len(launcher.path()) <= 120
    assert entries[tool].endswith(f"{agent} {tool} closed-everywhere || exit 2")  # no weaker than it was
    if agent == "codex":
        config = home / ".codex/config.toml"
        until(lambda: trust_tables.given(CODEX.trust_table, config.read_bytes()) == _wanted_trust(home))
    assert is_blocked(fire(agent, tool, entries[tool]))
    end_of_the_agent()
    ended = tenterhook("doctor", agent)
    assert ended.returncode == 0, ended.stdout
    assert "older version" not in ended.stdout


def _wanted_trust(home: Path) -> dict[str, str]:
    hooks = home / SETTINGS["codex"]
    return trust_tables.wanted(CODEX, str(hooks), hooks.read_bytes())


@pytest.mark.parametrize("agent", few_first(IN_VERSION_0_1))
@pytest.mark.slow
def test_install_upgrades_an_older_installation(home: Path, agent: str) -> None:
    install_as_before(home)
    install(agent)
    assert b"bridge.py" not in (home / SETTINGS[agent]).read_bytes()
    check_upgraded(home, agent)


def test_a_launcher_from_before_the_daemon_had_a_name_works_and_is_renewed_by_a_session(home: Path) -> None:
    install("claude-code")
    change_launcher(home, ("daemon.sock", "hub.sock"), ("--daemon none", "--hub none"))
    written = state(home) / "installed/claude-code.json"
    record = json.loads(written.read_text())
    written.write_text(json.dumps({**record, "launcher": 1}))
    alone = ["/bin/sh", launcher.path(), "claude-code", "PreToolUse", "check-alone"]
    assert subprocess.run(alone, stdin=subprocess.DEVNULL).returncode == 0
    entries = wired(home, "claude-code")
    assert is_blocked(fire("claude-code", "PreToolUse", entries["PreToolUse"]))
    assert fire("claude-code", "SessionStart", entries["SessionStart"]).returncode == 0
    until(lambda: "daemon.sock" in (state(home) / "launcher.sh").read_text())
    until(lambda: json.loads(written.read_text())["launcher"] == launcher.VERSION)
    assert wired(home, "claude-code") == entries


def test_what_version_0_1_wrote_is_uninstalled_without_a_trace(home: Path) -> None:
    install_as_before(home)
    assert tenterhook("uninstall", "--yes").returncode == 0
    assert [agent for agent in SETTINGS if (home / SETTINGS[agent]).exists()] == []
    assert not (home / ".codex/config.toml").exists()


def _entries(path: Path, agent: str) -> dict[str, str]:
    return {
        event: entries.command_of(found[0]) for event, found in entries.found(AGENTS[agent], path.read_bytes()).items()
    }
