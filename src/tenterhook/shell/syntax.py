"""The syntax of a shell line: text to a tree of commands, as bash, dash and zsh parse it.

Nothing is expanded and nothing is run here. `parse` returns the `Sequence` of a whole text. `Parser.complete_commands`
yields the commands one by one, so that those before a syntax error can be used. A text that is no shell code raises
`Unreadable`; one that takes more steps than its `Budget` raises `OutOfBudget`.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Iterator
    from typing import Any

    Word = list["Part"]

# Private-use characters that mark what is special to the shell where it is not quoted. `read` replaces them in the
# text it is given, so that no line can contain them.
STAR, ONE, SET = "\ue004", "\ue005", "\ue006"  # * ? [ of a pattern
PATTERNS = (STAR, ONE, SET)
BREAK, QUOTED = "\ue007", "\ue008"  # a field separator; the start of a quoted part
OPEN, COMMA, CLOSE = "\ue009", "\ue00a", "\ue00b"  # { , }
# … and text whose content is not known before the line runs.
UNKNOWN = "\ue000"
NETWORK = "\ue001"  # downloaded
DECODED = "\ue002"  # the output of a decoder
GENERATED = "\ue003"  # the output of a one-liner or of a text filter
UNKNOWNS = (UNKNOWN, NETWORK, DECODED, GENERATED)
ACTIVE = {"*": STAR, "?": ONE, "[": SET, "{": OPEN, ",": COMMA, "}": CLOSE}
PLAIN = {mark: char for char, mark in ACTIVE.items()}
# What is replaced in a line: these characters, and surrogates that are not a byte, which no program can be given.
PRIVATE = re.compile("[\ue000-\ue0ff\ud800-\udc7f\udd00-\udfff]")

WORD_ENDS = " \t\n;&|()<>"
COMMAND_ENDS = "\n;&|)"
# Blanks, line continuations and comments. A carriage return is a blank only at the end of a line, as in CRLF text;
# anywhere else it is an ordinary character.
BLANKS = re.compile(r"(?:[ \t]++|\\\n|\r(?=\n|\Z)|#[^\n]*+)*+")
BLANK_LINES = re.compile(r"(?:[ \t\n]++|\\\n|\r(?=\n|\Z)|#[^\n]*+)*+")
REDIRECT = re.compile(r"([0-9]++|\{[A-Za-z_]\w{0,99}\})?(<<<|<<-?|<>|<&|>&|>>|>\||&>>|&>|<|>)")
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*+)(\[[^]\n]{0,200}\])?(\+?=)")
ASSIGNMENT_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+\+?=")
FUNCTION = re.compile(r"([^ \t\r\n;&|()<>$`'\"\\=#!]++)[ \t]*+\([ \t]*+\)")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+|[0-9]|[@*#?$!-]")
BRACED_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+|[0-9]++|[@*#?$!-]")
RESERVED = re.compile(r"(?:[a-z]++|[{}!]|\[\[)(?=[ \t\r\n;&|()<>]|\Z)")
ORDINARY = re.compile(r"[\w./:=%^@+-]++")  # characters of a word that stand for themselves
ORDINARY_IN_BRACES = re.compile(r"[\w.%^]++")
ORDINARY_IN_QUOTES = re.compile(r'[^"\\$`]++')
# Rare ones are compiled when they are needed first.
COPROCESS_NAME = r"[A-Za-z_]\w*+[ \t]++(?=[{(]|(?:if|while|until|for|case|select)[ \t\n])"
TILDE = r"~(\+|[\w.-]*+)(?=[/: \t\r\n;&|()<>}]|\Z)"
ANSI = r"(?s)(?:[^'\\]++|\\.)*+'"
BACKQUOTES = r"(?s)(?:[^`\\]++|\\.)*+`"
HERE_QUOTES = r"""(?s)'([^']*+)'|"([^"]*+)"|\\(.)"""
# A token inside parentheses that are skipped: quoted text, an escaped character, anything without parentheses.
PARENTHESES = r"""(?s)[^()'"`\\]++|\\.|'[^']*+'|"(?:[^"\\]++|\\.)*+"|`(?:[^`\\]++|\\.)*+`|[()'"`\\]"""
DECLARING = ("declare", "typeset", "local", "export", "readonly")
NOT_COMMANDS = frozenset("then else elif fi do done esac in } !".split())  # reserved words that begin no command
OPERATORS = ":- := :? :+ ## %% // /# /% ^^ ,, - = ? + # % / ^ , @ :".split()
DEEPEST = 60  # substitutions and blocks in one another
STEPS = 24_000
CHARACTERS_PER_STEP = 256
LONGEST_DELIMITER = 1_000
LONGEST_INDEX = 1_000
LONGEST_SHOWN = 400  # characters of a command that are kept to show it


