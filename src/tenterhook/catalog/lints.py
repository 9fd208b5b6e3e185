"""What is legal but wrong: the hook loads, and will not do what its author thinks."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from ..basics import shell_lines
from ..deciding import expressions
from ..errors import Problem
from ..formats import entry_points, front_matter, toml_files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Hook

_LARGEST_SCRIPT = 256 * 1024
_LONGEST_BODY = 4000  # characters, about 1,000 tokens


def lint(hook: Hook) -> Iterator[Problem]:
    """Everything worth a warning about one hook that loading did not say already."""
    yield from _expressions(hook)
    try:
        if hook.folder is not None:
            yield from _folder(hook, hook.folder)
        elif hook.command is not None:
            yield from _command(hook, hook.command)
    except OSError as error:
        message = f"cannot read {error.filename}: {error.strerror}"
        yield Problem("unreadable", hook.source, None, None, message, "make it readable")


def _expressions(hook: Hook) -> Iterator[Problem]:
    for key, expression in (("tool", hook.tool), ("pattern", hook.pattern), ("matcher", hook.target)):
        if expression is None:
            continue
        shown = "matcher" if hook.has_one_matcher else key
        for construct, meaning in expressions.dialect_differences(hook.dialect, expression):
            message = f"{construct} in '{expression}' is {meaning}"
            remedy = f"this file's expressions are {hook.dialect.title()}; write it so that both mean the same"
            yield Problem("dialect", hook.source, _line(hook, shown), shown, message, remedy)
        if expressions.can_run_away(expression):
            message = f"'{expression}' repeats something that repeats or branches: it can take for ever"
            remedy = "take out the inner or the outer repetition"
            yield Problem("can-run-away", hook.source, _line(hook, shown), shown, message, remedy)


def _line(hook: Hook, key: str) -> int | None:
    """The line of a key of a hook; of the hook itself if it cannot be told."""
    if hook.folder is not None:
        front = front_matter.read(hook.source)
        return hook.line if isinstance(front, Problem) else front.line_of(key)
    loaded = toml_files.load(hook.source)
    return hook.line if isinstance(loaded, Problem) or hook.line is None else loaded[1].below(hook.line, key)


def _folder(hook: Hook, folder: str) -> Iterator[Problem]:
    length = os.path.getsize(hook.source)
    if length > _LONGEST_BODY:
        message = f"HOOK.md has about {length // 4} tokens"
        remedy = "keep it under 1,000: agents may read it; move the rest to a file beside it"
        yield Problem("long-body", hook.source, None, None, message, remedy)
    script, _ = entry_points.entry_point(folder)
    if script is None:
        return
    with open(script, "rb") as file:
        first = file.readline(256)
    if first.startswith(b"#!") and first.rstrip(b"\n").endswith(b"\r"):
        message = "the #! line ends with a carriage return: the system will not find the interpreter"
        yield Problem("script-syntax", script, 1, None, message, "save the script with Unix line ends")
        return
    interpreter = entry_points.interpreter(first)
    if interpreter and not os.path.exists(interpreter):
        message = f"its #! line names {interpreter}, which does not exist"
        yield Problem("missing-program", script, 1, None, message, "mend the #! line, or install the interpreter")
        return
    shell = shell_lines.shell_of(script)
    if shell:
        yield from _refused_by(shell, [script], script, None)
        with open(script, encoding="utf-8", errors="replace") as file:
            yield from _programs(file.read(_LARGEST_SCRIPT), script, None, None)


def _command(hook: Hook, command: str) -> Iterator[Problem]:
    line = _line(hook, "command")
    yield from _refused_by("/bin/sh", ["-c", command], hook.source, line)
    missing = _missing_script(command)
    if missing:
        message = f"there is no {missing}"
        yield Problem("missing-program", hook.source, line, "command", message, "mend the path, or add the script")
    yield from _programs(command, hook.source, line, "command")


_RUNNERS = ("python", "python3", "sh", "bash", "dash", "zsh", "perl", "ruby", "node")


def _missing_script(line: str) -> str | None:
    """The script that a plain `interpreter script …` line names, if it is not there."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if len(words) < 2 or os.path.basename(words[0]) not in _RUNNERS or words[1].startswith("-"):
        return None
    if any(char in line for char in "$`;|&<>(){}*?\n"):
        return None
    path = os.path.abspath(os.path.expanduser(words[1]))
    return None if os.path.exists(path) else path


def _programs(text: str, file: str, line: int | None, key: str | None) -> Iterator[Problem]:
    """A program that is not installed makes a guard pass everything, or fail each time."""
    for name in shell_lines.programs(text):
        if shutil.which(name) is None:
            message = f"there is no program '{name}' on the PATH"
            remedy = "install it, or check for it in the script and exit with 2 if it is missing"
            yield Problem("missing-program", file, line, key, message, remedy)


def _refused_by(shell: str, arguments: list[str], file: str, line: int | None) -> Iterator[Problem]:
    said = shell_lines.refusal(shell, *arguments)
    if said:
        key = "command" if line else None
        yield Problem("script-syntax", file, line, key, f"the shell refuses it: {said}", "mend the shell syntax")
