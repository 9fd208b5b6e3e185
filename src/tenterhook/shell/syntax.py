"""Parses shell code to a tree of commands, as bash, dash and zsh do.

Nothing is expanded or run. `parse` returns the commands of a whole text. `Parser.complete_commands` yields them one by
one, so that those before a syntax error can be used. A text that is not shell code raises `Unreadable`; one that takes
more steps than its `Budget` raises `OutOfBudget`.
"""

from __future__ import annotations

from ..basics import lazy_re as re
from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from collections.abc import Callable, Iterator
    from typing import Any

    Word = list["Part"]
    Sequence = list[tuple[str, "Pipeline"]]  # pipelines, each with the operator before it: `;`, `&&` or `||`

# Private-use characters that mark unquoted special characters of the shell. `reader.read` replaces them in its input,
# so that no line can contain them.
STAR, ONE, SET = "\ue004", "\ue005", "\ue006"  # * ? [ of a pattern
PATTERNS = (STAR, ONE, SET)
BREAK, QUOTED = "\ue007", "\ue008"  # a field separator; the start of a quoted part
OPEN, COMMA, CLOSE = "\ue009", "\ue00a", "\ue00b"  # { , }
# Marks for text that is not known before the line runs.
UNKNOWN = "\ue000"
NETWORK = "\ue001"  # downloaded
DECODED = "\ue002"  # the output of a decoder
GENERATED = "\ue003"  # the output of a one-liner or of a text filter
UNKNOWNS = (UNKNOWN, NETWORK, DECODED, GENERATED)
ACTIVE = {"*": STAR, "?": ONE, "[": SET, "{": OPEN, ",": COMMA, "}": CLOSE}
PLAIN = {mark: char for char, mark in ACTIVE.items()}
# The characters that are replaced in a line: marks, and surrogates that are not a byte, which no argument can contain.
PRIVATE = "[\ue000-\ue0ff\ud800-\udc7f\udd00-\udfff]"

WORD_ENDS = " \t\n;&|()<>"
COMMAND_ENDS = "\n;&|)"
DESCRIPTOR_NAME = re.compile(r"\{[A-Za-z_]\w{0,99}\}")
INDEX = re.compile(r"\[[^]\n]{0,200}\]")
ASSIGNMENT_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+\+?=")
FUNCTION = re.compile(r"([^ \t\r\n;&|()<>$`'\"\\=#!]++)[ \t]*+\([ \t]*+\)")
# What most lines contain is parsed without expressions: see `lazy_re`.
LOWER, DIGITS = "abcdefghijklmnopqrstuvwxyz", "0123456789"
LETTERS = LOWER + LOWER.upper()
NAME = LETTERS + "_" + DIGITS
ORDINARY = NAME + "./:=%^@+-"  # characters of a word without a special meaning
ORDINARY_IN_BRACES = NAME + ".%^"
PARAMETERS = "@*#?$!-"  # variables that are named by one character
REDIRECTS = ("<<<", "<<-", "<<", "<>", "<&", ">&", ">>", ">|", "&>>", "&>", "<", ">")
SEPARATORS = ("&&", "||", "&|", "&!", "&", ";")  # zsh has `&|` and `&!`, too
TIME_OPTION = r"-p(?=[ \t\n]|\Z)[ \t]*+"
COPROCESS_NAME = r"[A-Za-z_]\w*+[ \t]++(?=[{(]|(?:if|while|until|for|case|select)[ \t\n])"
TILDE = r"~(\+|[\w.-]*+)(?=[/: \t\r\n;&|()<>}]|\Z)"
ANSI = r"(?s)(?:[^'\\]++|\\.)*+'"
BACKQUOTES = r"(?s)(?:[^`\\]++|\\.)*+`"
HERE_QUOTES = r"""(?s)'([^']*+)'|"([^"]*+)"|\\(.)"""
# A token inside parentheses that are skipped: quoted text, an escaped character, text without parentheses.
PARENTHESES = r"""(?s)[^()'"`\\]++|\\.|'[^']*+'|"(?:[^"\\]++|\\.)*+"|`(?:[^`\\]++|\\.)*+`|[()'"`\\]"""
DECLARING = ("declare", "typeset", "local", "export", "readonly")
COMPOUND = frozenset("{ if while until for select case function [[".split())
NOT_COMMANDS = frozenset("then else elif fi do done esac in } !".split())  # reserved words that do not begin a command
OPERATORS = ":- := :? :+ ## %% // /# /% ^^ ,, - = ? + # % / ^ , @ :".split()
DEEPEST = 60  # levels of nested substitutions and blocks
STEPS = 20_000
CHARACTERS_PER_STEP = 256
LONGEST_DELIMITER = 1_000
LONGEST_RESERVED = 8
LONGEST_PIECE = 256  # characters that are copied at once to read them
LONGEST_INDEX = 1_000
LONGEST_SHOWN = 400  # characters of a command that are kept for display


