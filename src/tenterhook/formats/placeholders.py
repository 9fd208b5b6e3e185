"""Fills placeholders, such as `{{tool_input.file_path}}`, in a table hook's command. Values are data, never code.

Each placeholder becomes a reference to an environment variable, quoted as its place in the shell line requires, so
that no value can end a quote. The shell reader then reads the line: if a value would be code (the name of a program,
`sh -c`, an awk script), the hook is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..basics import env_policy, light_json
from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ..shell.reader import Reading, ShellCommand

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


class FilledLine(NamedTuple):
    """A shell line with the values of its variables, and notes about values that are missing or were changed."""

    line: str
    variables: dict[str, str]
    notes: tuple[str, ...] = ()
    misplaced: tuple[Misplaced, ...] = ()


def fill(command: str, payload: Mapping[str, Any]) -> FilledLine:
    """Return a command with the values of an event's payload."""
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
    return FilledLine(made.line, variables, tuple(notes), made.misplaced)


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
    """Return the template of a command; for one without placeholders, the command itself."""
    found = list(_PLACEHOLDER.finditer(command))
    if not found:
        return Template(command, ())
    names = [f"{_VARIABLE}{number}" for number in range(len(found))]
    pieces = [command[start:end] for start, end in _between(found, len(command))]
    written = list(names)  # the replacement of each placeholder
    tree = _Tree(_joined(pieces, written))
    misplaced: dict[int, str] = {}
    for number, name in enumerate(names):
        for reference in (f"${{{name}}}", f'"${{{name}}}"', f"'\"${{{name}}}\"'"):
            written[number] = reference
            other = _Tree(_joined(pieces, written))
            if tree.shape is not None and other.shape == tree.shape and other.is_quoted.get(name, True):
                break
        else:
            misplaced[number] = _NOT_QUOTABLE if tree.shape is not None else "a shell line that does not parse"
            written[number] = f'"${{{name}}}"'
            tree = _Tree(_joined(pieces, written))
    line = _joined(pieces, written)
    if not misplaced:
        misplaced = _code(line, names, _Tree(line))
    texts = ((number, Misplaced(found[number][0], misplaced[number])) for number in sorted(misplaced))
    return Template(line, tuple(each[1] for each in found), tuple(each for _, each in texts))


_NOT_QUOTABLE = "a place where the shell expands nothing, or where it takes a name"


def _between(found: Sequence[re.Match[str]], length: int) -> Iterator[tuple[int, int]]:
    """Yield the start and end of the text before, between and after the matches."""
    return zip([0, *(each.end() for each in found)], [*(each.start() for each in found), length], strict=True)


def _joined(pieces: Sequence[str], written: Sequence[str]) -> str:
    return "".join(each for pair in zip(pieces, [*written, ""], strict=True) for each in pair)


class _Tree:
    """The syntax of a line, reduced to what decides how placeholders are quoted.

    `shape` is its commands and words as a text, in which a reference to a placeholder's variable is the variable's
    name; None if the line does not parse. `is_quoted` tells whether all references to a variable are quoted, `code`
    which kind of code a variable is in; `functions` are the names of the functions it defines.
    """

    def __init__(self, line: str) -> None:
        from ..shell import syntax

        self.is_quoted: dict[str, bool] = {}
        self.code: dict[str, str] = {}
        self.functions: list[str] = []
        self._texts: list[str] = []
        parser = syntax.Parser(line, syntax.Budget(_STEPS))
        try:
            self._walk(list(parser.complete_commands()), "")
        except (syntax.Unreadable, syntax.OutOfBudget):
            parser.flaws.append("unreadable")
        self.shape = None if parser.flaws else syntax.decoded("".join(self._texts)).replace(syntax.BREAK, " ")

    def _walk(self, node: Any, where: str) -> None:
        from ..shell import syntax

        if isinstance(node, str):
            self._texts.append(node)
        elif isinstance(node, syntax.Part) and node.kind == "variable" and node.value.name.startswith(_VARIABLE):
            name = node.value.name
            self._texts.append(name)
            self.is_quoted[name] = self.is_quoted.get(name, True) and node.quoted
            if where:
                self.code[name] = where
        elif isinstance(node, syntax.Part):
            self._walk(node.value, "arithmetic" if node.kind == "arithmetic" else where)
        elif isinstance(node, syntax.NODES):
            if isinstance(node, syntax.Function):
                self.functions.append(node.name)
            if isinstance(node, syntax.Block) and node.kind == "test":
                where = "an expression of the shell"
            elif isinstance(node, syntax.Redirect) and node.operator in ("<", "<>"):
                where = _INPUT_FILE
            self._texts.append(type(node).__name__)
            for field, value in node._asdict().items():
                if field not in ("shown", "span"):
                    self._walk(value, "an index" if field == "subscript_word" else where)
        elif isinstance(node, (list, tuple)):
            self._texts.append("(")
            for each in node:
                self._walk(each, where)
            self._texts.append(")")


