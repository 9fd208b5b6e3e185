"""The built-in hooks as tests use them: where they are, how one is added, and what they decide."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from support import user_hooks
from tenterhook import Engine, Event
from tenterhook.authoring.built_in_hooks import DIRECTORY

HOOKS = Path(DIRECTORY)
NAMES = sorted(path.name for path in HOOKS.iterdir() if (path / "HOOK.md").exists())


def added(home: Path, name: str) -> Path:
    """A built-in hook in a person's own directory, as it comes."""
    folder = user_hooks(home) / name
    shutil.copytree(HOOKS / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def override(home: Path, name: str, **fields: Any) -> None:
    """Change a hook's fields in the `hooks.toml` beside it."""
    lines = [f"name = {json.dumps(name)}"]
    for key, value in fields.items():
        if isinstance(value, dict):
            inner = ", ".join(f"{inner_key} = {json.dumps(each)}" for inner_key, each in value.items())
            lines.append(f"{key} = {{ {inner} }}")
        else:
            lines.append(f"{key} = {json.dumps(value)}")
    (user_hooks(home) / "hooks.toml").write_text("[[hooks.override]]\n" + "\n".join(lines) + "\n")


def decide(event: str, cwd: Path | None = None, **fields: Any) -> dict[str, Any]:
    """What the hooks in force decide about an event: the engine here, the hooks in processes of their own."""
    directory = os.fspath(cwd or os.getcwd())
    verdict = Engine.load(directory).decide(Event(event, work_dir=directory, **fields))
    decided: dict[str, Any] = json.loads(json.dumps(verdict.as_json()))
    return decided


def shell(command: str, tool: str = "Shell", cwd: Path | None = None) -> dict[str, Any]:
    """The same about a shell line."""
    return decide("pre-tool-call", cwd, tool_name=tool, tool_input={"command": command})


def bare_path(directory: Path) -> Path:
    """A directory for PATH that has Python and nothing else."""
    directory.mkdir()
    (directory / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (directory / "python3").chmod(0o755)
    return directory


def git(directory: Path, *arguments: str, when: str | None = None) -> None:
    """Run git; a commit is made `when`, else now."""
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main")
    dated = {"GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when} if when else {}
    environment = {**os.environ, **dated}
    subprocess.run(["git", *who, *arguments], cwd=directory, check=True, capture_output=True, env=environment)
