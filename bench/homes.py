"""Temporary homes with hook folders, and environments that point to them. The user's own hooks are never read."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_ELSEWHERE = ("XDG_", "TENTERHOOK_", "KIMI_", "PYTHON")  # all but PYTHONPATH

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
    """Return the caller's environment with another HOME, and without variables that point to the old one."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(_ELSEWHERE) or name == "PYTHONPATH"
    }
    return {**kept, "HOME": os.fspath(home)}


def hooks_directory(home: Path) -> Path:
    return home / ".config" / "agents" / "hooks"


def tools(count: int) -> list[str]:
    """Return `count` tool matchers; none matches Shell."""
    return [_TOOLS[number % len(_TOOLS)] for number in range(count)]


def write_folders(home: Path, count: int) -> Path:
    """Write `count` hook folders with up to fifty tool matchers, none of which matches Shell; return the home."""
    for number, tool in enumerate(tools(count)):
        name = f"hook-{number:04}"
        text = _HOOK.format(name=name, number=number, tool=tool, priority=100 + number % 7)
        write_folder(home, name, text)
    return home


def write_folder(home: Path, name: str, definition: str, script: str = "#!/bin/sh\ncat >/dev/null\n") -> Path:
    """Write a hook folder; return its script."""
    entry = hooks_directory(home) / name / "scripts" / "run.sh"
    entry.parent.mkdir(parents=True)
    (entry.parent.parent / "HOOK.md").write_text(definition)
    return write_script(entry, script)


def write_script(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o755)
    return file


# Typical guards, formatters, loggers and notifiers, half of them before tool calls. None matches reading a file or
# `git status`.
_VARIOUS = (
    ("pre-tool-call", "Shell", r"rm -rf"),
    ("pre-tool-call", "Shell", r"git push.*(--force|\s-f\b)"),
    ("pre-tool-call", "Shell", r"curl[^|]*\|\s*(ba)?sh"),
    ("pre-tool-call", "Shell", r"(npm|yarn|pnpm) publish"),
    ("pre-tool-call", "Shell", r"git commit.*--no-verify"),
    ("pre-tool-call", "Bash", r"sudo "),
    ("pre-tool-call", "WriteFile|StrReplaceFile", r"\.env(\.|$)"),
    ("pre-tool-call", "WriteFile|StrReplaceFile", r"(package-lock\.json|poetry\.lock|uv\.lock)$"),
    ("pre-tool-call", "Write|Edit", r"/migrations/"),
    ("pre-tool-call", "^WriteFile$", r"AKIA[0-9A-Z]{16}"),
    ("pre-tool-call", "mcp__github__.*", None),
    ("pre-tool-call", "mcp__[a-z]+__(create|update|delete)_.*", None),
    ("pre-tool-call", "mcp__postgres__query", r"(?i)\b(drop|truncate|delete)\b"),
    ("pre-tool-call", "FetchURL|SearchWeb", None),
    ("pre-tool-call", "Task", None),
    ("post-tool-call", "WriteFile|StrReplaceFile", r"\.py$"),
    ("post-tool-call", "WriteFile|StrReplaceFile", r"\.(ts|tsx)$"),
    ("post-tool-call", "Shell", r"pytest|npm test"),
    ("post-tool-call", "Shell", None),
    ("post-tool-call-failure", "Shell", None),
    ("pre-session", None, None),
    ("post-session", None, None),
    ("pre-agent-turn", None, None),
    ("post-agent-turn", None, None),
    ("pre-agent-turn-stop", None, None),
    ("pre-agent-turn-stop", None, None),
    ("pre-subagent", None, None),
    ("post-subagent", None, None),
    ("pre-context-compact", None, None),
    ("notification", None, None),
)


def write_various(home: Path, count: int) -> Path:
    """Write `count` hook folders for various events, with plain words and regular expressions; return the home."""
    for number in range(count):
        trigger, tool, pattern = _VARIOUS[number % len(_VARIOUS)]
        keys = {"tool": tool, "pattern": pattern}
        lines = [f"  {key}: {json.dumps(value)}" for key, value in keys.items() if value is not None]
        matcher = "\n".join(["matcher:", *lines, ""]) if lines else ""
        name = f"hook-{number:04}"
        write_folder(home, name, f"---\nname: {name}\ndescription: one of many\ntrigger: {trigger}\n{matcher}---\n")
    return home
