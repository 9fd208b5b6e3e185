"""What all built-in hooks have in common."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hooks.lines import HOOKS, NAMES
from support import tenterhook

PAGE = Path(__file__).parent.parent.parent / "docs" / "built-in-hooks.md"
SCRIPTS = sorted(HOOKS.glob("*/scripts/*.py"))
EXPECTED = [
    "auto-format-python",
    "block-dangerous-commands",
    "enforce-tests",
    "global-agents-md",
    "infrastructure",
    "notify",
    "protect-hooks",
    "protect-secrets",
    "session-logger",
    "session-logger-end",
    "stay-in-project",
]


def shown(path: Path) -> str:
    return str(path.relative_to(HOOKS))


def test_they_are_all_there() -> None:
    assert NAMES == EXPECTED


def test_check_finds_nothing_wrong_with_any(project: Path) -> None:
    ended = tenterhook("check", HOOKS)
    assert (ended.returncode, ended.stdout) == (0, "11 hooks, 0 errors, 0 warnings\n")


def test_check_finds_nothing_wrong_with_them_in_force(home: Path, project: Path) -> None:
    assert tenterhook("add", *NAMES).returncode == 0
    assert tenterhook("check").stdout == "11 hooks, 0 errors, 0 warnings\n"


@pytest.mark.parametrize("script", SCRIPTS, ids=shown)
def test_scripts_need_python_3_8_and_its_library_only(script: Path) -> None:
    tree = ast.parse(script.read_text(), feature_version=(3, 8))
    beside = {path.stem for path in script.parent.glob("*.py")}
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names | beside, name


@pytest.mark.parametrize("name", NAMES)
def test_the_script_can_be_executed_and_starts_with_whichever_python_there_is(name: str) -> None:
    script = HOOKS / name / "scripts" / "run.py"
    assert os.access(script, os.X_OK)
    assert script.read_text().startswith("#!/usr/bin/env -S python3 -I\n")


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.12", "3.13", "3.14"])
def test_other_versions_of_python_run_the_guards(version: str, project: Path) -> None:
    python = shutil.which(f"python{version}")
    if not python or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"there is no Python {version} here")
    event = {"tool_name": "Shell", "tool_input": {"command": "rm -rf ~/.claude/settings.json ~"}, "work_dir": "."}
    for name in ("block-dangerous-commands", "protect-hooks"):
        script = HOOKS / name / "scripts" / "run.py"
        ended = subprocess.run([python, str(script)], input=json.dumps(event), capture_output=True, text=True)
        assert ended.returncode == 2, ended.stderr


@pytest.mark.parametrize("name", ["block-dangerous-commands", "protect-hooks"])
def test_a_guard_finds_its_parts_where_python_does_not_look_beside_a_script(name: str, project: Path) -> None:
    event = {"tool_name": "Shell", "tool_input": {"command": "rm -rf ~/.claude/settings.json ~"}, "work_dir": "."}
    script = [sys.executable, str(HOOKS / name / "scripts" / "run.py")]
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    ended = subprocess.run(script, input=json.dumps(event), capture_output=True, text=True, env=environment)
    assert ended.returncode == 2, ended.stderr


class TestPage:
    """docs/built-in-hooks.md says what is so."""

    def test_it_has_every_hook(self) -> None:
        rows = re.findall(
            r"^\| `([a-z-]+)` \| `([a-z-]+)` \|", PAGE.read_text().partition("## Settings")[0], re.MULTILINE
        )
        triggers = {}
        for name in NAMES:
            found = re.search(r"^trigger: (.*)$", (HOOKS / name / "HOOK.md").read_text(), re.MULTILINE)
            assert found
            triggers[name] = found[1]
        assert dict(rows) == triggers
