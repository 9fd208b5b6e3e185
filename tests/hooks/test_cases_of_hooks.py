"""Every built-in hook comes with cases of what it promises, and they tell when a promise no longer holds."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hooks.lines import NAMES
from support import tenterhook, user_hooks


@pytest.fixture(autouse=True)
def python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks start with the interpreter that runs the tests, and not with a slower wrapper of one."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def tried(name: str) -> tuple[int, dict[str, Any]]:
    """`tenterhook test` of a hook: the exit status, and everything that happened."""
    ended = tenterhook("test", name, "--json")
    return ended.returncode, json.loads(ended.stdout)


def failed(report: dict[str, Any]) -> set[str]:
    return {case["case"] for case in report["cases"] if case["status"] == "failed"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_added_keeps_its_promises(home: Path, project: Path, name: str) -> None:
    assert tenterhook("add", name).returncode == 0
    status, report = tried(name)
    assert (status, failed(report), report["errors"], report["problems"]) == (0, set(), 0, []), report
    assert report["passed"] >= 4
    assert list(project.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "file", "rule", "broken", "expected"),
    [
        (
            "block-dangerous-commands",
            "HOOK.md",
            "  guard: block-dangerous-commands\n",
            "  guard: block-dangerous-commands\n  allow: [delete-system]\n",
            {
                "what destroys the system is refused",
                "variables and wrappers hide nothing",
                "a one-liner of Python is read, too",
            },
        ),
        (
            "block-dangerous-commands",
            "HOOK.md",
            "tool: ^Shell$",
            "tool: Shell|WriteFile",
            {"only shell lines are looked at"},
        ),
        (
            "protect-hooks",
            "HOOK.md",
            "  guard: protect-hooks\n",
            "  guard: protect-hooks\n  allow: [change-settings]\n",
            {
                "a shell line may not change settings",
                "a link does not hide them",
                "a tool of an MCP server is judged by its paths, whatever its keys are",
            },
        ),
        ("enforce-tests", "scripts/run.py", 'event.get("stop_hook_active")', "False", {"it says so once"}),
    ],
    ids=["rules", "matcher", "list", "once"],
)
def test_a_promise_that_is_broken_is_told(
    home: Path, project: Path, name: str, file: str, rule: str, broken: str, expected: set[str]
) -> None:
    assert tenterhook("add", name).returncode == 0
    changed = user_hooks(home) / name / file
    before = changed.read_text()
    assert before.count(rule) == 1
    changed.write_text(before.replace(rule, broken))
    status, report = tried(name)
    assert (status, failed(report)) == (1, expected)
