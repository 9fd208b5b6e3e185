"""What a hook runs as one shell line: the entry point of a folder, variables that an agent sets, and back again."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING

from ..agents import dialect
from ..events import AGENTS
from ..firing import commands
from ..formats import agent_payloads
from ..model import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..model import Hook

_PROJECT = '"$PWD"'  # where every hook runs
# Variables that agents set for their hooks, each as it can be had in every format.
_SAME_AS = {
    "CLAUDE_PROJECT_DIR": _PROJECT,
    "GEMINI_PROJECT_DIR": _PROJECT,
    "GEMINI_CWD": _PROJECT,
    "QWEN_PROJECT_DIR": _PROJECT,
    "GEMINI_SESSION_ID": '"$TENTERHOOK_SESSION_ID"',
    "CLAUDE_ENV_FILE": '"$TENTERHOOK_ENV_FILE"',
}
OURS = tuple(
    f"{prefix}_{name}"
    for prefix in ("KIMI", "TENTERHOOK")
    for name in ("SESSION_ID", "WORK_DIR", "PROJECT_DIR", "ENV_FILE")
)
_WORD = r"(?:[\w@%+=:,./-]+|'[^']*'|\"'\"|\"\$\w+\")+"
_EXPORT = re.compile(rf"export ((?:[A-Za-z_]\w*={_WORD} ?)+); ")


def entry_line(folder: str) -> str | None:
    """A shell line that starts the entry point of a folder as the folder itself would; None without one."""
    argv = commands._argv(folder, os.environb.get(b"PATH", b""))
    return None if isinstance(argv, str) else shlex.join(argv)


def folder_of(command: str) -> str | None:
    """The hook folder whose entry point a command starts, if it does just that."""
    found = re.search(r"(/[^\0]*)/scripts/run(?:\.sh|\.py)?'?\Z", command)
    if found is None:
        return None
    folder = shlex.split(command)[-1].rpartition("/scripts/")[0] if _splits(command) else ""
    return folder if folder.startswith("/") and entry_line(folder) == command else None


def _splits(command: str) -> bool:
    try:
        return bool(shlex.split(command))
    except ValueError:
        return False


def provided(form: str, hook: Hook) -> dict[str, str]:
    """The variables that hooks of an agent's settings find, each as a shell word that says the same anywhere."""
    if form not in AGENTS:
        return {}
    asked = hook._replace(format=form, metadata={}, source=hook.source if hook.format == form else "")
    given = agent_payloads.variables(dialect(form), asked, Event(hook.event), "env")
    return {name: _SAME_AS.get(name, shlex.quote(value)) for name, value in given.items()}


def with_variables(command: str, variables: Mapping[str, str]) -> str:
    """The command with variables set before it; values are shell words."""
    if not variables:
        return command
    return f"export {' '.join(f'{name}={word}' for name, word in variables.items())}; {command}"


def split(command: str) -> tuple[dict[str, str], str]:
    """Variables and command again, if they are written exactly so."""
    found = _EXPORT.match(command)
    if found is None:
        return {}, command
    variables = dict(re.findall(rf"([A-Za-z_]\w*)=({_WORD})", found[1]))
    rest = command[found.end() :]
    return (variables, rest) if with_variables(rest, variables) == command else ({}, command)


def literal(word: str) -> str | None:
    """The text that a shell word stands for, if it is nothing but a quoted text."""
    if "$" in word and not word.startswith("'"):
        return None
    parts = shlex.split(word)
    return parts[0] if len(parts) == 1 and shlex.quote(parts[0]) == word else "" if word == "''" else None
