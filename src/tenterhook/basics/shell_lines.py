"""Shell lines and scripts: their interpreter, their syntax, the programs they call."""

from __future__ import annotations

import os
import sys

from .named_tuples import cached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Language, Node

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


@cached(maxsize=1)
def _bash() -> Language:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


def shell_called(name: str) -> str | None:
    """Return the shell of that name, if it is one that can check the syntax of a script."""
    import shutil

    return "/bin/sh" if name in ("sh", "dash") else shutil.which("bash") if name == "bash" else None


def named_program(first: bytes) -> list[str]:
    """Return the program that a `#!` line starts, behind `env` too, and its arguments; empty if unknown."""
    words = first[2:].decode("utf-8", "replace").replace("\t", " ").strip() if first.startswith(b"#!") else ""
    program, _, argument = words.partition(" ")
    argument = argument.strip()
    if os.path.basename(program) != "env":
        return [each for each in (program, argument) if each]
    for option in ("--split-string=", "--split-string ", "-S"):
        if argument.startswith(option):
            return _behind_env(argument.removeprefix(option))
    if argument.startswith("-"):
        return []
    # Linux passes the rest as one word: with options it is the name of no program
    return [argument] if argument and sys.platform == "linux" else argument.split()


def _behind_env(arguments: str) -> list[str]:
    import shlex

    try:
        words = shlex.split(arguments)
    except ValueError:
        return []
    while words and (words[0].startswith("-") or "=" in words[0]):
        del words[: 2 if words[0] in ("-u", "-C") else 1]
    return words


def refusal(shell: str, *arguments: str) -> str | None:
    """Return a shell's error for a script or line (`-c`) that it cannot parse; None if it can, or if it cannot run."""
    import subprocess

    try:
        asked = subprocess.run(
            [shell, "-n", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=5
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    said = asked.stderr.decode("utf-8", "replace").strip().splitlines()
    return None if asked.returncode == 0 else (said[0] if said else "syntax error")


def parse(line: bytes) -> Node:
    """Return the syntax tree; syntax errors are ERROR nodes in it.

    The grammar's scanner uses characters as indexes of a table of 256: for emoji and the like it may crash. A line
    with such a character is returned as a syntax error.
    """
    from tree_sitter import Parser

    is_safe = all(byte < 0xF0 for byte in line)
    return Parser(_bash()).parse(line if is_safe else b"(").root_node


def function_names(nodes: Iterable[Node]) -> set[bytes | None]:
    """Return the names of functions that a script defines."""
    defined = [node for node in nodes if node.type == "function_definition"]
    return {child.text for node in defined for child in node.children if child.type == "word"}


def programs(text: str) -> list[str]:
    """Return the programs that a script calls by a literal name: no builtins, none of its own functions."""
    nodes = list(_nodes(parse(text.encode("utf-8", "replace"))))
    functions = function_names(nodes)
    names = [
        node.text.decode("utf-8", "replace")
        for node in nodes
        if node.type == "command_name" and node.text not in functions and node.text
        if [child.type for child in node.children] == ["word"]
    ]
    return [name for name in dict.fromkeys(names) if name not in _BUILTINS and not set(name) & set("$\\~*?")]


def _nodes(node: Node) -> Iterator[Node]:
    left = [node]
    while left:
        current = left.pop()
        yield current
        left.extend(reversed(current.children))
