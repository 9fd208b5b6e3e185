"""`tenterhook pack init`: a new pack works at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import yaml

from cli.packs_in_use import CASE
from packs.repositories import git, write_hook
from support import tenterhook


def test_a_new_pack_works_at_once(tmp_path: Path, project: Path) -> None:
    made = tenterhook("pack", "init", str(tmp_path / "ours"))
    assert made.returncode == 0
    assert tenterhook("test", f"{tmp_path}/ours/hooks/no-force-push", "--trust-project").returncode == 0
    git(tmp_path / "ours", "init", "-q")
    git(tmp_path / "ours", "add", "-A")
    git(tmp_path / "ours", "commit", "-q", "-m", "x")
    git(tmp_path / "ours", "tag", "v1.0.0")
    assert tenterhook("pack", "add", f"{tmp_path}/ours@v1.0.0", "--yes").returncode == 0
    assert tenterhook("pack", "init", str(tmp_path / "ours")).returncode == 1


def test_the_recipe_for_ci_runs_the_cases_of_every_hook(tmp_path: Path, project: Path) -> None:
    ours = tmp_path / "ours"
    assert tenterhook("pack", "init", str(ours)).returncode == 0
    workflow = yaml.safe_load((ours / ".github/workflows/hooks.yml").read_text())
    steps = [step["run"] for step in workflow["jobs"]["test"]["steps"] if "run" in step]
    assert steps[0] == "pip install tenterhook"
    (tmp_path / "ci-home").mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "HOME": f"{tmp_path}/ci-home", "PATH": path}

    def runs() -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bash", "-ec", steps[1]], cwd=ours, env=environment, capture_output=True, text=True)

    assert runs().returncode == 0
    cases = write_hook(ours / "hooks/no-deploy", "deploy") / "cases"
    cases.mkdir()
    (cases / "blocks.toml").write_text(CASE)
    assert "3 passed" in runs().stdout
    (cases / "blocks.toml").write_text(CASE.replace("deny", "allow"))
    assert runs().returncode == 1, "the new hook's case fails"
