"""An installation for one project alone: doctor tries it, and says of it what the real agent does there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hosts.real import shown
from support import folder_hook, tenterhook, user_hooks
from tenterhook.agents import AGENTS

if TYPE_CHECKING:
    from hosts.real import Guarded

WITH_PROJECTS = [agent.name for agent in AGENTS.values() if agent.project_file and agent.proven]


def trust_in_copilot(home: Path, folder: Path) -> None:
    (home / ".copilot").mkdir(exist_ok=True)
    (home / ".copilot" / "config.json").write_text(json.dumps({"trustedFolders": [str(folder)]}))


def trust_in_vibe(home: Path, folder: Path) -> None:
    (home / ".vibe").mkdir(exist_ok=True)
    (home / ".vibe" / "trusted_folders.toml").write_text(f'trusted = ["{folder.resolve()}"]\nuntrusted = []\n')


def trust_in_pi(home: Path, folder: Path) -> None:
    (home / ".pi" / "agent").mkdir(parents=True, exist_ok=True)
    (home / ".pi" / "agent" / "trust.json").write_text(json.dumps({str(folder.resolve()): True}))


TRUST = {"copilot": trust_in_copilot, "vibe": trust_in_vibe, "pi": trust_in_pi}  # these need it for a project's hooks


def distrust_in_codex(home: Path, project: Path) -> None:
    with (home / ".codex" / "config.toml").open("a") as file:
        file.write(f'\n[projects."{project}"]\ntrust_level = "untrusted"\n')


def doctor(name: str) -> tuple[int, str]:
    ended = tenterhook("doctor", name)
    return ended.returncode, ended.stdout


@pytest.fixture
def guard(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", "echo no >&2; exit 2")


@pytest.mark.usefixtures("guard")
def test_a_project_that_copilot_does_not_trust_is_not_guarded_there(home: Path, project: Path) -> None:
    said = tenterhook("install", "copilot", "--project").stdout
    assert "it would not block" in said
    status, said = doctor("copilot")
    assert status == 1
    assert f"does not trust {project}" in said
    for folder in (project, project.parent):
        trust_in_copilot(home, folder)
        assert doctor("copilot")[0] == 0
    trust_in_copilot(home, project / "inside")
    assert doctor("copilot")[0] == 1
    assert tenterhook("install", "copilot").returncode == 0
    tenterhook("uninstall", "copilot", "--project", "--yes")
    assert doctor("copilot")[0] == 0  # one's own hooks need no such trust


@pytest.mark.usefixtures("guard")
def test_a_project_that_codex_is_told_not_to_trust_is_not_guarded_there(home: Path, project: Path) -> None:
    assert tenterhook("install", "codex", "--project").returncode == 0
    assert doctor("codex")[0] == 0
    distrust_in_codex(home, project)
    status, said = doctor("codex")
    assert status == 1
    assert "ignores the project's hooks" in said


@pytest.mark.agents
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", WITH_PROJECTS)
def test_doctor_tries_it_in_every_mode_and_agrees_with_the_agent(name: str, guarded: Guarded) -> None:
    guarded.guard()
    own = Path(AGENTS[name].settings(str(guarded.project)))
    if name in ("claude-code", "gemini", "qwen"):  # what else is in the file stays out of the trial
        own.parent.mkdir()
        own.write_text(json.dumps({"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "OPENAI_BASE_URL": "x"}}))
    guarded.install("--project")
    if name in TRUST:
        TRUST[name](guarded.home, guarded.project)
    status, said = guarded.doctor("--live")
    assert said.count("  blocked ") == len(guarded.live.modes), said
    assert (status, "untried" in said) == (0, bool(guarded.live.missing_modes)), said
    assert "also runs: guard\n" in said  # the canary is none of them
    if name not in ("claude-code", "gemini", "qwen"):
        came = guarded.calls(guarded.touch("forbidden"))
        assert not guarded.left("forbidden"), shown(came)


@pytest.mark.agents
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["codex", *TRUST])
def test_where_the_project_is_not_trusted_doctor_sees_that_it_does_not_hold(name: str, guarded: Guarded) -> None:
    guarded.guard()
    guarded.install("--project")
    if name == "codex":
        distrust_in_codex(guarded.home, guarded.project)
    status, said = guarded.doctor("--live")
    assert said.count("the forbidden command ran") == len(guarded.live.modes), said
    assert status == 1
    came = guarded.calls(guarded.touch("forbidden"))
    assert guarded.left("forbidden"), shown(came)


@pytest.mark.usefixtures("guard")
def test_settings_that_are_gone_since_are_no_crash(project: Path) -> None:
    assert tenterhook("install", "claude-code", "--project").returncode == 0
    shutil.rmtree(project / ".claude")
    ended = tenterhook("doctor", "claude-code", "--live")
    assert ended.returncode == 1
    assert "not guarded" in ended.stdout
    assert "Traceback" not in ended.stderr
