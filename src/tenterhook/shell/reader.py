"""Which commands a shell line would run: read as a shell reads it, with nothing being run.

`read(line, directory, variables)` walks the line's syntax with what can be known: variables that the line itself sets,
the directory it changes to, what `echo` and here-documents feed to a shell, files that it writes and then runs. What
cannot be known is a mark in the words (`UNKNOWN` …); so are active patterns (`STAR` …). All branches are walked.
"""

from __future__ import annotations

import os
import re

from . import one_liners, output, programs
from .output import DECODERS, DECRYPTERS, FETCHERS, FILTERS
from .programs import program, resolved
from .syntax import (
    BREAK,
    DECODED,
    GENERATED,
    NETWORK,
    PATTERNS,
    PRIVATE,
    QUOTED,
    STAR,
    UNKNOWN,
    UNKNOWNS,
    Block,
    Budget,
    Function,
    Simple,
    Unreadable,
    decoded,
    parse,
)
from .words import MOST_WORDS, as_expression, encoded, plain_number, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Collection, Iterator, Mapping
    from typing import Any

    from .syntax import Part, Pipeline, Redirect, Sequence, Variable, Word

ORIGINS = {NETWORK: "run-download", DECODED: "run-decoded", GENERATED: "run-decoded"}

MOST_COMMANDS = 5000
LONGEST = 200_000  # characters of one text; what grows beyond that is unknown
MOST_VALUES = 8  # of one variable, from different branches
DEEPEST = 12  # shells and functions in one another
LONGEST_SHOWN = 120


class Command:
    """A command that would run: its words, expanded, and what is known of where and how."""

    __slots__ = (
        "contained",
        "directory",
        "mounts",
        "redirects",
        "shown",
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
        self.words = words
        self.redirects = redirects  # of (operator, target)
        self.stdin = stdin  # the text it reads, or None
        self.directory = directory
        self.shown = shown
        self.upstream = upstream  # the words of the commands whose output it reads
        self.contained = False
        self.mounts: list[tuple[str, str]] = []
        self.through: tuple[str, ...] = ()  # the programs that run it: sudo, env …
        self.unset: tuple[str, ...] = ()  # variables that nobody has set, and that are taken for empty here

    @property
    def name(self) -> str:
        return program(self.words[0]) if self.words else ""


class Note:
    """Something about the line that is no single command: a fork bomb, code from the network, what cannot be read."""

    __slots__ = ("kind", "shown")

    def __init__(self, kind: str, shown: str) -> None:
        self.kind = kind
        self.shown = shown


class Reading:
    """All commands of a line, in the order in which they would run, and notes."""

    def __init__(self, commands: list[Command], notes: list[Note]) -> None:
        self.commands = commands
        self.notes = notes


def read(line: str, directory: str, variables: Mapping[str, str]) -> Reading:
    """Everything that a line would run. Never raises: what cannot be read is a note of the kind `unreadable`."""
    walk = _Walk(variables)
    state = _State(os.path.normpath(directory))
    walk.shell(PRIVATE.sub("\ufffd", line), state, None, "", depth=0)
    return Reading(walk.commands, walk.notes)


def read_words(words: list[str], directory: str, variables: Mapping[str, str]) -> Reading:
    """The same for a program with its arguments, started without a shell."""
    walk = _Walk(variables)
    words = [PRIVATE.sub("\ufffd", word) for word in words]
    walk.run(words, _State(os.path.normpath(directory)), None, [], _short(" ".join(words)), depth=0)
    return Reading(walk.commands, walk.notes)


def read_any(line: str | list[str], directory: str, variables: Mapping[str, str]) -> Reading:
    """Read a shell line, or a program with its arguments."""
    return read(line, directory, variables) if isinstance(line, str) else read_words(line, directory, variables)


def changed_variables(environment: Mapping[str, str]) -> dict[str, str | bool | None]:
    """What the agent's own shell has where hooks have something else; None: nothing; True: more than is told."""
    told = environment.get("TENTERHOOK_CHANGED_VARIABLES")
    if not told:
        return {}
    import json

    found: dict[str, str | bool | None] = json.loads(told)
    return found


def agents_home(environment: Mapping[str, str]) -> str:
    """The home directory as the agent's own shell has it."""
    theirs = changed_variables(environment).get("HOME")
    return theirs if isinstance(theirs, str) else environment.get("HOME") or os.path.expanduser("~")


class _TooMuch(Exception):
    pass


class _State:
    """What the shell would know at one point of the line."""

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.variables: dict[str, tuple[str, ...]] = {}  # name to a tuple of possible values
        self.lists: dict[str, list[str]] = {}
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}
        self.files: dict[str, str] = {}  # path to the text that the line has written there
        self.arguments: list[str] = []
        self.sourced = False  # a file that we cannot see may have set anything
        self.contained = False
        self.mounts: list[tuple[str, str]] = []
        self.through: tuple[str, ...] = ()
        self.zero = "sh"

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
        other.zero = self.zero
        return other

    def merge(self, others: list[_State]) -> None:
        """After branches: each variable may have any of its values."""
        for other in others:
            for name, values in other.variables.items():
                both = dict.fromkeys((*self.variables.get(name, ()), *values))
                self.variables[name] = tuple(both)[:MOST_VALUES]
            self.lists.update(other.lists)
            self.functions.update(other.functions)
            self.aliases.update(other.aliases)
            self.files.update(other.files)
            self.sourced = self.sourced or other.sourced


