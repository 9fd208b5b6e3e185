"""What a hook runs: a command and its variables, the entry point of a folder, a script made from a command."""

from __future__ import annotations

import ast
import os
import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from ...agents import dialect
from ...engine import commands
from ...events import AGENT_FORMATS
from ...formats import agent_payloads, entry_points, placeholders
from ...model import Event

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...model import Hook
    from .targets import Target

# ---- entry points of folders


def entry_line(folder: str) -> str | None:
    """Return a shell line that starts the entry point of a folder as the folder itself would; None without one."""
    argv = commands._argv(folder, os.environb.get(b"PATH", b""))
    return None if isinstance(argv, str) else shlex.join(argv)


def folder_of(command: str) -> str | None:
    """Return the hook folder whose `entry_line` a command is."""
    try:
        folder = shlex.split(command)[-1].rpartition("/scripts/run")[0]
    except (ValueError, IndexError):
        return None
    return folder if folder.startswith("/") and entry_line(folder) == command else None


# ---- variables

_PROJECT = '"$PWD"'  # every hook runs there
# Variables that agents set for their hooks, as shell words that have the same value in every format.
_SAME_AS = {
    "CLAUDE_PROJECT_DIR": _PROJECT,
    "GEMINI_PROJECT_DIR": _PROJECT,
    "GEMINI_CWD": _PROJECT,
    "QWEN_PROJECT_DIR": _PROJECT,
    "GEMINI_SESSION_ID": '"$TENTERHOOK_SESSION_ID"',
    "CLAUDE_ENV_FILE": '"$TENTERHOOK_ENV_FILE"',
}
# Tenterhook sets these for hooks of every format, agents do not.
_OURS = ("KIMI_*", "TENTERHOOK_*")
_WORD = r"(?:[\w@%+=:,./-]+|'[^']*'|\"'\"|\"\$\w+\")+"
_EXPORT = re.compile(rf"export ((?:[A-Za-z_]\w*={_WORD} ?)+); ", re.ASCII)


def with_variables(hook: Hook, target: Target, command: str) -> tuple[str, dict[str, str]]:
    """Return the command, and the target's `env` key: variables that it names and the target does not set are added."""
    env = dict(hook.metadata.get("env", {})) if hook.format != "folder" else {}
    if hook.format == target.name and ("env" in target.keys or not env):
        return command, env
    before, rest = split(command)
    named = {name: word for name, word in provided(hook.format, hook).items() if _names(command, name)}
    theirs = provided(target.name, hook)
    set_here = {**named, **{name: shlex.quote(value) for name, value in env.items()}, **before}
    kept = {name for name in before if not _names(rest, name)}  # a program it runs may read it, also on the way back
    needed = {name: word for name, word in set_here.items() if name in kept or theirs.get(name) != word}
    env = {}
    if "env" in target.keys:
        env = {name: value for name, word in needed.items() if (value := _literal(word)) is not None}
        needed = {name: word for name, word in needed.items() if name not in env}
    return _exporting(needed, rest), env


def missing_variables(hook: Hook, target: Target, command: str) -> list[str]:
    """Return the variables of the hook's format that the target does not set, nor the converted command."""
    theirs, own = provided(target.name, hook), split(command)[0]
    missing = [name for name, word in provided(hook.format, hook).items() if theirs.get(name) != word]
    if target.is_agent and hook.format not in AGENT_FORMATS:
        missing += _OURS
    return [name for name in missing if name not in own]


def added_variables(hook: Hook, target: Target, command: str) -> list[str]:
    """Return the variables that a command names, its format does not set, and the target does."""
    known = {*provided(hook.format, hook), *split(command)[0], *hook.metadata.get("env", {})}
    return [name for name in provided(target.name, hook) if name not in known and _names(command, name)]


def split(command: str) -> tuple[dict[str, str], str]:
    """Return the variables that `with_variables` has put before a command, and the command without them."""
    found = _EXPORT.match(command)
    if found is None:
        return {}, command
    variables = dict(re.findall(rf"([A-Za-z_]\w*)=({_WORD})", found[1], re.ASCII))
    rest = command[found.end() :]
    return (variables, rest) if _exporting(variables, rest) == command else ({}, command)


