"""The GitHub Action and the pre-commit hooks: what they run, run as they would, in a fresh clone and another home."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.packs_in_use import CASE
from packs.repositories import PackRepository, git, new_key
from support import tenterhook

ROOT = Path(__file__).resolve().parent.parent
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
PRE_COMMIT = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())


@pytest.fixture
def clone(tmp_path: Path, project: Path) -> Path:
    """A clone of a project that names a signed pack with a case."""
    pack = PackRepository(tmp_path / "agent-hooks")
    cases = pack.hook("no-deploy", "deploy") / "cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE)
    pack.commit("v1.0.0", key=new_key(tmp_path / "key"))
    git(project, "init", "-q")
    assert tenterhook("pack", "add", f"{pack.source}@v1.0.0", "--project", "--yes").returncode == 0
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "hooks")
    git(tmp_path, "clone", "-q", str(project), str(tmp_path / "clone"))
    return tmp_path / "clone"


@pytest.fixture
def ci(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has nothing of ours but the program."""
    (tmp_path / "ci-home").mkdir()
    return {**os.environ, "HOME": f"{tmp_path}/ci-home", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def run_action(directory: Path, environment: dict[str, str], **inputs: str) -> list[tuple[int, str]]:
    """Run the steps of the action that call us, as a runner does: to the first that fails."""
    given = {name: str(about["default"]) for name, about in ACTION["inputs"].items()} | inputs
    ended = []
    for step in ACTION["runs"]["steps"]:
        if not step.get("run", "").startswith("tenterhook"):
            continue
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: given[found[1]], value)
            for name, value in step["env"].items()
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=directory, env={**environment, **variables}, capture_output=True, text=True, timeout=100
        )
        ended.append((done.returncode, done.stdout + done.stderr))
        if done.returncode:
            break
    return ended


def run_pre_commit(hook: dict[str, Any], directory: Path, environment: dict[str, str], *args: str) -> tuple[int, str]:
    command = [*shlex.split(hook["entry"]), *args]
    done = subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


def test_the_action_verifies_the_packs_and_runs_their_cases(clone: Path, ci: dict[str, str], tmp_path: Path) -> None:
    verified, tried = run_action(clone, ci, signer=f"{tmp_path}/key.pub")
    assert (verified[0], tried[0]) == (0, 0), (verified, tried)
    assert "ok  agent-hooks v1.0.0" in verified[1]
    assert "1 passed" in tried[1]


def test_the_action_fails_where_lock_and_source_differ_and_where_a_signature_is_missing(
    clone: Path, ci: dict[str, str], tmp_path: Path
) -> None:
    (failed,) = run_action(clone, ci, signer=f"{new_key(tmp_path / 'another')}.pub")
    assert failed[0] == 1
    assert "not signed by a key that you trust" in failed[1]
    lock = clone / ".agents/hooks.lock"
    lock.write_text(re.sub(r'digest = "....', 'digest = "0000', lock.read_text()))
    (failed,) = run_action(clone, ci)
    assert failed[0] == 1
    assert "no longer has what is locked" in failed[1]


def test_the_action_runs_the_cases_of_a_pack_in_its_own_repository(
    clone: Path, ci: dict[str, str], tmp_path: Path
) -> None:
    verified, tried = run_action(tmp_path / "agent-hooks", ci, hooks="hooks/*")
    assert "no packs" in verified[1]
    assert (tried[0], "1 passed" in tried[1]) == (0, True), tried


def test_the_pre_commit_hooks_run_where_the_packs_are_in_the_store_or_fetch_them(
    clone: Path, ci: dict[str, str]
) -> None:
    packs, cases = PRE_COMMIT
    missing = run_pre_commit(packs, clone, ci)
    assert (missing[0], "it is not in the store (--fetch)" in missing[1]) == (1, True), missing
    assert run_pre_commit(packs, clone, ci, "--fetch")[0] == 0
    assert run_pre_commit(packs, clone, ci)[0] == 0
    assert "1 passed" in run_pre_commit(cases, clone, ci)[1]
    lock = clone / ".agents/hooks.lock"
    lock.write_text(re.sub(r'digest = "....', 'digest = "0000', lock.read_text()))
    assert run_pre_commit(packs, clone, ci)[0] == 1


@pytest.mark.parametrize(
    ("file", "ids"),
    [
        (".agents/hooks.toml", {"tenterhook-packs", "tenterhook-cases"}),
        (".agents/hooks.lock", {"tenterhook-packs", "tenterhook-cases"}),
        (".agents/hooks/hooks.lock", {"tenterhook-packs", "tenterhook-cases"}),
        (".agents/hooks/own/scripts/run.sh", {"tenterhook-cases"}),
        ("src/main.py", set()),
    ],
)
def test_the_pre_commit_hooks_run_for_files_of_hooks(file: str, ids: set[str]) -> None:
    assert {hook["id"] for hook in PRE_COMMIT if re.search(hook["files"], file)} == ids
    assert all(hook["language"] == "python" and not hook["pass_filenames"] for hook in PRE_COMMIT)
