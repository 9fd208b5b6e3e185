"""Which commands a shell line would run, read as a shell reads it; nothing is run.

`read(line, directory, variables)` returns a `Reading`: every command with its expanded words, in the order in which
they would run, and notes. It follows what can be known: variables that the line sets, directories it changes to, what
`echo` and here-documents feed to a shell, files that it writes and then runs, programs that run others (`sudo`,
`xargs`, `sh -c`, `find -exec` …). All branches are walked. What is not known is a mark in a word (`UNKNOWN` …); so is
an active pattern (`STAR` …): `syntax.decoded` gives the text back as it was written.

    reading = read("sudo git push --force", "/home/me/project", os.environ)
    [command.words for command in reading.commands]  # [['sudo', 'git', …], ['git', 'push', '--force']]
    reading.commands[1].through  # ('sudo',)

A line has a budget (`syntax.Budget`). `Reading.is_complete` is whether the line was understood to its end;
`Command.is_certain` whether its words are those that are written, with nothing expanded.
"""

from __future__ import annotations

import os
import re

from . import one_liners, output, programs
from .output import DECODERS, DECRYPTERS, FETCHERS, FILTERS
from .programs import program, resolved
from .syntax import (
    BREAK,
    COMMA,
    DECODED,
    GENERATED,
    NETWORK,
    ONE,
    OPEN,
    PATTERNS,
    PRIVATE,
    QUOTED,
    SET,
    STAR,
    UNKNOWN,
    UNKNOWNS,
    Block,
    Budget,
    Function,
    OutOfBudget,
    Parser,
    Simple,
    Unreadable,
    decoded,
)
from .words import MOST_WORDS, Pattern, TooManyWords, encoded, plain_number, small_number, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    from .syntax import Part, Pipeline, Redirect, Sequence, Variable, Word

    Span = tuple[int, int]

ORIGINS = {NETWORK: "run-download", DECODED: "run-decoded", GENERATED: "run-decoded"}

LONGEST = 200_000  # characters of an output that is kept; a longer one is unknown
LONGEST_WORD = 131_072  # bytes of an argument: Linux starts no program with a longer one
MOST_VALUES = 8  # of one variable, from different branches
MOST_ROUNDS = 24  # of a loop over numbers
DEEPEST = 12  # shells and functions in one another
LONGEST_SHOWN = 120
MOST_PRIVATE = 1_000
STEPS_AFTER = 2_000  # for what was parsed when the budget ran out
STEPS_PER_COMMAND = 8


class Command:
    """A command that would run: its expanded words, and where and how it runs."""

    __slots__ = (
        "assignments",
        "contained",
        "directory",
        "is_certain",
        "mounts",
        "redirects",
        "shown",
        "span",
        "stdin",
        "through",
        "unset",
        "upstream",
        "words",
    )

    def __init__(
        self,
        words: list[str],
        redirects: list[tuple[str, str]],
        stdin: str | None,
        directory: str,
        shown: str,
        upstream: Collection[list[str]],
    ) -> None:
        self.words = words  # empty for redirections or assignments without a command
        self.redirects = redirects  # of (operator, target), for output
        self.stdin = stdin  # the text it reads, or None
        self.directory = directory
        self.shown = shown  # the part of the line that it comes from, shortened
        self.span: Span | None = None  # start and end of that part in the line, if it is literally there
        # no variable, substitution, pattern, brace or input decided its words, assignments or redirections
        self.is_certain = False
        self.upstream = upstream  # the words of the commands whose output it reads
        self.assignments: tuple[tuple[str, str], ...] = ()  # set for this command only, or by a line of assignments
        self.contained = False  # in a container, whose paths are not those of this machine, but for the mounts
        self.mounts: list[tuple[str, str]] = []  # of (path in the container, path here)
        self.through: tuple[str, ...] = ()  # the programs that run it, outermost first: sudo, env …
        self.unset: tuple[str, ...] = ()  # variables without a value, which are taken for empty here

    @property
    def name(self) -> str:
        """The program's name without its directory, version and `.exe`; empty if there is none."""
        return program(self.words[0]) if self.words else ""


class Note:
    """Something about the line that is no single command.

    `kind` is `unreadable`, `fork-bomb`, `run-download`, `run-decoded` (either with `-directly` if the code is a file
    that is started by its path).
    """

    __slots__ = ("kind", "shown")

    def __init__(self, kind: str, shown: str) -> None:
        self.kind = kind
        self.shown = shown


class Reading:
    """The commands of a line in the order in which they would run, and notes."""

    __slots__ = ("commands", "notes")

    def __init__(self, commands: list[Command], notes: list[Note]) -> None:
        self.commands = commands
        self.notes = notes

    @property
    def is_complete(self) -> bool:
        """Whether the line was understood to its end. `commands` has what was understood before that."""
        return not any(note.kind == "unreadable" for note in self.notes)


def read(line: str, directory: str, variables: Mapping[str, str]) -> Reading:
    """Return everything that a line would run. Never raises: what cannot be read is a note of the kind `unreadable`."""
    given, line = line, _without_private(line)
    walk = _Walk(variables, line)
    if len(line) < len(given):
        walk.note("unreadable", _because(line, "it contains too many private characters"))
    if "\0" in line:  # no program can be given one, and shells differ on one in a script
        walk.note("unreadable", _because(line, "it contains a NUL character"))
        line = walk.line = line.replace("\0", "\ufffd")
    walk.all_of(line, _State(os.path.normpath(directory)))
    return Reading(walk.commands, walk.notes)


def read_words(words: list[str], directory: str, variables: Mapping[str, str]) -> Reading:
    """Return the same for a program with its arguments that is started without a shell."""
    walk = _Walk(variables, "")
    given, words = words, [_without_private(word).replace("\0", "\ufffd") for word in words]
    if sum(map(len, words)) < sum(map(len, given)):
        walk.note("unreadable", _because(" ".join(words[:64]), "it contains too many private characters"))
    walk.all_of(words, _State(os.path.normpath(directory)))
    return Reading(walk.commands, walk.notes)


def read_any(line: str | list[str], directory: str, variables: Mapping[str, str]) -> Reading:
    """Read a shell line, or a program with its arguments."""
    return read(line, directory, variables) if isinstance(line, str) else read_words(line, directory, variables)


def changed_variables(environment: Mapping[str, str]) -> dict[str, str | bool | None]:
    """Return variables that differ in the agent's own shell; None: not set there; True: the value is not known."""
    text = environment.get("TENTERHOOK_CHANGED_VARIABLES")
    if not text:
        return {}
    import json

    try:
        found = json.loads(text)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"*": True}


def agents_home(environment: Mapping[str, str]) -> str:
    """Return the home directory as the agent's own shell has it."""
    theirs = changed_variables(environment).get("HOME")
    return theirs if isinstance(theirs, str) else environment.get("HOME") or os.path.expanduser("~")