class Unreadable(Exception):
    """A text that is not shell code, or that shells read differently."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class OutOfBudget(Exception):
    """The steps for reading a line are used up."""


class Budget:
    """The steps for reading one line, including all code in it: for parsing, walking, and copying text.

    A step takes a few microseconds, the whole budget less than a tenth of a second.
    """

    def __init__(self, steps: int = STEPS) -> None:
        self.steps = steps

    def spend(self, steps: int = 1) -> None:
        """Use up steps. Raises `OutOfBudget` if none are left."""
        self.steps -= steps
        if self.steps < 0:
            raise OutOfBudget

    def spend_on(self, characters: int) -> None:
        """Use up the steps for scanning a text of this length."""
        if characters >= CHARACTERS_PER_STEP:
            self.spend(characters // CHARACTERS_PER_STEP)


class Part(NamedTuple):
    """A piece of a word: text, a variable, a command substitution … `quoted` pieces are not split into fields."""

    kind: str  # text, tilde, variable, command, process, arithmetic
    value: Any
    quoted: bool = False


class Variable(NamedTuple):
    """`${name[subscript]operator argument}`."""

    name: str
    prefix: str = ""  # # for the length, ! for indirection
    subscript: str | None = None
    subscript_word: Word | None = None  # the subscript, if it contains substitutions
    operator: str = ""
    argument: Word | None = None
    other: Word | None = None  # the replacement of a pattern; the length of a substring


class Redirect(NamedTuple):
    """`2> target`, `<<< word`, `<< here-document`."""

    descriptor: str | None
    operator: str
    target: Word  # for a here-document, its text, once that is read


class Simple(NamedTuple):
    """`NAME=value program argument > file`."""

    assignments: list[Any]  # of (name, index, operator, word or list of words)
    words: list[Word]
    redirects: list[Redirect]
    shown: str
    span: tuple[int, int] | None  # its position in the line, if it is literally there


class Pipeline(NamedTuple):
    """`a | b | c`."""

    stages: list[Any]
    shown: str
    background: bool = False


class Block(NamedTuple):
    """A compound command. `kind` determines which of the `bodies` run, and how often."""

    kind: str  # group, subshell, branches, loop, for, test
    bodies: list[Sequence]
    name: str | None = None
    words: list[Word] | None = None
    complete: bool = False  # has an `else`
    redirects: list[Redirect] | tuple[()] = ()
    shown: str = ""
    span: tuple[int, int] | None = None


class Function(NamedTuple):
    """`name() { … }`."""

    name: str
    body: Any
    shown: str = ""
    span: tuple[int, int] | None = None


NODES = (Part, Variable, Redirect, Simple, Pipeline, Block, Function)


def parse(text: str, budget: Budget | None = None) -> Sequence:
    """Return the commands of a line or script. Raises `Unreadable` or `OutOfBudget`."""
    return list(Parser(text, budget or Budget(), 0).complete_commands())


def nodes(tree: Any) -> Iterator[Any]:
    """Yield every node of a tree: commands, blocks, redirections, parts of words …"""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (list, tuple)):
            waiting.extend(node)
            if isinstance(node, NODES):
                yield node


def only_command(text: str) -> Simple | None:
    """Return the command of a text that consists of a single simple command; otherwise None."""
    try:
        items = parse(text)
    except (Unreadable, OutOfBudget):
        return None
    command = items[0][1].stages[0] if items and items[0][1].stages else None
    bounds = (len(text) - len(text.lstrip()), len(text.rstrip()))
    return command if isinstance(command, Simple) and command.span == bounds else None


class Parser:
    """A recursive-descent parser of one text. `offset` is the text's position in the line, None if it is not there."""

    def __init__(self, text: str, budget: Budget, offset: int | None = None, outer: Parser | None = None) -> None:
        self.text = text
        self.budget = budget
        self.has_parentheses = "()" in text or "( " in text or "(\t" in text  # as those of a function
        self.at = 0
        self.end = 0  # of the last word, redirection or closing token
        self.offset = offset
        self.depth: int = outer.depth + 1 if outer else 0
        self.in_substitution = 0  # levels of `$(` around the current position
        # Simple commands since the last complete one, in what has not been read to its end.
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

    # -- looking and taking ---------------------------------------------------------------------------------------

    def looks_at(self, *texts: str) -> bool:
        return self.text.startswith(texts, self.at)

    def char(self, ahead: int = 0) -> str:
        return self.text[self.at + ahead : self.at + ahead + 1]

    def reserved(self) -> str:
        """Return the lower-case word, brace, `!` or `[[` that is here as a whole word; empty if there is none."""
        piece = self.text[self.at : self.at + LONGEST_RESERVED + 1]
        word = piece[: _end_of_run(piece, 0, LOWER)]
        if not word:
            word = next((each for each in ("{", "}", "!", "[[") if piece.startswith(each)), "")
        is_whole = len(word) <= LONGEST_RESERVED and piece[len(word) : len(word) + 1] in " \t\r\n;&|()<>"
        return word if is_whole else ""

    def name(self, digits: bool = False) -> str:
        """Take and return the name of a variable; empty if there is none. `digits`: numbers may have several digits."""
        char, end = self.char(), self.at + 1
        if char in DIGITS:  # also at the end of the text
            end = _end_of_run(self.text, self.at, DIGITS) if digits else end
        elif char in NAME:
            end = _end_of_run(self.text, self.at, NAME)
        elif char not in PARAMETERS:
            return ""
        name, self.at = self.text[self.at : end], min(end, len(self.text))
        return name

    def redirect_operator(self) -> tuple[str, str]:
        """Return the descriptor and operator of the redirection here; the operator is empty if there is none."""
        text, at = self.text, self.at
        named = DESCRIPTOR_NAME.match(text, at) if self.char() == "{" and not self.looks_at("{}", "{ ") else None
        end = named.end() if named else _end_of_run(text, at, DIGITS)
        return text[at:end], next((each for each in REDIRECTS if text.startswith(each, end)), "")

    def take(self, pattern: re.Pattern[str]) -> str:
        """Take and return the text that matches here; empty if there is none."""
        found = pattern.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return found.group() if found else ""

    def accept(self, text: str) -> bool:
        """Take a text if it is here; return whether it is."""
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def expect(self, text: str, why: str) -> None:
        if not self.accept(text):
            raise Unreadable(why)

    def skip_blanks(self, blanks: str = " \t") -> None:
        """Skip blanks, line continuations and comments; not newlines."""
        while True:
            self.at = _end_of_run(self.text, self.at, blanks)
            char, follower = self.char(), self.char(1)
            if char == "#":
                end = self.text.find("\n", self.at)
                self.at = end if end >= 0 else len(self.text)
            elif char == "\\" and follower == "\n":
                self.at += 2
            elif char == "\r" and follower in ("", "\n"):  # as in CRLF text; else it is an ordinary character
                self.at += 1
            else:
                return
            self.budget.spend()

    def skip_newlines(self) -> None:
        while self.pending:
            self.skip_blanks()
            if self.char() != "\n":
                return
            self.newline()
        self.skip_blanks(" \t\n")

    def newline(self) -> None:
        self.at += 1
        pending, self.pending = self.pending, []
        for redirect, delimiter, literal in pending:
            redirect.target.extend(self.here_document(delimiter, literal, strip=redirect.operator == "<<-"))

    def take_word(self, *names: str) -> str:
        """Take and return one of these reserved words; empty if none is here."""
        self.skip_newlines()
        found = self.reserved()
        return found if found in names and self.accept(found) else ""

    def need_word(self, name: str, after: str) -> None:
        if not self.take_word(name):
            raise Unreadable(f"there is no '{name}' after '{after}'")

    def missing_command(self) -> Unreadable:
        return Unreadable(f"{self.char()!r} stands where a command should" if self.char() else "a command is missing")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("it is nested too deeply")

    def inside(self, text: str) -> Word:
        """Parse the substitutions in an arithmetic expression or an index."""
        self.budget.spend_on(len(text))
        return Parser(text, self.budget, None, self).double("")

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
            raise self.missing_command()
        self.depth -= 1
        return items

    def body(self, opening: str, closing: str) -> Sequence:
        """Parse commands up to a reserved word, and that word."""
        commands = self.sequence(closing)
        self.need_word(closing, opening)
        return commands

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
            if self.char() in ("", ")") or self.looks_at(";;", ";&") or self.reserved() in stops:
                if connector != ";":
                    raise Unreadable(f"there is no command after '{connector}'")
                return
            pipeline = self.pipeline()
            self.skip_blanks()
            separator = "" if self.looks_at(";;", ";&") else next(filter(self.accept, SEPARATORS), "")
            if separator[:1] == "&" and separator != "&&":
                pipeline = Pipeline(pipeline.stages, pipeline.shown, True)
            if not separator and self.char() not in ("", "\n", ")", ";"):
                is_after_block = pipeline.stages and isinstance(pipeline.stages[-1], Block)
                if not (is_after_block and self.reserved() in stops):
                    raise Unreadable(f"{self.char()!r} stands where a command should have ended")
            self.skip_blanks()
            if self.char() == "\n":
                self.newline()
            yield connector, pipeline
            connector = separator if separator in ("&&", "||") else ";"

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
            if self.looks_at("||") or not self.accept("|"):
                return Pipeline(stages, self.shown(start))
            self.accept("&")

    def prefixes(self) -> bool:
        """Skip `!`, `time` and `coproc NAME`; return whether there were any."""
        start = self.at
        while (word := self.reserved()) in ("!", "time", "coproc"):
            self.budget.spend()
            self.at += len(word)
            self.skip_blanks()
            if word != "!":
                self.take(re.compile(TIME_OPTION if word == "time" else COPROCESS_NAME))
        return self.at > start

    def command(self) -> Simple | Block | Function:
        start = self.at
        block = self.block()
        if block is None:
            return self.simple()
        if isinstance(block, Function):
            return Function(block.name, block.body, self.shown(start), self.span(start))
        redirects: list[Redirect] = []
        self.end = self.at
        self.skip_blanks()
        while self.redirect_operator()[1]:
            redirects.append(self.redirect())
            self.skip_blanks()
        kind, bodies, name, words, complete, *_ = block
        return Block(kind, bodies, name, words, complete, redirects, self.shown(start), self.span(start))

    def block(self) -> Block | Function | None:
        """Parse a compound command or a function; return None if a simple command is here."""
        if self.char() == "(":
            arithmetic = self.arithmetic(self.at + 2) if self.looks_at("((") else None
            if arithmetic is not None:
                return Block("test", [], "((", [arithmetic])
            self.at += 1
            body = self.sequence()
            self.expect(")", "a parenthesis is not closed")
            return Block("subshell", [body])
        word = self.reserved()
        if word in NOT_COMMANDS:
            raise Unreadable(f"'{word}' stands where a command should")
        if word in COMPOUND:
            self.at += len(word)
        match word:
            case "{":
                return Block("group", [self.body("{", "}")])
            case "if":
                return self.if_()
            case "while" | "until":
                return Block("loop", [self.body(word, "do"), self.body(word, "done")])
            case "for" | "select":
                return self.for_(word)
            case "case":
                return self.case()
            case "[[":
                return self.test()
            case "function":
                self.skip_blanks()
                name = self.plain(self.word())
                self.skip_blanks()
                if self.accept("("):
                    self.skip_blanks()
                    self.expect(")", "the function's parentheses are not closed")
                return self.function(name)
        found = self.take(FUNCTION) if self.has_parentheses else ""
        return self.function(found.rstrip(" \t()")) if found else None

    def function(self, name: str) -> Function:
        self.skip_newlines()
        self.deeper()
        body = self.command()
        self.depth -= 1
        return Function(name, body)

    def if_(self) -> Block:
        bodies = [self.body("if", "then")]
        complete = False
        while True:
            bodies.append(self.sequence("elif", "else", "fi"))
            match self.take_word("fi") if complete else self.take_word("elif", "else", "fi"):
                case "elif":
                    bodies.append(self.body("elif", "then"))
                case "else":
                    complete = True
                case "fi":
                    return Block("branches", bodies, complete=complete)
                case _:
                    raise Unreadable("there is no 'fi' after 'if'")

    def for_(self, keyword: str) -> Block:
        self.skip_blanks()
        name = None
        words: list[Word] | None = None
        if self.looks_at("(("):
            arithmetic = self.arithmetic(self.at + 2)
            if arithmetic is None:
                raise Unreadable("'((' is not closed")
            words = [arithmetic]
        else:
            name = self.name(digits=True)
            if not name:
                raise Unreadable(f"there is no name after '{keyword}'")
            if self.take_word("in"):
                words = self.words_until((";", "\n", ""), f"the words of '{keyword}' cannot be read", self.skip_blanks)
        self.skip_blanks()
        self.accept(";")
        opening = self.take_word("do", "{")
        if not opening:
            raise Unreadable(f"there is no '{{' after '{keyword}'")
        return Block("for", [self.body(keyword, "done" if opening == "do" else "}")], name, words)

    def words_until(self, ends: tuple[str, ...], why: str, skip: Callable[[], None]) -> list[Word]:
        """Parse words up to one of these characters."""
        words: list[Word] = []
        while True:
            skip()
            if self.char() in ends:
                return words
            words.append(self.word(tilde="word"))
            if not words[-1]:
                raise Unreadable(why)

    def case(self) -> Block:
        self.skip_blanks()
        words = [self.word()]
        if not words[0]:
            raise Unreadable("there is no word after 'case'")
        self.need_word("in", "case")
        bodies: list[Sequence] = []
        complete = False  # a pattern matches everything
        while not self.take_word("esac"):
            if self.at >= len(self.text):
                raise Unreadable("there is no 'esac' after 'case'")
            self.accept("(")
            while True:  # the patterns
                self.skip_blanks()
                words.append(self.word())
                if not words[-1]:
                    raise Unreadable("a pattern of 'case' cannot be read")
                complete = complete or [part.value for part in words[-1]] == [STAR]
                self.skip_blanks()
                if self.accept(")"):
                    break
                self.expect("|", "a pattern of 'case' cannot be read")
            bodies += [[], self.sequence("esac", may_be_empty=True)]
            self.skip_newlines()
            if not (self.accept(";;&") or self.accept(";;") or self.accept(";&")):
                self.need_word("esac", "case")
                break
        return Block("branches", bodies, words=words, complete=complete)

    def test(self) -> Block:
        """Parse `[[ … ]]`, where `<`, `|` and parentheses are operators of the test."""
        words: list[Word] = []
        self.skip_newlines()
        while not self.accept("]]"):
            self.budget.spend()
            if self.at >= len(self.text):
                raise Unreadable("'[[' is not closed")
            if self.char() in "()<>&|;":
                self.at += 1
            else:
                words.append(self.word(" \t\n", nested=True))
            self.skip_newlines()
        return Block("test", [], words=words)

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
            raise self.missing_command()
        return command

    def words_of(self, assignments: list[Any], words: list[Word], redirects: list[Redirect]) -> None:
        text = self.text
        declaring = False
        while True:
            self.skip_blanks()
            at = self.at
            char = text[at : at + 1]
            if (not char or char in COMMAND_ENDS) and not text.startswith("&>", at):
                return
            if char == "(":
                raise Unreadable("a parenthesis stands inside a command")
            if char in "<>&{" or char.isdigit():
                descriptor, operator = self.redirect_operator()
                if operator and not (not descriptor and operator in "<>" and text.startswith("(", at + 1)):
                    redirects.append(self.redirect())
                    continue
            name, index, operator = self.assignment_operator() if not words or declaring else ("", "", "")
            end = at + len(name) + len(index) + len(operator)
            is_array = operator != "" and text.startswith("(", end)
            if operator and (not words or is_array):
                self.at = end
                value: Any = self.array() if is_array else self.word(tilde="value")
                if not is_array and (subscript := self.subscript(index)):
                    value = [Part("arithmetic", subscript), *value]
                assignments.append((name, index or None, operator, value))
                words.extend([[Part("text", name)]] if words else [])
            else:
                words.append(self.word(tilde="word"))
                declaring = declaring or (len(words) == 1 and self.plain(words[0]) in DECLARING)
            self.end = self.at

    def assignment_operator(self) -> tuple[str, str, str]:
        """Return the name, index and operator of the assignment here; all empty if there is none."""
        text, at = self.text, self.at
        end = _end_of_run(text, at, NAME)
        indexed = INDEX.match(text, end) if text.startswith("[", end) else None
        after = indexed.end() if indexed else end
        operator = "=" if text.startswith("=", after) else "+=" if text.startswith("+=", after) else ""
        if end == at or text[at] in DIGITS or not operator:
            return "", "", ""
        return text[at:end], text[end:after], operator

    def array(self) -> list[Word]:
        self.at += 1
        words = self.words_until((")", ""), "a list cannot be read", self.skip_newlines)
        self.expect(")", "a list is not closed")
        return words or [[]]

    def redirect(self) -> Redirect:
        descriptor, operator = self.redirect_operator()
        self.budget.spend(2)
        self.at += len(descriptor) + len(operator)
        self.skip_blanks()
        start = self.at
        word = self.word(tilde="word")
        raw = self.text[start : self.at]
        if not word:
            raise Unreadable(f"there is nothing after '{operator}'")
        if self.char() in ("<", ">") and raw.isdigit():
            raise Unreadable("a file descriptor stands where the target of a redirection should")
        self.end = self.at
        if operator not in ("<<", "<<-"):
            return Redirect(descriptor or None, operator, word)
        is_quoted = any(char in raw for char in "'\"\\")
        delimiter = raw.strip("'")
        if is_quoted and not delimiter.isalpha():  # nothing is expanded in it
            delimiter = re.sub(HERE_QUOTES, lambda each: each[1] or each[2] or each[3] or "", raw)
        redirect = Redirect(descriptor or None, operator, [])
        delimiter += "\r" if self.looks_at("\r\n") else ""
        self.pending.append((redirect, delimiter, is_quoted))
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
        except Unreadable as error:  # the error would occur when the here-document is expanded
            self.flaws.append(error.why)
            return [Part("text", UNKNOWN, True)]

    def here_document_end(self, delimiter: str, strip: bool) -> tuple[int, int]:
        """Return the end of a here-document's text, and the start of the line after its delimiter."""
        text, length = self.text, len(self.text)
        if len(delimiter) > LONGEST_DELIMITER:
            raise Unreadable("the delimiter of a here-document is too long")
        if strip:
            self.budget.spend(20)
            end = r"(?=\n|\Z|\))" if self.in_substitution else r"(?=\n|\Z)"
            found = re.compile(rf"^\t*+{re.escape(delimiter)}{end}", re.MULTILINE).search(text, self.at)
            at, after = (found.start(), found.end()) if found else (length, length)
        elif self.in_substitution:  # `$(cat <<E … E)`: bash takes the delimiter before the parenthesis
            at, size = self.at - 1, len(delimiter)
            while (at := text.find(f"\n{delimiter}", at) + 1) and text[at + size : at + size + 1] not in "\n)":
                self.budget.spend(1)
            after = at + len(delimiter) if at else length
            at = at or length
        else:
            at = text.find(f"\n{delimiter}\n", self.at - 1) + 1
            if not at:
                is_last = text.endswith("\n" + delimiter) and length - len(delimiter) >= self.at
                at = length - len(delimiter) if is_last else length
            after = at + len(delimiter)
        return at, min(after + text.startswith("\n", after), length)

    # -- words ----------------------------------------------------------------------------------------------------

    def plain(self, word: Word) -> str:
        """Return the text of a word, without its expansions."""
        return "".join(decoded(part.value) for part in word if part.kind == "text")

    def word(self, stops: str = WORD_ENDS, tilde: str = "", nested: bool = False, quoted: bool = False) -> Word:
        """Parse one word. `tilde` tells whether tildes are expanded as in a "word" or in an assignment's "value".

        `nested`: inside `${…}`. `quoted`: there, and inside double quotes, where single quotes are ordinary characters.
        """
        pieces: list[str | Part] = []
        source = self.text
        spend = self.budget.spend
        ordinary = ORDINARY if stops == WORD_ENDS else ORDINARY_IN_BRACES
        start, end = self.at, _end_of_run(source, self.at, ordinary)
        if start < end and source[end : end + 1] in stops:  # most words
            spend(2)
            self.at = end
            return [Part("text", source[start:end], False)]
        while self.at < len(source):
            spend()
            end = _end_of_run(source, self.at, ordinary)
            if self.at < end:
                pieces.append(source[self.at : end])
                self.at = end
                continue
            char = source[self.at]
            follower = source[self.at + 1 : self.at + 2]
            match char:
                case "<" | ">" if follower == "(" and not nested:
                    self.at += 2
                    pieces.append(Part("process", (char, self.substitution("'<(' is not closed"))))
                case _ if char in stops or (char == "\r" and follower in ("", "\n") and not nested):
                    break
                case "\\":
                    pieces += [QUOTED + (follower or "\\")] if follower != "\n" else []
                    self.at += 1 + len(follower)
                case "'":
                    pieces.append(QUOTED + (self.quote_in_quotes() if quoted else self.single()))
                case '"':
                    self.at += 1
                    pieces += [Part("text", QUOTED, True), *self.double('"')]
                case "$" | "`":
                    pieces += self.special(quoted)
                case "~" if tilde and (user := self.tilde(tilde, pieces)) is not None:
                    pieces.append(Part("tilde", user))
                case "?" | "*" | "+" | "@" | "!" if follower == "(" and not nested:
                    self.at += 1
                    start = self.at
                    subscript = self.subscript(source[start : self.skip_parentheses()])
                    pieces += [STAR, Part("arithmetic", subscript)] if subscript else [STAR]
                case _:
                    pieces.append(BREAK if nested and not quoted and char in " \t\n" else ACTIVE.get(char, char))
                    self.at += 1
        return _merged(pieces)

    def tilde(self, kind: str, pieces: list[str | Part]) -> str | None:
        """Take a tilde that is expanded, with a user's name; return the name, or None if it is not expanded."""
        first, last = (piece if isinstance(piece, str) else "" for piece in [*pieces[:1], *pieces[-1:]] or ["", ""])
        if pieces and (last[-1:] not in (":", "=") or not (kind == "value" or ASSIGNMENT_ARGUMENT.match(first))):
            return None
        if self.looks_at("~/", "~ "):
            self.at += 1
            return ""
        found = re.compile(TILDE).match(self.text, self.at)
        if not found:
            return None
        self.at = found.end()
        return found.group(1)

    def skip_parentheses(self) -> int:
        """Skip a balanced pair of parentheses, such as `(a|b)` of `!(a|b)`; return the position of the last one."""
        depth = 0
        pattern = re.compile(PARENTHESES)
        while lexeme := self.take(pattern):
            self.budget.spend()
            self.budget.spend_on(len(lexeme))
            depth += (lexeme == "(") - (lexeme == ")")
            if lexeme in ("'", '"', "`"):
                raise Unreadable("a quote is not closed")
            if not depth:
                return self.at - 1
        raise Unreadable("a parenthesis is not closed")

    def single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unreadable("a quote is not closed")
        text, self.at = self.text[self.at + 1 : end], end + 1
        return text

    def quote_in_quotes(self) -> str:
        """Parse a single quote in `"${x:-…}"`. It is an ordinary character, but bash requires it to be closed."""
        end = self.text.find("'", self.at + 1)
        between = self.text[self.at + 1 : end] if end >= 0 else ""
        if any(char in between for char in '}"$`\\\n'):
            raise Unreadable("shells differ on the single quote inside '\"${'")
        self.at = end + 1 if end >= 0 else self.at + 1
        return "'" + between + "'" if end >= 0 else "'"

    def double(self, stop: str) -> Word:
        """Parse quoted text up to its closing quote; without one, as in a here-document, up to the end of the text."""
        pieces: list[str | Part] = []
        while True:
            self.budget.spend()
            end = _end_of_quoted(self.text, self.at)
            if self.at < end:
                pieces.append(self.text[self.at : end])
                self.at = end
            char = self.char()
            if char == stop:  # or both are empty
                self.at += 1
                return _merged(pieces, quoted=True)
            if not char:
                raise Unreadable("a quote is not closed")
            if char in "$`":
                pieces += self.special(True, in_here_document=not stop)
                continue
            follower = self.char(1)
            is_escape = char == "\\" and follower in ("$", "`", "\\", "\n", stop or "\\")
            pieces += [] if is_escape and follower == "\n" else [follower if is_escape else char]
            self.at += 1 + is_escape

    def special(self, quoted: bool, in_here_document: bool = False) -> Word:
        """Parse an expansion that begins with a dollar sign or a backquote."""
        self.budget.spend()
        if self.char() == "`":
            return [Part("command", self.backquoted(quoted and not in_here_document), quoted)]
        match self.char(1):
            case "(":
                arithmetic = self.arithmetic(self.at + 3) if self.looks_at("$((") else None
                if arithmetic is not None:
                    return [Part("arithmetic", arithmetic, quoted)]
                self.at += 2
                return [Part("command", self.substitution("'$(' is not closed"), quoted)]
            case "{":
                return self.braced(quoted, in_here_document)
            case "[":
                start, end = self.at, self.text.find("]", self.at)
                self.budget.spend_on((end if end >= 0 else len(self.text)) - start)
                if end >= 0:
                    self.at = end + 1
                    return [Part("arithmetic", self.inside(self.text[start + 2 : end]), quoted)]
            case "'" if not quoted:
                return [Part("text", QUOTED + self.ansi())]
            case '"' if not quoted:
                self.at += 2
                return [Part("text", QUOTED, True), *self.double('"')]
            case "\\" if self.char(2) == "\n":
                raise Unreadable("a line is continued after '$'")
        self.at += 1
        name = self.name()
        if not name:
            return [Part("text", "$", quoted)]
        if self.char() == "{" and not quoted:  # braces are expanded first: `$x{a,b}` is `$xa $xb`
            return [Part("arithmetic", [], quoted)]
        return [Part("variable", Variable(name), quoted)]

    def ansi(self) -> str:
        """Parse `$'…'`."""
        self.at += 2
        text = self.take(re.compile(ANSI))
        if not text:
            raise Unreadable("a quote is not closed")
        self.budget.spend(2 + text.count("\\"))
        self.budget.spend_on(len(text))
        return unescaped(text[:-1], ansi=True)

    def backquoted(self, quoted: bool) -> Sequence:
        """Parse the commands in backquotes. A syntax error in them occurs only when they run, so the line runs, too."""
        self.at += 1
        start = self.at
        raw = self.take(re.compile(BACKQUOTES))[:-1]
        if self.at == start:
            raise Unreadable("a backquote is not closed")
        self.budget.spend(8)
        self.budget.spend_on(len(raw))
        inner = re.sub(r'\\([$`\\"])' if quoted else r"\\([$`\\])", r"\1", raw)
        offset = self.offset + start if self.offset is not None and inner == raw else None
        parser = Parser(inner, self.budget, offset, self)
        items: Sequence = []
        parser.deeper()
        try:
            items.extend(parser.pipelines())
            if parser.at < len(inner):
                raise Unreadable("what stands in backquotes cannot be read")
        except Unreadable as error:
            self.flaws.append(error.why)
        return items

    def arithmetic(self, start: int) -> Word | None:
        """Parse an arithmetic expression, including its `))`; return None, without moving, if it is not one."""
        before = self.at
        self.at = start - 1
        try:
            end = self.skip_parentheses()
            self.expect(")", "a subshell after all")  # `$((a) | b)`
        except Unreadable:
            self.at = before
            return None
        return self.inside(self.text[start:end])

    def braced(self, quoted: bool, in_here_document: bool = False) -> Word:
        """Parse `${…}`."""
        start = self.at
        self.at += 2
        prefix = self.char() if self.char(1) and self.char(1) not in "}:=?+-" and self.char() in "#!" else ""
        self.at += len(prefix)
        name = self.name(digits=True)
        index, subscript, argument, other = None, None, None, None
        if self.char() == "[" and name:
            index, subscript = self.index()
        if prefix == "!" and self.char() in ("*", "@"):
            self.at += 1
        operator = next((each for each in OPERATORS if self.looks_at(each)), "") if name else ""
        self.at += len(operator)
        self.deeper()
        if operator:
            # single quotes are quotes in patterns, and outside double quotes
            literal = in_here_document or (quoted and operator[0] not in "#%/^,@")
            separator = operator[0] if operator[0] == "/" or operator == ":" else ""
            argument = self.word("}" + separator, "word", True, literal)
            if separator and self.accept(separator):
                other = self.word("}", "word", True, literal)
        self.depth -= 1
        if not name or not self.accept("}"):
            return self.unknown_braces(start, quoted)
        return [Part("variable", Variable(name, prefix, index, subscript, operator, argument, other), quoted)]

    def index(self) -> tuple[str, Word | None]:
        """Parse `[…]` after a name."""
        depth = 0
        start = self.at + 1
        for found in re.finditer(r"[\[\]]", self.text[self.at : self.at + LONGEST_INDEX]):
            self.budget.spend()
            depth += 1 if found.group() == "[" else -1
            if not depth:
                index = self.text[start : self.at + found.start()]
                self.at += found.end()
                return index, self.subscript(index)
        raise Unreadable("an index is not closed")

    def subscript(self, index: str) -> Word | None:
        """Parse an index or a pattern in parentheses; return None if it contains no substitutions."""
        return self.inside(index) if "$" in index or "`" in index else None

    def unknown_braces(self, start: int, quoted: bool) -> Word:
        """Parse the substitutions in a `${…}` that is not valid, or of another shell."""
        self.at = start + 2
        self.deeper()
        word = self.word("}", nested=True, quoted=quoted)
        self.depth -= 1
        self.expect("}", "'${' is not closed")
        return [Part("arithmetic", word, quoted)]


