"""Lints for hooks that load, but will not do what their author intends."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import TYPE_CHECKING

from .. import guards
from ..basics import expression_cost, places
from ..errors import Problem
from ..formats import entry_points, expressions, front_matter, toml_files
from ..shell import reader, syntax
from . import fingerprints, project_root, script_syntax, tool_expressions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Hook

PLACEHOLDER = "Not here: say why, and what to do instead."  # the reason in a script of `tenterhook new`, to be replaced
_LARGEST_SCRIPT = 256 * 1024
_STEPS = 1_000_000  # for parsing a script
_LONGEST_BODY = 4000  # characters, about 1,000 tokens

# Builtins of POSIX shells and bash.
_BUILTINS = frozenset(
    (
        *(".", ":", "[", "alias", "bg", "break", "builtin", "cd", "command", "continue", "declare", "echo", "eval"),
        *("exec", "exit", "export", "false", "fc", "fg", "getopts", "hash", "help", "history", "jobs", "kill", "let"),
        *("local", "logout", "mapfile", "popd", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return"),
        *("set", "shift", "shopt", "source", "test", "time", "times", "trap", "true", "type", "typeset", "ulimit"),
        *("umask", "unalias", "unset", "wait"),
    )
)


def lint(hook: Hook) -> Iterator[Problem]:
    """Yield the problems of one hook that loading does not report."""
    if hook.missing is not None:
        return
    yield from _expressions(hook)
    if hook.layer == "project" and hook.folder is not None:
        yield from _trust(hook, hook.folder)
    try:
        if hook.folder is not None:
            yield from _guard(hook)
            yield from _folder(hook, hook.folder)
        elif hook.command is not None:
            yield from _command(hook, hook.command)
    except OSError as error:
        message = f"cannot read {error.filename}: {error.strerror}"
        yield Problem("unreadable", hook.source, None, None, message, "make it readable")


def _trust(hook: Hook, folder: str) -> Iterator[Problem]:
    """Yield the problem of a project's folder that cannot be trusted."""
    try:
        fingerprints.of_folder(folder)
    except fingerprints.Untrustable as error:
        yield Problem("cannot-be-trusted", hook.source, None, None, f"it never runs: {error.message}", error.remedy)


def _expressions(hook: Hook) -> Iterator[Problem]:
    for key, expression in (("tool", hook.tool), ("pattern", hook.pattern), ("matcher", hook.target)):
        if expression is None:
            continue
        shown = "matcher" if hook.has_one_matcher else key
        for construct, meaning in expressions.dialect_differences(hook.dialect, expression):
            message = f"{construct} in '{expression}' is {meaning}"
            remedy = f"this file's expressions are {hook.dialect.title()}; write it so that both mean the same"
            yield Problem("dialect", hook.source, _line(hook, shown), shown, message, remedy)
        if expression_cost.is_exponential(expression):
            message = f"'{expression}' repeats something that repeats or branches: it can take exponential time"
            remedy = "remove the inner or the outer repetition"
            yield Problem("can-run-away", hook.source, _line(hook, shown), shown, message, remedy)
    if hook.tool is not None and hook.spec.has_tool:
        yield from _tool(hook, hook.tool)


def _tool(hook: Hook, expression: str) -> Iterator[Problem]:
    """Yield the problem of an expression for a tool's name that matches no tool."""
    key = "matcher" if hook.has_one_matcher else "tool"
    rule = tool_expressions.permission_rule(hook.dialect, expression)
    if rule is not None:
        message = f"'{rule}' is a permission rule of another program; as an expression it matches no tool"
        remedy = tool_expressions.instead_of_rule(rule, has_pattern=not hook.has_one_matcher)
        yield Problem("permission-syntax", hook.source, _line(hook, key), key, message, remedy)
    elif not tool_expressions.may_mean_other_tools(expression) and not tool_expressions.finds_a_known_tool(
        hook.dialect, expression
    ):
        message = f"'{expression}' matches no tool of any known agent"
        remedy = tool_expressions.suggestion(expression)
        yield Problem("unknown-tool", hook.source, _line(hook, key), key, message, remedy)


def _line(hook: Hook, key: str) -> int | None:
    """Return the line of a hook's key, or of the hook if the key is not found."""
    if hook.folder is not None:
        front = front_matter.read(hook.source)
        return hook.line if isinstance(front, Problem) else front.line_of(key)
    loaded = toml_files.load(hook.source)
    return hook.line if isinstance(loaded, Problem) or hook.line is None else loaded[1].below(hook.line, key)


