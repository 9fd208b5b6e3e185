"""Temporary homes: an environment that points to one, and hook folders in it. Nobody's own hooks are ever read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_ELSEWHERE = ("XDG_", "TENTERHOOK_", "KIMI_")

_HOOK = """\
---
name: {name}
description: Looks at what is about to be written to the files of part {number}
trigger: pre-tool-call
matcher:
  tool: {tool}
  pattern: part-{number}/.*\\.(py|toml)$
timeout: 5000
priority: {priority}
---

# {name}

Refuses a change to a file that somebody else is working on.
"""


_TOOLS = ("WriteFile|EditFile", "^ReadFile$", *(f"mcp__server{number}__(create|update)_.*" for number in range(48)))


def clean_environment(home: Path) -> dict[str, str]:
    """The caller's environment with another HOME, and nothing in it that leads back."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_ELSEWHERE)}
    return {**kept, "HOME": os.fspath(home)}


def hooks_directory(home: Path) -> Path:
    return home / ".config" / "agents" / "hooks"


def write_folders(home: Path, count: int) -> Path:
    """A home with so many hook folders: fifty kinds of tools, a pattern for each hook. None is for the tool Shell."""
    for number in range(count):
        name = f"hook-{number:04}"
        scripts = hooks_directory(home) / name / "scripts"
        scripts.mkdir(parents=True)
        text = _HOOK.format(name=name, number=number, tool=_TOOLS[number % len(_TOOLS)], priority=100 + number % 7)
        (scripts.parent / "HOOK.md").write_text(text)
        script = scripts / "run.sh"
        script.write_text("#!/bin/sh\ncat >/dev/null\n")
        script.chmod(0o755)
    return home
