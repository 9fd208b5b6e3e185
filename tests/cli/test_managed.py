"""`install --managed` and `uninstall --managed`, as root and a person type them."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from install import machines
from install.machines import HOME, PROGRAM, Machine
from support import folder_hook, tenterhook
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from pathlib import Path

GUARD = "grep -q deploy && { echo not today >&2; exit 2; }; exit 0"
SETTINGS = "/etc/claude-code/managed-settings.json"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machines.needs_root()
    return Machine(tmp_path)


def put_pack(machine: Machine, at: str) -> None:
    """A pack in a git repository of the machine, with the tags v1 and v2."""
    pack = machine.path(at)
    folder_hook(pack / "hooks", "no-deploy", GUARD)
    git = ["git", "-C", str(pack), "-c", "user.name=me", "-c", "user.email=me@example.org"]
    subprocess.run(["git", "init", "-q", str(pack)], check=True)
    for tag in ("v1", "v2"):
        (pack / "hooks" / "no-deploy" / "scripts" / "of").write_text(tag)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", tag], check=True)
        subprocess.run([*git, "tag", tag], check=True)


def test_a_pack_is_in_force_for_every_account_and_removed_with_the_installation(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")
    before = machine.tree("/etc", "/var/lib")
    ended = machine.tenterhook("install", "--managed", "claude-code", "--pack", "/opt/agent-hooks@v1", "--yes")
    assert not ended.status, ended.said
    assert "no-deploy" in ended.stdout
    line = machine.entry(SETTINGS, "PreToolUse")
    assert '"deny"' in machine.call(line, "make deploy").stdout
    machine.end_agent()
    ended = machine.tenterhook("install", "--managed", "claude-code", "--pack", "/opt/agent-hooks@v2", "--yes")
    assert not ended.status, ended.said
    assert 'rev = "v2"' in machine.path("/etc/agents/hooks/hooks.toml").read_text()
    assert '"deny"' in machine.call(line, "make deploy").stdout
    machine.end_agent()
    ended = machine.tenterhook("uninstall", "--managed", "--yes")
    assert not ended.status, ended.said
    assert machine.tree("/etc", "/var/lib") == before
    assert "left in" not in ended.stdout
    listed = machine.person(PROGRAM, "list")
    assert "no hooks in force" in listed.stdout, "no account goes on to enforce what root has removed"
    assert "error" not in listed.said


def test_a_pack_whose_bytes_a_person_cannot_reach_stays_as_it_was_locked(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")
    machine.tenterhook("install", "--managed", "claude-code", "--pack", "/opt/agent-hooks@v1", "--yes")
    for attempt in (
        "rm -rf /var/lib/tenterhook/*",
        "chmod -R 777 /var/lib/tenterhook",
        "echo > /etc/agents/hooks/hooks.lock",
    ):
        assert machine.person("sh", "-c", attempt).status, attempt
    assert '"deny"' in machine.call(machine.entry(SETTINGS, "PreToolUse"), "make deploy").stdout


def test_what_a_person_has_written_about_packs_does_not_count_against_the_lock_of_root(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")
    machine.tenterhook("install", "--managed", "claude-code", "--pack", "/opt/agent-hooks@v1", "--yes")
    line = machine.entry(SETTINGS, "PreToolUse")
    assert '"deny"' in machine.call(line, "make deploy").stdout
    (kept,) = machine.path(f"{HOME}/.local/state/tenterhook/packs").iterdir()
    stored = json.loads(kept.read_text())
    stored["packs"][0]["locked"]["hooks"]["no-deploy"]["digest"] = "0" * 64
    stored["packs"][0]["named"]["only"] = stored["packs"][0]["locked"]["default"] = []
    machine.write(f"{HOME}/.local/state/tenterhook/packs/{kept.name}", json.dumps(stored), mode=0o600)
    assert '"deny"' in machine.call(line, "make deploy").stdout


def test_a_moved_tag_is_refused_where_a_machine_is_kept_up_to_date_without_a_person(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")
    command = ("install", "--managed", "claude-code", "--yes", "--pack")
    assert not machine.tenterhook(*command, "/opt/agent-hooks@v1").status
    lock = machine.path("/etc/agents/hooks/hooks.lock")
    before = lock.read_text()
    git = ["git", "-C", str(machine.path("/opt/agent-hooks"))]
    subprocess.run([*git, "tag", "-f", "v1", "v2"], check=True)
    ended = machine.tenterhook(*command, "/opt/agent-hooks@v1")
    assert (ended.status, "the tag v1 was moved" in ended.said) == (1, True), ended.said
    assert "if that is meant: --pack /opt/agent-hooks@" in ended.said
    assert lock.read_text() == before
    moved = subprocess.run([*git, "rev-parse", "v2"], check=True, capture_output=True, text=True).stdout.strip()
    ended = machine.tenterhook(*command, f"/opt/agent-hooks@{moved}")
    assert not ended.status, ended.said


def test_settings_of_git_of_the_person_who_calls_sudo_do_not_count(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")
    for file in (f"{HOME}/.gitconfig", f"{HOME}/.config/git/config"):
        machine.write(file, '[url "/home/person/other"]\n\tinsteadOf = /opt/agent-hooks\n')
    command = (PROGRAM, "install", "--managed", "claude-code", "--pack", "/opt/agent-hooks@v1", "--yes")
    settings = {"GIT_CONFIG_GLOBAL": f"{HOME}/.gitconfig", "XDG_CONFIG_HOME": f"{HOME}/.config"}
    ended = machine.root(*command, env={"HOME": HOME, **settings})
    assert not ended.status, ended.said


def test_an_earlier_revision_is_returned_to(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")
    command = ("install", "--managed", "claude-code", "--yes", "--pack")
    for rev in ("v1", "v2", "v1"):
        ended = machine.tenterhook(*command, f"/opt/agent-hooks@{rev}")
        assert not ended.status, ended.said
        assert f'rev = "{rev}"' in machine.path("/etc/agents/hooks/hooks.lock").read_text()
        (hook,) = json.loads(machine.person(PROGRAM, "list", "--json").stdout)["hooks"]
        script = machine.path(hook["source"]).parent / "scripts" / "of"
        assert script.read_text() == rev


def test_what_cannot_be_fetched_changes_nothing(machine: Machine) -> None:
    before = machine.tree("/etc")
    ended = machine.tenterhook("install", "--managed", "claude-code", "--pack", "/opt/none@v1", "--yes")
    assert ended.status == 1
    assert machine.tree("/etc") == before


def test_a_changed_store_is_said_with_the_command_that_restores_it(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")
    machine.tenterhook("install", "--managed", "claude-code", "--pack", "/opt/agent-hooks@v1", "--yes")
    (script,) = machine.path("/var/lib/tenterhook/packs").glob("*/no-deploy/scripts/run.sh")
    before = script.read_text()
    script.write_text("#!/bin/sh\n")
    said = json.loads(machine.call(machine.entry(SETTINGS, "PreToolUse"), "make deploy").stdout)["systemMessage"]
    assert "the machine's hook no-deploy did not run" in said
    assert said.endswith("; sudo tenterhook pack verify --fetch")
    machine.end_agent()
    restored = machine.tenterhook("pack", "verify", "--fetch")
    assert (restored.status, script.read_text()) == (0, before), restored.said


def test_it_is_shown_as_managed(machine: Machine) -> None:
    folder_hook(machine.path("/etc/agents/hooks"), "no-deploy", GUARD)
    assert not machine.tenterhook("install", "--managed", "claude-code", "--yes").status
    machine.write(f"{HOME}/bin/claude", "#!/bin/sh\necho 2.1.0\n", mode=0o755)
    env = {"PATH": f"{HOME}/bin:/usr/bin:/bin"}
    status = machine.person(PROGRAM, env=env).stdout
    assert "1 of them managed" in status
    assert "managed by root" in status
    listed = machine.person(PROGRAM, "list", env=env).stdout
    assert "only root changes these" in listed
    found = json.loads(machine.person(PROGRAM, "agents", "--json", env=env).stdout)["agents"]
    (claude,) = [each for each in found if each["name"] == "claude-code"]
    assert claude["guarded"] == {"managed": True, "user": False, "project": False}
    doctor = machine.person(PROGRAM, "doctor", "claude-code", env=env)
    assert doctor.status == 0, doctor.said
    assert "belongs to root" in doctor.stdout


def test_doctor_says_what_is_wrong_with_it(machine: Machine) -> None:
    assert not machine.tenterhook("install", "--managed", "claude-code", "--yes").status
    machine.path(SETTINGS).chmod(0o666)
    ended = machine.person(PROGRAM, "doctor", "claude-code")
    assert ended.status == 1
    assert f"an account other than root could change {SETTINGS}" in ended.stdout.replace("\n", " ")
    machine.path(SETTINGS).write_text("{}")
    machine.path(SETTINGS).chmod(0o644)
    ended = machine.person(PROGRAM, "doctor", "claude-code")
    assert ended.status == 1
    assert "no entry of ours" in ended.stdout


def test_a_dry_run_shows_the_change_and_makes_none(machine: Machine) -> None:
    before = machine.tree("/etc")
    ended = machine.tenterhook("install", "--managed", "codex", "--dry-run")
    assert not ended.status, ended.said
    assert "[[hooks.PreToolUse]]" in ended.stdout
    assert machine.tree("/etc") == before


def test_json_says_what_was_installed(machine: Machine) -> None:
    ended = machine.tenterhook("install", "--managed", "gemini", "--open", "--yes", "--json")
    (installed,) = json.loads(ended.stdout)["managed"]
    assert installed["agent"] == "gemini"
    assert installed["settings"] == "/etc/gemini-cli/settings.json"
    assert installed["closed"] is False


def test_json_says_whether_anything_changed(machine: Machine) -> None:
    put_pack(machine, "/opt/agent-hooks")

    def is_changed(*words: str) -> bool:
        ended = machine.tenterhook("install", "--managed", "claude-code", "--json", *words)
        assert not ended.status, ended.said
        return bool(json.loads(ended.stdout)["changed"])

    first = ("--pack", "/opt/agent-hooks@v1")
    assert [is_changed(*first, "--dry-run"), is_changed(*first), is_changed(*first)] == [True, True, False]
    second = ("--pack", "/opt/agent-hooks@v2")  # wires the same events
    assert [is_changed(*second, "--dry-run"), is_changed(*second), is_changed(*second)] == [True, True, False]
    assert [is_changed("--open"), is_changed("--open")] == [True, False]


@pytest.mark.parametrize("name", [agent.name for agent in AGENTS.values() if agent.managed is None])
def test_an_agent_without_managed_settings_is_refused(name: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root comes so far")
    ended = tenterhook("install", "--managed", name, "--yes")
    assert ended.returncode == 1
    assert "has no managed settings" in ended.stderr
    assert f"tenterhook install {name}" in ended.stderr


@pytest.mark.parametrize(
    "words", [("--project",), ("--daemon",), ("--no-config",), ("--config", "x.toml")], ids=lambda words: words[0]
)
def test_options_of_a_person_do_not_go_with_managed(words: tuple[str, ...]) -> None:
    ended = tenterhook("install", "--managed", "claude-code", *words)
    assert ended.returncode == 64
    assert "--managed works only with" in ended.stderr


def test_a_pack_needs_managed() -> None:
    ended = tenterhook("install", "claude-code", "--pack", "x")
    assert ended.returncode == 64
    assert "tenterhook pack add" in ended.stderr