def _guard(hook: Hook) -> Iterator[Problem]:
    """Yield problems of a built-in guard: an unknown name, settings without effect."""
    if hook.guard is None:
        return
    try:
        for key, message, remedy in guards.setting_problems(hook.guard, hook.metadata):
            yield Problem("guard-setting", hook.source, _line(hook, key), key, message, remedy)
    except guards.UnknownGuard as error:
        line = _line(hook, "guard")
        yield Problem(
            "unknown-guard", hook.source, line, "guard", str(error), "correct the name, or upgrade Tenterhook"
        )


def _folder(hook: Hook, folder: str) -> Iterator[Problem]:
    length = os.path.getsize(hook.source)
    if length > _LONGEST_BODY:
        message = f"HOOK.md has about {length // 4} tokens"
        remedy = "keep it under 1,000: agents may read it; move the rest to a file beside it"
        yield Problem("long-body", hook.source, None, None, message, remedy)
    if hook.guard is not None:  # its script is for other programs
        return
    script, _ = entry_points.entry_point(folder)
    if script is None:
        return
    yield from placeholder(script)
    with open(script, "rb") as file:
        first = file.readline(256)
    if first.startswith(b"#!") and first.rstrip(b"\n").endswith(b"\r"):
        message = "the #! line ends with a carriage return: the system will not find the interpreter"
        yield Problem("script-syntax", script, 1, None, message, "save the script with Unix line ends")
        return
    yield from _script(script, first)


def _script(script: str, first: bytes) -> Iterator[Problem]:
    """Yield why a script cannot be run, by its first line and its name."""
    missing = _missing_interpreter(first)
    if missing:
        yield Problem("cannot-start", script, 1, None, *missing)
        return
    is_executable = os.access(script, os.X_OK)
    if not first.startswith(b"#!") and not is_executable and not script.endswith((".sh", ".py")):
        message = "no exec bit and no #! line: nothing says what runs it"
        yield Problem("cannot-start", script, None, None, message, "begin it with a #! line, and chmod +x it")
        return
    program = entry_points.named_program(first)
    if not program and not first.startswith(b"#!") and b"\0" not in first:
        program = ["python3" if script.endswith(".py") else "sh"]
    if program:
        yield from _broken(script, program)


def _broken(script: str, program: list[str]) -> Iterator[Problem]:
    """Yield the syntax error of a script, and the missing programs of a shell script."""
    name = os.path.basename(program[0])
    shell = script_syntax.shell_called(name)
    if shell:
        refused = list(_refused_by(shell, [script], script, None))
        with open(script, encoding="utf-8", errors="replace") as file:
            yield from refused or _programs(file.read(_LARGEST_SCRIPT), script, None, None)
        return
    refusal = script_syntax.refusal(script, name, with_options=len(program) > 1)
    if refusal is not None:
        yield Problem("script-syntax", script, refusal.line, None, refusal.message, "fix the syntax")


def _missing_interpreter(first: bytes) -> tuple[str, str] | None:
    """Return the message and remedy for a `#!` line that names a missing program, or None."""
    interpreter = entry_points.interpreter(first)
    if interpreter and not os.path.exists(interpreter):
        return f"its #! line names {interpreter}, which does not exist", "fix the #! line, or install the interpreter"
    program = entry_points.named_program(first)
    if not interpreter or os.path.basename(interpreter) != "env" or not program:
        return None
    if shutil.which(program[0]) is not None:
        return None
    name, _, options = program[0].partition(" ")
    if options:
        message = f"its #! line has env look for a program called '{program[0]}', options and all"
        return message, f"write: #!{interpreter} -S {program[0]}"
    return f"its #! line names '{name}', and there is no such program on the PATH", _instead_of(name, "fix the #! line")


def placeholder(script: str) -> Iterator[Problem]:
    """Yield the problem of a script that still has the reason of its template."""
    with open(script, encoding="utf-8", errors="replace") as file:
        lines = file.read(_LARGEST_SCRIPT).split("\n")
    for number, line in enumerate(lines, start=1):
        if PLACEHOLDER in line:
            message = "the reason is still the placeholder of `tenterhook new`; the model is sent that text"
            remedy = "write why it is refused and what to do instead, here and in cases/"
            yield Problem("placeholder-reason", script, number, None, message, remedy)


