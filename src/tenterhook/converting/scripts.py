"""The script of a folder that was made from a command, and the command of such a script again.

A plain command becomes `run.sh`, whose body it is. One with placeholders, or one that reads the array format's JSON,
becomes `run.py`, which fills in the values as data and hands on the JSON as the command knows it.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..formats import entry_points, placeholders

if TYPE_CHECKING:
    from ..events import EventSpec

_SHELL = "#!/bin/sh\n# Written by tenterhook convert: the command of a hook, as it was.\n"
_SHELL_BESIDE = (
    "#!/bin/sh\n# Written by tenterhook convert: the command of a hook; its scripts are copies beside this one.\n"
)
HERE = '"${0%/*}"/'  # a shell word for the directory of the script that runs


class Script(NamedTuple):
    """An entry point: its name below the folder and its text."""

    path: str
    text: str


class Command(NamedTuple):
    """What a script of ours was made from: a command, and the format whose JSON it is sent."""

    text: str
    form: str = "folder"


def of(command: str, spec: EventSpec, *, form: str = "folder", declared: str = "") -> Script:
    """A script that does what the command did: `table` fills in placeholders, `array` hands on the array's JSON."""
    if form == "folder":
        head = _SHELL_BESIDE if HERE in command else _SHELL
        return Script("scripts/run.sh", f"{head}{_guard(command)}{command}\n")
    values: dict[str, Any] = {"COMMAND": command}
    if form == "table":
        made = placeholders.template(command)
        values.update(LINE=_guard(command) + made.line, FIELDS=made.fields)
    else:
        values.update(
            LINE=_guard(command) + command,
            EVENT=declared,
            COLUMNS=[(column.name, column.limit, *column.sources) for column in spec.columns],
            KNOWN=("event_type", "timestamp", "session_id", "work_dir", "context", *spec.fields),
            IN_PARTS=spec.name == "pre-agent-turn",
        )
    written = "\n".join(f"{name} = {value!r}" for name, value in values.items())
    return Script("scripts/run.py", f"{_HEAD[form]}\n{written}\n{_BODY[form]}{_END}")


_RUNS_SCRIPT = re.compile(r"(?:\S*/)?(?:python|perl|sh|dash)[\d.]*\s+((?!-)[\w@%+=:,./~-]+)(?:\s[^;|&<>\n]*)?")


def _guard(command: str) -> str:
    """A line for commands such as `python script`: without the script they fail, and the status 2 is no block."""
    found = _RUNS_SCRIPT.fullmatch(command)
    return f"test -e {found[1]} || exit 1\n" if found else ""


def command_of(folder: str, spec: EventSpec) -> Command | None:
    """The command that the script of a folder was made from; None if it was not, or needs what is in the folder."""
    script, _ = entry_points.entry_point(folder)
    try:
        with open(script or "", encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError):
        return None
    if text.startswith(_SHELL) and text.endswith("\n"):
        command = text[len(_SHELL) : -1]
        guard, newline, rest = command.partition("\n")
        return Command(rest if newline and _guard(rest) == f"{guard}\n" else command)
    for form, head in _HEAD.items():
        if text.startswith(head):
            return _unpacked(text, form, spec)
    return None


def _unpacked(text: str, form: str, spec: EventSpec) -> Command | None:
    values: dict[str, str] = {}
    for line in text[len(_HEAD[form]) :].splitlines():
        name, equals, value = line.partition(" = ")
        if equals and name in ("COMMAND", "EVENT"):
            try:
                values.setdefault(name, str(ast.literal_eval(value)))
            except (ValueError, SyntaxError):
                return None
    command = values.get("COMMAND", "")
    again = of(command, spec, form=form, declared=values.get("EVENT", ""))
    return Command(command, form) if again.text == text and HERE not in command else None


_HEAD = {
    "table": """\
#!/usr/bin/env python3
# Written by tenterhook convert: runs a command in which {{…}} stands for values of the event.
import json
import os
import sys
""",
    "array": """\
#!/usr/bin/env python3
# Written by tenterhook convert: runs a command with the event in the words of the array format.
import json
import os
import sys
""",
}
_BODY = {
    "table": """

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
""",
    "array": """

def main():
    event = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    sent = {"hook_event_name": EVENT, "session_id": event.get("session_id"), "cwd": event.get("work_dir")}
    for name, limit, *sources in COLUMNS:
        value = next((event[source] for source in sources if event.get(source) is not None), None)
        if value is None:
            continue
        if limit is not None:
            value = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:limit]
        sent[name] = [{"type": "text", "text": value}] if IN_PARTS and name == "prompt" else value
    sent.update((key, value) for key, value in event.items() if key not in KNOWN and key not in sent)
    run(LINE, encoded(sent))


def encoded(value):
    try:
        return json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # half a character has only its escaped form
        return json.dumps(value).encode("utf-8")
""",
}
_END = '''

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
