"""Managed installations, and a person who tries to get past one: with a real account, in a mount namespace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from install import machines
from install.machines import HOME, PROGRAM, PROJECT, Machine
from support import folder_hook

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = "/etc/claude-code/managed-settings.json"
GUARD = "grep -q prod && { echo not in production >&2; exit 2; }; exit 0"
DENIED = '"permissionDecision": "deny"'
OF_ROOT = ("/etc", "/opt/tenterhook/bin", "/var/lib")
ROOTS_FILES = (
    *(SETTINGS, "/etc/codex/requirements.toml", "/etc/gemini-cli/settings.json", "/etc/tenterhook/launcher.sh"),
    *("/etc/tenterhook/installed/claude-code.json", "/etc/agents/hooks/no-prod/HOOK.md"),
    *("/etc/agents/hooks/no-prod/scripts/run.sh", "/opt/tenterhook/bin/python", PROGRAM),
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machines.needs_root()
    machine = Machine(tmp_path)
    folder_hook(machine.path("/etc/agents/hooks"), "no-prod", GUARD)
    ended = machine.tenterhook("install", "--managed", "claude-code", "codex", "gemini", "--yes")
    assert not ended.status, ended.said
    return machine


def is_denied(machine: Machine, **given: dict[str, str]) -> bool:
    """Whether the managed guard refuses a call, and permits another."""
    line = machine.entry(SETTINGS, "PreToolUse")
    harmless = machine.call(line, "ls", **given)
    assert (harmless.status, harmless.stdout) == (0, ""), harmless.said
    ended = machine.call(line, "ssh prod", **given)
    return DENIED in ended.stdout and "not in production" in ended.stdout


def test_a_managed_guard_refuses_in_an_account_that_has_installed_nothing(machine: Machine) -> None:
    assert is_denied(machine)


def test_what_is_installed_belongs_to_root_and_others_can_read_but_not_write_it(machine: Machine) -> None:
    for path, (owner, mode, _) in machine.tree("/etc/tenterhook", "/etc/claude-code", "/etc/codex").items():
        assert owner == 0, path
        assert not mode & 0o022, path
        assert mode & 0o004 or path.endswith("/lock"), path


@pytest.mark.parametrize("file", ROOTS_FILES)
def test_a_person_cannot_edit_delete_or_open_a_file_of_root(machine: Machine, file: str) -> None:
    before = machine.tree(*OF_ROOT)
    for attempt in ("echo >> {0}", "rm -f {0}", "chmod 666 {0}", "chown 1234 {0}", "mv {0} {0}.old", "ln -sf /x {0}"):
        assert machine.person("sh", "-c", attempt.format(file)).status, attempt
    directory = file.rpartition("/")[0]
    for attempt in ("mv {0} {0}.old", "chmod 777 {0}", "touch {0}/another", "rm -rf {0}"):
        assert machine.person("sh", "-c", attempt.format(directory)).status, attempt
    assert machine.tree(*OF_ROOT) == before
    assert is_denied(machine)


@pytest.mark.parametrize(
    "words",
    [
        ("uninstall", "--yes"),
        ("uninstall", "claude-code", "--yes"),
        ("uninstall", "--managed", "--yes"),
        ("install", "--managed", "claude-code", "--open", "--yes"),
        ("disable", "no-prod"),
        ("remove", "no-prod", "--yes"),
        ("untrust", "no-prod", "--yes"),
    ],
    ids=" ".join,
)
def test_commands_of_a_person_do_not_affect_it_and_say_so(machine: Machine, words: tuple[str, ...]) -> None:
    before = machine.tree(*OF_ROOT)
    ended = machine.person(PROGRAM, *words)
    assert "root" in ended.said
    assert machine.tree(*OF_ROOT) == before
    assert is_denied(machine)


def test_a_persons_own_installation_is_removed_and_the_managed_one_stays(machine: Machine) -> None:
    assert not machine.person(PROGRAM, "install", "claude-code", "--yes").status
    ended = machine.person(PROGRAM, "uninstall", "--yes")
    assert ended.status == 0
    assert "what root installed for every account stays" in ended.stdout
    assert is_denied(machine)


VARIABLES = {
    "another home": {"HOME": "/tmp/other"},
    "other directories": dict.fromkeys(
        ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), "/tmp/other"
    ),
    "python": {"PYTHONPATH": f"{HOME}/evil", "PYTHONHOME": f"{HOME}/evil", "PYTHONSTARTUP": f"{HOME}/evil/x.py"},
    "a path": {"PATH": f"{HOME}/evil"},
    "shells": {"ENV": f"{HOME}/evil/rc", "BASH_ENV": f"{HOME}/evil/rc", "SHELL": f"{HOME}/evil/sh"},
    "ours": {
        "TENTERHOOK_STATE_DIR": "/tmp/other",
        "TENTERHOOK_CHAIN": "1.1:%2fetc%2fagents%2fhooks%2fno-prod",
        "TENTERHOOK_PROJECT_TRUSTED": "1",
        "TENTERHOOK_METADATA": "{}",
    },
    "the agent's": {"CLAUDE_CONFIG_DIR": "/tmp/other", "CODEX_HOME": "/tmp/other"},
}


@pytest.mark.parametrize("variables", VARIABLES.values(), ids=VARIABLES)
def test_variables_of_a_person_do_not_move_or_disable_it(machine: Machine, variables: dict[str, str]) -> None:
    for name in ("python", "python3", "sh", "grep", "find", "perl"):
        machine.write(f"{HOME}/evil/{name}", "#!/bin/sh\nexit 0\n", mode=0o755)
    machine.write(f"{HOME}/evil/tenterhook/__init__.py", "import os; os._exit(0)\n")
    machine.write(f"{HOME}/evil/sitecustomize.py", "import os; os._exit(0)\n")
    machine.write(f"{HOME}/evil/rc", "exit 0\n")
    line = machine.entry(SETTINGS, "PreToolUse")
    found = {name: f"/usr/bin:/bin:{value}" if name == "PATH" else value for name, value in variables.items()}
    for given in (variables, found) if "PATH" not in variables else (found, {"PATH": f"{HOME}/evil:/usr/bin:/bin"}):
        ended = machine.call(line, "ssh prod", given)
        assert DENIED in ended.stdout, ended.said


def test_settings_of_a_person_and_a_project_cannot_disable_or_replace_a_managed_hook(machine: Machine) -> None:
    switches = '[hooks]\nenabled = false\n[[hooks.disable]]\nname = "no-prod"\n'
    overrides = '[[hooks.override]]\nname = "no-prod"\nmatcher = { tool = "Nothing" }\n'
    for hooks in (f"{HOME}/.config/agents/hooks", f"{PROJECT}/.agents/hooks"):
        machine.write(f"{hooks}/hooks.toml", switches + overrides)
        folder_hook(machine.path(hooks), "no-prod", "exit 0")
    machine.root("chown", "-R", "1234:1234", HOME)
    assert is_denied(machine)


def test_what_a_person_approves_does_not_outrank_a_managed_denial(machine: Machine) -> None:
    approve = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'
    folder_hook(machine.path(f"{HOME}/.config/agents/hooks"), "approve", f"echo '{approve}'", priority=1000)
    rule = '[[approvals.rules]]\ntool = "Shell"\npattern = ".*"\nanswer = "approve"\n'
    machine.write(f"{HOME}/.config/tenterhook/config.toml", rule, mode=0o600)
    line = machine.entry(SETTINGS, "PreToolUse")
    assert DENIED in machine.call(line, "ssh prod").stdout


def test_an_index_that_a_person_has_written_is_not_used(machine: Machine) -> None:
    assert is_denied(machine)  # a session has begun, whose events an index would answer
    machine.end_agent()
    script = (
        "from tenterhook.basics import places\nfrom tenterhook.catalog import index\n"
        f"places.FIXED.update(config='{HOME}/.config', state='{HOME}/.local/state/tenterhook')\n"
        f"found = index.load('{PROJECT}', [], managed='/nonexistent')\nassert not found.hooks\n"
    )
    ended = machine.person("/opt/tenterhook/bin/python", "-c", script)
    assert not ended.status, ended.said
    assert list(machine.path(f"{HOME}/.cache/tenterhook/index").iterdir())
    assert is_denied(machine)


@pytest.mark.parametrize("text", ["{", '{"schema": 1, "home": 5, "configs": "x"}', '{"schema": 1, "home": "/tmp"}'])
def test_a_record_that_a_person_has_written_does_not_end_it(machine: Machine, text: str) -> None:
    machine.write(f"{HOME}/.local/state/tenterhook/installed/claude-code.json", text, mode=0o600)
    assert is_denied(machine)


def test_hooks_of_the_person_and_the_project_apply_on_top(machine: Machine) -> None:
    folder_hook(
        machine.path(f"{HOME}/.config/agents/hooks"), "mine", "grep -q mine && { echo mine >&2; exit 2; }; exit 0"
    )
    folder_hook(machine.path(f"{PROJECT}/.agents/hooks"), "ours", "grep -q ours && { echo ours >&2; exit 2; }; exit 0")
    machine.root("chown", "-R", "1234:1234", HOME)
    ended = machine.person(PROGRAM, "trust", "--all", "--yes")
    assert not ended.status, ended.said
    line = machine.entry(SETTINGS, "PreToolUse")
    for command, reason in (("echo mine", "mine"), ("echo ours", "ours"), ("ssh prod", "not in production")):
        ended = machine.call(line, command)
        assert DENIED in ended.stdout, ended.said
        assert reason in ended.stdout


def test_an_event_that_both_installations_are_asked_about_is_answered_once(machine: Machine) -> None:
    folder_hook(machine.path(f"{HOME}/.config/agents/hooks"), "count", "echo x >> ~/count; exit 0")
    machine.root("chown", "-R", "1234:1234", HOME)
    assert not machine.person(PROGRAM, "install", "claude-code", "--yes").status
    own = machine.entry(f"{HOME}/.claude/settings.json", "PreToolUse")
    managed = machine.entry(SETTINGS, "PreToolUse")
    assert own != managed
    for line in (managed, own):
        ended = machine.call(line, "ls")
        assert ended.status == 0, ended.said
    assert machine.path(f"{HOME}/count").read_text() == "x\n"


def test_without_its_program_tool_calls_are_refused(machine: Machine) -> None:
    machine.path("/opt/tenterhook").rename(machine.path("/opt/moved"))
    ended = machine.call(machine.entry(SETTINGS, "PreToolUse"), "ls")
    assert ended.status == 2
    assert "this is refused" in ended.stderr


def test_removing_it_restores_every_byte(tmp_path: Path) -> None:
    machines.needs_root()
    machine = Machine(tmp_path)
    folder_hook(machine.path("/etc/agents/hooks"), "no-prod", GUARD)
    for name, text in {
        SETTINGS: '{\n  // of the administrator\n  "permissions": {"deny": ["Read(./.env)"]}\n}',
        "/etc/codex/requirements.toml": 'allowed_sandbox_modes = ["read-only"]  # no line break follows',
    }.items():
        machine.path(name).parent.mkdir()
        machine.path(name).write_text(text)
    before = machine.tree("/etc", "/var/lib")
    agents = ("claude-code", "codex", "gemini")
    assert not machine.tenterhook("install", "--managed", *agents, "--yes").status
    assert machine.tree("/etc", "/var/lib") != before
    assert not machine.tenterhook("install", "--managed", *agents, "--yes").status  # again changes nothing
    assert not machine.tenterhook("uninstall", "--managed", "--yes").status
    assert machine.tree("/etc", "/var/lib") == before


@pytest.mark.parametrize("path", ["", "/bin", "/lib/python3.11/site-packages/tenterhook/bridge.py"])
def test_a_program_that_another_account_could_change_is_refused(tmp_path: Path, path: str) -> None:
    machines.needs_root()
    machine = Machine(tmp_path)
    (tree,) = machine.path("/opt/tenterhook/lib").glob("python3*")
    there = "/opt/tenterhook" + path.replace("python3.11", tree.name)
    machine.root("chown", "1234", there)
    ended = machine.tenterhook("install", "--managed", "claude-code", "--yes")
    assert ended.status == 1
    assert f"an account other than root could change {there}" in ended.stderr
    assert "/opt/tenterhook" in ended.stderr
    assert not machine.path("/etc/tenterhook").exists()


def test_a_program_that_other_accounts_cannot_run_is_refused(tmp_path: Path) -> None:
    machines.needs_root()
    machine = Machine(tmp_path)
    machine.path("/opt/tenterhook").chmod(0o700)
    ended = machine.tenterhook("install", "--managed", "claude-code", "--yes")
    assert ended.status == 1
    assert "they have no access to /opt/tenterhook" in ended.stderr


@pytest.mark.parametrize("package", ["tenterhook", "click"])
def test_a_package_that_other_accounts_cannot_read_is_refused(tmp_path: Path, package: str) -> None:
    machines.needs_root()
    machine = Machine(tmp_path)
    (found,) = machine.path("/opt/tenterhook/lib").glob(f"python3*/site-packages/{package}")
    found.chmod(0o700)
    ended = machine.tenterhook("install", "--managed", "claude-code", "--yes")
    assert ended.status == 1
    assert "they have no access to /opt/tenterhook/lib" in ended.stderr
    assert "chmod -R go+rX /opt/tenterhook" in ended.stderr
    machine.root("chmod", "-R", "go+rX", "/opt/tenterhook")
    assert not machine.tenterhook("install", "--managed", "claude-code", "--yes").status


def test_the_umask_of_root_does_not_keep_other_accounts_out(tmp_path: Path) -> None:
    machines.needs_root()
    machine = Machine(tmp_path)
    install = f"umask 077; exec {PROGRAM} install --managed claude-code codex --yes"
    assert not machine.root("sh", "-c", install).status
    folder_hook(machine.path("/etc/agents/hooks"), "no-prod", GUARD)
    assert is_denied(machine)


def test_a_directory_that_other_accounts_cannot_read_is_said_and_repaired_by_installing_again(machine: Machine) -> None:
    machine.path("/etc/tenterhook").chmod(0o700)
    ended = machine.tenterhook("doctor", "claude-code")
    assert (ended.status, "other accounts have no access to /etc/tenterhook" in ended.stdout) == (1, True), ended.said
    assert not machine.tenterhook("install", "--managed", "claude-code", "--yes").status
    assert machine.tenterhook("doctor", "claude-code").status == 0
    assert is_denied(machine)


def test_settings_of_the_administrator_that_let_a_person_switch_hooks_off_are_refused(tmp_path: Path) -> None:
    machines.needs_root()
    machine = Machine(tmp_path)
    machine.path(SETTINGS).parent.mkdir()
    machine.path(SETTINGS).write_text(json.dumps({"env": {"HTTPS_PROXY": "http://proxy"}}))
    before = machine.tree("/etc")
    ended = machine.tenterhook("install", "--managed", "claude-code", "--yes")
    assert ended.status == 1
    assert "CLAUDE_CODE_SHELL_PREFIX" in ended.stderr
    assert machine.tree("/etc") == before
