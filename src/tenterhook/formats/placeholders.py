"""Placeholders, such as `{{tool_input.file_path}}`, in a table hook's command: data, never code.

Each placeholder becomes a reference to an environment variable, quoted as its place in the shell line requires, so
that no value can end a quote. Where a value would still be code (a program's name, `sh -c`, `eval`), the hook
is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..basics import light_json, shell_lines
from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from tree_sitter import Node

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*(?:\.[\w-]+)*)\s*\}\}")
_VARIABLE = "TENTERHOOK_VALUE_"
_LONGEST = 128 * 1024 - 64  # the limit of Linux for one variable, with room for its name


class Misplaced(NamedTuple):
    """A placeholder whose value would be code."""

    text: str
    where: str


class Template(NamedTuple):
    """A shell line with variables instead of placeholders, and the field of each variable."""

    line: str
    fields: tuple[str, ...]
    misplaced: tuple[Misplaced, ...] = ()


class Filled(NamedTuple):
    """A shell line with the values of its variables; the notes name missing values."""

    line: str
    variables: dict[str, str]
    notes: tuple[str, ...] = ()


def fill(command: str, payload: Mapping[str, Any]) -> Filled:
    """Return the command for one event."""
    made = template(command)
    variables: dict[str, str] = {}
    notes: list[str] = []
    for number, field in enumerate(made.fields):
        value = _look_up(payload, field)
        if value is None:
            notes.append(f"{{{{{field}}}}} is not in the event; it is replaced by an empty text")
        text = "" if value is None else light_json.printable(light_json.text(value))
        if "\0" in text:
            text = text.replace("\0", "\ufffd")
            notes.append(f"{{{{{field}}}}} held NUL characters, which no command line can; they were replaced")
        if len(text.encode()) > _LONGEST:
            notes.append(f"{{{{{field}}}}} is too long for a command line; read it from the JSON on stdin")
        variables[f"{_VARIABLE}{number}"] = text
    return Filled(made.line, variables, tuple(notes))


def _look_up(payload: Mapping[str, Any], field: str) -> Any:
    value: Any = payload
    for key in field.split("."):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


@lru_cache(maxsize=1024)
def template(command: str) -> Template:
    """Return the template of a command; without placeholders that is the command itself."""
    found = list(_PLACEHOLDER.finditer(command))
    if not found:
        return Template(command, ())
    names = [f"{_VARIABLE}{number}" for number in range(len(found))]
    # After a variable, the marker must not become part of its name.
    glued = [re.search(r"\$\w+$", command[: each.start()]) is not None for each in found]
    marks = [f"@{name}" if glue else name for name, glue in zip(names, glued, strict=True)]
    pieces: list[str] = []
    starts: list[int] = []
    position = size = 0
    for mark, placeholder in zip(marks, found, strict=True):
        before = command[position : placeholder.start()]
        starts.append(size + len(before.encode("utf-8", "replace")))
        size = starts[-1] + len(mark)
        pieces += [before, mark]
        position = placeholder.end()
    pieces.append(command[position:])
    marked = "".join(pieces).encode("utf-8", "replace")
    root = shell_lines.parse(marked)
    misplaced: list[Misplaced] = []
    line = marked
    for name, mark, placeholder, start in reversed(list(zip(names, marks, found, starts, strict=True))):
        end = start + len(mark)
        node = root.descendant_for_byte_range(start, end)
        unclear = node is None or (mark != name and root.has_error)
        where = "a shell line that does not parse" if node is None or unclear else _code(node)
        if _is_escaped(command[: placeholder.start()]) and (node is None or node.type != "raw_string"):
            where = "behind a backslash"
        if where:
            misplaced.append(Misplaced(placeholder[0], where))
        line = line[:start] + _reference(name, node).encode() + line[end:]
    return Template(line.decode(), tuple(each[1] for each in found), tuple(reversed(misplaced)))


def _is_escaped(before: str) -> bool:
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _reference(name: str, node: Node | None) -> str:
    """Return the reference to a variable, quoted for its place."""
    kind = node.type if node else ""
    if kind == "raw_string":
        return f"'\"${{{name}}}\"'"
    if kind in ("string_content", "string", "heredoc_body", "heredoc_content"):
        return f"${{{name}}}"
    return f'"${{{name}}}"'


_CODE_NODES = {
    "ERROR": "a shell line that does not parse",
    "arithmetic_expansion": "arithmetic",
    "variable_name": "the name of a variable",
    "subscript": "an index",
    "array": "an array",
    "ansi_c_string": "a string with escapes",
    "command_name": "the name of a program to start",
    "function_definition_name": "the name of a function",
}


def _code(node: Node) -> str | None:
    """Return where the value would be code; None if it is data."""
    child: Node | None = None
    current: Node | None = node
    while current is not None:
        if current.type in _CODE_NODES:
            return _CODE_NODES[current.type]
        if current.type in ("compound_statement", "test_command") and (current.text or b"")[:2] in (b"((", b"[["):
            return "an expression of the shell"
        if current.type == "command" and child is not None and (where := _code_in_command(current, child)):
            return where
        if current.type == "heredoc_redirect":
            if any(part.type == "heredoc_start" and _text(part)[:1] in ("'", '"', "\\") for part in current.children):
                return "a quoted here-document"
            inside = [part for part in current.children if part.type in ("pipeline", "command", "list")]
            if _feeds_interpreter(current.parent) or any(_feeds_interpreter(part) for part in inside):
                return "the input of an interpreter"
            if b"|" in (current.text or b"").partition(b"\n")[0]:
                return "a here-document in a pipe"
        if current.type == "herestring_redirect" and _feeds_interpreter(current.parent):
            return "the input of an interpreter"
        if current.type == "pipeline" and child is not None:
            after = current.children[current.children.index(child) + 1 :]
            if any(_feeds_interpreter(each) for each in after):
                return "the input of an interpreter"
        child, current = current, current.parent
    return None


_RUN_TEXT = {"eval", ".", "source", "trap", "alias", "let", "ssh", "su", "watch", "parallel"}
_INTERPRETER = re.compile(
    r"(?:sh|bash|dash|ash|zsh|ksh|mksh|fish|busybox|python|pypy|perl|ruby|node|nodejs|deno|bun|php|lua|osascript|pwsh"
    r"|[gmn]?awk|g?sed|ed|ex|vim?|psql|sqlite3|mysql|make)[\d.]*"
)
_CODE_OPTION = re.compile(r"-\w*[ceErp]|--eval|--command|--execute|--print")


class Launcher(NamedTuple):
    """A program that starts another: the options that take a value, the number of operands before the program."""

    valued: str = ""
    operands: int = 0


_LAUNCHERS = {
    "builtin": Launcher(),
    "chroot": Launcher("", 1),
    "command": Launcher(),
    "doas": Launcher("Cu"),
    "env": Launcher("uCS"),
    "exec": Launcher("a"),
    "flock": Launcher("wE", 1),
    "ionice": Launcher("cnp"),
    "nice": Launcher("n"),
    "nohup": Launcher(),
    "setsid": Launcher(),
    "stdbuf": Launcher("ioe"),
    "strace": Launcher("aeoOpPsSuU"),
    "sudo": Launcher("ugpCrtThDR"),
    "time": Launcher("fo"),
    "timeout": Launcher("sk", 1),
    "unshare": Launcher(),
    "xargs": Launcher("adEILnPs"),
}


def _code_in_command(command: Node, child: Node) -> str | None:
    """Return where in a simple command a value would be code, given the words before it; None if it is data."""
    words = [part for part in command.children if part.type not in ("variable_assignment", "file_redirect")]
    if child not in words:
        return None  # an assignment or a file: data
    before = [_bare(_text(word)) for word in words[: words.index(child)]]
    while before and before[0] in _LAUNCHERS:
        if before[1:2] in (["-v"], ["-V"]) and before[0] == "command":
            return None
        before = _after_launcher(before)
    if not before:
        return "the name of a program to start"
    program, arguments = before[0], before[1:]
    if program in _RUN_TEXT or program in _TAKES_CODE:
        return f"what {program} runs"
    if arguments and arguments[-1] in ("-exec", "-execdir", "-ok", "-okdir"):
        return "the name of a program to start"
    if arguments and _CODE_OPTION.fullmatch(arguments[-1]):
        # Programs start others in more ways than can be listed: search for an interpreter in all words before.
        runner = next((word for word in before if _INTERPRETER.fullmatch(word) or not _LITERAL.fullmatch(word)), None)
        if runner or program in _RUNNERS:
            return f"what {runner or program} runs"
    if _INTERPRETER.fullmatch(program) and all(each.startswith("-") for each in arguments):
        return f"what {program} runs"
    return None


# Programs whose own language can start programs; and those whose -c is a shell line.
_TAKES_CODE = {"sqlite3", "psql", "mysql", "mariadb", "tmux", "screen", "gdb", "expect"}
_RUNNERS = {"script", "git", "npx", "npm", "su", "flock", "watch"}
_LITERAL = re.compile(r"[^$`\\]*")


def _after_launcher(words: list[str]) -> list[str]:
    """Return the words of the program that a launcher starts; empty if it is not among them."""
    valued, operands = _LAUNCHERS[words[0]]
    left = words[1:]
    while left:
        word = left.pop(0)
        if word in ("-c", "--command"):
            return []  # a whole line to run
        if word.startswith("--"):
            if left and "=" not in word:
                left.pop(0)  # its value, perhaps
        elif word.startswith("-"):
            if left and len(word) > 1 and word[-1] in valued:
                left.pop(0)
        elif "=" in word:
            continue
        elif operands:
            operands -= 1
        else:
            return [word, *left]
    return []


def _feeds_interpreter(node: Node | None) -> bool:
    """Whether a command, or the command of a redirection, runs its input as code."""
    if node is None:
        return False
    for command in _commands(node):
        words = [_bare(_text(part)) for part in command.children if part.type in _WORDS]
        for number, word in enumerate(words):
            after = words[number + 1 :]
            if _INTERPRETER.fullmatch(word) and all(each.startswith("-") for each in after):
                return True
            if word in ("xargs", "parallel") and any(_INTERPRETER.fullmatch(each) for each in after):
                return True
        if words and words[0] in _RUN_TEXT:
            return True
    return False


_WORDS = ("command_name", "word", "string", "raw_string", "concatenation", "number")


def _commands(node: Node) -> Iterator[Node]:
    if node.type == "command":
        yield node
    for child in node.children:
        if child.type not in ("heredoc_redirect", "herestring_redirect"):
            yield from _commands(child)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _bare(word: str) -> str:
    """Return a word without quotes and, for a program, without its directory."""
    bare = re.sub(r"['\"\\]", "", word) if not re.search(r"\s", word) else word.strip("'\"")
    return bare if bare.startswith("-") else bare.rsplit("/", 1)[-1]
