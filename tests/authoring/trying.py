"""What these tests make hooks and cases with, and the real command line."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from typing import TYPE_CHECKING, Any

from support import folder_hook, user_hooks
from tenterhook.authoring import results, suites
from tenterhook.catalog import loading, project_root
from tenterhook.catalog.trust import Trust

if TYPE_CHECKING:
    from pathlib import Path

BOOT = """
import sys
from tenterhook.cli import run
sys.exit(run(sys.argv[1:]))
"""
COMMAND = [sys.executable, "-c", BOOT]
DENY = "echo 'not here' >&2; exit 2"
CALL = '[event]\ntool_name = "Shell"\ntool_input = { command = "ls" }\n'
SHELL = {"tool_name": "Shell", "tool_input": {"command": "ls"}}


def tenterhook(*arguments: str | os.PathLike[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the real command line."""
    options.setdefault("timeout", 100)
    return subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, **options)


def tried(*arguments: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """`tenterhook test … --json`, as the object it printed; `status` is the exit status."""
    ended = tenterhook("test", *arguments, "--json", **options)
    assert ended.stdout, ended.stderr
    report: dict[str, Any] = json.loads(ended.stdout)
    return {**report, "status": ended.returncode}


def hook(
    home: Path,
    script: str,
    trigger: str = "pre-tool-call",
    /,
    name: str = "one",
    *,
    background: bool = False,
    **front: Any,
) -> Path:
    """A person's own hook with a shell script."""
    return folder_hook(user_hooks(home), name, script, trigger, **{**front, "async": background})


def case(folder: Path, text: str, file: str = "one.toml") -> Path:
    """A case file of a hook."""
    path = folder / "cases" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text))
    return path


def outcome() -> dict[str, Any]:
    """The only case there is, tried from within this process, which takes half the time."""
    root = project_root.project_root(os.getcwd())
    picked = suites.pick(loading.load(root, trust=Trust(root)), ())
    (result,) = results.run_suites(picked, (), None).results
    found: dict[str, Any] = importlib.import_module("tenterhook.cli.test_hooks")._result_as_json(result)
    return found


def differing(result: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """What is not as expected, by field."""
    return {each["field"]: (each["expected"], each["actual"]) for each in result["differences"]}


def left_behind() -> list[str]:
    """Directories of cases that nobody has removed."""
    return [name for name in os.listdir(tempfile.gettempdir()) if name.startswith("tenterhook-test-")]
