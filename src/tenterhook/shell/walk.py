"""Walks the commands of a line in the order of execution, through all branches and all iterations of loops.

It follows what a command runs: substitutions, functions, scripts that the line wrote, programs that run others.
"""

from __future__ import annotations

from . import programs
from .commands import ShellCommand, because, shortened
from .expansion import DEEPEST, Expansion
from .output import DECRYPTERS, FILTERS, content, printed
from .programs import program, resolved
from .shell_builtins import BUILTINS, in_this_shell
from .state import MOST_VALUES
from .syntax import (
    BREAK,
    COMMA,
    DECODED,
    GENERATED,
    NETWORK,
    ONE,
    OPEN,
    SET,
    STAR,
    UNKNOWN,
    UNKNOWNS,
    Block,
    Function,
    OutOfBudget,
    Parser,
    Simple,
    Unreadable,
    decoded,
)
from .words import MOST_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .state import ShellState
    from .syntax import Budget, Pipeline, Redirect, Word

# Directories of programs that are on most search paths.
_PROGRAMS = ("/usr/local/bin", "/usr/bin", "/opt/homebrew/bin", "~/.local/bin", "~/bin", "~/.cargo/bin", "~/go/bin")
ORIGINS = {NETWORK: "run-download", DECODED: "run-decoded", GENERATED: "run-decoded"}
LONGEST_WORD = 131_072  # bytes of an argument, the limit of Linux
MOST_ROUNDS = 24  # iterations of a loop over numbers
STEPS_AFTER = 2_000  # for what was parsed before the budget was used up
STEPS_PER_COMMAND = 8
_COMPARISONS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_ARITHMETIC_SHELLS = ("zsh", "ksh", "mksh", "oksh")  # in which `[` compares numbers like `[[`
# Builtins that evaluate the index of a name in their arguments.
_INDEXING = frozenset("let test [ unset read printf declare typeset local export readonly wait mapfile".split())
# Variables whose value is a command that other programs run.
_COMMAND_VARIABLES = frozenset(
    "EDITOR VISUAL PAGER MANPAGER BROWSER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS "
    "GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR RSYNC_RSH LESSOPEN LESSCLOSE "
    "PROMPT_COMMAND".split()
)