_STEPS = 1_000_000
_INPUT_FILE = "the file that an interpreter runs"
_NAMING = ("export", "declare", "typeset", "local", "readonly", "unset", "read", "mapfile", "readarray", "getopts")
_CODE_OPTION = re.compile(r"-\w*[ceErp]|--eval|--command|--execute|--print")


def _code(line: str, names: Sequence[str], tree: _Tree) -> dict[int, str]:
    """Return the numbers of the variables that are code in a line, each with a description of the place."""
    from ..shell import program_text, reader

    values = {name: f"tenterhook-value-{number}-" for number, name in enumerate(names)}
    called = "".join(f"\n{name}" for name in tree.functions)
    reading = reader.read(line + called, "/", {"HOME": "/home/user", **values})
    found: dict[int, str] = {}
    for number, (name, value) in enumerate(values.items()):
        where = tree.code.get(name, "")
        if where == _INPUT_FILE and not any(
            program_text.runs_stdin(each.words) for each in reading.commands if each.words
        ):
            where = ""
        where = where or ("" if reading.is_complete else "a shell line that cannot be followed")
        where = where or next(_places_of_code(reading, value), "")
        if where:
            found[number] = where
    return found


def _places_of_code(reading: Reading, value: str) -> Iterator[str]:
    """Yield where a value is code for the shell or for a program."""
    carrying: set[int] = set()  # commands whose output may contain it
    for command in reading.commands:
        if any(value in word for word in command.words) or value in (command.stdin or ""):
            carrying.add(id(command.words))
    for command in reading.commands:
        yield from _places_in_command(command, value, any(id(words) in carrying for words in command.upstream))
    if any(value in code for code in reading.code):
        yield "code or arithmetic that the line runs"


def _places_in_command(command: ShellCommand, value: str, is_piped: bool) -> Iterator[str]:
    from ..shell import program_text
    from ..shell.syntax import UNKNOWN

    name, words = command.name, command.words
    declared = [word.partition("=")[::2] for word in words[1:]] if name in _NAMING else []
    for variable, given in (*command.assignments, *declared):
        if value in variable:
            yield "the name of a variable"
        if value in given and (variable == "PATH" or env_policy.is_from_record(variable.encode())):
            yield f"a variable that decides what runs: {variable}"
    if not words:
        return
    if value in words[0]:
        yield "the name of a program to start"
    texts = [word for option, last in program_text.code_options(words) for word in words[option : last + 1]]
    if any(value in text for text in (*texts, *program_text.texts(words, command.stdin))):
        yield f"what {name} runs"
    if is_piped and program_text.runs_stdin(words):
        yield f"the input of {name}"
    for number, word in enumerate(words[1:], start=1):
        if value in word and name in ("test", "[", "printf") and words[number - 1] in ("-v", "-R"):
            yield "the name of a variable"
        if value in word and _CODE_OPTION.fullmatch(words[number - 1]):
            # Programs start others in too many ways to list: look for an interpreter in the words before.
            before = words[: number - 1]
            if any(program_text.is_interpreter(each) for each in before) or UNKNOWN in words[0]:
                yield "what an interpreter runs"