def _command(hook: Hook, command: str) -> Iterator[Problem]:
    line = _line(hook, "command")
    refused = list(_refused_by("/bin/sh", ["-c", command], hook.source, line))
    yield from refused
    if refused:
        return
    words = _plain_words(command)
    if words and _is_missing(words[0]):
        message, remedy = f"there is no program '{words[0]}' on the PATH", _instead_of(words[0], "fix the name")
        yield Problem("cannot-start", hook.source, line, "command", message, remedy)
        return
    named = _named_script(words)
    if named is None:
        yield from _programs(command, hook.source, line, "command")
        return
    program, given = named
    root = project_root.project_root(os.getcwd())
    paths = (os.path.abspath(given), os.path.join(root, given))
    script = next((path for path in paths if os.path.exists(path)), None)
    if script is None:
        other = next((name for path in paths for name in entry_points.in_any_case(*os.path.split(path))), None)
        message = f"there is no {paths[0]}" + (f"; the file is called {other}, and case matters" if other else "")
        # a file for several projects may mean a path that exists in another one
        is_certain = os.path.isabs(given) or places.is_inside(hook.source, root)
        code = "cannot-start" if is_certain else "missing-program"
        yield Problem(code, hook.source, line, "command", message, "fix the path, or add the script")
    elif program is not None:
        yield from _programs(program, hook.source, line, "command")
        if os.path.isfile(script):
            yield from _broken(script, [program])
    elif not os.access(script, os.X_OK):
        message = f"{script} is not executable: the shell cannot start it"
        yield Problem("cannot-start", hook.source, line, "command", message, f"chmod +x {shlex.quote(script)}")
    elif os.path.isfile(script):
        with open(script, "rb") as file:
            yield from _script(script, file.readline(256))


_RUNNERS = ("python", "python3", "sh", "bash", "dash", "zsh", "perl", "ruby", "node")


def _plain_words(line: str) -> list[str]:
    """Return the words of a line that only runs one program, without `exec` and `env`; else an empty list."""
    only = syntax.only_command(line)
    reading = reader.read(line, os.getcwd(), {"HOME": os.path.expanduser("~")})
    commands = [each for each in reading.commands if set(each.through) <= {"exec", "env"}]
    if only is None or only.redirects or not commands or any(name == "PATH" for name, _ in commands[-1].assignments):
        return []
    last = commands[-1]
    is_known = all(mark not in word for word in last.words for mark in (*syntax.UNKNOWNS, *syntax.PATTERNS))
    return last.words if is_known and not last.unset and last.name not in ("exec", "env") else []


def _named_script(words: list[str]) -> tuple[str | None, str] | None:
    """Return the interpreter and script of `interpreter script …`, or None and the script of `path/script …`."""
    if len(words) > 1 and os.path.basename(words[0]) in _RUNNERS and not words[1].startswith("-"):
        return words[0], os.path.expanduser(words[1])
    if words and "/" in words[0]:
        return None, os.path.expanduser(words[0])
    return None


def _is_missing(name: str) -> bool:
    """Whether a word is the name of a program, not of a builtin, that is not on the PATH."""
    return "/" not in name and programs(name) == [name] and shutil.which(name) is None


def _instead_of(name: str, otherwise: str) -> str:
    """Return the remedy for an interpreter that is not on the PATH."""
    from difflib import get_close_matches

    close = get_close_matches(name, _RUNNERS, n=1)
    return f"did you mean {close[0]}? Else install it" if close and close[0] != name else f"{otherwise}, or install it"


def programs(text: str) -> list[str]:
    """Return the programs that a script calls by a literal name, without builtins and its own functions."""
    try:
        nodes = list(syntax.nodes(syntax.parse(text, syntax.Budget(_STEPS))))
    except (syntax.Unreadable, syntax.OutOfBudget):
        return []
    functions = {node.name for node in nodes if isinstance(node, syntax.Function)}
    firsts = [node.words[0] for node in nodes if isinstance(node, syntax.Simple) and node.words]
    names = ["".join(part.value for part in word) for word in firsts if all(part.kind == "text" for part in word)]
    return [name for name in dict.fromkeys(names) if name.isascii() and name not in _BUILTINS | functions]


def _programs(text: str, file: str, line: int | None, key: str | None) -> Iterator[Problem]:
    """Yield a problem for each program that is not installed: without it, a guard allows everything or always fails."""
    for name in programs(text):
        if shutil.which(name) is None:
            message = f"there is no program '{name}' on the PATH"
            remedy = "install it, or check for it in the script and exit with 2 if it is missing"
            yield Problem("missing-program", file, line, key, message, remedy)


def _refused_by(shell: str, arguments: list[str], file: str, line: int | None) -> Iterator[Problem]:
    said = script_syntax.refusal_by_shell(shell, *arguments)
    if said:
        key = "command" if line else None
        yield Problem("script-syntax", file, line, key, f"the shell refuses it: {said}", "fix the shell syntax")
