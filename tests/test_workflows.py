"""The workflows: what is tested where, and what a release waits for. `make release-check` looks for weaknesses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent


def jobs(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())["jobs"]
    return found


def test_the_tests_run_on_each_python_on_linux_and_macos() -> None:
    matrix = jobs("test.yml")["test"]["strategy"]["matrix"]
    assert matrix == {"system": ["ubuntu-latest", "macos-latest"], "python": ["3.11", "3.12", "3.13", "3.14"]}


def test_nothing_is_published_before_all_tests_have_passed_and_the_wheel_is_attested() -> None:
    found = jobs("release.yml")
    assert found["test"]["uses"] == "$/.github/workflows/test.yml"
    waits, todo = set[str](), ["publish"]
    while todo:
        needs = found[todo.pop()].get("needs", [])
        todo += [needs] if isinstance(needs, str) else needs
        waits.update(todo)
    assert waits == {"attest", "build", "test"}


def test_only_jobs_that_sign_or_publish_get_a_token_of_the_workflow() -> None:
    for name in ("test.yml", "release.yml"):
        signing = {job for job, each in jobs(name).items() if "id-token" in each["permissions"]}
        assert signing == ({"attest", "publish"} if name == "release.yml" else set())