class Unreadable(Exception):
    """A text that is not shell code, or that shells read differently."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class OutOfBudget(Exception):
    """The steps for reading a line are used up."""


class Budget:
    """The steps for reading one line, all code inside of it included: parsing and walking, text that is copied.

    A step takes a few microseconds; the whole budget is spent in less than a tenth of a second.
    """

    __slots__ = ("steps",)

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps

    def spend(self, steps: int = 1) -> None:
        """Take steps; raise OutOfBudget if none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise OutOfBudget

    def spend_on(self, characters: int) -> None:
        """Take the steps for going through a text of this length."""
        if characters >= CHARACTERS_PER_STEP:
            self.spend(characters // CHARACTERS_PER_STEP)


class Part:
    """A piece of a word: text, a variable, a command substitution … `quoted` pieces are not split into fields."""

    __slots__ = ("kind", "quoted", "value")

    def __init__(self, kind: str, value: Any, quoted: bool = False) -> None:
        self.kind = kind  # text, tilde, variable, command, process, arithmetic
        self.value = value
        self.quoted = quoted


class Variable:
    """`${name[index]operator argument}`."""

    __slots__ = ("argument", "index", "name", "operator", "other", "prefix", "subscript")

    def __init__(
        self,
        name: Any,
        prefix: str = "",
        index: str | None = None,
        operator: str = "",
        argument: Word | None = None,
        other: Word | None = None,
    ) -> None:
        self.name = name
        self.prefix = prefix  # # for the length, ! for indirection
        self.index = index
        self.subscript: Word | None = None  # the index, if something in it is substituted
        self.operator = operator
        self.argument = argument
        self.other = other  # the replacement of a pattern; the length of a substring


class Redirect:
    """`2> target`, `<<< word`, `<< here-document`."""

    __slots__ = ("descriptor", "operator", "target")

    def __init__(self, descriptor: str | None, operator: str, target: Word) -> None:
        self.descriptor = descriptor
        self.operator = operator
        self.target = target


class Simple:
    """`NAME=value program argument > file`. `span` is where it stands in the line, or None."""

    __slots__ = ("assignments", "redirects", "shown", "span", "words")

    def __init__(
        self,
        assignments: list[Any],
        words: list[Word],
        redirects: list[Redirect],
        shown: str,
        span: tuple[int, int] | None = None,
    ) -> None:
        self.assignments = assignments  # of (name, index, operator, word or list of words)
        self.words = words
        self.redirects = redirects
        self.shown = shown
        self.span = span


class Sequence:
    """Pipelines, each with the operator before it: `;`, `&&` or `||`."""

    __slots__ = ("items",)

    def __init__(self, items: list[tuple[str, Pipeline]] | None = None) -> None:
        self.items = items or []

    def __iter__(self) -> Iterator[tuple[str, Pipeline]]:
        return iter(self.items)


class Pipeline:
    """`a | b | c`."""

    __slots__ = ("background", "shown", "stages")

    def __init__(self, stages: list[Any], shown: str) -> None:
        self.stages = stages
        self.shown = shown
        self.background = False


class Block:
    """A compound command. `kind` says which of the `bodies` run, and how often."""

    __slots__ = ("bodies", "complete", "kind", "name", "redirects", "shown", "span", "words")

    def __init__(
        self,
        kind: str,
        bodies: list[Sequence],
        shown: str = "",
        name: Any | None = None,
        words: list[Word] | None = None,
        complete: bool = False,
    ) -> None:
        self.kind = kind  # group, subshell, branches, loop, for, test
        self.bodies = bodies
        self.shown = shown
        self.name = name
        self.words = words
        self.complete = complete  # has an `else`
        self.redirects: list[Redirect] = []
        self.span: tuple[int, int] | None = None


class Function:
    """`name() { … }`."""

    __slots__ = ("body", "name", "shown", "span")

    def __init__(self, name: Any, body: Any, shown: str) -> None:
        self.name = name
        self.body = body
        self.shown = shown
        self.span: tuple[int, int] | None = None


def parse(text: str, budget: Budget | None = None) -> Sequence:
    """Return the commands of a line or a script. Raise Unreadable or OutOfBudget."""
    return Sequence(list(Parser(text, budget or Budget(), 0).complete_commands()))


def nodes(tree: Any) -> Iterator[Any]:
    """Yield every node of a tree: commands, blocks, redirections, parts of words …"""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (list, tuple)):
            waiting.extend(node)
        elif slots := getattr(node, "__slots__", None):
            yield node
            waiting.extend(getattr(node, slot) for slot in slots)


def only_command(text: str) -> Simple | None:
    """Return the command of a text that is one simple command and nothing else; otherwise None."""
    try:
        items = parse(text).items
    except (Unreadable, OutOfBudget):
        return None
    command = items[0][1].stages[0] if items and items[0][1].stages else None
    bounds = (len(text) - len(text.lstrip()), len(text.rstrip()))
    return command if isinstance(command, Simple) and command.span == bounds else None


