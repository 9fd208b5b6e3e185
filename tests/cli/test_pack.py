"""Packs that are in force, also without a network."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from cli.packs_in_use import decision
from packs.repositories import PackRepository
from support import folder_hook, tenterhook, trigger

if TYPE_CHECKING:
    from pathlib import Path


def test_without_a_network_everything_in_the_store_works(pack: PackRepository, repository: Path) -> None:
    pack.path.rename(pack.path.with_name("away"))
    assert decision() == "deny"
    assert tenterhook("pack", "verify").returncode == 0
    refused = tenterhook("pack", "update", "--project")
    assert refused.returncode == 1
    assert "cannot be fetched" in refused.stderr
    assert decision() == "deny"


ISSUE = """\
[[packs]]
source = "{source}"   # any git URL or path
rev = "v1.4.0"
only = ["no-prod", "format"]                          # default: what the pack says
settings.no-prod = {{ hosts = ["db1"] }}
"""


@pytest.fixture
def team(pack: PackRepository) -> PackRepository:
    """A pack whose hook says what its settings are."""
    for name in ("no-prod", "format"):
        script = pack.hook(name, name.removeprefix("no-"), metadata="hosts: [db0], color: red") / "scripts/run.sh"
        script.write_text('#!/bin/sh\nprintf %s "$TENTERHOOK_METADATA" >&2\nexit 2\n')
    pack.commit("v1.4.0")
    return pack


def said(command: str) -> str | None:
    verdict = trigger("pre-tool-call", "--tool", "Shell", "--input", json.dumps({"command": command}))
    return str(verdict["reason"]) if verdict["decision"] == "deny" else None


def test_a_project_names_packs_in_a_file_that_is_written_by_hand(team: PackRepository, project: Path) -> None:
    """The file, the keys and the commands as the documentation has them."""
    file = project / ".agents/hooks.toml"
    file.parent.mkdir()
    file.write_text(ISSUE.format(source=team.source))
    assert said("psql prod") is None, "it is not locked"
    updated = tenterhook("pack", "update", "--project", "--yes")
    assert updated.returncode == 0, updated.stderr
    assert file.read_text() == ISSUE.format(source=team.source), "what was written by hand is kept"
    assert (project / ".agents/hooks.lock").exists()
    assert not (project / ".agents/hooks").exists()
    assert json.loads(said("psql prod") or "") == {"hosts": ["db0"], "color": "red"}, "its settings are not trusted yet"
    assert said("make deploy") is None, "it is not among `only`"
    assert tenterhook("trust", "hooks.toml", "--yes").returncode == 0
    assert json.loads(said("psql prod") or "") == {"hosts": ["db1"], "color": "red"}
    assert json.loads(said("format it") or "") == {"hosts": ["db0"], "color": "red"}
    assert tenterhook("pack", "verify", "--project").returncode == 0
    assert "no-prod" in tenterhook("pack", "show", "agent-hooks", "--project").stdout
    file.write_text(file.read_text().replace("db1", "db2"))
    assert json.loads(said("psql prod") or "")["hosts"] == ["db0"], "another file than the one that was trusted"
    assert tenterhook("pack", "remove", "agent-hooks", "--project", "--yes").returncode == 0
    assert said("psql prod") is None


@pytest.mark.parametrize("where", ["user", "project"])
def test_settings_of_a_hook_as_the_documentation_writes_them(
    team: PackRepository, home: Path, project: Path, where: str
) -> None:
    directory = home / ".config/agents/hooks" if where == "user" else project / ".agents"
    directory.mkdir(parents=True)
    (directory / "hooks.toml").write_text(ISSUE.format(source=team.source))
    options = [] if where == "user" else ["--project"]
    assert tenterhook("pack", "update", *options, "--yes").returncode == 0
    tenterhook("trust", "--all", "--yes")
    assert json.loads(said("psql prod") or "") == {"hosts": ["db1"], "color": "red"}


def test_the_project_is_found_from_below_and_its_own_hooks_are_governed(team: PackRepository, project: Path) -> None:
    folder_hook(project / ".agents/hooks", "blocker", "echo own >&2; exit 2", matcher={"pattern": "rm"})
    tenterhook("trust", "--all", "--yes")
    assert said("rm x") == "own"
    (project / ".agents/hooks.toml").write_text('[[hooks.disable]]\nname = "blocker"\n')
    assert said("rm x") == "own", "the file is not trusted"
    tenterhook("trust", "--all", "--yes")
    assert said("rm x") is None
    (project / ".agents/hooks/hooks.toml").write_text("[hooks.defaults]\ntimeout = 7000\n")
    tenterhook("trust", "--all", "--yes")
    (project / ".agents/hooks.toml").unlink()
    assert said("rm x") == "own"
    assert tenterhook("check").returncode == 0


def test_a_directory_with_hooks_toml_is_a_project(
    team: PackRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = tmp_path / "plain/src/deep"
    below.mkdir(parents=True)
    (tmp_path / "plain/.agents").mkdir()
    (tmp_path / "plain/.agents/hooks.toml").write_text("")
    monkeypatch.chdir(below)
    assert tenterhook("pack", "add", f"{team.source}@v1.4.0", "--project", "--yes").returncode == 0
    assert (tmp_path / "plain/.agents/hooks.lock").exists()
    assert said("make deploy") == "not this"


def test_packs_that_are_named_beside_the_hooks_stay_there(team: PackRepository, project: Path) -> None:
    beside = project / ".agents/hooks/hooks.toml"
    beside.parent.mkdir(parents=True)
    beside.write_text(ISSUE.format(source=team.source))
    assert tenterhook("pack", "update", "--project", "--yes").returncode == 0
    assert beside.with_name("hooks.lock").exists()
    assert not (project / ".agents/hooks.toml").exists()
    assert said("psql prod") is not None
    (project / ".agents/hooks.toml").write_text(f'[[packs]]\nsource = "{team.source}"\n')
    assert said("psql prod") is not None, "both are read"
    refused = tenterhook("pack", "update", "--project", "--yes")
    assert "both .agents/hooks.toml and .agents/hooks/hooks.toml name packs" in refused.stderr
    assert "move the [[packs]]" in refused.stderr
    assert tenterhook("pack", "verify", "--project").returncode == 1, "one of them is not locked"
