"""docs/teams.md: the playbook and the script for managed machines do what the page says, run twice as root."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import click
import pytest
import yaml

from documents import ROOT, blocks
from install import machines
from install.machines import PROGRAM, Machine
from packs.repositories import PackRepository
from tenterhook.cli import tenterhook

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "teams.md"
(PLAY,) = next(found for text in blocks(PAGE, "yaml") if "hosts" in (found := yaml.safe_load(text))[0])
(SCRIPT,) = (text for text in blocks(PAGE, "sh") if text.startswith("#!/bin/sh"))
SOURCE = "https://git.example.org/acme/agent-hooks"
COMMAND = "ansible.builtin.command"
SETTINGS = "/etc/claude-code/managed-settings.json"


def tasks() -> list[dict[str, Any]]:
    """The playbook's tasks that call us, with its variables put in."""
    called = [task for task in PLAY["tasks"] if COMMAND in task]
    return [{**task, COMMAND: task[COMMAND].replace("{{ pack }}", PLAY["vars"]["pack"])} for task in called]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with the page's pack, where pip has nothing to do."""
    machines.needs_root()
    machine = Machine(tmp_path)
    pack = PackRepository(machine.path("/opt/agent-hooks"))
    pack.hook("no-deploy", "deploy")
    pack.commit("v1.4.0")
    pip = machine.path("/opt/tenterhook/bin/pip")
    pip.write_text("#!/bin/sh\n")
    pip.chmod(0o755)
    return machine


def refuses(machine: Machine, command: str) -> bool:
    return '"deny"' in machine.call(machine.entry(SETTINGS, "PreToolUse"), command).stdout


def test_the_commands_of_both_exist_with_their_options() -> None:
    script = SCRIPT.replace("\\\n", " ").splitlines()
    lines = [task[COMMAND] for task in tasks()] + [line for line in script if line.startswith(PROGRAM)]
    assert len(lines) == 4
    for line in lines:
        program, command, *words = shlex.split(line)
        assert program == PROGRAM
        found = tenterhook.get_command(click.Context(tenterhook), command)
        assert found is not None
        found.make_context(command, words)


@pytest.mark.slow
def test_the_playbook_reports_a_change_the_first_time_only(machine: Machine) -> None:
    install, doctor = tasks()
    assert "(installed.stdout | from_json).changed" in install["changed_when"]
    assert doctor["changed_when"] is False
    command = install[COMMAND].replace(SOURCE, "/opt/agent-hooks")
    for is_first in (True, False):
        ended = machine.root(*shlex.split(command))
        assert (ended.status, json.loads(ended.stdout)["changed"]) == (0, is_first), ended.said
        assert machine.root(*shlex.split(doctor[COMMAND])).status == 0
    assert refuses(machine, "make deploy")


@pytest.mark.slow
def test_the_script_can_be_run_again(machine: Machine) -> None:
    script = SCRIPT.replace(SOURCE, "/opt/agent-hooks")
    before = machine.tree("/etc", "/var/lib")
    assert not (ended := machine.root("sh", "-c", script)).status, ended.said
    installed = machine.tree("/etc", "/var/lib")
    assert refuses(machine, "make deploy")
    machine.end_agent()
    assert not (ended := machine.root("sh", "-c", script)).status, ended.said
    assert machine.tree("/etc", "/var/lib") == installed
    assert not machine.tenterhook("uninstall", "--managed", "--yes").status
    assert machine.tree("/etc", "/var/lib") == before