class Parser:
    """A recursive-descent parser over one text. `offset` is where the text stands in the line, None if nowhere."""

    def __init__(self, text: str, budget: Budget, offset: int | None = None, outer: Parser | None = None) -> None:
        self.text = text
        self.budget = budget
        self.at = 0
        self.end = 0  # of the last word, redirection or closing token
        self.offset = offset
        self.depth: int = outer.depth + 1 if outer else 0
        self.in_substitution = 0  # levels of `$(` around the current place
        # Simple commands since the last complete one, inside of what has not been read to its end.
        self.unfinished: list[Simple] = outer.unfinished if outer else []
        self.flaws: list[str] = outer.flaws if outer else []  # syntax errors that only show at run time
        self.pending: list[tuple[Redirect, str, bool]] = []  # here-documents that begin at the next newline

    def complete_commands(self) -> Iterator[tuple[str, Pipeline]]:
        """Yield the outermost pipelines, each with the operator before it, once their here-documents are read."""
        ready = []
        for item in self.pipelines():
            ready.append(item)
            if not self.pending:
                complete, ready = ready, []
                self.unfinished.clear()
                yield from complete
        yield from ready
        if self.at < len(self.text):
            raise Unreadable(f"{self.text[self.at]!r} stands where a command should")
        self.unfinished.clear()

    # -- looking --------------------------------------------------------------------------------------------------

    def looks_at(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def reserved(self) -> str:
        found = RESERVED.match(self.text, self.at)
        return found.group() if found else ""

    def skip_blanks(self) -> None:
        """Skip blanks, line continuations and comments; not newlines."""
        if self.text[self.at : self.at + 1] in " \t\\\r#":  # also at the end of the text
            found = BLANKS.match(self.text, self.at)
            assert found
            self.at = found.end()

    def skip_newlines(self) -> None:
        while True:
            if not self.pending:
                found = BLANK_LINES.match(self.text, self.at)
                assert found
                self.at = found.end()
                return
            self.skip_blanks()
            if self.char() != "\n":
                return
            self.newline()

    def newline(self) -> None:
        self.at += 1
        pending, self.pending = self.pending, []
        for redirect, delimiter, literal in pending:
            redirect.target = self.here_document(delimiter, literal, strip=redirect.operator == "<<-")

    def expect(self, text: str, why: str) -> None:
        if not self.looks_at(text):
            raise Unreadable(why)
        self.at += len(text)

    def take_word(self, *names: str) -> str:
        """Take one of these reserved words, or none."""
        self.skip_newlines()
        found = self.reserved()
        if found in names:
            self.at += len(found)
            return found
        return ""

    def need_word(self, name: str, after: str) -> None:
        if not self.take_word(name):
            raise Unreadable(f"there is no '{name}' after '{after}'")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("it is nested too deeply")

    def find(self, text: str, start: int) -> int:
        """Return where a text occurs next, -1 if nowhere; the distance is spent."""
        end = self.text.find(text, start)
        self.budget.spend_on((end if end >= 0 else len(self.text)) - start)
        return end

    def shown(self, start: int) -> str:
        return self.text[start : min(self.end, start + LONGEST_SHOWN)]

    def span(self, start: int) -> tuple[int, int] | None:
        return None if self.offset is None else (self.offset + start, self.offset + max(start, self.end))

    # -- commands -------------------------------------------------------------------------------------------------

    def sequence(self, *stops: str, may_be_empty: bool = False) -> Sequence:
        """Parse commands up to the end, a closing parenthesis, `;;` or one of these reserved words."""
        self.deeper()
        self.budget.spend(3)
        items = list(self.pipelines(*stops))
        if not items and not may_be_empty:
            raise Unreadable(
                f"{self.char()!r} stands where a command should" if self.char() else "a command is missing"
            )
        self.depth -= 1
        return Sequence(items)

    def substitution(self, why: str) -> Sequence:
        """Parse the commands of `$(…)` or `<(…)`, after its opening parenthesis."""
        self.in_substitution += 1
        self.budget.spend(4)
        body = self.sequence(may_be_empty=True)
        self.in_substitution -= 1
        self.expect(")", why)
        return body

    def pipelines(self, *stops: str) -> Iterator[tuple[str, Pipeline]]:
        connector = ";"
        while True:
            self.skip_newlines()
            char = self.char()
            if not char or char == ")" or self.looks_at(";;") or self.looks_at(";&") or self.reserved() in stops:
                if connector != ";":
                    raise Unreadable(f"there is no command after '{connector}'")
                return
            pipeline = self.pipeline()
            self.skip_blanks()
            before, connector = connector, ";"
            char = self.char()
            if char == "&":
                if self.looks_at("&&"):
                    connector = "&&"
                    self.at += 2
                else:
                    pipeline.background = True
                    self.at += 2 if self.text[self.at + 1 : self.at + 2] in ("|", "!") else 1  # zsh's &| and &!
            elif self.looks_at("||"):
                connector = "||"
                self.at += 2
            elif char == ";" and not self.looks_at(";;") and not self.looks_at(";&"):
                self.at += 1
            elif (
                char
                and char not in "\n);"
                and not (pipeline.stages and isinstance(pipeline.stages[-1], Block) and self.reserved() in stops)
            ):
                raise Unreadable(f"{char!r} stands where a command should have ended")
            self.skip_blanks()
            if self.char() == "\n":
                self.newline()
            yield before, pipeline

    def pipeline(self) -> Pipeline:
        start = self.at
        stages: list[Simple | Block | Function] = []
        while True:
            self.budget.spend(2)
            self.skip_blanks()
            if stages:
                self.skip_newlines()
            prefixed = not stages and self.prefixes()
            if not (prefixed and self.char() in ("", "\n", ";", ")")):  # `!` and `time` may stand alone
                stages.append(self.command())
            self.skip_blanks()
            if self.char() != "|" or self.looks_at("||"):
                break
            self.at += 2 if self.looks_at("|&") else 1
        return Pipeline(stages, self.shown(start))

    def prefixes(self) -> bool:
        """Skip `!`, `time` and `coproc NAME`; return whether there were any."""
        found = False
        while (word := self.reserved()) in ("!", "time", "coproc"):
            found = True
            self.budget.spend()
            self.at += len(word)
            self.skip_blanks()
            if word == "time" and self.looks_at("-p") and self.text[self.at + 2 : self.at + 3] in ("", " ", "\t", "\n"):
                self.at += 2
                self.skip_blanks()
            elif word == "coproc" and (name := re.compile(COPROCESS_NAME).match(self.text, self.at)):
                self.at = name.end()
        return found

    def command(self) -> Simple | Block | Function:
        start = self.at
        block = self.block()
        if block is None:
            return self.simple()
        if isinstance(block, Block):
            self.end = self.at
            while True:
                self.skip_blanks()
                if not REDIRECT.match(self.text, self.at):
                    break
                block.redirects.append(self.redirect())
        block.shown = self.shown(start)
        block.span = self.span(start)
        return block

    def block(self) -> Block | Function | None:
        """Parse a compound command or a function; return None if a simple command stands here."""
        char = self.char()
        if char == "(":
            arithmetic = self.arithmetic(self.at + 2) if self.looks_at("((") else None
            if arithmetic is not None:
                return Block("test", [], words=[arithmetic])
            self.at += 1
            body = self.sequence()
            self.expect(")", "a parenthesis is not closed")
            return Block("subshell", [body])
        word = self.reserved()
        if word == "{":
            self.at += 1
            body = self.sequence("}")
            self.need_word("}", "{")
            return Block("group", [body])
        if word in ("if", "while", "until", "for", "select", "case", "function", "[["):
            self.at += len(word)
            return self.compound(word)
        if word in NOT_COMMANDS:
            raise Unreadable(f"'{word}' stands where a command should")
        found = FUNCTION.match(self.text, self.at)
        if found:
            self.at = found.end()
            return self.function_body(found.group(1))
        return None

    def compound(self, word: str) -> Block | Function:
        if word == "if":
            return self.if_()
        if word == "case":
            return self.case()
        if word == "function":
            return self.function()
        return self.test() if word == "[[" else self.loop(word)

    def if_(self) -> Block:
        bodies = [self.sequence("then")]
        self.need_word("then", "if")
        complete = False
        while True:
            bodies.append(self.sequence("elif", "else", "fi"))
            word = self.take_word("fi") if complete else self.take_word("elif", "else", "fi")
            if word == "elif":
                bodies.append(self.sequence("then"))
                self.need_word("then", "elif")
            elif word == "else":
                complete = True
            elif word == "fi":
                return Block("branches", bodies, complete=complete)
            else:
                raise Unreadable("there is no 'fi' after 'if'")

    def loop(self, word: str) -> Block:
        if word in ("while", "until"):
            condition = self.sequence("do")
            self.need_word("do", word)
            body = self.sequence("done")
            self.need_word("done", word)
            return Block("loop", [condition, body])
        self.skip_blanks()
        name = None
        words: list[Word] | None = None
        if self.looks_at("(("):
            arithmetic = self.arithmetic(self.at + 2)
            if arithmetic is None:
                raise Unreadable("'((' is not closed")
            words = [arithmetic]
        else:
            found = BRACED_NAME.match(self.text, self.at)
            if not found:
                raise Unreadable(f"there is no name after '{word}'")
            name = found.group()
            self.at = found.end()
            if self.take_word("in"):
                words = self.loop_words(word)
        self.skip_blanks()
        if self.char() == ";":
            self.at += 1
        if self.take_word("do"):
            body = self.sequence("done")
            self.need_word("done", word)
        else:
            self.need_word("{", word)
            body = self.sequence("}")
            self.need_word("}", word)
        return Block("for", [body], name=name, words=words)

    def loop_words(self, keyword: str) -> list[Word]:
        words: list[Word] = []
        while True:
            self.skip_blanks()
            if self.char() in ("", ";", "\n"):
                return words
            words.append(self.word(tilde="word"))
            if not words[-1]:
                raise Unreadable(f"the words of '{keyword}' cannot be read")

    def case(self) -> Block:
        self.skip_blanks()
        subject = self.word()
        if not subject:
            raise Unreadable("there is no word after 'case'")
        self.need_word("in", "case")
        words = [subject]
        bodies: list[Sequence] = []
        complete = False  # a pattern matches everything
        while True:
            if self.take_word("esac"):
                return Block("branches", bodies, words=words, complete=complete)
            if self.at >= len(self.text):
                raise Unreadable("there is no 'esac' after 'case'")
            if self.char() == "(":
                self.at += 1
            while True:  # the patterns
                self.skip_blanks()
                pattern = self.word(" \t\n|;&<>()")
                if not pattern:
                    raise Unreadable("a pattern of 'case' cannot be read")
                words.append(pattern)
                complete = complete or [part.value for part in pattern] == [STAR]
                self.skip_blanks()
                if self.char() == ")":
                    self.at += 1
                    break
                self.expect("|", "a pattern of 'case' cannot be read")
            bodies += [Sequence(), self.sequence("esac", may_be_empty=True)]
            self.skip_newlines()
            if self.looks_at(";;&"):
                self.at += 3
            elif self.looks_at(";;") or self.looks_at(";&"):
                self.at += 2
            else:
                self.need_word("esac", "case")
                return Block("branches", bodies, words=words, complete=complete)

    def function(self) -> Function:
        self.skip_blanks()
        name = self.plain(self.word())
        self.skip_blanks()
        if self.char() == "(":
            self.at += 1
            self.skip_blanks()
            self.expect(")", "the function's parentheses are not closed")
        return self.function_body(name)

    def function_body(self, name: str) -> Function:
        self.skip_newlines()
        self.deeper()
        body = self.command()
        self.depth -= 1
        return Function(name, body, "")

    def test(self) -> Block:
        """Parse `[[ … ]]`, where `<`, `|` and parentheses are operators of the test."""
        words: list[Word] = []
        while True:
            self.skip_newlines()
            self.budget.spend()
            if self.at >= len(self.text):
                raise Unreadable("'[[' is not closed")
            if self.looks_at("]]"):
                self.at += 2
                return Block("test", [], words=words)
            if self.char() in "()<>&|;":
                self.at += 1
                continue
            words.append(self.word(" \t\n", nested=True))

    def simple(self) -> Simple:
        start = self.at
        assignments: list[Any] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        try:
            self.words_of(assignments, words, redirects)
        finally:  # what was read before an error is kept
            command = Simple(assignments, words, redirects, self.shown(start), self.span(start))
            self.unfinished.append(command)
        if not words and not assignments and not redirects:
            raise Unreadable(
                f"{self.char()!r} stands where a command should" if self.char() else "a command is missing"
            )
        return command

    def words_of(self, assignments: list[Any], words: list[Word], redirects: list[Redirect]) -> None:
        text = self.text
        declaring = False
        while True:
            self.skip_blanks()
            at = self.at
            char = text[at : at + 1]
            if not char or char in COMMAND_ENDS:
                if char != "&" or text[at + 1 : at + 2] != ">":
                    return
            elif char == "(":
                raise Unreadable("a parenthesis stands inside a command")
            if char in "<>&{" or char.isdigit():
                redirect = REDIRECT.match(text, at)
                if redirect and not (redirect.group() in "<>" and text[redirect.end() : redirect.end() + 1] == "("):
                    redirects.append(self.redirect())
                    continue
            if not words or declaring:
                found = ASSIGNMENT.match(text, at)
                is_array = found is not None and text[found.end() : found.end() + 1] == "("
                if found and (not words or is_array):
                    self.at = found.end()
                    value: Any = self.array() if is_array else self.word(tilde="value")
                    if not is_array and (subscript := self.subscript(found.group(2) or "")):
                        value = [Part("arithmetic", subscript), *value]
                    if words:
                        words.append([Part("text", found.group(1))])
                    assignments.append((found.group(1), found.group(2), found.group(3), value))
                    self.end = self.at
                    continue
            words.append(self.word(tilde="word"))
            self.end = self.at
            if len(words) == 1:
                declaring = self.plain(words[0]) in DECLARING

    def array(self) -> list[Word]:
        self.expect("(", "")
        words: list[Word] = []
        while True:
            self.skip_newlines()
            if self.char() == ")":
                self.at += 1
                return words or [[]]
            if self.at >= len(self.text):
                raise Unreadable("a list is not closed")
            word = self.word(tilde="word")
            if not word:
                raise Unreadable("a list cannot be read")
            words.append(word)

    def redirect(self) -> Redirect:
        found = REDIRECT.match(self.text, self.at)
        assert found
        descriptor, operator = found.groups()
        self.budget.spend(2)
        self.at = found.end()
        self.skip_blanks()
        redirect = Redirect(descriptor, operator, [])
        start = self.at
        word = self.word(tilde="word")
        if not word:
            raise Unreadable(f"there is nothing after '{operator}'")
        if self.char() in ("<", ">") and self.text[start : self.at].isdigit():
            raise Unreadable("a file descriptor stands where the target of a redirection should")
        if operator in ("<<", "<<-"):
            raw = self.text[start : self.at]  # nothing is expanded in a delimiter
            delimiter = re.sub(HERE_QUOTES, lambda each: each[1] or each[2] or each[3] or "", raw)
            if self.text.startswith("\r\n", self.at):
                delimiter += "\r"
            self.pending.append((redirect, delimiter, any(char in raw for char in "'\"\\")))
        else:
            redirect.target = word
        self.end = self.at
        return redirect

    def here_document(self, delimiter: str, literal: bool, strip: bool) -> Word:
        start = self.at
        end, self.at = self.here_document_end(delimiter, strip)
        body = self.text[start:end]
        if body and not body.endswith("\n"):  # the text ends before the delimiter
            body += "\n"
        self.budget.spend_on(len(body))
        if strip:
            body = re.sub(r"^\t++", "", body, flags=re.MULTILINE)
        if literal:
            return [Part("text", QUOTED + body, True)]
        offset = self.offset + start if self.offset is not None and not strip else None
        try:
            return Parser(body, self.budget, offset, self).double("")
        except Unreadable as error:  # an error that shows when the here-document is expanded
            self.flaws.append(error.why)
            return [Part("text", UNKNOWN, True)]

    def here_document_end(self, delimiter: str, strip: bool) -> tuple[int, int]:
        """Return where the text of a here-document ends, and where the line after its delimiter begins."""
        text, length = self.text, len(self.text)
        if len(delimiter) > LONGEST_DELIMITER:
            raise Unreadable("the delimiter of a here-document is too long")
        if strip or self.in_substitution:  # `$(cat <<E … E)`: bash takes the delimiter before the parenthesis
            self.budget.spend(20)
            expression = ("^\t*+" if strip else "^") + re.escape(delimiter)
            expression += r"(?=\n|\Z|\))" if self.in_substitution else r"(?=\n|\Z)"
            found = re.compile(expression, re.MULTILINE).search(text, self.at)
            return (
                (found.start(), min(found.end() + text.startswith("\n", found.end()), length))
                if found
                else (length,) * 2
            )
        at = text.find(f"\n{delimiter}\n", self.at - 1)
        if at >= 0:
            return at + 1, at + len(delimiter) + 2
        if text.endswith("\n" + delimiter) and length - len(delimiter) >= self.at:
            return length - len(delimiter), length
        return length, length

    # -- words ----------------------------------------------------------------------------------------------------

    def plain(self, word: Word) -> str:
        """Return the text of a word, without its expansions."""
        if len(word) == 1 and word[0].kind == "text":
            return decoded(word[0].value)
        return "".join(decoded(part.value) for part in word if part.kind == "text")

    def word(self, stops: str = WORD_ENDS, tilde: str = "", nested: bool = False, quoted: bool = False) -> Word:
        """Parse one word. `tilde` is where one is expanded: in a `word` or an assignment's `value`.

        `nested` is inside `${…}`, `quoted` there inside double quotes too, where single quotes are ordinary.
        """
        parts: Word = []
        text: list[str] = []
        source = self.text
        spend = self.budget.spend

        def flush() -> None:
            if text:
                parts.append(Part("text", "".join(text)))
                text.clear()

        ordinary = ORDINARY if stops == WORD_ENDS else ORDINARY_IN_BRACES
        while self.at < len(source):
            spend()
            if run := ordinary.match(source, self.at):
                text.append(run.group())
                self.at = run.end()
                continue
            char = source[self.at]
            follower = source[self.at + 1 : self.at + 2]
            if char in "<>" and follower == "(" and not nested:
                flush()
                self.at += 2
                parts.append(Part("process", (char, self.substitution("'<(' is not closed"))))
            elif char in stops or (char == "\r" and follower in ("", "\n") and not nested):
                break
            elif char == "\\":
                if follower != "\n":
                    text.append(QUOTED + (follower or "\\"))
                self.at += 1 + len(follower)
            elif char == "'" and quoted:
                text.append(QUOTED + self.quote_in_quotes())
            elif char == "'":
                text.append(QUOTED + self.single())
            elif char == '"':
                flush()
                self.at += 1
                parts.append(Part("text", QUOTED, True))
                parts += self.double('"')
            elif char in "$`":
                flush()
                parts += self.special(quoted)
            elif char == "~" and tilde and self.tilde_is_active(tilde, parts, text):
                flush()
                parts.append(self.tilde())
            elif char in "?*+@!" and follower == "(" and not nested:
                self.at += 1
                start = self.at
                subscript = self.subscript(source[start : self.skip_parentheses()])
                text.append(STAR)
                if subscript:
                    flush()
                    parts.append(Part("arithmetic", subscript))
            else:
                text.append(BREAK if nested and not quoted and char in " \t\n" else ACTIVE.get(char, char))
                self.at += 1
        flush()
        return parts

    def tilde_is_active(self, kind: str, parts: Word, text: list[str]) -> bool:
        if parts or not re.compile(TILDE).match(self.text, self.at):
            return False
        before = "".join(text)
        if kind == "value" or ASSIGNMENT_ARGUMENT.match(before):
            return not before or before[-1] in ":="
        return not before

    def tilde(self) -> Part:
        found = re.compile(TILDE).match(self.text, self.at)
        assert found
        self.at = found.end()
        return Part("tilde", found.group(1))

    def skip_parentheses(self) -> int:
        """Skip a balanced pair of parentheses, such as `(a|b)` of `!(a|b)`; return where its inside ends."""
        depth = 0
        token_at = re.compile(PARENTHESES).match
        while found := token_at(self.text, self.at):
            self.budget.spend()
            self.budget.spend_on(found.end() - self.at)
            self.at = found.end()
            token = found.group()
            depth += (token == "(") - (token == ")")  # noqa: S105
            if token in ("'", '"', "`"):
                raise Unreadable("a quote is not closed")
            if not depth:
                return self.at - 1
        raise Unreadable("a parenthesis is not closed")

    def single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unreadable("a quote is not closed")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def quote_in_quotes(self) -> str:
        """Read a single quote in `"${x:-…}"`. It is an ordinary character, but to bash it must be closed."""
        end = self.text.find("'", self.at + 1)
        between = self.text[self.at + 1 : end] if end >= 0 else ""
        if any(char in between for char in '}"$`\\\n'):
            raise Unreadable("shells differ on the single quote inside '\"${'")
        self.at = end + 1 if end >= 0 else self.at + 1
        return "'" + between + "'" if end >= 0 else "'"

    def double(self, stop: str) -> Word:
        """Parse quoted text up to its closing quote; a here-document, which has none, up to the end of the text."""
        parts = []
        text: list[str] = []
        while True:
            self.budget.spend()
            if run := ORDINARY_IN_QUOTES.match(self.text, self.at):
                text.append(run.group())
                self.at = run.end()
            if self.at >= len(self.text):
                if stop:
                    raise Unreadable("a quote is not closed")
                break
            char = self.text[self.at]
            if char == stop:
                self.at += 1
                break
            if char == "\\" and self.text[self.at + 1 : self.at + 2] in ("$", "`", "\\", "\n", stop or "\\"):
                follower = self.text[self.at + 1]
                text.append("" if follower == "\n" else follower)
                self.at += 2
            elif char in "$`":
                parts += [Part("text", QUOTED + "".join(text), True)] if text else []
                text = []
                parts += self.special(True, in_here_document=not stop)
            else:
                text.append(char)
                self.at += 1
        return parts + ([Part("text", QUOTED + "".join(text), True)] if text else [])

    def special(self, quoted: bool, in_here_document: bool = False) -> Word:
        """Parse what begins with a dollar sign or a backquote."""
        self.budget.spend()
        if self.char() == "`":
            return [Part("command", self.backquoted(quoted and not in_here_document), quoted)]
        after = self.text[self.at + 1 : self.at + 2]
        if after == "(":
            arithmetic = self.arithmetic(self.at + 3) if self.looks_at("$((") else None
            if arithmetic is not None:
                return [Part("arithmetic", arithmetic, quoted)]
            self.at += 2
            return [Part("command", self.substitution("'$(' is not closed"), quoted)]
        if after == "{":
            return self.braced(quoted, in_here_document)
        if after == "[":
            end = self.find("]", self.at)
            if end > 0:
                inner = self.text[self.at + 2 : end]
                self.at = end + 1
                return [Part("arithmetic", Parser(inner, self.budget, None, self).double(""), quoted)]
        if after == "'" and not quoted:
            return [Part("text", QUOTED + self.ansi())]
        if after == '"' and not quoted:
            self.at += 2
            return [Part("text", QUOTED, True), *self.double('"')]
        if after == "\\" and self.text.startswith("\n", self.at + 2):
            raise Unreadable("a line is continued after '$'")
        found = NAME.match(self.text, self.at + 1)
        if not found:
            self.at += 1
            return [Part("text", "$", quoted)]
        self.at = found.end()
        if self.char() == "{" and not quoted:  # braces are expanded first: `$x{a,b}` is `$xa $xb`
            return [Part("arithmetic", [], quoted)]
        return [Part("variable", Variable(found.group()), quoted)]

    def ansi(self) -> str:
        """Parse `$'…'`."""
        found = re.compile(ANSI).match(self.text, self.at + 2)
        if not found:
            raise Unreadable("a quote is not closed")
        text = self.text[self.at + 2 : found.end() - 1]
        self.budget.spend(2 + text.count("\\"))
        self.budget.spend_on(len(text))
        self.at = found.end()
        return unescaped(text, ansi=True)

    def backquoted(self, quoted: bool) -> Sequence:
        """Parse the commands in backquotes. An error in them shows when they run: the rest of the line runs, too."""
        start = self.at + 1
        found = re.compile(BACKQUOTES).match(self.text, start)
        if not found:
            raise Unreadable("a backquote is not closed")
        self.at = found.end()
        raw = self.text[start : found.end() - 1]
        self.budget.spend(8)
        self.budget.spend_on(len(raw))
        inner = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", raw)
        parser = Parser(
            inner, self.budget, self.offset + start if self.offset is not None and inner == raw else None, self
        )
        items: list[tuple[str, Pipeline]] = []
        parser.deeper()
        try:
            items.extend(parser.pipelines())
            if parser.at < len(inner):
                raise Unreadable("what stands in backquotes cannot be read")
        except Unreadable as error:
            self.flaws.append(error.why)
        return Sequence(items)

    def arithmetic(self, start: int) -> Word | None:
        """Parse an arithmetic expression from here past its `))`; return None if it is none, without moving."""
        before = self.at
        self.at = start - 1
        try:
            end = self.skip_parentheses()
        except Unreadable:
            self.at = before
            return None
        if not self.looks_at(")"):  # `$((a) | b)`: a subshell after all
            self.at = before
            return None
        self.at += 1
        return Parser(self.text[start:end], self.budget, None, self).double("")

    def braced(self, quoted: bool, in_here_document: bool = False) -> Word:
        """Parse `${…}`."""
        start = self.at
        self.at += 2
        prefix = ""
        if self.char() in ("#", "!") and self.text[self.at + 1 : self.at + 2] not in ("}", ":", "-", "=", "?", "+", ""):
            prefix = self.char()
            self.at += 1
        found = BRACED_NAME.match(self.text, self.at)
        if not found:
            return self.unknown_braces(start, quoted)
        variable = Variable(found.group(), prefix)
        self.at = found.end()
        if self.char() == "[":
            end = self.index_end(self.at)
            if end < 0:
                raise Unreadable("an index is not closed")
            variable.index = self.text[self.at + 1 : end]
            variable.subscript = self.subscript(variable.index)
            self.at = end + 1
        if prefix == "!" and self.char() in ("*", "@"):
            self.at += 1
        variable.operator = next((each for each in OPERATORS if self.looks_at(each)), "")
        self.at += len(variable.operator)
        self.deeper()
        operator = variable.operator
        if operator:
            # single quotes quote in patterns, and outside of double quotes
            literal = in_here_document or (quoted and operator[0] not in "#%/^,@")
            parts_of = operator.startswith("/") or operator == ":"
            separator = "/" if operator.startswith("/") else ":"
            variable.argument = self.inside_braces(separator if parts_of else "", literal)
            if parts_of and self.char() == separator:
                self.at += 1
                variable.other = self.inside_braces("", literal)
        self.depth -= 1
        if self.char() != "}":
            return self.unknown_braces(start, quoted)
        self.at += 1
        return [Part("variable", variable, quoted)]

    def index_end(self, start: int) -> int:
        """Return where the bracket that opens at `start` is closed, -1 if nowhere near."""
        depth = 0
        for found in re.finditer(r"[\[\]]", self.text[start : start + LONGEST_INDEX]):
            self.budget.spend()
            depth += 1 if found.group() == "[" else -1
            if not depth:
                return start + found.start()
        return -1

    def subscript(self, index: str) -> Word | None:
        """Parse an index or a pattern in parentheses, if something in it is substituted."""
        return Parser(index, self.budget, None, self).double("") if "$" in index or "`" in index else None

    def unknown_braces(self, start: int, quoted: bool) -> Word:
        """Parse a `${…}` of another shell, or a bad one: only what it substitutes counts."""
        self.at = start + 2
        self.deeper()
        word = self.word("}", nested=True, quoted=quoted)
        self.depth -= 1
        self.expect("}", "'${' is not closed")
        return [Part("arithmetic", word, quoted)]

    def inside_braces(self, separator: str, quoted: bool) -> Word:
        return self.word("}" + separator, tilde="word", nested=True, quoted=quoted)


def decoded(text: str) -> str:
    """Return a text with every mark replaced by the character it stands for."""
    if text.isascii():
        return text
    text = text.replace(QUOTED, "")
    for mark, char in PLAIN.items():
        text = text.replace(mark, char)
    return text


_ESCAPES = r"(?s)\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(%s)|c(.)|(.))"
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def unescaped(text: str, ansi: bool = False) -> str:
    """Return a text with `\\n`, `\\x2f`, `\\057` … as `echo -e` and `printf` read them, or (`ansi`) as `$'…'` does."""
    if "\\" not in text:
        return text

    def char(found: re.Match[str]) -> str:
        if found.group(4):
            return chr(int(found.group(4), 8) & 255)
        code = found.group(1) or found.group(2) or found.group(3)
        if code:
            return chr(min(int(code, 16), 0x10FFFF))
        if found.group(5):
            return chr(ord(found.group(5)) & 31)
        letter = found.group(6)
        return _LETTERS.get(letter, letter if letter in "\\'\"?" else "\\" + letter)

    text = re.sub(_ESCAPES % ("[0-7]{1,3}" if ansi else "0?[0-7]{1,3}"), char, text)
    return PRIVATE.sub("\ufffd", text.partition("\0")[0] if ansi else text)
