"""What all built-in hooks have in common."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

import pytest

from hooks.lines import HOOKS, NAMES
from support import tenterhook
from tenterhook import guards
from tenterhook.authoring import built_in_hooks

PAGE = Path(__file__).parent.parent.parent / "docs" / "built-in-hooks.md"
SCRIPTS = sorted(HOOKS.glob("*/scripts/*.py"))
GUARDS = sorted(guards.GUARDS)
OTHERS = ("auto-format-python", "enforce-tests", "global-agents-md", "notify", "session-logger", "session-logger-end")


def shown(path: Path) -> str:
    return str(path.relative_to(HOOKS))


def test_each_is_a_guard_of_its_name_or_one_of_the_others() -> None:
    assert set(OTHERS) <= set(NAMES) <= {*OTHERS, *GUARDS}
    assert {"block-dangerous-commands", "protect-hooks"} <= set(NAMES)
    named = {hook.name: hook.guard for hook in built_in_hooks.built_in_hooks()}
    assert named == {name: name if name in GUARDS else None for name in NAMES}


def test_check_finds_nothing_wrong_with_any(project: Path) -> None:
    ended = tenterhook("check", HOOKS)
    assert (ended.returncode, ended.stdout) == (0, f"{len(NAMES)} hooks, 0 errors, 0 warnings\n")


def test_check_finds_nothing_wrong_with_them_in_force(home: Path, project: Path) -> None:
    assert tenterhook("add", *NAMES).returncode == 0
    assert tenterhook("check").stdout == f"{len(NAMES)} hooks, 0 errors, 0 warnings\n"


@pytest.mark.parametrize("script", SCRIPTS, ids=shown)
def test_scripts_need_python_3_8_and_its_library_only(script: Path) -> None:
    tree = ast.parse(script.read_text(), feature_version=(3, 8))
    beside = {path.stem for path in script.parent.glob("*.py")}
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            assert name.split(".")[0] in sys.stdlib_module_names | beside, name


@pytest.mark.parametrize("name", OTHERS)
def test_the_script_can_be_executed_and_starts_with_whichever_python_there_is(name: str) -> None:
    script = HOOKS / name / "scripts" / "run.py"
    assert os.access(script, os.X_OK)
    assert script.read_text().startswith("#!/usr/bin/env -S python3 -I\n")


def test_guards_have_the_same_script_and_block_when_they_fail() -> None:
    hooks = [hook for hook in built_in_hooks.built_in_hooks() if hook.guard is not None]
    assert all(hook.fail_closed for hook in hooks)
    scripts = [HOOKS / hook.name / "scripts" / "run.sh" for hook in hooks]
    assert all(os.access(script, os.X_OK) for script in scripts)
    assert len({script.read_bytes() for script in scripts}) == 1


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