class _State:
    """A shell's state at one point of the line."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.variables: dict[str, tuple[str, ...]] = {}  # name to a tuple of possible values
        self.lists: dict[str, list[str]] = {}
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}
        self.files: dict[str, str] = {}  # path to the text that the line wrote there
        self.arguments: list[str] = []
        self.sourced = False  # a file that we cannot see may have set anything
        self.contained = False
        self.mounts: list[tuple[str, str]] = []
        self.through: tuple[str, ...] = ()
        self.zero = "sh"
        self.is_certain = True  # the code that is walked stands in the line, or in a word of it, as it is

    def size(self) -> int:
        return len(self.variables) + len(self.lists) + len(self.functions) + len(self.aliases) + len(self.files)

    def copy(self) -> _State:
        other = _State(self.directory)
        other.variables = dict(self.variables)
        other.lists = dict(self.lists)
        other.functions = dict(self.functions)
        other.aliases = dict(self.aliases)
        other.files = dict(self.files)
        other.arguments = self.arguments
        other.sourced = self.sourced
        other.contained, other.mounts, other.through = self.contained, self.mounts, self.through
        other.zero, other.is_certain = self.zero, self.is_certain
        return other


class _Walk:
    def __init__(self, environment: Mapping[str, str], line: str) -> None:
        self.environment = environment
        self.changed_variables = changed_variables(environment)
        self.line = line
        self.commands: list[Command] = []
        self.notes: list[Note] = []
        self.budget = Budget()
        self.unset_is_empty = False  # how a variable without a value is expanded
        self.met_unset: list[str] = []
        self.deferred: list[Sequence] = []  # `>(…)`, walked once their input is known
        self.numbers = 0
        self.around: list[str] = []  # the source of the pipelines around
        self.calling: set[str] = set()  # functions that are being called
        self.span: Span | None = None  # of the simple command that is being walked
        self.assignments: tuple[tuple[str, str], ...] = ()  # those before the program that is being walked
        self.is_certain = True  # whether nothing was expanded in the words that are being walked
        self.parser: Parser | None = None  # of the line itself, while it is being parsed

    def all_of(self, line: str | list[str], state: _State) -> None:
        """Walk a line or the words of a program, as far as the budget goes."""
        shown = line if isinstance(line, str) else " ".join(line[:64])
        try:
            if isinstance(line, str):
                self.shell(line, state, None, "", depth=0)
            else:
                self.run(line, state, None, [], _short(shown), depth=0)
        except (OutOfBudget, RecursionError) as error:
            self.note("unreadable", _because(shown, "it is too long" if isinstance(error, OutOfBudget) else _TOO_DEEP))
            self.after_parser(state)

    def after_parser(self, state: _State) -> None:
        """Walk the simple commands of what could not be parsed to its end."""
        if self.parser is None:
            return
        unfinished, self.parser = self.parser.unfinished, None
        self.budget.steps = max(self.budget.steps, STEPS_AFTER)
        try:
            for command in unfinished:
                del command.words[MOST_WORDS:], command.redirects[MOST_WORDS:], command.assignments[MOST_WORDS:]
                self.simple(command, state, None, (), 0)
        except (OutOfBudget, RecursionError):
            pass  # the line is noted as unreadable already

    def note(self, kind: str, shown: str) -> None:
        self.notes.append(Note(kind, _short(shown)))

    def note_origin(self, mark: str) -> None:
        """Note that text of unknown content is run, with the part of the line that runs it."""
        sources = [text for text in self.around if not all(char in ORIGINS or char.isspace() for char in text)]
        self.note(ORIGINS[mark], sources[-1] if sources else "")

    def copy(self, state: _State) -> _State:
        self.budget.spend(1 + state.size() // 8)
        return state.copy()

    # -- structure ------------------------------------------------------------------------------------------------

    def shell(self, code: str, state: _State, stdin: str | None, shown: str, depth: int, surely: bool = True) -> str:
        """Walk a line or script; return what it prints, as far as that is known.

        Code that is only partly known, or that may be no shell code at all, need not be readable.
        """
        code = code.replace("\0", "")  # as shells do
        surely = surely and not any(mark in code for mark in (UNKNOWN, *ORIGINS))
        if code.lstrip()[:1] == GENERATED:
            self.note_origin(GENERATED)
        if depth > DEEPEST:
            self.note("unreadable", shown or code)
            return UNKNOWN
        parser = Parser(code, self.budget, self.offset(code) if depth else 0)
        if not depth:
            self.parser = parser
        outer = self.span
        try:
            printed = self.sequence(parser.complete_commands(), state, stdin, depth)
        except Unreadable as error:
            if surely:
                self.note("unreadable", code if depth else _because(shown or code, error.why))
            printed = UNKNOWN
            if not depth:
                self.after_parser(state)
        self.span = outer
        if parser.flaws and surely:
            self.note("unreadable", _because(shown or code, parser.flaws[0]))
        if not depth:
            self.parser = None
        return printed

    def offset(self, code: str) -> int | None:
        """Return where code stands literally in the line, at or after the command that runs it; None if nowhere."""
        if self.span is None or not code:
            return None
        found = self.line.find(code, self.span[0])
        self.budget.spend_on(((found if found >= 0 else len(self.line)) - self.span[0]) // 16)
        return found if found >= 0 else None

    def sequence(self, sequence: Iterable[tuple[str, Pipeline]], state: _State, stdin: str | None, depth: int) -> str:
        printed = _Printed(self.budget)
        before: _State | None = None  # the state without the commands after `&&` or `||`, which may not run
        for connector, pipeline in sequence:
            if before is not None and connector != "&&":
                self.join(state, [state], before)
                before = None
            if connector != ";" and before is None:
                before = self.copy(state)
            out = self.pipeline(pipeline, state, stdin, depth)
            printed.add(out + "\n" if out[-1:] in UNKNOWNS else out)
            if connector == "||" and before is not None:
                state.directory = before.directory
        if before is not None:
            self.join(state, [state], before)
        return printed.text()

    def join(self, state: _State, ends: list[_State], before: _State | None) -> None:
        """Join the states after branches into one: each variable has any of its values.

        `before` is the state if no branch ran, None if one of them did in any case.
        """
        names = dict.fromkeys(name for end in ends for name in end.variables)
        self.budget.spend(len(names) * len(ends) // 8)
        arguments = state.arguments
        variables = {}
        for name in names:
            values: list[str] = []
            for end in ends if before is None else (before, *ends):
                if name in end.variables:
                    values += end.variables[name]
                elif name not in end.lists:
                    default = " \t\n" if name == "IFS" else ""
                    values.append(_without_private(self.environment.get(name, default)))
            variables[name] = _some_values(values)
        for end in ends:
            if end is not state:
                _take_changed(state.lists, end.lists)
                _take_changed(state.functions, end.functions)
                _take_changed(state.aliases, end.aliases)
                _take_changed(state.files, end.files)
                state.arguments = end.arguments if end.arguments is not arguments else state.arguments
                state.sourced = state.sourced or end.sourced
        if before is not None:
            state.lists = {**before.lists, **state.lists}
        state.variables = variables

    def pipeline(self, pipeline: Pipeline, state: _State, stdin: str | None, depth: int) -> str:
        data = stdin
        upstream: list[list[str]] = []
        self.around.append(pipeline.shown)
        last = len(pipeline.stages) - 1
        for stage in pipeline.stages:
            own = self.copy(state) if last or pipeline.background else state
            begun = len(self.commands)
            data = self.command(stage, own, data, upstream, depth)
            if last:
                self.budget.spend(len(upstream) // 4)
                upstream = upstream + [command.words for command in self.commands[begun:] if command.words]
            if own is not state:
                state.files.update(own.files)
        if last > 0 and not pipeline.background:  # zsh runs the last command of a pipeline in the shell itself
            self.join(state, [own], state)
        self.around.pop()
        return data or ""

    def command(self, node: Any, state: _State, stdin: str | None, upstream: Collection[list[str]], depth: int) -> str:
        outer, self.deferred = self.deferred, []
        printed = self.any_command(node, state, stdin, upstream, depth)
        deferred, self.deferred = self.deferred, outer
        for body in deferred:
            self.sequence(body, self.copy(state), UNKNOWN, depth)
        return printed

    def any_command(
        self, node: Any, state: _State, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        if isinstance(node, Simple):
            return self.simple(node, state, stdin, upstream, depth)
        if isinstance(node, Function):
            if _is_fork_bomb(node, self.budget):
                self.note("fork-bomb", node.shown)
            state.functions[node.name] = node
            return ""
        return self.block(node, state, stdin, depth)

    def block(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        self.budget.spend()
        redirects, stdin = self.redirects(node.redirects, state, stdin, depth)
        if redirects:
            self.span, self.is_certain = node.span, _is_literal(node.redirects, ())
            self.commands.append(self.emitted([], redirects, stdin, state, node.shown, []))
        walk = {
            "group": self._group,
            "subshell": self._subshell,
            "branches": self._branches,
            "loop": self._loop,
            "for": self._for,
            "test": self._test,
        }[node.kind]
        return self.written(redirects, walk(node, state, stdin, depth), state)

    def _group(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        return self.sequence(node.bodies[0], state, stdin, depth)

    def _subshell(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        return self.sequence(node.bodies[0], self.copy(state), stdin, depth)

    def _branches(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        printed = _Printed(self.budget)
        for word in node.words or ():
            self.expand(word, state, depth)
        ends = []
        for at in range(0, len(node.bodies), 2):
            condition, body = node.bodies[at], node.bodies[min(at + 1, len(node.bodies) - 1)]
            if condition is not body:
                printed.add(self.sequence(condition, state, stdin, depth))
            branch = self.copy(state)
            printed.add(self.sequence(body, branch, stdin, depth))
            ends.append(branch)
        if node.complete:
            directories = {end.directory for end in ends}
            state.directory = directories.pop() if len(directories) == 1 else state.directory
        self.join(state, ends, None if node.complete else state)
        return printed.text()

    def _loop(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        if _spawns_for_ever(node, self.budget):
            self.note("fork-bomb", node.shown)
        printed = _Printed(self.budget)
        variables = dict(state.variables)
        printed.add(self.sequence(node.bodies[0], state, stdin, depth))
        read_variables = self.changed_by_read(node.bodies[0], variables, state)
        inside = self.copy(state)
        printed.add(self.sequence(node.bodies[1], inside, stdin, depth))
        self.join(state, [inside], state)
        for name in read_variables:
            state.variables[name] = (*state.variables[name][: MOST_VALUES - 1], "")
        return printed.text()

    def changed_by_read(self, condition: Sequence, before: dict[str, tuple[str, ...]], state: _State) -> list[str]:
        """Return the variables of `while read`, which are empty after the loop."""
        if "read" not in [name for name, _ in _names(Block("group", [condition]), self.budget)]:
            return []
        return [name for name, values in state.variables.items() if before.get(name) is not values]

    def _for(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        if node.name is None:
            for word in node.words:
                self.expand(word, state, depth)
            items = [UNKNOWN]
        elif node.words is None:
            items = state.arguments or [UNKNOWN]
        else:
            items = self.fields(node.words, state, depth)[0] or [UNKNOWN]
        printed = _Printed(self.budget)
        inside = self.copy(state)
        if len(items) > MOST_ROUNDS and all(map(str.isdigit, items)):
            items = [*items[: MOST_ROUNDS - 1], items[-1]]
        for item in items:
            if node.name:
                inside.variables[node.name] = (item,)
            printed.add(self.sequence(node.bodies[0], inside, stdin, depth))
        self.join(state, [inside], state if UNKNOWN in items else None)
        return printed.text()

    def _test(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        for word in node.words:
            for text in self.expand(word, state, depth):
                self.indexes([decoded(text)], state, depth)
        return ""

    # -- simple commands ------------------------------------------------------------------------------------------

    def simple(
        self, node: Simple, state: _State, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        """Walk one command; twice if it uses a variable without a value: it may be empty, or come from elsewhere."""
        self.span = node.span
        if self.unset_is_empty:
            return self._simple(node, state, stdin, upstream, depth)
        outer, self.met_unset = self.met_unset, []
        printed = self._simple(node, state, stdin, upstream, depth)
        if self.met_unset:
            self.unset_is_empty = True
            try:
                self._simple(node, self.copy(state), stdin, upstream, depth)
            finally:
                self.unset_is_empty = False
        self.met_unset = outer
        return printed

    def _simple(
        self, node: Simple, state: _State, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        own = self.copy(state) if node.words and node.assignments and not _is_builtin(node) else state
        self.deferred = []
        assignments = tuple(
            (name, self.assign(own, name, index, operator, value, depth))
            for name, index, operator, value in node.assignments
        )
        redirects, stdin = self.redirects(node.redirects, state, stdin, depth)
        is_certain = state.is_certain and _is_literal(node.redirects, (*node.words, *_values(node)))
        outputs = []
        alternatives = self.fields(node.words, state, depth) if node.words else [[]]
        deferred, self.deferred = self.deferred, []
        for words in alternatives:
            self.span, self.assignments, self.is_certain = node.span, assignments, is_certain
            if words:
                outputs.append(self.run(words, own, stdin, redirects, node.shown, upstream, depth))
            elif redirects or assignments:
                self.budget.spend(STEPS_PER_COMMAND // 2)
                self.command_variables(assignments, state, stdin, node.shown, depth)
                self.commands.append(self.emitted([], redirects, stdin, state, node.shown, upstream))
        printed = outputs[0] if outputs and len(set(outputs)) == 1 else UNKNOWN if outputs else ""
        for body in deferred:
            self.sequence(body, self.copy(state), printed, depth)
        return self.written(redirects, printed, state)

    def command_variables(
        self, assignments: Iterable[tuple[str, str]], state: _State, stdin: str | None, shown: str, depth: int
    ) -> None:
        """Walk the values of variables that later commands run, such as `GIT_EDITOR='…'`, unless they only name one."""
        for name, value in assignments:
            if name in _COMMAND_VARIABLES and " " in value.strip():
                self.shell(value.lstrip("|-"), self.copy(state), stdin, shown, depth + 1)

    def emitted(
        self,
        words: list[str],
        redirects: list[tuple[str, str]],
        stdin: str | None,
        state: _State,
        shown: str,
        upstream: Collection[list[str]],
    ) -> Command:
        words = [_argument(word) for word in words]
        command = Command(words, redirects, stdin, state.directory, _short(shown), upstream)
        command.contained, command.mounts, command.through = state.contained, state.mounts, state.through
        command.span, command.is_certain, command.assignments = self.span, self.is_certain, self.assignments
        if self.unset_is_empty:
            command.unset = tuple(dict.fromkeys(self.met_unset))
        return command

    def run(
        self,
        words: list[str],
        state: _State,
        stdin: str | None,
        redirects: list[tuple[str, str]],
        shown: str,
        upstream: Collection[list[str]] = (),
        depth: int = 0,
    ) -> str:
        """Walk one program with its words; return what it prints."""
        self.budget.spend(STEPS_PER_COMMAND + len(words))
        if not words:
            return ""
        self.commands.append(self.emitted(words, redirects, stdin, state, shown, upstream))
        for mark in (NETWORK, DECODED):
            if mark in words[0]:
                self.note_origin(mark)
        name = program(words[0])
        if words[0] in state.functions and words[0] not in self.calling:
            return self.call(words, state, stdin, depth)
        if words[0] in state.aliases and words[0] not in self.calling:  # only interactive shells expand it
            self.aliased(words, self.copy(state), stdin, shown, depth)
        if name in _INDEXING:
            self.indexes(words[2:3] if name == "printf" else words[1:], state, depth)
        builtin = _BUILTINS.get(name)
        if builtin:
            return builtin(self, words, state, stdin, shown, depth)
        printed = None
        if name == "xargs":
            file = programs.value_of(programs.xargs_options(words)[0], "-a", "--arg-file")
            stdin = self.content(file, state) if file else stdin
        for inner in self.inner_of(name, words, state, stdin):
            out = self.inner(inner, state, stdin, shown, upstream, depth)
            printed = (printed or "") + out
        if name == "xargs" and any(program(each[0]) == "find" for each in upstream):
            self.xargs_of_find(words, state, shown, upstream)
        if "/" in words[0]:
            text = state.files.get(self.path(words[0], state))
            if text is not None:
                return self.script(text, "shell", words, state, stdin, shown, depth, directly=True)
        if printed is not None and name not in FILTERS:
            return printed
        return self.printed(name, words, state, stdin)

    def indexes(self, words: list[str], state: _State, depth: int) -> None:
        """Walk what stands in an index, which is expanded even where the word was quoted: `unset 'a[$(ls)]'`."""
        for word in words:
            if "[" in word and re.match(r"(?:\w+\+?=)?[A-Za-z_]\w*\[", word):
                self.substituted(word, state, depth)

    def inner_of(self, name: str, words: list[str], state: _State, stdin: str | None) -> list[programs.Inner]:
        """Return what a program runs: by its words, by variables that name a command, by a makefile of the line."""
        found = [
            programs.Inner("shell", value.lstrip("|-"))  # as in LESSOPEN
            for variable, value in self.assignments
            if variable in _COMMAND_VARIABLES and value.strip()
        ]
        found += programs.inner(words, stdin, lambda variable: self.values(variable, state)[0])
        if name in ("make", "gmake") and state.files:
            file = programs.makefile(words)
            for path in (file,) if file else programs.MAKEFILES:
                found += programs.recipes(state.files.get(self.path(path, state), ""))
        return found

    def xargs_of_find(self, words: list[str], state: _State, shown: str, upstream: Collection[list[str]]) -> None:
        """Add `find … | xargs rm` as `find … -exec rm {} +`."""
        found = next(each for each in upstream if program(each[0]) == "find")
        _, at = programs.xargs_options(words)
        filters = [program(each[0]) for each in upstream if program(each[0]) in ("grep", "egrep", "head", "tail", "rg")]
        restricted = ["-name", UNKNOWN] if filters else []
        spelt = [*found, *restricted, "-exec", *words[at:], "{}", "+"]
        self.commands.append(self.emitted(spelt, [], None, state, shown, []))

    def call(self, words: list[str], state: _State, stdin: str | None, depth: int) -> str:
        outer, state.arguments = state.arguments, words[1:]
        self.calling.add(words[0])
        try:
            return self.command(state.functions[words[0]].body, state, stdin, [], depth + 1)
        finally:
            state.arguments = outer
            self.calling.discard(words[0])

    def aliased(self, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
        self.budget.spend(2 * STEPS_PER_COMMAND + len(words))
        line = " ".join([state.aliases[words[0]], *map(programs.quoted, words[1:])])
        self.calling.add(words[0])
        try:
            return _in_this_shell(self, line, state, stdin, shown, depth, is_certain=False)
        finally:
            self.calling.discard(words[0])

    def inner(
        self,
        inner: programs.Inner,
        state: _State,
        stdin: str | None,
        shown: str,
        upstream: Collection[list[str]],
        depth: int,
    ) -> str:
        if depth > DEEPEST:
            self.note("unreadable", shown)
            return UNKNOWN
        own = self.copy(state)
        own.through = (*state.through, program(self.commands[-1].words[0]) if self.commands[-1].words else "")
        if inner.directory is not None:
            own.directory = self.path(inner.directory, state)
        if program(own.through[-1]) in ("nsenter", "chroot"):  # out of the container
            own.contained = False
        if inner.contained:
            own.contained = True
            own.mounts = [(there, self.path(here, state)) for there, here in inner.mounts]
        stdin = stdin if inner.stdin is None else inner.stdin
        span, is_certain = self.span, self.is_certain and inner.is_certain
        own.is_certain = own.is_certain and is_certain and inner.kind not in ("stdin", "file")
        self.is_certain, self.assignments = is_certain, inner.assignments
        if inner.kind == "words":
            out = self.run(inner.value, own, stdin, [], shown, upstream, depth + 1)
        elif inner.kind == "shell":
            own.arguments = inner.arguments[1:]
            own.zero = "".join(inner.arguments[:1]) or own.zero
            out = self.shell(inner.value, own, stdin, shown, depth + 1)
        elif inner.kind == "stdin":
            own.arguments = inner.arguments
            if any(program(each[0]) in DECRYPTERS for each in upstream):
                self.note_origin(DECODED)
            out = self.script(stdin, inner.language, [], own, "", shown, depth)
        elif inner.kind == "file":
            text = state.files.get(self.path(inner.value, state))
            out = self.script(text, inner.language, inner.arguments, own, stdin, shown, depth)
        else:
            self.code(inner.language, inner.value, own, stdin, shown, depth)
            origin = next((mark for mark in (NETWORK, DECODED) if mark in (stdin or "")), GENERATED)
            out = origin if not inner.arguments and inner.language != "awk" else UNKNOWN
        self.span, self.is_certain = span, is_certain
        state.files.update(own.files)
        return out

    def script(
        self,
        text: str | None,
        language: str,
        words: list[str],
        state: _State,
        stdin: str | None,
        shown: str,
        depth: int,
        directly: bool = False,
    ) -> str:
        """Walk a script whose text is known: from stdin, or from a file that the line wrote."""
        if text is None:
            return UNKNOWN
        if language != "shell" or directly:
            for mark, kind in ORIGINS.items():
                if mark in text:
                    if directly:
                        self.note(kind + "-directly", shown)
                    else:
                        self.note_origin(mark)
                    return UNKNOWN
        if language != "shell":
            self.code(language, text, state, stdin, shown, depth)
            return UNKNOWN
        state.arguments = words[1:] if words else state.arguments
        return self.shell(text, state, stdin, shown, depth + 1)

    def code(self, language: str, code: str, state: _State, stdin: str | None, shown: str, depth: int) -> None:
        """Walk code of another language, as the shell commands that do the same."""
        for mark in (NETWORK, DECODED):
            if code.lstrip().startswith(mark):
                self.note_origin(mark)
        state = self.copy(state)
        state.is_certain = self.is_certain = False
        if len(code) > one_liners.LONGEST:
            self.note("unreadable", _because(shown, "its code is too long"))
            code = code[: one_liners.LONGEST]
        self.budget.spend(len(code) // 4)
        for kind, value in one_liners.actions(language, code):
            if kind == "note":
                self.note(value, shown)
            elif kind == "shell":
                self.shell(value, self.copy(state), stdin, shown, depth + 1, surely=False)
            else:
                self.run(value, self.copy(state), stdin, [], shown, (), depth + 1)

    def path(self, word: str, state: _State) -> str:
        return resolved(word, state.directory, self.home(state))

    def home(self, state: _State) -> str:
        return self.values("HOME", state)[0] or "/"

    # -- redirections ---------------------------------------------------------------------------------------------

    def redirects(
        self, redirects: list[Redirect], state: _State, stdin: str | None, depth: int
    ) -> tuple[list[tuple[str, str]], str | None]:
        """Return the files that output goes to, as (operator, target), and the text on stdin."""
        found = []
        for redirect in redirects:
            self.budget.spend(6)
            values = self.expand(redirect.target, state, depth)
            texts = [
                decoded(value.replace(BREAK, " ")) if redirect.operator.startswith("<<") else value for value in values
            ]
            if redirect.operator in ("<<", "<<-", "<<<"):
                stdin = texts[0] + ("\n" if redirect.operator == "<<<" else "")
                continue
            for value in texts:
                target = "".join(self.split(value)[:1])
                if redirect.operator in ("<", "<>"):
                    stdin = self.content(target, state)
                elif redirect.operator == "<&":
                    stdin = state.files.get("&" + target, UNKNOWN)
                if redirect.operator in ("<>", ">", ">>", ">|", "&>", "&>>", ">&"):
                    is_copy = redirect.operator == ">&" and (target.isdigit() or target == "-")
                    if not is_copy:
                        operator = redirect.operator if redirect.descriptor in (None, "1") else "2" + redirect.operator
                        found.append((operator, target))
                    if redirect.descriptor and target.startswith("/dev/tcp"):
                        state.files["&" + redirect.descriptor] = NETWORK
        return found, stdin

    def content(self, target: str, state: _State) -> str:
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            return NETWORK
        return state.files.get(self.path(target, state), UNKNOWN)

    def written(self, redirects: list[tuple[str, str]], printed: str, state: _State) -> str:
        """Record what is written to files; return the output that is left."""
        targets = [(operator, target) for operator, target in redirects if not operator.startswith("2")]
        if not targets:
            return printed
        for operator, target in targets:
            path = self.path(target, state)
            before = state.files.get(path, "") if ">>" in operator else ""
            self.budget.spend_on(len(before) + len(printed) if before else 0)
            state.files[path] = before + printed
        return ""

    # -- expansion ------------------------------------------------------------------------------------------------

    def assign(self, state: _State, name: str, index: str | None, operator: str, value: Any, depth: int) -> str:
        """Set a variable; return its value, the first of several."""
        if index is None and operator == "=":
            state.lists.pop(name, None)
        if isinstance(value, list) and value and isinstance(value[0], list):
            fields = self.fields(value, state, depth)[0]
            state.lists[name] = [*(state.lists.get(name, []) if operator == "+=" else []), *fields]
            state.variables[name] = (state.lists[name][0] if state.lists[name] else "",)
            self.budget.spend(len(state.lists[name]) // 16)
            return " ".join(fields[:16])
        values = [decoded(each.replace(BREAK, " ")) for each in self.expand(value, state, depth, in_quotes=True)]
        if index is not None:
            state.lists[name] = [*state.lists.get(name, []), values[0]]
            self.budget.spend(len(state.lists[name]) // 16)
            return values[0]
        if operator == "+=":
            before = state.variables.get(name, ("",))
            values = [_limited(old + new) for old in before[:MOST_VALUES] for new in values[:MOST_VALUES]]
            self.budget.spend_on(sum(map(len, values)))
        state.variables[name] = tuple(values[:MOST_VALUES])
        return values[0]

    def fields(self, words: list[Word], state: _State, depth: int) -> list[list[str]]:
        """Return the words of a command, for the combinations of the possible values of its variables."""
        columns: list[list[list[str]]] = []  # of each word's possible fields
        total = 1
        for word in words:
            self.budget.spend()
            texts = self.expand(word, state, depth)
            if len(texts) == 1:
                columns.append([self.split(texts[0])])
            else:
                columns.append([list(each) for each in dict.fromkeys(tuple(self.split(text)) for text in texts)])
                total *= len(columns[-1])
        if total == 1:
            return [[field for column in columns for field in column[0]]]
        combinations = _product(columns) if total <= 2 * MOST_VALUES else _cover(columns)
        self.budget.spend(len(combinations) * (1 + len(columns) // 8))
        return [[field for fields in combination for field in fields] for combination in combinations]

    def split(self, text: str) -> list[str]:
        """Return the words of one expanded text."""
        self.budget.spend_on(len(text))
        try:
            return split_words(text, self.budget)
        except TooManyWords as error:
            self.note("unreadable", _because(text[:LONGEST_SHOWN], f"it gives more than {MOST_WORDS} words"))
            return error.words

    def encoded(self, value: str, quoted: bool, separators: str) -> str:
        self.budget.spend_on(len(value))
        return encoded(value, quoted, separators)

    def expand(self, word: Word, state: _State, depth: int, in_quotes: bool = False) -> list[str]:
        """Return a word's possible texts, with marks for field separators and active patterns."""
        if len(word) == 1 and word[0].kind == "text":
            return [word[0].value]
        if _is_list_alone(word) and self.variable(word[1], state, depth, in_quotes) == [""]:
            return [""]  # no word at all
        texts = [""]
        for part in word:
            self.budget.spend()
            if part.kind == "text":
                values = [part.value]
            elif part.kind == "tilde":
                values = [QUOTED + each for each in self.tilde(part.value, state)]
            elif part.kind == "variable":
                values = self.variable(part, state, depth, in_quotes)
            elif part.kind == "command":
                outer = self.span
                out = self.sequence(part.value, self.copy(state), "", depth + 1).replace("\0", "").rstrip("\n")
                self.span = outer
                values = [self.encoded(out, part.quoted or in_quotes, self.separators(state))]
            elif part.kind == "process":
                values = [self.process(part.value, state, depth)]
            else:
                self.arithmetic(part.value, state, depth)
                values = [UNKNOWN]
            texts = [_limited(before + after) for before in texts for after in values]
            if len(texts) > 2 * MOST_VALUES:
                texts = [*texts[: 2 * MOST_VALUES - 1], UNKNOWN]
            self.budget.spend_on(sum(map(len, texts)) if len(texts) > 1 else len(texts[0]) // 4)
        return texts

    def arithmetic(self, word: Word, state: _State, depth: int) -> None:
        """Walk the substitutions of an arithmetic expression, also those in the values of its variables."""
        for text in self.expand(word, state, depth):
            for name in re.findall(r"[A-Za-z_]\w*+", text[:1000]) if state.variables else ():
                self.budget.spend()
                for value in state.variables.get(name, ()):
                    self.substituted(value, state, depth)

    def substituted(self, text: str, state: _State, depth: int) -> None:
        """Walk the command substitutions of a text that the shell expands again: `a[$(ls)]` as an index."""
        if "$(" not in text and "`" not in text:
            return
        if depth > DEEPEST:
            self.note("unreadable", text)
            return
        try:
            word = Parser(text, self.budget, self.offset(text)).double("")
        except Unreadable:
            self.note("unreadable", text)
            return
        self.expand(word, state, depth + 1)

    def process(self, value: tuple[str, Sequence], state: _State, depth: int) -> str:
        direction, body = value
        self.numbers += 1
        path = f"/dev/fd/{62 + self.numbers}"
        if direction == "<":
            state.files[path] = self.sequence(body, self.copy(state), None, depth + 1)
        else:
            self.deferred.append(body)
        return QUOTED + path

    def tilde(self, user: str, state: _State) -> tuple[str, ...]:
        if user == "+":
            return (state.directory,)
        if not user:
            return tuple(each or "/" for each in self.values("HOME", state))
        return ("/root" if user == "root" else f"/home/{user}",)

    def separators(self, state: _State) -> str:
        return self.values("IFS", state)[0]

    def values(self, name: str, state: _State) -> tuple[str, ...]:
        """Return a variable's possible values."""
        if name in state.variables:
            return state.variables[name]
        if name in state.lists:
            return (" ".join(state.lists[name][:1]),)
        if name == "PWD":
            return (state.directory,)
        if name == "IFS":
            return (" \t\n",)
        if name.isdigit():
            number = small_number(name)
            if number is None:
                return ("",)
            if not number:
                return (state.zero,)
            return (state.arguments[number - 1] if number <= len(state.arguments) else "",)
        if name in ("@", "*"):
            self.budget.spend(len(state.arguments) // 16)
            return (" ".join(state.arguments),)
        if name in self.changed_variables or "*" in self.changed_variables:
            return self.both_values(name)
        if name in self.environment:
            return (_without_private(self.environment[name]),)
        if state.sourced or name in _SET_BY_SHELL or not re.match(r"[A-Za-z_]", name):
            return (UNKNOWN,)
        self.met_unset.append(name)
        return ("",) if self.unset_is_empty else (UNKNOWN,)

    def both_values(self, name: str) -> tuple[str, ...]:
        """Return both values of a variable that differs in the agent's own shell: that one, and the one here."""
        theirs = self.changed_variables.get(name, True)
        found = [_without_private(each) for each in (theirs, self.environment.get(name)) if isinstance(each, str)]
        if theirs is True:
            self.note("unreadable", f"${name}")
            found.append(UNKNOWN)
        elif theirs is None:
            self.met_unset.append(name)
            found.append("" if self.unset_is_empty else UNKNOWN)
        return tuple(found)

    def may_be_unset(self, name: str, state: _State) -> bool:
        """Whether a variable that has a value here is known to have none in the agent's own shell."""
        is_of_line = name in state.variables or name in state.lists
        return not is_of_line and self.changed_variables.get(name, True) is None

    def is_unset(self, name: str, state: _State) -> bool:
        return not (
            name in state.variables
            or name in state.lists
            or name in self.environment
            or name in self.changed_variables
            or "*" in self.changed_variables
            or name in ("PWD", "IFS")
            or (name.isdigit() and (small_number(name) or 0) <= len(state.arguments))
        )

    def variable(self, part: Part, state: _State, depth: int, in_quotes: bool) -> list[str]:
        variable = part.value
        quoted = part.quoted or in_quotes
        if variable.subscript:
            self.expand(variable.subscript, state, depth)
        # in any case, for what is substituted there
        arguments = self.expand(variable.argument, state, depth) if variable.argument else [""]
        others = self.expand(variable.other, state, depth) if variable.other else [""]
        separators = self.separators(state) if variable.name != "IFS" else " \t\n"
        items = None
        if variable.name in ("@", "*"):
            items = state.arguments
        elif variable.index in ("@", "*"):
            items = state.lists.get(variable.name)
            if items is None:
                items = list(self.values(variable.name, state)[:1])
        if items is not None and variable.prefix != "#" and (not variable.operator or variable.operator == ":"):
            if variable.operator == ":":
                start = plain_number(variable.argument)
                items = items[max(0, start - (variable.name in ("@", "*"))) :] if start is not None else [UNKNOWN]
            together = variable.name == "*" or variable.index == "*"
            if quoted and together:
                self.budget.spend(len(items) // 4)
                return [self.encoded(" ".join(items), True, separators)]
            self.budget.spend(len(items) // 4)
            return [BREAK.join(self.encoded(item, quoted, separators) for item in items)]
        if variable.index is not None and variable.name in state.lists and variable.index not in ("@", "*"):
            number = small_number(variable.index)
            items = state.lists[variable.name]
            try:
                values = (items[number],) if number is not None else tuple(items[:MOST_VALUES]) or (UNKNOWN,)
            except IndexError:
                values = ("",)
        elif variable.prefix == "!":
            names = self.values(variable.name, state)
            values = tuple(value for name in names for value in self.values(decoded(name), state)) or (UNKNOWN,)
        elif variable.operator[:2] in (":-", ":=", "-", "=", ":+", "+", ":?", "?"):
            return self.with_default(variable, state, arguments, quoted, separators)
        else:
            values = self.values(variable.name, state)
        if variable.prefix == "#":
            return [UNKNOWN]
        if not variable.operator:
            return [self.encoded(value, quoted, separators) for value in values]
        texts = [
            self.changed(value, variable, argument, decoded(other.replace(BREAK, " ")), state, depth)
            for value in values
            for argument in arguments
            for other in others
        ][: 2 * MOST_VALUES]
        return [self.encoded(text, quoted, separators) for text in dict.fromkeys(texts)]

    def with_default(
        self, variable: Variable, state: _State, words: list[str], quoted: bool, separators: str
    ) -> list[str]:
        """Return the values of `${x:-word}`, `${x:=word}`, `${x:+word}`, `${x:?word}`."""
        operator = variable.operator
        unset = self.is_unset(variable.name, state)
        values = () if unset else self.values(variable.name, state)
        if self.may_be_unset(variable.name, state):
            unset, values = True, values[:-1]
        present = [value for value in values if value or ":" not in operator]
        if operator.endswith("?"):
            return [self.encoded(value, quoted, separators) for value in present or [UNKNOWN]]
        if operator.endswith("+"):
            return [*(words if present else []), *([""] if unset or not present else [])]
        if operator.endswith("=") and (unset or not present):
            assigned = [decoded(word.replace(BREAK, " ")) for word in words]
            state.variables[variable.name] = tuple([*present, *assigned][:MOST_VALUES])
        found = [self.encoded(value, quoted, separators) for value in present]
        return found + (words if len(present) < len(values) or unset else []) or [""]

    def changed(self, value: str, variable: Variable, argument: str, other: str, state: _State, depth: int) -> str:
        """Return the value of `${x#pattern}`, `${x%pattern}`, `${x/pattern/other}`, `${x:1:2}`, `${x^^}` …"""
        operator = variable.operator
        if any(mark in value for mark in (UNKNOWN, NETWORK, DECODED)):
            return value
        if operator == "@":
            if argument == "P":  # expanded like a prompt
                self.substituted(value, state, depth)
                return UNKNOWN
            return value
        if operator in ("^", "^^", ",", ",,"):
            changed = value.upper() if "^" in operator else value.lower()
            return changed if len(operator) == 2 else changed[:1] + value[1:]
        if operator == ":":
            start, length = plain_number(variable.argument), plain_number(variable.other)
            if start is None or (variable.other and length is None):
                return UNKNOWN
            tail = value[start:]
            return tail if not variable.other else tail[:length]
        self.budget.spend(len(argument))
        self.budget.spend_on(4 * len(value))
        pattern = Pattern(argument)
        if operator in ("#", "##"):
            length = pattern.prefix(value, longest=operator == "##")
            return value[length or 0 :]
        if operator in ("%", "%%"):
            length = pattern.suffix(value, longest=operator == "%%")
            return value[: len(value) - (length or 0)]
        if operator.startswith("/"):
            return self.replaced(value, pattern, operator, other)
        return value

    def replaced(self, value: str, pattern: Pattern, operator: str, other: str) -> str:
        """Return the value of `${x/pattern/other}`, of `/#` and `/%` at an end, of `//` everywhere."""
        if operator == "/#":
            length = pattern.prefix(value, longest=True)
            return value if length is None else other + value[length:]
        if operator == "/%":
            length = pattern.suffix(value, longest=True)
            return value if length is None else value[: len(value) - length] + other
        if not value:
            return other if pattern.matches("") else ""
        changed = _Printed(self.budget)
        at = 0
        while (found := pattern.find(value, at)) and found[0] < found[1]:
            self.budget.spend(2)
            self.budget.spend_on(len(value) - at)
            changed.add(value[at : found[0]])
            changed.add(other)
            at = found[1]
            if operator == "/":
                break
        changed.add(value[at:])
        return changed.text()

    # -- what programs print --------------------------------------------------------------------------------------

    def printed(self, name: str, words: list[str], state: _State, stdin: str | None) -> str:
        """Return what a program prints, as far as that is known."""
        rest = words[1:]
        text = stdin or ""
        if name == "echo":
            self.budget.spend(sum(word.count("\\") for word in rest) // 2)
            return output.echo(rest)
        if name in ("cat", "tac", "bat", "sponge"):
            files = [word for word in rest if not word.startswith("-")]
            if not files:
                return text
            printed = _Printed(self.budget)
            for file in files:
                printed.add(self.content(file, state))
            return printed.text()
        if name == "tee":
            for word in rest:
                if not word.startswith("-"):
                    state.files[self.path(word, state)] = text
            return text
        if name == "ls":
            operands = [word for word in rest if not word.startswith("-")]
            found = [word for word in operands if any(mark in word for mark in PATTERNS)]
            return "\n".join(found) or STAR
        if name == "find":
            find = programs.Find(words)
            self.budget.spend(len(words) // 4)
            return "\n".join(find.found(start) for start in find.starts) + "\n"
        if name in DECODERS:
            if NETWORK in text:
                return NETWORK
            return DECODED + output.decoded(name, text) if output.decodes(name, rest) else UNKNOWN
        if name in FETCHERS:
            return self.fetched(name, words, state)
        if name in FILTERS:
            return self.filtered(name, rest, text)
        if name in ("cp", "mv", "install", "ln"):
            operands = [word for word in rest if not word.startswith("-")]
            if len(operands) == 2:
                source = state.files.get(self.path(operands[0], state))
                target = self.path(operands[1], state)
                if source is not None:
                    state.files[target] = source
            return ""
        if name in ("pwd", "whoami", "which", "dirname", "realpath", "readlink", "basename", "printenv", "mktemp"):
            return self.simple_output(name, rest, state)
        if name == "git" and words[1:3] == ["rev-parse", "--show-toplevel"]:
            return state.directory
        if name == "git" and words[1:3] == ["rev-parse", "--git-dir"]:
            return ".git"
        if name in ("docker", "podman") and any(word.startswith(("-f", "--filter")) for word in rest):
            return "some" + UNKNOWN
        return "" if name in ("true", "false", ":", "mkdir", "touch", "rm", "chmod", "cd", "sleep") else UNKNOWN

    def simple_output(self, name: str, rest: list[str], state: _State) -> str:
        """Return what `pwd`, `dirname`, `mktemp` … print."""
        operands = [word for word in rest if not word.startswith("-")]
        first = operands[0] if operands else ""
        if name == "pwd":
            return state.directory
        if name == "whoami":
            return self.values("USER", state)[0]
        if name == "mktemp":
            return "/tmp/" + UNKNOWN  # noqa: S108  # what a program would make there
        if name == "printenv":
            return self.values(first, state)[0] if first else UNKNOWN
        if name == "dirname":
            return os.path.dirname(first.rstrip("/")) or ("/" if first.startswith("/") else ".")
        if name == "basename":
            return os.path.basename(first.rstrip("/"))
        return first if name == "which" else self.path(first, state) if first else UNKNOWN

    def fetched(self, name: str, words: list[str], state: _State) -> str:
        """Return what a download prints; record the file that it writes."""
        if name in ("curl", "http", "https", "xh"):
            options, operands = programs.arguments(words, "oHXdFuAbceEKmrTxyYzCDPQtUw", ("--output", "--header"))
            target = programs.value_of(options, "-o", "--output")
            if target is None and programs.has(options, "-O", "--remote-name"):
                target = next((word.rstrip("/").rpartition("/")[2] for word in operands if "/" in word), UNKNOWN)
        elif name == "wget":
            options, operands = programs.arguments(words, "OPoaeiUtTwQ", ("--output-document", "--header"))
            target = programs.value_of(options, "-O", "--output-document")
            if target is None:
                target = next((word.rstrip("/").rpartition("/")[2] for word in operands if "/" in word), UNKNOWN)
        elif name == "aws" or name == "gsutil":
            return NETWORK if words[-1] == "-" or "cat" in words else UNKNOWN
        else:
            return NETWORK
        if target in (None, "-", "/dev/stdout"):
            return NETWORK
        state.files[self.path(target, state)] = NETWORK
        return ""

    def filtered(self, name: str, rest: list[str], text: str) -> str:
        """Return what a filter prints. The mark of where its input came from stays."""
        self.budget.spend_on(4 * len(text))
        for mark in (NETWORK, DECODED, GENERATED):
            if mark in text:
                return mark
        if name in ("grep", "egrep", "fgrep", "rg"):
            inverted = any(re.match(r"-[a-zA-Z]*v|--invert", word) for word in rest)
            return text if STAR not in text or inverted else UNKNOWN
        if name in ("head", "tail"):
            return text if STAR not in text else UNKNOWN
        if name in ("sort", "uniq", "nl", "column", "pv", "unbuffer", "stdbuf", "iconv"):
            return text
        if name.endswith("awk") and any("BEGIN" in word for word in rest):
            return GENERATED
        if not text.strip() or UNKNOWN in text or STAR in text:
            return UNKNOWN
        return output.rewritten(name, rest, text)


# Builtins that evaluate the index of a name they are given.
_INDEXING = frozenset("let test [ unset read printf declare typeset local export readonly wait mapfile".split())
# Variables whose value other programs run.
_COMMAND_VARIABLES = frozenset(
    "EDITOR VISUAL PAGER MANPAGER BROWSER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS "
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR RSYNC_RSH LESSOPEN LESSCLOSE "
    "PROMPT_COMMAND".split()
)
_SET_BY_SHELL = frozenset(
    "OLDPWD RANDOM SECONDS BASHPID LINENO UID EUID HOSTNAME PPID REPLY OPTARG OPTIND BASH BASH_SOURCE BASH_VERSION "
    "BASH_REMATCH FUNCNAME SHLVL SHELL PIPESTATUS ZSH_VERSION HOSTTYPE MACHTYPE OSTYPE COLUMNS LINES PATH USER TERM "
    "LOGNAME LANG EDITOR SRANDOM EPOCHSECONDS DIRSTACK GROUPS".split()
)
# -- builtins -----------------------------------------------------------------------------------------------------


def _cd(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    targets = [word for word in words[1:] if not re.fullmatch(r"-[LPe@]+|--", word)]
    if targets[:1] == ["-"]:
        state.directory = "/" + UNKNOWN
    elif targets or words[0] != "pushd":
        state.directory = walk.path(targets[0] if targets else walk.home(state), state)
    return ""


def _popd(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    state.directory = "/" + UNKNOWN
    return ""


def _declare(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals and re.fullmatch(r"[A-Za-z_]\w*", name):
            state.variables[name] = (value,)
            walk.command_variables([(name, value)], state, stdin, shown, depth)
    return ""


def _unset(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    for word in words[1:]:
        state.variables[word] = (" \t\n" if word == "IFS" else "",)
        state.lists.pop(word, None)
    return ""


def _set(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    if "--" in words:
        state.arguments = words[words.index("--") + 1 :]
    return ""


def _shift(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    count = small_number(words[1]) if words[1:] else 1
    state.arguments = state.arguments[max(count or 0, 0) :]
    return ""


def _read_variables(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    _, at = programs.split_options(words, "adinNptu")
    names = words[at:] or ["REPLY"]
    walk.budget.spend_on(len(stdin or ""))
    lines = _some_values([line for line in (stdin or "").split("\n", 4 * MOST_VALUES) if line])
    for number, name in enumerate(names):
        if not lines or stdin is None:
            state.variables[name] = (UNKNOWN,)
        elif len(names) == 1:
            state.variables[name] = lines
        else:
            split = [line.split(None, len(names) - 1) for line in lines]
            state.variables[name] = tuple(each[number] if number < len(each) else "" for each in split)
    if "-a" in words:
        state.lists[names[0]] = (stdin or UNKNOWN).split()
    return ""


def _mapfile(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    _, at = programs.split_options(words, "dnOsuCc")
    walk.budget.spend_on(len(stdin or ""))
    for inner in programs.callbacks(words[:at]):
        walk.shell(inner, walk.copy(state), stdin, shown, depth + 1)
    state.lists["".join(words[at : at + 1]) or "MAPFILE"] = _some_lines(stdin or UNKNOWN)
    return ""


def _printf_builtin(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    walk.budget.spend(sum(word.count("\\") + word.count("%") for word in words[1:]))
    walk.budget.spend(len(words) // 2)
    if words[1:2] == ["-v"] and len(words) > 3:
        state.variables[words[2]] = (output.printf(words[3:]),)
        return ""
    return output.printf(words[1:])


def _alias(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals:
            state.aliases[name] = value
            walk.shell(value, walk.copy(state), stdin, shown, depth + 1)
    return ""


def _eval(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    code = " ".join(words[1:])
    if code.strip() == UNKNOWN:
        state.sourced = True
    return _in_this_shell(walk, code, state, stdin, shown, depth, walk.is_certain)


def _in_this_shell(
    walk: _Walk, code: str, state: _State, stdin: str | None, shown: str, depth: int, is_certain: bool
) -> str:
    """Walk code in the shell's own state, as `eval` runs it."""
    outer, state.is_certain = state.is_certain, state.is_certain and is_certain
    printed = walk.shell(code, state, stdin, shown, depth + 1)
    state.is_certain = outer
    return printed


def _source(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    if len(words) < 2:
        return ""
    path = words[1]
    text = stdin if path in ("/dev/stdin", "/dev/fd/0", "-") else state.files.get(walk.path(path, state))
    if text is None:
        state.sourced = True
        return UNKNOWN
    return _in_this_shell(walk, text, state, stdin, shown, depth, is_certain=False)


def _getopts(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    if len(words) > 2:
        state.variables[words[2]] = (UNKNOWN,)
    return ""


_BUILTINS = {
    "cd": _cd,
    "chdir": _cd,
    "pushd": _cd,
    "popd": _popd,
    "export": _declare,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
    "unset": _unset,
    "set": _set,
    "shift": _shift,
    "read": _read_variables,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "printf": _printf_builtin,
    "alias": _alias,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "getopts": _getopts,
}


# -- small things -------------------------------------------------------------------------------------------------


def _take_changed(mine: dict[str, Any], theirs: dict[str, Any]) -> None:
    for key, value in theirs.items():
        if mine.get(key) is not value:
            mine[key] = value


def _is_list_alone(word: Word) -> bool:
    """Whether a word is `"$@"` or `"${list[@]}"`."""
    if len(word) != 2 or word[1].kind != "variable" or word[0].value != QUOTED:
        return False
    variable = word[1].value
    return "@" in (variable.name, variable.index) and not variable.operator and not variable.prefix


_TOO_DEEP = "it is nested too deeply"


class _Printed:
    """Output in parts. Beyond LONGEST it is unknown."""

    __slots__ = ("budget", "parts", "size")

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.parts: list[str] = []
        self.size = 0

    def add(self, text: str) -> None:
        if text:
            self.parts.append(text)
            self.size += len(text)

    def text(self) -> str:
        if len(self.parts) == 1:
            return self.parts[0]
        self.budget.spend_on(self.size)
        return "".join(self.parts) if self.size <= LONGEST else UNKNOWN


def _some_values(values: list[str]) -> tuple[str, ...]:
    """Return the distinct values, at most `MOST_VALUES` of them; then the mark of unknown text stands for the rest."""
    distinct = tuple(dict.fromkeys(values))
    return distinct if len(distinct) <= MOST_VALUES else (*distinct[: MOST_VALUES - 1], UNKNOWN)


def _some_lines(text: str) -> list[str]:
    lines = text.split("\n", MOST_WORDS)
    return lines if len(lines) <= MOST_WORDS else [*lines[:MOST_WORDS], UNKNOWN]


def _product(columns: list[list[list[str]]]) -> list[list[list[str]]]:
    combinations: list[list[list[str]]] = [[]]
    for column in columns:
        combinations = [[*before, after] for before in combinations for after in column]
    return combinations


def _cover(columns: list[list[list[str]]]) -> list[list[list[str]]]:
    """Return combinations in which every possible value occurs, once beside the first values of the other words."""
    first = [column[0] for column in columns]
    combinations = [
        [*first[:at], choice, *first[at + 1 :]]
        for at, column in enumerate(columns)
        if len(column) > 1
        for choice in column
    ]
    longest = max(map(len, columns))
    return combinations + [[column[number % len(column)] for column in columns] for number in range(1, longest)]


def _limited(text: str) -> str:
    return text if len(text) <= LONGEST else UNKNOWN


def _without_private(text: str) -> str:
    """Return a text with each private character replaced, up to where there are too many of them."""
    if text.isascii():
        return text
    text = PRIVATE.sub("\ufffd", text, count=MOST_PRIVATE)
    left = PRIVATE.search(text)
    return text[: left.start()] if left else text


def _argument(word: str) -> str:
    """Return a word as an argument of a command: the mark of decoded text counts only where nothing follows it."""
    if len(word) > LONGEST_WORD:
        return UNKNOWN
    word = word.replace("\0", "")
    return word if word.isascii() or word.find(DECODED, 0, -1) < 0 else word.replace(DECODED, "")


def _because(shown: str, why: str) -> str:
    return f"{_short(shown)[: LONGEST_SHOWN - len(why) - 2]}: {why}"


def _is_literal(redirects: Iterable[Redirect], words: Iterable[Word]) -> bool:
    """Whether words and the targets of redirections are those that are written: nothing in them is expanded."""
    for word in (*words, *(redirect.target for redirect in redirects)):
        for part in word:
            if part.kind != "text":
                return False
            text = part.value
            if text.isascii():
                continue
            if STAR in text or ONE in text or (SET in text and "]" in text):
                return False
            if OPEN in text and (COMMA in text or ".." in text):
                return False
    return True


def _values(node: Simple) -> Iterator[Word]:
    """Yield the values of a command's assignments."""
    for _, _, _, value in node.assignments:
        if value and isinstance(value[0], list):
            yield from value
        else:
            yield value


def _is_builtin(node: Simple) -> bool:
    """Whether a command is one whose assignments stay: `IFS=, read x` runs in the shell itself."""
    first = node.words[0]
    return len(first) == 1 and first[0].kind == "text" and first[0].value in _BUILTINS


def _short(text: str) -> str:
    text = " ".join(decoded(text[: 4 * LONGEST_SHOWN]).split())
    for mark in UNKNOWNS:
        text = text.replace(mark, "…")
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _names(node: Any, budget: Budget) -> Iterator[tuple[str, Pipeline | None]]:
    """Yield the names of the plain commands of a syntax tree, each with the innermost pipeline around it."""
    waiting: list[tuple[Any, Pipeline | None]] = [(node.body if isinstance(node, Function) else node, None)]
    while waiting:
        budget.spend()
        node, where = waiting.pop()
        if isinstance(node, Simple):
            if node.words and all(part.kind == "text" for part in node.words[0]):
                yield decoded("".join(part.value for part in node.words[0])), where
        elif isinstance(node, Block):
            for body in reversed(node.bodies):
                for _, pipeline in reversed(body.items):
                    waiting += [(stage, pipeline) for stage in reversed(pipeline.stages)]


def _is_fork_bomb(function: Function, budget: Budget) -> bool:
    """Whether a function calls itself twice in a pipeline, or in the background."""
    calls = [where for name, where in _names(function, budget) if name == function.name]
    pipelines = [where for where in calls if where is not None]
    return any(where.background for where in pipelines) or len(pipelines) != len(set(map(id, pipelines)))


def _spawns_for_ever(loop: Block, budget: Budget) -> bool:
    """Whether a loop is `while true; do something & done`."""
    if not any(pipeline.background for _, pipeline in loop.bodies[1]):
        return False
    condition = [name for name, _ in _names(Block("group", [loop.bodies[0]]), budget)]
    if condition not in (["true"], [":"], ["false"]):
        return False
    names = [name for name, _ in _names(Block("group", [loop.bodies[1]]), budget)]
    return not {"sleep", "wait", "read", "break", "exit"} & set(names)