def _end_of_run(text: str, at: int, chars: str) -> int:
    """Return the end of the run of these characters from `at` on."""
    while piece := text[at : at + LONGEST_PIECE]:
        left = len(piece.lstrip(chars))
        at += len(piece) - left
        if left:
            break
    return at


def _end_of_quoted(text: str, at: int) -> int:
    """Return the end of the text from `at` on that has no special meaning in double quotes."""
    while piece := text[at : at + LONGEST_PIECE]:
        length = len(piece)
        for char in '"\\$`':
            piece = piece.partition(char)[0]
        at += len(piece)
        if len(piece) < length:
            break
    return at


def _merged(pieces: list[str | Part], quoted: bool = False) -> Word:
    """Return the parts of a word, with adjacent texts merged."""
    word: Word = []
    text = QUOTED if quoted else ""
    texts = [text]
    for piece in (*pieces, None):
        if isinstance(piece, str):
            texts.append(piece)
            continue
        if len(texts) > 1:
            word.append(Part("text", "".join(texts), quoted))
            texts = [text]
        if piece:
            word.append(piece)
    return word


def before(text: str, marks: tuple[str, ...]) -> str:
    """Return the text before the first of these marks."""
    for mark in marks:
        text = text.partition(mark)[0]
    return text


def decoded(text: str) -> str:
    """Return a text with each mark of a special character replaced with that character."""
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
    return re.sub(PRIVATE, "\ufffd", text.partition("\0")[0] if ansi else text)
