"""`tenterhook setup`: what it shows, does and leaves alone, and what is left of it when it is interrupted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from install.installations import SETTINGS, put, records
from install.trees import tree
from support import folder_hook, is_asleep, tenterhook, until, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.cli.setup import RECOMMENDED, AgentProofs, SetupPlan, _print_result
from tenterhook.doctor.probe import ModeResult

if TYPE_CHECKING:
    from pathlib import Path

OWN = b'{\n  // mine\n  "model": "opus",\n  "hooks": {"Stop": []}\n}\n'
SYSTEM = "/usr/bin:/bin"


@pytest.fixture(autouse=True)
def place(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with the settings of two agents, and the program of none."""
    monkeypatch.setenv("PATH", SYSTEM)
    put(home, "claude-code", OWN)
    (home / ".kimi-code").mkdir()


def program(home: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program `claude` on the PATH."""
    (home / "bin").mkdir(exist_ok=True)
    (home / "bin" / "claude").write_text(f"#!/bin/sh\n{text}\n")
    (home / "bin" / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{home / 'bin'}:{SYSTEM}")


def setup(*arguments: str) -> subprocess.CompletedProcess[str]:
    return tenterhook("setup", *arguments, stdin=subprocess.DEVNULL)


def test_it_adds_guards_and_installs_in_every_agent_that_is_found(home: Path) -> None:
    ended = setup("--yes")
    assert ended.returncode == 0, ended.stderr
    assert records(home) == ["claude-code.json", "kimi-code.json"]
    assert sorted(path.name for path in user_hooks(home).iterdir()) == sorted(RECOMMENDED)
    assert "// mine" in (home / SETTINGS["claude-code"]).read_text()
    said = ended.stdout
    assert "Claude Code    not proven: claude is not on the PATH" in said
    assert "    to try again: tenterhook doctor claude-code --live" in said
    assert said.rindex("\ninstalled, but not proven\n") < said.rindex(
        "with block-dangerous-commands, protect-secrets and protect-hooks"
    )
    assert "protected now" not in said
    for line, command in zip(said.splitlines()[-2:], ("tenterhook try", "tenterhook log"), strict=True):
        assert command in line
    refused = tenterhook("try", "sudo rm -rf /")
    assert "refused" in refused.stdout
    assert "the daemon is not running" in tenterhook("daemon", "status").stdout


def test_one_guard_that_is_disabled_is_named(home: Path) -> None:
    assert setup("--yes").returncode == 0
    assert tenterhook("disable", "protect-hooks", "--yes").returncode == 0
    ended = setup("--yes")
    assert ended.returncode == 1
    assert json.loads(setup("--yes", "--json").stdout)["not_in_force"] == ["protect-hooks"]
    assert "\nnot fully protected yet\n  protect-hooks is not in force: tenterhook list\n" in ended.stdout
    assert "  by block-dangerous-commands and protect-secrets\n" in ended.stdout


def test_the_result_says_that_the_guard_of_the_test_was_a_temporary_one(capsys: pytest.CaptureFixture[str]) -> None:
    plan = SetupPlan([AGENTS["claude-code"]], [], [], starts_daemon=False)
    for held, is_said in ((True, True), (None, False)):
        _print_result(plan, [AgentProofs(AGENTS["claude-code"], [ModeResult("plain", held, "")])], [])
        assert ("tested with a temporary guard" in capsys.readouterr().out) is is_said


def test_the_guard_for_infrastructure_is_mentioned_where_it_is_missing(home: Path) -> None:
    line = "  not for clouds, clusters and databases: tenterhook add infrastructure\n"
    assert line in setup("--yes").stdout
    assert line not in setup("--yes", "--guards", "infrastructure").stdout


@pytest.mark.parametrize(
    ("held", "heading"),
    [
        ((True, True), "protected now"),
        ((True, None), "protected now, but not proven in every agent"),
        ((None, None), "installed, but not proven"),
        ((True, False), "not protected yet"),
    ],
)
def test_the_heading_claims_no_more_than_was_proven(
    held: tuple[bool | None, ...], heading: str, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = [AGENTS["claude-code"], AGENTS["kimi-code"]]
    outcomes = [AgentProofs(agent, [ModeResult("plain", each, "")]) for agent, each in zip(agents, held, strict=True)]
    _print_result(SetupPlan(agents, [], [], starts_daemon=False), outcomes, [])
    assert capsys.readouterr().out.splitlines()[1] == heading


def test_repeated_it_changes_nothing_and_says_so(home: Path) -> None:
    setup("--yes")
    before = tree(home)
    again = setup("--yes")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[0] == "everything is already set up: nothing to change"
    own = {name: content for name, content in tree(home).items() if not name.startswith((".cache", ".local/state"))}
    assert own == {name: content for name, content in before.items() if not name.startswith((".cache", ".local/state"))}
    assert "already" not in setup("--yes", "--guards", "stay-in-project").stdout.splitlines()[0]


@pytest.mark.parametrize("is_repository", [False, True])
def test_in_a_home_that_is_not_the_accounts_it_names_the_reason_and_changes_nothing(
    home: Path, is_repository: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_repository:
        (home / ".git").mkdir()
    before = tree(home)
    monkeypatch.chdir(home)
    ended = setup("--yes")
    assert ended.returncode == 1
    assert "HOME is not your account's home directory" in ended.stderr
    assert "run tenterhook setup in another directory" in ended.stderr
    assert tree(home) == before


def test_a_dry_run_shows_the_changes_and_makes_none(home: Path) -> None:
    before = tree(home)
    shown = setup("--dry-run")
    assert shown.returncode == 0
    assert [name for name in RECOMMENDED if name in shown.stdout] == list(RECOMMENDED)
    assert "daemon  off" in shown.stdout
    assert f"+++ {home / SETTINGS['claude-code']} (then)" in shown.stdout
    found = json.loads(setup("--dry-run", "--json").stdout)
    assert (found["schema"], found["dry_run"], found["changed"]) == (1, True, False)
    assert [each["agent"] for each in found["agents"]] == ["claude-code", "kimi-code"]
    assert [each["state"] for each in found["guards"]] == ["added"] * 3
    assert tree(home) == before


def test_without_a_terminal_it_needs_yes(home: Path) -> None:
    before = tree(home)
    ended = setup()
    assert ended.returncode == 1
    assert ended.stdout.startswith("agents  ")  # what it would do, to be sure of
    assert "tenterhook setup --yes" in ended.stderr
    assert tree(home) == before


def test_agents_and_guards_are_chosen_by_name(home: Path) -> None:
    ended = setup("--yes", "--agents", "kimi-code, cursor", "--guards", "none", "--json")
    found = json.loads(ended.stdout)
    assert [(each["agent"], each["proof"]) for each in found["agents"]] == [
        ("kimi-code", "unproven"), ("cursor", "unproven"),
    ]  # fmt: skip
    assert (found["changed"], found["guards"]) == (True, [])
    assert records(home) == ["cursor.json", "kimi-code.json"]
    assert setup("--yes", "--agents", "claude").returncode == setup("--yes", "--guards", "block").returncode == 64


def test_what_a_person_changed_is_left_as_it_is(home: Path) -> None:
    mine = folder_hook(user_hooks(home), "protect-hooks", "exit 2")
    before = tree(mine)
    ended = setup("--yes")
    assert ended.returncode == 0
    assert "protect-hooks (modified: left as it is)" in ended.stdout
    assert tree(mine) == before


def test_an_agent_that_was_not_named_calls_the_new_guards_too(home: Path) -> None:
    assert tenterhook("install", "gemini").returncode == 0
    assert setup("--yes", "--agents", "claude-code").returncode == 0
    assert "BeforeTool" in (home / SETTINGS["gemini"]).read_text()


def test_where_no_agent_is_found_it_says_how_to_go_on(home: Path) -> None:
    (home / SETTINGS["claude-code"]).unlink()
    (home / ".claude").rmdir()
    (home / ".kimi-code").rmdir()
    ended = setup("--yes")
    assert ended.returncode == 1
    assert "no agent was found" in ended.stderr
    assert "--agents" in ended.stderr


def test_settings_that_cannot_be_edited_change_nothing(home: Path) -> None:
    put(home, "kimi-code", b"[broken")
    before = tree(home)
    ended = setup("--yes")
    assert ended.returncode == 1
    assert ".kimi-code/config.toml" in ended.stderr
    assert tree(home) == before


def test_a_proof_that_shows_nothing_is_an_error_and_the_others_go_on(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(home, "echo 'Error: no such model' >&2; exit 3", monkeypatch)
    ended = setup("--yes")
    assert ended.returncode == 1
    said = ended.stdout[ended.stdout.index("\ninstalled, but not proven\n") :]
    assert (
        "  Claude Code    not proven: the agent made no tool call: it ended with status 3: Error: no such model\n"
        in said
    )
    assert "    to try again: tenterhook doctor claude-code --live\n" in said
    assert "status 3: Error: no such model" in ended.stdout
    assert "Kimi Code      not proven" in ended.stdout
    assert records(home) == ["claude-code.json", "kimi-code.json"]


@pytest.mark.parametrize(
    ("held", "state"),
    [((True, None), "proven"), ((True, False), "failed"), ((None, None), "inconclusive"), ((), "unproven")],
)
def test_one_mode_that_does_not_block_is_a_failure(held: tuple[bool | None, ...], state: str) -> None:
    outcome = AgentProofs(AGENTS["claude-code"], [ModeResult("plain", each, "") for each in held])
    assert outcome.state == state
    assert outcome.has_failed is (state in ("failed", "inconclusive"))


# ---- interrupted


def start(**options: Any) -> pexpect.spawn[str]:
    return pexpect.spawn(
        sys.executable, ["-m", "tenterhook", "setup"], encoding="utf-8", timeout=60, dimensions=(24, 80), **options
    )


@pytest.mark.parametrize("was_installed", [False, True])
@pytest.mark.parametrize("point", ["Go ahead", "right after the answer", "added", "installed in", "tries a command"])
def test_interrupted_at_any_point_it_leaves_everything_as_it_was(
    home: Path, monkeypatch: pytest.MonkeyPatch, point: str, was_installed: bool
) -> None:
    program(home, "exec sleep 100", monkeypatch)
    if was_installed:
        folder_hook(user_hooks(home), "mine", "exit 2", metadata={"on_failure": "block"})
        assert tenterhook("install", "kimi-code").returncode == 0
        assert tenterhook("list").returncode == 0  # remembers the fail-closed hook
    before = tree(home)
    child = start()
    child.expect_exact("Go ahead? [Y/n]")
    if point == "Go ahead":
        until(lambda: is_asleep(child.pid))  # reading the answer
    else:
        child.sendline("")
    if point not in ("Go ahead", "right after the answer"):
        child.expect_exact(point)
    child.kill(signal.SIGINT)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130, child.before
    assert tree(home) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_ended_by_another_signal_it_does_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    program(home, "exec sleep 100", monkeypatch)
    before = tree(home)
    child = start()
    child.expect_exact("Go ahead? [Y/n]")
    child.sendline("")
    child.expect_exact("tries a command")
    child.kill(number)
    child.expect_exact("everything was restored")
    child.expect(pexpect.EOF)
    assert tree(home) == before


def test_settings_that_the_agent_changed_meanwhile_lose_only_our_entries(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = home / SETTINGS["claude-code"]
    program(home, f"sed -i s/opus/sonnet/ {settings}; exec sleep 100", monkeypatch)
    child = start()
    child.expect_exact("Go ahead? [Y/n]")
    child.sendline("")
    child.expect_exact("tries a command")
    while b"sonnet" not in settings.read_bytes():
        os.sched_yield()
    child.sendintr()
    child.expect(pexpect.EOF)
    assert settings.read_bytes() == OWN.replace(b"opus", b"sonnet")
    assert not (home / ".local").exists()