class _Walk:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.changed_variables = changed_variables(environment)
        self.commands: list[Command] = []
        self.notes: list[Note] = []
        self.spent = 0
        self.budget = Budget()
        self.unset_is_empty = False  # how to take a variable that nobody has set
        self.met_unset: list[str] = []
        self.deferred: list[Sequence] = []  # `>(…)` that wait for what is written into them
        self.numbers = 0
        self.around: list[str] = []  # the pipelines we are inside of, as they are written
        self.calling: set[str] = set()  # functions we are inside of

    def note(self, kind: str, shown: str) -> None:
        self.notes.append(Note(kind, _short(shown)))

    def note_origin(self, mark: str) -> None:
        """Something of unknown content is run: say which part of the line brings it about."""
        telling = [text for text in self.around if not all(char in ORIGINS or char.isspace() for char in text)]
        self.note(ORIGINS[mark], telling[-1] if telling else "")

    # -- structure ------------------------------------------------------------------------------------------------

    def shell(self, code: str, state: _State, stdin: str | None, shown: str, depth: int, surely: bool = True) -> str:
        """Walk a line or script; return what it prints, as far as that is known.

        Code that is only partly known, or that may be no shell code at all, need not be readable.
        """
        surely = surely and not any(mark in code for mark in (UNKNOWN, *ORIGINS))
        if code.lstrip()[:1] == GENERATED:
            self.note_origin(GENERATED)
        if depth > DEEPEST:
            self.note("unreadable", shown or code)
            return UNKNOWN
        try:
            return self.sequence(parse(code, self.budget), state, stdin, depth)
        except Unreadable as error:
            if surely:
                self.note("unreadable", f"{shown or code}: {error.why}" if not depth else code)
            return self.sequence(error.read, state, stdin, depth) if error.read else UNKNOWN
        except (_TooMuch, RecursionError):
            if depth:
                raise _TooMuch from None
            self.note("unreadable", shown or code)
            return UNKNOWN

    def sequence(self, sequence: Sequence, state: _State, stdin: str | None, depth: int) -> str:
        printed = ""
        for connector, pipeline in sequence:
            before = state.copy() if connector == "||" else None
            said = self.pipeline(pipeline, state, stdin, depth)
            printed += said + "\n" if said[-1:] in UNKNOWNS else said
            printed = printed if len(printed) <= LONGEST else UNKNOWN
            if before is not None:  # it may not have run
                state.directory = before.directory
                state.merge([before])
        return printed

    def pipeline(self, pipeline: Pipeline, state: _State, stdin: str | None, depth: int) -> str:
        data = stdin
        upstream: list[list[str]] = []
        self.around.append(pipeline.shown)
        last = len(pipeline.stages) - 1
        for number, stage in enumerate(pipeline.stages):
            own = state if number == last and not pipeline.background else state.copy()
            begun = len(self.commands)
            data = self.command(stage, own, data, upstream, depth)
            upstream = upstream + [command.words for command in self.commands[begun:] if command.words]
            if number < last:
                state.files.update(own.files)
        if pipeline.background:
            state.files.update(own.files)
        self.around.pop()
        return data or ""

    def command(self, node: Any, state: _State, stdin: str | None, upstream: Collection[list[str]], depth: int) -> str:
        if isinstance(node, Simple):
            return self.simple(node, state, stdin, upstream, depth)
        if isinstance(node, Function):
            if _is_fork_bomb(node):
                self.note("fork-bomb", node.shown)
            state.functions[node.name] = node
            return ""
        return self.block(node, state, stdin, depth)

    def block(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        redirects, stdin = self.redirects(node.redirects, state, stdin, depth)
        if redirects:
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
        return self.sequence(node.bodies[0], state.copy(), stdin, depth)

    def _branches(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        printed = ""
        for word in node.words or ():
            self.expand(word, state, depth)
        ends = []
        bodies = list(node.bodies)
        while bodies:
            if len(bodies) > 1:
                printed += self.sequence(bodies.pop(0), state, stdin, depth)
            branch = state.copy()
            printed += self.sequence(bodies.pop(0), branch, stdin, depth)
            ends.append(branch)
        if node.complete:
            directories = {end.directory for end in ends}
            state.directory = directories.pop() if len(directories) == 1 else state.directory
        state.merge(ends)
        return printed

    def _loop(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        if _spawns_for_ever(node):
            self.note("fork-bomb", node.shown)
        printed = self.sequence(node.bodies[0], state, stdin, depth)
        inside = state.copy()
        printed += self.sequence(node.bodies[1], inside, stdin, depth)
        state.merge([inside])
        return printed

    def _for(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        if node.name is None:
            for word in node.words:
                self.expand(word, state, depth)
            items = [UNKNOWN]
        elif node.words is None:
            items = state.arguments or [UNKNOWN]
        else:
            items = self.fields(node.words, state, depth)[0] or [UNKNOWN]
        printed = ""
        inside = state.copy()
        for item in items[:24]:
            if node.name:
                inside.variables[node.name] = (item,)
            printed += self.sequence(node.bodies[0], inside, stdin, depth)
        state.merge([inside])
        return printed

    def _test(self, node: Any, state: _State, stdin: str | None, depth: int) -> str:
        for word in node.words:
            self.expand(word, state, depth)
        return ""

    # -- simple commands ------------------------------------------------------------------------------------------

    def simple(
        self, node: Simple, state: _State, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        """One command; twice if it uses a variable that nobody has set: it may be empty, or come from elsewhere."""
        if self.unset_is_empty:
            return self._simple(node, state, stdin, upstream, depth)
        outer, self.met_unset = self.met_unset, []
        printed = self._simple(node, state, stdin, upstream, depth)
        if self.met_unset:
            self.unset_is_empty = True
            try:
                self._simple(node, state.copy(), stdin, upstream, depth)
            finally:
                self.unset_is_empty = False
        self.met_unset = outer
        return printed

    def _simple(
        self, node: Simple, state: _State, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        own = state.copy() if node.words and node.assignments and not _is_builtin(node) else state
        self.deferred = []
        for name, index, operator, value in node.assignments:
            self.assign(own, name, index, operator, value, depth)
        redirects, stdin = self.redirects(node.redirects, state, stdin, depth)
        if not node.words:
            if redirects:
                self.commands.append(self.emitted([], redirects, stdin, state, node.shown, upstream))
            return self.written(redirects, "", state)
        printed = ""
        alternatives = self.fields(node.words, state, depth)
        deferred, self.deferred = self.deferred, []
        for words in alternatives:
            printed = self.run(words, own, stdin, redirects, node.shown, upstream, depth)
        for body in deferred:
            self.sequence(body, state.copy(), printed, depth)
        return self.written(redirects, printed, state)

    def emitted(
        self,
        words: list[str],
        redirects: list[tuple[str, str]],
        stdin: str | None,
        state: _State,
        shown: str,
        upstream: Collection[list[str]],
    ) -> Command:
        # as an argument, what was decoded is like any other text; to run it is refused as such
        words = [word.replace(DECODED, "") if DECODED in word[:-1] else word for word in words]
        command = Command(words, redirects, stdin, state.directory, _short(shown), upstream)
        command.contained, command.mounts, command.through = state.contained, state.mounts, state.through
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
        """One program with its words; return what it prints."""
        self.spent += 1
        if self.spent > MOST_COMMANDS:
            raise _TooMuch
        if not words:
            return ""
        self.commands.append(self.emitted(words, redirects, stdin, state, shown, list(upstream)))
        for mark in (NETWORK, DECODED):
            if mark in words[0]:
                self.note_origin(mark)
        name = program(words[0])
        if words[0] in state.functions and words[0] not in self.calling:
            return self.call(words, state, stdin, depth)
        if words[0] in state.aliases and words[0] not in self.calling:
            return self.aliased(words, state, stdin, shown, depth)
        builtin = _BUILTINS.get(name)
        if builtin:
            return builtin(self, words, state, stdin, shown, depth)
        printed = None
        if name == "xargs":
            options, _ = programs.split_options(words, "aEdILnPs", ("--arg-file",))
            file = programs.value_of(options, "-a", "--arg-file")
            stdin = self.content(file, state) if file else stdin
        for inner in programs.inner(words, stdin):
            said = self.inner(inner, state, stdin, shown, upstream, depth)
            printed = (printed or "") + said
        if name == "xargs" and any(program(each[0]) == "find" for each in upstream):
            self.xargs_of_find(words, state, shown, upstream)
        if "/" in words[0]:
            text = state.files.get(self.path(words[0], state))
            if text is not None:
                return self.script(text, "shell", words, state, stdin, shown, depth, directly=True)
        if printed is not None and name not in FILTERS:
            return printed
        return self.printed(name, words, state, stdin)

    def xargs_of_find(self, words: list[str], state: _State, shown: str, upstream: Collection[list[str]]) -> None:
        """`find … | xargs rm` as `find … -exec rm {} +`."""
        found = next(each for each in upstream if program(each[0]) == "find")
        _, at = programs.split_options(words, "aEdILnPs", ("--max-args", "--max-procs", "--delimiter"))
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
        quoted = ["'" + word.replace("'", "'\\''") + "'" for word in words[1:]]
        self.calling.add(words[0])
        try:
            return self.shell(" ".join([state.aliases[words[0]], *quoted]), state, stdin, shown, depth + 1)
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
            raise _TooMuch
        own = state.copy()
        own.through = (*state.through, program(self.commands[-1].words[0]) if self.commands[-1].words else "")
        if inner.directory is not None:
            own.directory = self.path(inner.directory, state)
        if program(own.through[-1]) in ("nsenter", "chroot"):  # out of the container
            own.contained = False
        if inner.contained:
            own.contained = True
            own.mounts = [(there, self.path(here, state)) for there, here in inner.mounts]
        stdin = stdin if inner.stdin is None else inner.stdin
        if inner.kind == "words":
            said = self.run(inner.value, own, stdin, [], shown, upstream, depth + 1)
        elif inner.kind == "shell":
            own.arguments = inner.arguments[1:]
            own.zero = "".join(inner.arguments[:1]) or own.zero
            said = self.shell(inner.value, own, stdin, shown, depth + 1)
        elif inner.kind == "stdin":
            own.arguments = inner.arguments
            if any(program(each[0]) in DECRYPTERS for each in upstream):
                self.note_origin(DECODED)
            said = self.script(stdin, inner.language, [], own, "", shown, depth)
        elif inner.kind == "file":
            text = state.files.get(self.path(inner.value, state))
            said = self.script(text, inner.language, inner.arguments, own, stdin, shown, depth)
        else:
            self.code(inner.language, inner.value, own, stdin, shown, depth)
            origin = next((mark for mark in (NETWORK, DECODED) if mark in (stdin or "")), GENERATED)
            said = origin if not inner.arguments and inner.language != "awk" else UNKNOWN
        state.files.update(own.files)
        return said

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
        """A program's text, where it is known: from stdin, or from a file that the line has written."""
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
        """A one-liner of another language, as the shell commands that would do the same."""
        for mark in (NETWORK, DECODED):
            if code.lstrip().startswith(mark):
                self.note_origin(mark)
        for kind, value in one_liners.actions(language, code):
            if kind == "note":
                self.note(value, shown)
            elif kind == "shell":
                self.shell(value, state.copy(), stdin, shown, depth + 1, surely=False)
            else:
                self.run(value, state.copy(), stdin, [], shown, (), depth + 1)

    def path(self, word: str, state: _State) -> str:
        return resolved(word, state.directory, self.home(state))

    def home(self, state: _State) -> str:
        return self.values("HOME", state)[0] or "/"

    # -- redirections ---------------------------------------------------------------------------------------------

    def redirects(
        self, redirects: list[Redirect], state: _State, stdin: str | None, depth: int
    ) -> tuple[list[tuple[str, str]], str | None]:
        """Where output goes, as (operator, target), and what stdin is then."""
        found = []
        for redirect in redirects:
            values = self.expand(redirect.target, state, depth)
            texts = [
                decoded(value.replace(BREAK, " ")) if redirect.operator.startswith("<<") else value for value in values
            ]
            if redirect.operator in ("<<", "<<-", "<<<"):
                stdin = texts[0] + ("\n" if redirect.operator == "<<<" else "")
                continue
            for value in texts:
                target = "".join(split_words(value)[:1])
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
        """Keep what goes into files; return what is left to print."""
        targets = [(operator, target) for operator, target in redirects if not operator.startswith("2")]
        if not targets:
            return printed
        for operator, target in targets:
            path = self.path(target, state)
            before = state.files.get(path, "") if ">>" in operator else ""
            state.files[path] = before + printed
        return ""

    # -- expansion ------------------------------------------------------------------------------------------------

    def assign(self, state: _State, name: str, index: str | None, operator: str, value: Any, depth: int) -> None:
        if index is None and operator == "=":
            state.lists.pop(name, None)
        if isinstance(value, list) and value and isinstance(value[0], list):
            fields = self.fields(value, state, depth)[0]
            state.lists[name] = [*(state.lists.get(name, []) if operator == "+=" else []), *fields]
            return
        values = [decoded(each.replace(BREAK, " ")) for each in self.expand(value, state, depth, in_quotes=True)]
        if index is not None:
            state.lists[name] = [*state.lists.get(name, []), values[0]]
            return
        if operator == "+=":
            before = state.variables.get(name, ("",))
            values = [old + new for old in before for new in values]
        state.variables[name] = tuple(values[:MOST_VALUES])

    def fields(self, words: list[Word], state: _State, depth: int) -> list[list[str]]:
        """The words of a command, in every combination that is worth looking at."""
        combinations: list[list[str]] = [[]]
        for word in words:
            texts = self.expand(word, state, depth)
            if len(texts) == 1:
                alternative = split_words(texts[0])
                for each in combinations:
                    each += alternative
                continue
            distinct = list(dict.fromkeys(tuple(split_words(text)) for text in texts))
            combinations = [[*before, *after] for before in combinations for after in distinct][: 2 * MOST_VALUES]
        return combinations

    def expand(self, word: Word, state: _State, depth: int, in_quotes: bool = False) -> list[str]:
        """A word's possible texts, with marks where it falls apart and where a pattern is active."""
        texts = [""]
        for part in word:
            if part.kind == "text":
                values = [part.value]
            elif part.kind == "tilde":
                values = [QUOTED + each for each in self.tilde(part.value, state)]
            elif part.kind == "variable":
                values = self.variable(part, state, depth, in_quotes)
            elif part.kind == "command":
                said = self.sequence(part.value, state.copy(), "", depth + 1).rstrip("\n")
                values = [encoded(said, part.quoted or in_quotes, self.separators(state))]
            elif part.kind == "process":
                values = [self.process(part.value, state, depth)]
            else:
                self.expand(part.value, state, depth)
                values = [UNKNOWN]
            texts = [before + after for before in texts for after in values][: 2 * MOST_VALUES]
            texts = [text if len(text) <= LONGEST else UNKNOWN for text in texts]
        return texts

    def process(self, value: tuple[str, Sequence], state: _State, depth: int) -> str:
        direction, body = value
        self.numbers += 1
        path = f"/dev/fd/{62 + self.numbers}"
        if direction == "<":
            state.files[path] = self.sequence(body, state.copy(), None, depth + 1)
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
        """A variable's possible values."""
        if name in state.variables:
            return state.variables[name]
        if name in state.lists:
            return (" ".join(state.lists[name][:1]),)
        if name == "PWD":
            return (state.directory,)
        if name == "IFS":
            return (" \t\n",)
        if name.isdigit():
            number = int(name)
            if not number:
                return (state.zero,)
            return (state.arguments[number - 1] if number <= len(state.arguments) else "",)
        if name in ("@", "*"):
            return (" ".join(state.arguments),)
        if name in self.changed_variables or "*" in self.changed_variables:
            return self.both_values(name)
        if name in self.environment:
            return (PRIVATE.sub("\ufffd", self.environment[name]),)
        if state.sourced or name in _SET_BY_SHELL or not re.match(r"[A-Za-z_]", name):
            return (UNKNOWN,)
        self.met_unset.append(name)
        return ("",) if self.unset_is_empty else (UNKNOWN,)

    def both_values(self, name: str) -> tuple[str, ...]:
        """The values of a variable that is another in the agent's own shell: that, and what is here."""
        theirs = self.changed_variables.get(name, True)
        found = [PRIVATE.sub("\ufffd", each) for each in (theirs, self.environment.get(name)) if isinstance(each, str)]
        if theirs is True:
            self.note("unreadable", f"${name}")
            found.append(UNKNOWN)
        elif theirs is None:
            self.met_unset.append(name)
            found.append("" if self.unset_is_empty else UNKNOWN)
        return tuple(found)

    def may_be_unset(self, name: str, state: _State) -> bool:
        """Whether a variable that is set here is not set in the agent's own shell, as far as that is known."""
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
            or (name.isdigit() and int(name) <= len(state.arguments))
        )

    def variable(self, part: Part, state: _State, depth: int, in_quotes: bool) -> list[str]:
        variable = part.value
        quoted = part.quoted or in_quotes
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
                return [encoded(" ".join(items), True, separators)]
            return [BREAK.join(encoded(item, quoted, separators) for item in items)]
        if variable.index is not None and variable.name in state.lists and variable.index not in ("@", "*"):
            number = int(variable.index) if re.fullmatch(r"-?\d+", variable.index) else None
            items = state.lists[variable.name]
            try:
                values = (items[number],) if number is not None else tuple(items[:MOST_VALUES]) or (UNKNOWN,)
            except IndexError:
                values = ("",)
        elif variable.prefix == "!":
            names = self.values(variable.name, state)
            values = tuple(value for name in names for value in self.values(decoded(name), state)) or (UNKNOWN,)
        elif variable.operator[:2] in (":-", ":=", "-", "=", ":+", "+", ":?", "?"):
            return self.with_default(variable, state, depth, quoted, separators)
        else:
            values = self.values(variable.name, state)
        if variable.prefix == "#":
            return [UNKNOWN]
        texts = [self.changed(value, variable, state, depth) for value in values]
        return [encoded(text, quoted, separators) for text in texts]

    def with_default(self, variable: Variable, state: _State, depth: int, quoted: bool, separators: str) -> list[str]:
        """`${x:-word}`, `${x:=word}`, `${x:+word}`, `${x:?word}`."""
        operator = variable.operator
        unset = self.is_unset(variable.name, state)
        values = () if unset else self.values(variable.name, state)
        if self.may_be_unset(variable.name, state):
            unset, values = True, values[:-1]
        present = [value for value in values if value or ":" not in operator]
        if operator.endswith("?"):
            return [encoded(value, quoted, separators) for value in present or [UNKNOWN]]
        words = self.expand(variable.argument or [], state, depth)
        if not quoted:
            words = ["".join(BREAK if char in separators else char for char in word) for word in words]
        if operator.endswith("+"):
            return [*(words if present else []), *([""] if unset or not present else [])]
        if operator.endswith("=") and (unset or not present):
            assigned = [decoded(word.replace(BREAK, " ")) for word in words]
            state.variables[variable.name] = tuple([*present, *assigned][:MOST_VALUES])
        found = [encoded(value, quoted, separators) for value in present]
        return found + (words if len(present) < len(values) or unset else []) or [""]

    def changed(self, value: str, variable: Variable, state: _State, depth: int) -> str:
        """`${x#pattern}`, `${x%pattern}`, `${x/pattern/other}`, `${x:1:2}`, `${x^^}` …"""
        operator = variable.operator
        if not operator or any(mark in value for mark in (UNKNOWN, NETWORK, DECODED)):
            return value
        argument = self.expand(variable.argument or [], state, depth)[0]
        if operator in ("^", "^^", ",", ",,"):
            changed = value.upper() if "^" in operator else value.lower()
            return changed if len(operator) == 2 else changed[:1] + value[1:]
        if operator == ":":
            start, length = plain_number(variable.argument), plain_number(variable.other)
            if start is None or (variable.other and length is None):
                return UNKNOWN
            tail = value[start:]
            return tail if not variable.other else tail[:length]
        pattern = as_expression(argument)
        if operator in ("#", "##"):
            ends = range(len(value) + 1) if operator == "#" else range(len(value), -1, -1)
            return next((value[end:] for end in ends if re.fullmatch(pattern, value[:end], re.DOTALL)), value)
        if operator in ("%", "%%"):
            starts = range(len(value), -1, -1) if operator == "%" else range(len(value) + 1)
            return next((value[:at] for at in starts if re.fullmatch(pattern, value[at:], re.DOTALL)), value)
        if operator.startswith("/"):
            other = decoded(self.expand(variable.other or [], state, depth)[0])
            pattern = {"/#": rf"\A(?:{pattern})", "/%": rf"(?:{pattern})\Z"}.get(operator, pattern)
            return re.sub(pattern, lambda _: other, value, count=0 if operator == "//" else 1)
        return value

    # -- what programs print --------------------------------------------------------------------------------------

    def printed(self, name: str, words: list[str], state: _State, stdin: str | None) -> str:
        """What a program prints, as far as that can be known."""
        rest = words[1:]
        text = stdin or ""
        if name == "echo":
            return output.echo(rest)
        if name == "printf":
            return output.printf(rest)
        if name in ("cat", "tac", "bat", "sponge"):
            files = [word for word in rest if not word.startswith("-")]
            if not files:
                return text
            return "".join(self.content(file, state) for file in files)
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
            return self.told(name, rest, state)
        if name == "git" and words[1:3] == ["rev-parse", "--show-toplevel"]:
            return state.directory
        if name == "git" and words[1:3] == ["rev-parse", "--git-dir"]:
            return ".git"
        if name in ("docker", "podman") and any(word.startswith(("-f", "--filter")) for word in rest):
            return "some" + UNKNOWN
        return "" if name in ("true", "false", ":", "mkdir", "touch", "rm", "chmod", "cd", "sleep") else UNKNOWN

    def told(self, name: str, rest: list[str], state: _State) -> str:
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
        """What came over the network: to stdout, or into a file."""
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
        """What a filter lets through: it keeps where its input came from."""
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
    return ""


def _unset(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    for word in words[1:]:
        state.variables[word] = ("",)
        state.lists.pop(word, None)
    return ""


def _set(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    if "--" in words:
        state.arguments = words[words.index("--") + 1 :]
    return ""


def _shift(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    count = int(words[1]) if words[1:] and words[1].isdigit() else 1
    state.arguments = state.arguments[count:]
    return ""


def _read_variables(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    _, at = programs.split_options(words, "adinNptu")
    names = words[at:] or ["REPLY"]
    lines = tuple(line for line in (stdin or "").split("\n") if line)[:MOST_VALUES]
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
    state.lists["".join(words[at : at + 1]) or "MAPFILE"] = (stdin or UNKNOWN).split("\n")[:MOST_WORDS]
    return ""


def _printf_builtin(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    if words[1:2] == ["-v"] and len(words) > 3:
        state.variables[words[2]] = (output.printf(words[3:]),)
        return ""
    return output.printf(words[1:])


def _alias(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals:
            state.aliases[name] = value
            walk.shell(value, state.copy(), stdin, shown, depth + 1)
    return ""


def _eval(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    code = " ".join(words[1:])
    if code.strip() == UNKNOWN:
        state.sourced = True
    return walk.shell(code, state, stdin, shown, depth + 1)


def _source(walk: _Walk, words: list[str], state: _State, stdin: str | None, shown: str, depth: int) -> str:
    if len(words) < 2:
        return ""
    path = words[1]
    text = stdin if path in ("/dev/stdin", "/dev/fd/0", "-") else state.files.get(walk.path(path, state))
    if text is None:
        state.sourced = True
        return UNKNOWN
    return walk.script(text, "shell", [], state, stdin, shown, depth)


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


def _is_builtin(node: Simple) -> bool:
    """Whether a command changes the shell that runs it, so that `IFS= read x` is more than a moment's matter."""
    first = node.words[0]
    return len(first) == 1 and first[0].kind == "text" and first[0].value in _BUILTINS


def _short(text: str) -> str:
    text = " ".join(decoded(text).split())
    for mark in UNKNOWNS:
        text = text.replace(mark, "…")
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def _names(node: Any) -> Iterator[tuple[str, Pipeline | None]]:
    """The names of the plain commands of a syntax tree, each with the pipeline it stands in."""
    if isinstance(node, Function):
        node = node.body
    if isinstance(node, Simple):
        if node.words and all(part.kind == "text" for part in node.words[0]):
            yield decoded("".join(part.value for part in node.words[0])), None
        return
    for body in node.bodies:
        for _, pipeline in body:
            for stage in pipeline.stages:
                for name, where in _names(stage) if isinstance(stage, (Simple, Block)) else ():
                    yield name, where or pipeline


def _is_fork_bomb(function: Function) -> bool:
    """A function that calls itself twice in a pipeline, or in the background."""
    calls = [where for name, where in _names(function) if name == function.name]
    pipelines = [where for where in calls if where is not None]
    return any(where.background for where in pipelines) or len(pipelines) != len(set(map(id, pipelines)))


def _spawns_for_ever(loop: Block) -> bool:
    """`while true; do something & done`."""
    condition = [name for name, _ in _names(Block("group", [loop.bodies[0]]))]
    if condition not in (["true"], [":"], ["false"]):
        return False
    body = Block("group", [loop.bodies[1]])
    names = [name for name, _ in _names(body)]
    background = any(pipeline.background for _, pipeline in loop.bodies[1])
    return background and not {"sleep", "wait", "read", "break", "exit"} & set(names)