def _exporting(variables: Mapping[str, str], command: str) -> str:
    words = " ".join(f"{name}={word}" for name, word in variables.items())
    return f"export {words}; {command}" if variables else command


def provided(form: str, hook: Hook) -> dict[str, str]:
    """Return the variables that hooks of an agent's settings find, as shell words that have the same value anywhere."""
    if form not in AGENT_FORMATS:
        return {}
    asked = hook._replace(format=form, metadata={}, source=hook.source if hook.format == form else "")
    given = agent_payloads.variables(dialect(form), asked, Event(hook.event), "env")
    return {name: _SAME_AS.get(name, shlex.quote(value)) for name, value in given.items()}


def _names(command: str, variable: str) -> bool:
    return re.search(rf"\b{variable}\b", command) is not None


def _literal(word: str) -> str | None:
    """Return the text of a shell word that is nothing but a quoted text."""
    if "$" in word and not word.startswith("'"):
        return None
    parts = shlex.split(word)
    return parts[0] if len(parts) == 1 and shlex.quote(parts[0]) == word else None


# ---- scripts made from commands

_SHELL = "#!/bin/sh\n# Written by tenterhook convert: the command of a hook, as it was.\n"


class Script(NamedTuple):
    """An entry point: its path below the folder and its text."""

    path: str
    text: str


def script_of(command: str, *, placeholders_too: bool) -> Script:
    """Return a script that does what the command did; one that fills in placeholders is in Python."""
    if not placeholders_too:
        return Script("scripts/run.sh", f"{_SHELL}{_guard(command)}{command}\n")
    made = placeholders.template(command)
    values = {"COMMAND": command, "LINE": _guard(command) + made.line, "FIELDS": made.fields}
    written = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    return Script("scripts/run.py", f"{_HEAD}\n{written}\n{_BODY}")


_RUNS_SCRIPT = re.compile(r"(?:\S*/)?(?:python|perl|sh|dash)[\d.]*\s+((?!-)[\w@%+=:,./~-]+)(?:\s[^;|&<>\n]*)?")


def _guard(command: str) -> str:
    """Return a line before commands such as `python script`: if the script is missing, their status 2 is no block."""
    found = _RUNS_SCRIPT.fullmatch(command)
    return f"test -e {found[1]} || exit 1\n" if found else ""


def command_of(folder: str) -> tuple[str, bool] | None:
    """Return the command that `script_of` made the script of a folder from, and whether it has placeholders."""
    script, _ = entry_points.entry_point(folder)
    try:
        with open(script or "", encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    if text.startswith(_SHELL) and text.endswith("\n"):
        command = text[len(_SHELL) : -1]
        guard, newline, rest = command.partition("\n")
        return (rest if newline and _guard(rest) == f"{guard}\n" else command), False
    found = re.match(r"\nCOMMAND = (.*)\n", text[len(_HEAD) :]) if text.startswith(_HEAD) else None
    try:
        command = str(ast.literal_eval(found[1])) if found else ""
    except (ValueError, SyntaxError):
        return None
    return (command, True) if found and script_of(command, placeholders_too=True).text == text else None


_HEAD = """\
#!/usr/bin/env python3
# Written by tenterhook convert: runs a command in which {{…}} stands for values of the event.
import json
import os
import sys
"""
_BODY = '''

def main():
    data = sys.stdin.buffer.read()
    event = json.loads(data.decode("utf-8"))
    for number, field in enumerate(FIELDS):  # data for the shell, never code
        os.environ["TENTERHOOK_VALUE_%d" % number] = text(look_up(event, field))
    run(LINE, data)


def look_up(value, field):
    for key in field.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def text(value):
    if value is None:
        return ""
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return shown.encode("utf-8", "replace").decode("utf-8").replace("\\0", "\\ufffd")


def run(line, data):
    """Become the shell, with these bytes on stdin."""
    try:
        descriptor = os.memfd_create("event")
    except (AttributeError, OSError):
        import tempfile

        descriptor = os.dup(tempfile.TemporaryFile().fileno())
    while data:
        data = data[os.write(descriptor, data) :]
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.dup2(descriptor, 0)
    os.execv("/bin/sh", ["/bin/sh", "-c", line, os.path.abspath(__file__)])


main()
'''
