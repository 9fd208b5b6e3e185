"""What the settings of a machine's administrator, or of a project, say about Codex's hooks: doctor and Codex agree.

Files below /etc are tried in the real place, in a mount namespace in which they are laid over the machine's own.
"""

from __future__ import annotations

import functools
import json
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import pytest

from hosts import agents
from hosts.real import shown
from support import folder_hook, tenterhook, user_hooks

if TYPE_CHECKING:
    from pathlib import Path

    from hosts.real import Guarded

REQUIREMENTS = "etc/codex/requirements.toml"
SYSTEM = "etc/codex/config.toml"
MANAGED = "etc/codex/managed_config.toml"
OWN = "home/.codex/config.toml"
PROJECT = "project/.codex/config.toml"
ON, OFF = "[features]\nhooks = true\n", "[features]\nhooks = false\n"
OLD_OFF = "[features]\ncodex_hooks = false\n"
ONLY_MANAGED = "allow_managed_hooks_only = true\n"
UNTRUSTED = '[projects."{project}"]\ntrust_level = "untrusted"\n'


class Case(NamedTuple):
    """Files and what is in them; what doctor says of it, nothing if our hooks run."""

    files: dict[str, str]
    said: str = ""


SWITCHES = {
    "requirements allow managed hooks only": Case({REQUIREMENTS: ONLY_MANAGED}, "every hook that is not managed"),
    "so they do with hooks on": Case({REQUIREMENTS: ONLY_MANAGED + ON}, "every hook that is not managed"),
    "requirements switch hooks off": Case({REQUIREMENTS: OFF}, f"/{REQUIREMENTS} switches every hook off"),
    "by their old name": Case({REQUIREMENTS: OLD_OFF}, "features.codex_hooks"),
    "whatever the person says": Case({REQUIREMENTS: OFF, OWN: ON}, f"/{REQUIREMENTS} switches every hook off"),
    "requirements keep hooks on": Case({REQUIREMENTS: ON, OWN: OFF, PROJECT: OFF, MANAGED: OFF}),
    "managed settings switch hooks off": Case({MANAGED: OFF, OWN: ON}, f"/{MANAGED} switches every hook off"),
    "managed settings cannot allow only managed hooks": Case({MANAGED: ONLY_MANAGED, SYSTEM: ONLY_MANAGED}),
    "the machine's settings switch hooks off": Case({SYSTEM: OFF}, f"/{SYSTEM} switches every hook off"),
    "the person's outrank the machine's": Case({SYSTEM: OFF, OWN: ON}),
    "a project switches hooks off": Case({PROJECT: OFF, OWN: ON}, f"/{PROJECT} switches every hook off"),
    "a project that is not trusted cannot": Case({PROJECT: OFF, OWN: UNTRUSTED}),
    "the old name counts less": Case({OWN: ON + "codex_hooks = false\n"}),
}
EACH = pytest.mark.parametrize("what", SWITCHES)


def lay_out(case: Case, folder: Path) -> None:
    """Write the files of a case below a folder that holds home, project and what is laid over /etc."""
    (folder / "etc").mkdir()
    for name, text in case.files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        already = file.read_text() if file.exists() else ""
        file.write_text(text.replace("{project}", str(folder / "project")) + already)


def over_etc(folder: Path) -> list[str]:
    """The beginning of a command that sees the folder's files in /etc, beside those that are there."""
    mount = f"mount -t overlay tenterhook -o lowerdir={shlex.quote(str(folder / 'etc'))}:/etc /etc"
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]


@functools.cache
def cannot_lay_over(folder: Path) -> str:
    (folder / "etc").mkdir(exist_ok=True)
    if shutil.which("unshare") is None:
        return "there is no unshare here"
    tried = subprocess.run([*over_etc(folder), "true"], capture_output=True, text=True)
    return "" if tried.returncode == 0 else f"no namespace to be had: {tried.stderr.strip()}"


@pytest.fixture(scope="module")
def namespaces(tmp_path_factory: pytest.TempPathFactory) -> None:
    if why := cannot_lay_over(tmp_path_factory.mktemp("trial")):
        pytest.skip(why)


@EACH
@pytest.mark.usefixtures("namespaces")
@pytest.mark.slow
def test_doctor_sees_what_switches_codex_hooks_off(what: str, home: Path, project: Path, tmp_path: Path) -> None:
    case = SWITCHES[what]
    folder_hook(user_hooks(home), "guard", "echo no >&2; exit 2")
    assert tenterhook("install", "codex").returncode == 0
    lay_out(case, tmp_path)
    command = [*over_etc(tmp_path), sys.executable, "-m", "tenterhook", "doctor", "codex", "--json"]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=60).stdout)
    bad = [each for each in found["agents"][0]["findings"] if each["level"] == "bad"]
    assert found["holds"] is not bool(case.said), bad
    assert [case.said in each["what"] for each in bad] == [True] * bool(case.said), bad


@EACH
@pytest.mark.agents
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["codex"])
@pytest.mark.usefixtures("namespaces")
def test_codex_does_what_doctor_says(name: str, what: str, guarded: Guarded, tmp_path: Path) -> None:
    case = SWITCHES[what]
    guarded.guard()
    guarded.install()
    lay_out(case, tmp_path)
    program = tmp_path / "codex"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([*over_etc(tmp_path), str(agents.executable(name))])} "$@"\n')
    program.chmod(0o755)
    came = guarded._replace(executable=program).calls(guarded.touch("forbidden"))
    assert came.exit_code == 0, shown(came)
    assert guarded.left("forbidden") is bool(case.said), shown(came)