class Walk(Expansion):
    """The walk over one line, which collects its `commands` and `notes`."""

    def __init__(self, environment: Mapping[str, str], line: str) -> None:
        super().__init__(environment, line)
        self.commands: list[ShellCommand] = []
        self.around: list[str] = []  # the source of the enclosing pipelines
        self.calling: set[str] = set()  # functions that are being called
        self.unpacked: list[str] = []  # directories, ending with a slash, into which downloaded archives are unpacked
        self.has_downloaded = False  # the line saved a file from the network
        self.connections: list[tuple[str, str]] = []  # redirections to the network that surround a command
        self.assignments: tuple[tuple[str, str], ...] = ()  # before the program that is being walked
        self.inputs: tuple[str, ...] = ()  # the files that it reads through redirections
        self.is_certain = True  # whether nothing was expanded in the words that are being walked
        self.parser: Parser | None = None  # of the line itself, while it is being parsed

    def all_of(self, line: str | list[str], state: ShellState) -> None:
        """Walk a line, or the words of a program, until the budget is used up."""
        shown = line if isinstance(line, str) else " ".join(line[:64])
        try:
            if isinstance(line, str):
                self.shell(line, state, None, "", depth=0)
            else:
                self.run(line, state, None, [], shortened(shown), depth=0)
        except (OutOfBudget, RecursionError) as error:
            why = "it is too long" if isinstance(error, OutOfBudget) else "it is nested too deeply"
            self.note("unreadable", because(shown, why))
            self.after_parser(state)

    def after_parser(self, state: ShellState) -> None:
        """Walk the simple commands that were parsed before an error."""
        if self.parser is None:
            return
        unfinished, self.parser = self.parser.unfinished, None
        self.budget.steps = max(self.budget.steps, STEPS_AFTER)
        try:
            for command in unfinished:
                del command.words[MOST_WORDS:], command.redirects[MOST_WORDS:], command.assignments[MOST_WORDS:]
                self.simple(command, state, None, (), 0)
        except (OutOfBudget, RecursionError):
            pass  # there is already a note that the line is unreadable

    def note_origin(self, mark: str, directly: str = "") -> None:
        """Note that fetched or decoded text is run; the note shows `directly`, or the innermost part that runs it."""
        sources = [text for text in self.around if not all(char in ORIGINS or char.isspace() for char in text)]
        self.note(ORIGINS[mark] + ("-directly" if directly else ""), directly or "".join(sources[-1:]))

    # -- structure ------------------------------------------------------------------------------------------------

    def shell(
        self, code: str, state: ShellState, stdin: str | None, shown: str, depth: int, surely: bool = True
    ) -> str:
        """Walk a line or script and return what it prints, with marks for what is not known.

        Code that is only partly known, or that may not be shell code (not `surely`), need not be readable.
        """
        code = code.replace("\0", "")  # as shells do
        self.code_run.extend([code] if depth else [])
        surely = surely and not any(mark in code for mark in (UNKNOWN, *ORIGINS))
        if code.lstrip()[:1] == GENERATED:
            self.note_origin(GENERATED)
        if depth > DEEPEST:
            self.note("unreadable", shown or code)
            return UNKNOWN
        parser = Parser(code, self.budget, self.offset(code) if depth else 0)
        self.parser = self.parser if depth else parser
        outer = self.span
        try:
            out = self.sequence(parser.complete_commands(), state, stdin, depth)
        except Unreadable as error:
            out = UNKNOWN
            if surely:
                self.note("unreadable", code if depth else because(shown or code, error.why))
            if not depth:
                self.after_parser(state)
        self.span = outer
        self.parser = self.parser if depth else None
        if parser.flaws and surely:
            self.note("unreadable", because(shown or code, parser.flaws[0]))
        return out

    def sequence(
        self, sequence: Iterable[tuple[str, Pipeline]], state: ShellState, stdin: str | None, depth: int
    ) -> str:
        result: list[str] = []
        before: ShellState | None = None  # the state without the commands after `&&` or `||`, which may not run
        for connector, pipeline in sequence:
            if before is not None and connector != "&&":
                self.join(state, [state], before)
                before = None
            if connector != ";" and before is None:
                before = self.copy(state)
            out = self.pipeline(pipeline, state, stdin, depth)
            result.append(out + "\n" if out[-1:] in UNKNOWNS else out)
            if connector == "||" and before is not None:
                state.directory = before.directory
        if before is not None:
            self.join(state, [state], before)
        return self.joined(result)

    def pipeline(self, pipeline: Pipeline, state: ShellState, stdin: str | None, depth: int) -> str:
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
            state.files.update(own.files if own is not state else {})
        if last > 0 and not pipeline.background:  # zsh runs the last command of a pipeline in the shell itself
            self.join(state, [own], state)
        self.around.pop()
        return data or ""

    def command(
        self, node: Any, state: ShellState, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        outer, self.deferred = self.deferred, []
        out = ""
        if isinstance(node, Simple):
            out = self.simple(node, state, stdin, upstream, depth)
        elif isinstance(node, Block):
            out = self.block(node, state, stdin, depth)
        else:
            if _is_fork_bomb(node, self.budget):
                self.note("fork-bomb", node.shown)
            state.functions[node.name] = node
        deferred, self.deferred = self.deferred, outer
        for body in deferred:
            self.sequence(body, self.copy(state), UNKNOWN, depth)
        return out

    def block(self, node: Block, state: ShellState, stdin: str | None, depth: int) -> str:
        self.budget.spend()
        redirects, inputs, stdin = self.redirects(node.redirects, state, stdin, depth)
        if redirects or inputs:
            self.span, self.inputs, self.is_certain = node.span, inputs, _is_literal(node.redirects, ())
            self.commands.append(self.emitted([], redirects, stdin, state, node.shown, []))
        outer = self.connect(redirects)
        match node.kind:
            case "group":
                out = self.sequence(node.bodies[0], state, stdin, depth)
            case "subshell":
                out = self.sequence(node.bodies[0], self.copy(state), stdin, depth)
            case "branches":
                out = self.branches(node, state, stdin, depth)
            case "loop":
                out = self.loop(node, state, stdin, depth)
            case "for":
                out = self.for_loop(node, state, stdin, depth)
            case _:
                out = ""
                texts = [self.expand(word, state, depth) for word in node.words or ()]
                if node.name == "((":
                    self.evaluate(texts[0], state, depth)
                for each in texts:
                    self.indexes(map(decoded, each), state, depth)
                self.compared(texts, state, depth)
        self.connections = outer
        return self.written(redirects, out, state)

    def connect(self, redirects: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Remember connections, which what runs inside inherits; return those that were open before."""
        outer = self.connections
        found = [each for each in redirects if each[1].startswith(("/dev/tcp/", "/dev/udp/"))]
        self.connections = outer + found if found else outer
        return outer

    def compared(self, words: Sequence[list[str]], state: ShellState, depth: int) -> None:
        """Walk the operands of numeric comparisons in a test; `words` are the possible texts of each word."""
        for at in range(1, len(words) - 1):
            if _COMPARISONS.intersection(map(decoded, words[at])):
                self.evaluate((*words[at - 1], *words[at + 1]), state, depth)

    def branches(self, node: Block, state: ShellState, stdin: str | None, depth: int) -> str:
        result: list[str] = []
        for word in node.words or ():
            self.expand(word, state, depth)
        ends = []
        for at in range(0, len(node.bodies), 2):
            condition, body = node.bodies[at], node.bodies[min(at + 1, len(node.bodies) - 1)]
            if condition is not body:
                result.append(self.sequence(condition, state, stdin, depth))
            ends.append(self.copy(state))
            result.append(self.sequence(body, ends[-1], stdin, depth))
        directories = {end.directory for end in ends}
        if node.complete and len(directories) == 1:
            state.directory = directories.pop()
        self.join(state, ends, None if node.complete else state)
        return self.joined(result)

    def loop(self, node: Block, state: ShellState, stdin: str | None, depth: int) -> str:
        if _spawns_forever(node, self.budget):
            self.note("fork-bomb", node.shown)
        result: list[str] = []
        before = dict(state.variables)
        result.append(self.sequence(node.bodies[0], state, stdin, depth))
        reads = "read" in [name for name, _ in _names(Block("group", [node.bodies[0]]), self.budget)]
        set_by_read = [name for name, values in state.variables.items() if reads and before.get(name) is not values]
        inside = self.copy(state)
        result.append(self.sequence(node.bodies[1], inside, stdin, depth))
        self.join(state, [inside], state)
        for name in set_by_read:  # also empty after the loop
            state.variables[name] = (*state.variables[name][: MOST_VALUES - 1], "")
        return self.joined(result)

    def for_loop(self, node: Block, state: ShellState, stdin: str | None, depth: int) -> str:
        if node.words is None:
            items = state.arguments
        else:
            items = self.fields(node.words, state, depth)[0] if node.name else ()
            if not node.name:
                self.arithmetic(node.words[0], state, depth)
        items = items or [UNKNOWN]
        result: list[str] = []
        inside = self.copy(state)
        if len(items) > MOST_ROUNDS and all(map(str.isdigit, items)):
            items = [*items[: MOST_ROUNDS - 1], items[-1]]
        for item in items:
            if node.name:
                inside.variables[node.name] = (item,)
            result.append(self.sequence(node.bodies[0], inside, stdin, depth))
        self.join(state, [inside], state if UNKNOWN in items else None)
        return self.joined(result)

    # -- simple commands ------------------------------------------------------------------------------------------

    def simple(
        self, node: Simple, state: ShellState, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        """Walk one command; twice if it uses a variable without a value, which may be empty or set elsewhere."""
        self.span = node.span
        if self.unset_is_empty:
            return self.simple_once(node, state, stdin, upstream, depth)
        outer, self.met_unset = self.met_unset, []
        out = self.simple_once(node, state, stdin, upstream, depth)
        if self.met_unset:
            self.unset_is_empty = True
            try:
                self.simple_once(node, self.copy(state), stdin, upstream, depth)
            finally:
                self.unset_is_empty = False
        self.met_unset = outer
        return out

    def simple_once(
        self, node: Simple, state: ShellState, stdin: str | None, upstream: Collection[list[str]], depth: int
    ) -> str:
        own = self.copy(state) if node.words and node.assignments and not _is_builtin(node) else state
        self.deferred = []
        assignments = tuple(
            (name, self.assign(own, name, index, operator, value, depth))
            for name, index, operator, value in node.assignments
        )
        redirects, inputs, stdin = self.redirects(node.redirects, state, stdin, depth)
        is_certain = state.is_certain and _is_literal(node.redirects, (*node.words, *_values(node)))
        outputs = []
        alternatives = self.fields(node.words, state, depth) if node.words else [[]]
        deferred, self.deferred = self.deferred, []
        for words in alternatives:
            self.span, self.assignments, self.inputs, self.is_certain = node.span, assignments, inputs, is_certain
            if words:
                outputs.append(self.run(words, own, stdin, redirects, node.shown, upstream, depth))
            elif redirects or assignments or inputs:
                self.budget.spend(STEPS_PER_COMMAND // 2)
                self.command_variables(assignments, state, stdin, node.shown, depth)
                self.commands.append(self.emitted([], redirects, stdin, state, node.shown, upstream))
        out = outputs[0] if outputs and len(set(outputs)) == 1 else UNKNOWN if outputs else ""
        for body in deferred:
            self.sequence(body, self.copy(state), out, depth)
        return self.written(redirects, out, state)

    def command_variables(
        self, assignments: Iterable[tuple[str, str]], state: ShellState, stdin: str | None, shown: str, depth: int
    ) -> None:
        """Walk values of variables that later commands run, such as `GIT_EDITOR='…'`, if these have several words."""
        for name, value in assignments:
            if name in _COMMAND_VARIABLES and " " in value.strip():
                self.shell(value.lstrip("|-"), self.copy(state), stdin, shown, depth + 1)

    def emitted(
        self,
        words: list[str],
        redirects: list[tuple[str, str]],
        stdin: str | None,
        state: ShellState,
        shown: str,
        upstream: Collection[list[str]],
    ) -> ShellCommand:
        return ShellCommand(
            [_argument(word) for word in words],
            redirects + [each for each in self.connections if each not in redirects] if self.connections else redirects,
            stdin,
            state.directory,
            shortened(shown),
            upstream,
            self.span,
            self.is_certain,
            self.assignments,
            state.contained,
            state.mounts,
            state.is_remote,
            state.through,
            tuple(dict.fromkeys(self.met_unset)) if self.unset_is_empty else (),
            self.inputs,
        )

    def run(
        self,
        words: list[str],
        state: ShellState,
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
        called = self.path(words[0], state) if state.aliases and "/" in words[0] else words[0]
        if state.aliases and name == "git":
            at = programs.git_options(words)[1]
            known = " ".join(["git", *words[at : at + 1]])
            called, words = (known, words[at:]) if known in state.aliases else (called, words)
        if called in state.aliases and called not in self.calling:  # of an alias, only in interactive shells
            self.aliased(called, words, self.copy(state), stdin, shown, depth)
        if decoded(name) in ("test", "[") and any(shell in _ARITHMETIC_SHELLS for shell in state.through):
            self.compared([[word] for word in words], state, depth)
        if name in _INDEXING:
            self.indexes(words[2:3] if name == "printf" else words[1:], state, depth)
        if name in BUILTINS:
            return BUILTINS[name](self, words, state, stdin, shown, depth)
        outer = self.connect(redirects)
        outputs = [
            self.walk_nested(name, each, state, stdin, shown, upstream, depth)
            for each in self.nested_in(name, words, state, stdin)
        ]
        self.connections = outer
        if name == "xargs" and any(program(each[0]) == "find" for each in upstream):
            self.xargs_of_find(words, state, shown, upstream)
        text = self.text(words[0], state) if "/" in words[0] else self.downloaded(words[0], state)
        if text is not None:
            return self.script(text, "shell", words, state, stdin, shown, depth, directly=True)
        return "".join(outputs) if outputs and name not in FILTERS else printed(self, name, words, state, stdin or "")

    def nested_in(
        self, name: str, words: list[str], state: ShellState, stdin: str | None
    ) -> list[programs.NestedCommand]:
        """Return what a program runs because of its words, its variables or a makefile of the line."""
        if name == "xargs" and (file := programs.value_of(programs.xargs_options(words)[0], "-a", "--arg-file")):
            stdin = content(self, file, state)
        found = [
            programs.NestedCommand("shell", value.lstrip("|-"))  # as in LESSOPEN
            for variable, value in self.assignments
            if variable in _COMMAND_VARIABLES and value.strip()
        ]
        found += programs.nested_commands(words, stdin, lambda variable: self.values(variable, state)[0])
        if name in ("make", "gmake") and state.files:
            file = programs.makefile(words)
            for path in (file,) if file else programs.MAKEFILES:
                found += programs.recipes(state.files.get(self.path(path, state), ""))
        return found

    def xargs_of_find(self, words: list[str], state: ShellState, shown: str, upstream: Collection[list[str]]) -> None:
        """Add `find … | xargs rm` as `find … -exec rm {} +`."""
        found = next(each for each in upstream if program(each[0]) == "find")
        options, at = programs.xargs_options(words)
        replaced = programs.value_of(options, "-I", "-i", "--replace")
        command = (
            [*words[at:], "{}"] if replaced is None else [word.replace(replaced or "{}", "{}") for word in words[at:]]
        )
        is_filtered = any(program(each[0]) in ("grep", "egrep", "head", "tail", "rg") for each in upstream)
        spelt = [*found, *(["-name", UNKNOWN] if is_filtered else []), "-exec", *command, "+"]
        self.commands.append(self.emitted(spelt, [], None, state, shown, []))

    def call(self, words: list[str], state: ShellState, stdin: str | None, depth: int) -> str:
        outer, state.arguments = state.arguments, words[1:]
        self.calling.add(words[0])
        try:
            return self.command(state.functions[words[0]].body, state, stdin, [], depth + 1)
        finally:
            state.arguments = outer
            self.calling.discard(words[0])

    def aliased(
        self, name: str, words: list[str], state: ShellState, stdin: str | None, shown: str, depth: int
    ) -> None:
        """Walk an alias, or a program under another name, which has an alias for its path."""
        self.budget.spend(2 * STEPS_PER_COMMAND + len(words))
        line = " ".join([state.aliases[name], *map(programs.quoted, words[1:])])
        self.calling.add(name)
        in_this_shell(self, line, state, stdin, shown, depth, is_certain=False)
        self.calling.discard(name)

    def walk_nested(
        self,
        name: str,
        nested: programs.NestedCommand,
        state: ShellState,
        stdin: str | None,
        shown: str,
        upstream: Collection[list[str]],
        depth: int,
    ) -> str:
        """Walk what a program runs, and return what that prints."""
        if depth > DEEPEST:
            self.note("unreadable", shown)
            return UNKNOWN
        own = self.copy(state)
        own.through = (*state.through, name)
        own.is_remote = state.is_remote or nested.is_remote
        if nested.directory is not None:
            own.directory = self.path(nested.directory, state)
        own.contained = nested.contained or (state.contained and name not in ("nsenter", "chroot"))
        if nested.contained:
            own.mounts = tuple((there, self.path(here, state)) for there, here in nested.mounts)
        stdin = stdin if nested.stdin is None else nested.stdin
        span, is_certain = self.span, self.is_certain and nested.is_certain
        own.is_certain = own.is_certain and is_certain and nested.kind not in ("stdin", "file")
        self.is_certain, self.assignments, self.inputs = is_certain, nested.assignments, ()
        match nested.kind:
            case "words":
                out = self.run(nested.value, own, stdin, [], shown, upstream, depth + 1)
            case "shell":
                own.arguments = nested.arguments[1:]
                own.zero = "".join(nested.arguments[:1]) or own.zero
                out = self.shell(nested.value, own, stdin, shown, depth + 1)
            case "stdin":
                own.arguments = nested.arguments
                if any(program(each[0]) in DECRYPTERS for each in upstream):
                    self.note_origin(DECODED)
                out = self.script(stdin, nested.language, (), own, "", shown, depth)
            case "file":
                text = self.text(nested.value, state)
                out = self.script(text, nested.language, nested.arguments, own, stdin, shown, depth)
            case _:
                self.code(nested.language, nested.value, own, stdin, shown, depth)
                origin = next((mark for mark in (NETWORK, DECODED) if mark in (stdin or "")), GENERATED)
                out = origin if not nested.arguments and nested.language != "awk" else UNKNOWN
        self.span, self.is_certain = span, is_certain
        state.files.update(own.files)
        return out

    def script(
        self,
        text: str | None,
        language: str,
        words: Collection[str],
        state: ShellState,
        stdin: str | None,
        shown: str,
        depth: int,
        directly: bool = False,
    ) -> str:
        """Walk a script from stdin, or from a file that the line wrote, if its text is known."""
        is_other = language != "shell"
        mark = next((mark for mark in ORIGINS if mark in (text or "")), "") if is_other or directly else ""
        if mark:
            self.note_origin(mark, shown if directly else "")
        elif is_other and text is not None:
            self.code(language, text, state, stdin, shown, depth)
        if text is None or mark or is_other:
            return UNKNOWN
        state.arguments = tuple(words)[1:] if words else state.arguments
        return self.shell(text, state, stdin, shown, depth + 1)

    def code(self, language: str, code: str, state: ShellState, stdin: str | None, shown: str, depth: int) -> None:
        """Walk code in another language as equivalent shell commands."""
        self.code_run.append(code)
        for mark in (NETWORK, DECODED):
            if code.lstrip().startswith(mark):
                self.note_origin(mark)
        state = self.copy(state)
        state.is_certain = self.is_certain = False
        from . import one_liners  # rarely needed

        if len(code) > one_liners.LONGEST:
            self.note("unreadable", because(shown, "its code is too long"))
            code = code[: one_liners.LONGEST]
        self.budget.spend(len(code) // 3)
        states = [state]  # one for each directory that the code may be in
        for kind, value in one_liners.actions(language, code):
            if kind == "note":
                self.note(value, shown)
            elif kind == "cd":
                states.append(self.copy(state))
                states[-1].directory = self.path(value, state)
            for each in states if kind in ("shell", "words") else ():
                if kind == "shell":
                    self.shell(value, self.copy(each), stdin, shown, depth + 1, surely=False)
                else:
                    self.run(value, self.copy(each), stdin, [], shown, (), depth + 1)

    # -- files ----------------------------------------------------------------------------------------------------

    def path(self, word: str, state: ShellState) -> str:
        return resolved(word, state.directory, self.home(state))

    def text(self, word: str, state: ShellState) -> str | None:
        """Return the text of a file that the line wrote, or unpacked from a download; None for any other file."""
        path = self.path(word, state)
        text = state.files.get(path)
        return NETWORK if text is None and path.startswith(tuple(self.unpacked)) else text

    def downloaded(self, name: str, state: ShellState) -> str | None:
        """Return the text of a program that the line downloaded into a directory of programs; None for another."""
        paths = (self.path(f"{directory}/{name}", state) for directory in _PROGRAMS) if self.has_downloaded else ()
        return NETWORK if any(NETWORK in state.files.get(path, "") for path in paths) else None

    def home(self, state: ShellState) -> str:
        return self.values("HOME", state)[0] or "/"

    def redirects(
        self, redirects: Iterable[Redirect], state: ShellState, stdin: str | None, depth: int
    ) -> tuple[list[tuple[str, str]], tuple[str, ...], str | None]:
        """Return the files for output, as (operator, target), the files for input, and the text on stdin."""
        found, inputs = [], []
        for redirect in redirects:
            self.budget.spend(6)
            operator, descriptor = redirect.operator, redirect.descriptor
            values = self.expand(redirect.target, state, depth)
            if operator.startswith("<<"):
                stdin = decoded(values[0].replace(BREAK, " ")) + ("\n" if operator == "<<<" else "")
                continue
            for value in values:
                target = "".join(self.split(value)[:1])
                if operator in ("<", "<>"):
                    stdin = content(self, target, state)
                    inputs.append(target)
                elif operator == "<&":
                    stdin = state.files.get("&" + target, UNKNOWN)
                if operator in ("<", "<&"):
                    continue
                if operator != ">&" or not (target.isdigit() or target == "-"):  # else a copy of a descriptor
                    found.append((operator if descriptor in (None, "1") else "2" + operator, target))
                if descriptor and target.startswith("/dev/tcp"):
                    state.files["&" + descriptor] = NETWORK
        return found, tuple(inputs), stdin

    def written(self, redirects: list[tuple[str, str]], out: str, state: ShellState) -> str:
        """Record output that is redirected to files; return the output that is not."""
        targets = [(operator, target) for operator, target in redirects if not operator.startswith("2")]
        for operator, target in targets:
            path = self.path(target, state)
            before = state.files.get(path, "") if ">>" in operator else ""
            self.budget.spend_on(len(before) + len(out) if before else 0)
            state.files[path] = before + out
        return "" if targets else out


def _argument(word: str) -> str:
    """Return a word as an argument of a command; keeps the mark of decoded text only at its end."""
    if len(word) > LONGEST_WORD:
        return UNKNOWN
    word = word.replace("\0", "")
    return word if word.isascii() or word.find(DECODED, 0, -1) < 0 else word.replace(DECODED, "")


def _is_literal(redirects: Iterable[Redirect], words: Iterable[Word]) -> bool:
    """Whether nothing is expanded in words and in the targets of redirections."""
    for word in (*words, *(redirect.target for redirect in redirects)):
        for part in word:
            if part.kind != "text" or (not part.value.isascii() and _has_pattern(part.value)):
                return False
    return True


def _has_pattern(text: str) -> bool:
    """Whether a text contains a pattern or braces that are expanded."""
    has_braces = OPEN in text and (COMMA in text or ".." in text)
    return has_braces or STAR in text or ONE in text or (SET in text and "]" in text)


def _values(node: Simple) -> Iterator[Word]:
    """Yield the values of a command's assignments."""
    for _, _, _, value in node.assignments:
        yield from value if value and isinstance(value[0], list) else [value]


def _is_builtin(node: Simple) -> bool:
    """Whether a command is a builtin, before which assignments change the shell's own state: `IFS=, read x`."""
    first = node.words[0]
    return len(first) == 1 and first[0].kind == "text" and first[0].value in BUILTINS


# -- fork bombs ---------------------------------------------------------------------------------------------------


def _names(node: Any, budget: Budget) -> Iterator[tuple[str, Pipeline | None]]:
    """Yield the names of the plain commands of a syntax tree, each with the innermost pipeline around it."""
    waiting: list[tuple[Any, Pipeline | None]] = [(node.body if isinstance(node, Function) else node, None)]
    while waiting:
        budget.spend()
        node, where = waiting.pop()
        if isinstance(node, Block):
            for body in reversed(node.bodies):
                waiting += [(stage, pipeline) for _, pipeline in reversed(body) for stage in reversed(pipeline.stages)]
        elif isinstance(node, Simple) and node.words and all(part.kind == "text" for part in node.words[0]):
            yield decoded("".join(part.value for part in node.words[0])), where


def _is_fork_bomb(function: Function, budget: Budget) -> bool:
    """Whether a function calls itself twice in a pipeline, or in the background."""
    calls = [where for name, where in _names(function, budget) if name == function.name]
    pipelines = [where for where in calls if where is not None]
    return any(where.background for where in pipelines) or len(pipelines) != len(set(map(id, pipelines)))


def _spawns_forever(loop: Block, budget: Budget) -> bool:
    """Whether a loop is `while true; do something & done`."""
    if not any(pipeline.background for _, pipeline in loop.bodies[1]):
        return False
    condition, names = ([name for name, _ in _names(Block("group", [body]), budget)] for body in loop.bodies)
    return condition in (["true"], [":"], ["false"]) and not {"sleep", "wait", "read", "break", "exit"} & set(names)
