"""The syntax of a shell line: text to a tree of commands, as bash, dash and zsh read it.

Nothing is expanded and nothing is run here. `parse` returns a `Sequence`; a line that no shell would read either, or
that nests too deeply, raises `Unreadable`, which holds what was read before the trouble.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from collections.abc import Iterator
    from typing import Any

    Word = list["Part"]

# Characters that stand for what has a meaning to the shell where it stands without quotes. Whoever hands a line to
# `parse` takes them out first (`PRIVATE`), so that nobody can write them.
STAR, ONE, SET = "\ue004", "\ue005", "\ue006"  # * ? [ of a pattern
PATTERNS = (STAR, ONE, SET)
BREAK, QUOTED = "\ue007", "\ue008"  # where a word falls apart; where a quoted part began
OPEN, COMMA, CLOSE = "\ue009", "\ue00a", "\ue00b"  # { , }
# … and for text that nobody can know before the line runs.
UNKNOWN = "\ue000"
NETWORK = "\ue001"  # it comes over the network
DECODED = "\ue002"  # it comes out of a decoder
GENERATED = "\ue003"  # a one-liner prints it, or a program that rewrites text
UNKNOWNS = (UNKNOWN, NETWORK, DECODED, GENERATED)
ACTIVE = {"*": STAR, "?": ONE, "[": SET, "{": OPEN, ",": COMMA, "}": CLOSE}
PLAIN = {mark: char for char, mark in ACTIVE.items()}
PRIVATE = re.compile("[\ue000-\ue0ff]")

BLANKS = " \t\r"
WORD_ENDS = " \t\r\n;&|()<>"
REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-?|<>|<&|>&|>>|>\||&>>|&>|<|>)")
ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^]\n]*\])?(\+?=)")
FUNCTION = re.compile(r"([^\s;&|()<>$`'\"{}=#!]+)[ \t]*\([ \t]*\)")
TILDE = re.compile(r"~([\w.-]*|\+)")
NAME = re.compile(r"[A-Za-z_]\w*|[0-9]|[@*#?$!-]")
RESERVED = re.compile(r"(?:[a-z]+|[{}!]|\[\[)(?=[\s;&|()<>]|$)")
ORDINARY = re.compile(r"[\w./:=%^-]+")  # characters of a word that stand for themselves
ORDINARY_IN_BRACES = re.compile(r"[\w.%^-]+")
ORDINARY_IN_QUOTES = re.compile(r'[^"\\$`]+')
DECLARING = ("declare", "typeset", "local", "export", "readonly")
OPERATORS = ":- := :? :+ ## %% // /# /% ^^ ,, - = ? + # % / ^ , @ :".split()
DEEPEST = 60  # of substitutions and blocks in one another


class Unreadable(Exception):
    """A line that cannot be read to its end."""

    def __init__(self, why: str, read: Sequence | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.read = read


class Part:
    """A piece of a word: text, a variable, a command's output … `quoted` pieces do not fall apart."""

    __slots__ = ("kind", "quoted", "value")

    def __init__(self, kind: str, value: Any, quoted: bool = False) -> None:
        self.kind = kind  # text, tilde, variable, command, process, sum
        self.value = value
        self.quoted = quoted


class Variable:
    """`${name[index]operator argument}`."""

    __slots__ = ("argument", "index", "name", "operator", "other", "prefix")

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
        self.prefix = prefix  # # for the length, ! for the variable it names
        self.index = index
        self.operator = operator
        self.argument = argument
        self.other = other  # what a pattern is replaced by; the length of a part


class Redirect:
    """`2> target`, `<<< word`, `<< here-document`."""

    __slots__ = ("descriptor", "operator", "target")

    def __init__(self, descriptor: str | None, operator: str, target: Word) -> None:
        self.descriptor = descriptor
        self.operator = operator
        self.target = target


class Simple:
    """`NAME=value program argument > file`."""

    def __init__(self, assignments: list[Any], words: list[Word], redirects: list[Redirect], shown: str) -> None:
        self.assignments = assignments  # of (name, index, operator, word or list of words)
        self.words = words
        self.redirects = redirects
        self.shown = shown


class Sequence:
    """Commands with what connects each to the one before it: `;`, `&&` or `||`; and whether it goes on by itself."""

    def __init__(self) -> None:
        self.items: list[tuple[str, Pipeline]] = []  # of (connector, Pipeline)

    def __iter__(self) -> Iterator[tuple[str, Pipeline]]:
        return iter(self.items)


class Pipeline:
    """`a | b | c`."""

    def __init__(self, stages: list[Any], shown: str) -> None:
        self.stages = stages
        self.shown = shown
        self.background = False


class Block:
    """A compound command. `bodies` are sequences; which of them runs, and how often, is `kind`'s."""

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
        self.complete = complete  # one of the branches runs in any case
        self.redirects: list[Redirect] = []


class Function:
    """`name() { … }`."""

    def __init__(self, name: Any, body: Any, shown: str) -> None:
        self.name = name
        self.body = body
        self.shown = shown


class Budget:
    """The steps that reading one line may take, all code inside of it included."""

    __slots__ = ("steps",)

    def __init__(self, steps: int = 12_000) -> None:
        self.steps = steps

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise Unreadable("it is too long")


def parse(text: str, budget: Budget | None = None) -> Sequence:
    """The commands of a line or a script."""
    parser = _Parser(text, budget or Budget())
    try:
        read = parser.sequence()
        if parser.at < len(parser.text):
            raise Unreadable(f"{parser.text[parser.at]!r} stands where a command should")
    except Unreadable as error:
        raise Unreadable(error.why, parser.done) from None
    except RecursionError:
        raise Unreadable("it is nested too deeply", parser.done) from None
    return read


class _Parser:
    def __init__(self, text: str, budget: Budget, depth: int = 0) -> None:
        self.text = text
        self.budget = budget
        self.at = 0
        self.depth = depth
        self.done = Sequence()  # what was read at the outermost level, should the rest be unreadable
        self.pending: list[tuple[Redirect, str, bool]] = []  # here-documents whose text is still to come

    # -- looking --------------------------------------------------------------------------------------------------

    def looks_at(self, text: str) -> bool:
        return self.text.startswith(text, self.at)

    def char(self) -> str:
        return self.text[self.at : self.at + 1]

    def reserved(self) -> str:
        found = RESERVED.match(self.text, self.at)
        return found.group() if found else ""

    def skip_blanks(self) -> None:
        """Blanks, broken lines and comments; newlines are left."""
        while self.at < len(self.text):
            if self.text[self.at] in BLANKS:
                self.at += 1
            elif self.looks_at("\\\n"):
                self.at += 2
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def skip_newlines(self) -> None:
        self.skip_blanks()
        while self.char() == "\n":
            self.newline()
            self.skip_blanks()

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

    # -- commands -------------------------------------------------------------------------------------------------

    def sequence(self, *stops: str) -> Sequence:
        """Commands up to the end, a closing parenthesis, `;;` or one of these reserved words."""
        self.deeper()
        read = Sequence()
        if self.depth == 1:
            self.done = read
        connector = ";"
        while True:
            self.skip_newlines()
            if self.at >= len(self.text) or self.char() == ")" or self.looks_at(";;") or self.reserved() in stops:
                break
            if self.looks_at(";&"):
                break
            if self.char() == ";":
                self.at += 1
                continue
            pipeline = self.pipeline()
            read.items.append((connector, pipeline))
            self.skip_blanks()
            connector = ";"
            if self.looks_at("&&") or self.looks_at("||"):
                connector = self.text[self.at : self.at + 2]
                self.at += 2
            elif self.char() == "&":
                pipeline.background = True
                self.at += 2 if self.text[self.at + 1 : self.at + 2] in ("|", "!") else 1
            elif self.char() == ";" and not self.looks_at(";;") and not self.looks_at(";&"):
                self.at += 1
            elif self.at < len(self.text) and self.char() not in "\n);":
                raise Unreadable(f"{self.char()!r} stands where a command should have ended")
        self.depth -= 1
        return read

    def pipeline(self) -> Pipeline:
        start = self.at
        stages: list[Simple | Block | Function] = []
        while True:
            self.skip_blanks()
            if stages:
                self.skip_newlines()
            while self.reserved() in ("!", "time", "coproc"):
                self.at += len(self.reserved())
                self.skip_blanks()
                if self.looks_at("-p "):
                    self.at += 3
                    self.skip_blanks()
            stages.append(self.command())
            self.skip_blanks()
            if self.char() != "|" or self.looks_at("||"):
                break
            self.at += 2 if self.looks_at("|&") else 1
        return Pipeline(stages, self.text[start : self.at].strip())

    def command(self) -> Simple | Block | Function:
        start = self.at
        block = self.block()
        if block is None:
            return self.simple()
        if isinstance(block, Block):
            while True:
                self.skip_blanks()
                if not REDIRECT.match(self.text, self.at):
                    break
                block.redirects.append(self.redirect())
        block.shown = self.text[start : self.at].strip()
        return block

    def block(self) -> Block | Function | None:
        """A compound command or a function, or None if a simple command stands here."""
        sum_ = self.arithmetic(self.at + 2) if self.looks_at("((") else None
        if sum_:
            self.at = sum_[0]
            return Block("test", [], words=[sum_[1]])
        if self.char() == "(":
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
            word = self.take_word("elif", "else", "fi")
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
            sum_ = self.arithmetic(self.at + 2)
            if not sum_:
                raise Unreadable("'((' is not closed")
            self.at = sum_[0]
            words = [sum_[1]]
        else:
            found = NAME.match(self.text, self.at)
            if not found:
                raise Unreadable(f"there is no name after '{word}'")
            name = found.group()
            self.at = found.end()
            if self.take_word("in"):
                words = []
                while True:
                    self.skip_blanks()
                    if self.char() in ("", ";", "\n", "&", "|"):
                        break
                    words.append(self.word())
                    if not words[-1]:
                        raise Unreadable(f"the words of '{word}' cannot be read")
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

    def case(self) -> Block:
        self.skip_newlines()
        subject = self.word()
        self.need_word("in", "case")
        bodies: list[Sequence] = []
        while True:
            if self.take_word("esac"):
                return Block("branches", [Sequence(), *bodies], words=[subject])
            if self.at >= len(self.text):
                raise Unreadable("there is no 'esac' after 'case'")
            if self.char() == "(":
                self.at += 1
            while True:  # the patterns
                self.skip_newlines()
                self.word(" \t\n|)")
                self.skip_blanks()
                if self.char() == ")":
                    self.at += 1
                    break
                self.expect("|", "a pattern of 'case' cannot be read")
            bodies += [Sequence(), self.sequence("esac")]
            self.skip_newlines()
            if self.looks_at(";;&"):
                self.at += 3
            elif self.looks_at(";;") or self.looks_at(";&"):
                self.at += 2

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
        """`[[ … ]]`, where `<`, `|` and parentheses mean something else."""
        words: list[Word] = []
        while True:
            self.skip_newlines()
            if self.at >= len(self.text):
                raise Unreadable("'[[' is not closed")
            if self.looks_at("]]"):
                self.at += 2
                return Block("test", [], words=words)
            if self.char() in "()<>&|":
                self.at += 1
                continue
            words.append(self.word(" \t\n", nested=True))

    def simple(self) -> Simple:
        start = self.at
        assignments: list[Any] = []
        words: list[Word] = []
        redirects: list[Redirect] = []
        declaring = False
        while True:
            self.skip_blanks()
            char = self.char()
            redirect = REDIRECT.match(self.text, self.at)
            if redirect and not (redirect.group() in "<>" and self.text[redirect.end() : redirect.end() + 1] == "("):
                redirects.append(self.redirect())
                continue
            if not char or char in "\n;&|)":
                break
            if char == "(":
                raise Unreadable("a parenthesis stands inside a command")
            found = ASSIGNMENT.match(self.text, self.at)
            is_array = found and self.text[found.end() : found.end() + 1] == "("
            if found and (not words or (declaring and is_array)):
                self.at = found.end()
                value = self.array() if is_array else self.word(tilde=True)
                if words:
                    words.append([Part("text", found.group(1))])
                assignments.append((found.group(1), found.group(2), found.group(3), value))
                continue
            words.append(self.word(tilde=True))
            if len(words) == 1:
                declaring = self.plain(words[0]) in DECLARING
        if not words and not assignments and not redirects:
            raise Unreadable(
                f"{self.char()!r} stands where a command should" if self.char() else "a command is missing"
            )
        return Simple(assignments, words, redirects, self.text[start : self.at].strip())

    def array(self) -> list[Word]:
        self.expect("(", "")
        words: list[Word] = []
        while True:
            self.skip_newlines()
            if self.char() == ")":
                self.at += 1
                return words
            if self.at >= len(self.text):
                raise Unreadable("a list is not closed")
            word = self.word(tilde=True)
            if not word:
                raise Unreadable("a list cannot be read")
            words.append(word)

    def redirect(self) -> Redirect:
        found = REDIRECT.match(self.text, self.at)
        assert found
        descriptor, operator = found.groups()
        self.at = found.end()
        self.skip_blanks()
        redirect = Redirect(descriptor, operator, [])
        if operator in ("<<", "<<-"):
            start = self.at
            delimiter = self.plain(self.word())
            literal = any(char in self.text[start : self.at] for char in "'\"\\")
            self.pending.append((redirect, delimiter, literal))
        else:
            redirect.target = self.word(tilde=True)
            if not redirect.target:
                raise Unreadable(f"there is nothing after '{operator}'")
        return redirect

    def here_document(self, delimiter: str, literal: bool, strip: bool) -> Word:
        lines = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line = self.text[self.at : end]
            line = line.lstrip("\t") if strip else line
            self.at = min(end + 1, len(self.text))
            if line.rstrip("\r") == delimiter:
                break
            # `$(cat <<EOF … EOF)` on the delimiter's own line
            if line.startswith(delimiter) and line[len(delimiter) :].strip()[:1] == ")":
                self.at = end - len(line) + len(delimiter)
                break
            lines.append(line)
        body = "\n".join(lines) + ("\n" if lines else "")
        if literal:
            return [Part("text", QUOTED + body, True)]
        return _Parser(body, self.budget, self.depth + 1).double("")

    # -- words ----------------------------------------------------------------------------------------------------

    def plain(self, word: Word) -> str:
        """A word that is nothing but text, as that text."""
        return "".join(decoded(part.value) for part in word if part.kind == "text")

    def word(self, stops: str = WORD_ENDS, tilde: bool = False, nested: bool = False) -> Word:
        """The parts of one word."""
        parts: Word = []
        text: list[str] = []

        def flush() -> None:
            if text:
                parts.append(Part("text", "".join(text)))
                text.clear()

        ordinary = ORDINARY if stops == WORD_ENDS else ORDINARY_IN_BRACES
        while self.at < len(self.text):
            self.budget.spend()
            if run := ordinary.match(self.text, self.at):
                text.append(run.group())
                self.at = run.end()
                continue
            char = self.text[self.at]
            if char in "<>" and self.text[self.at + 1 : self.at + 2] == "(" and not nested:
                flush()
                self.at += 2
                body = self.sequence()
                self.expect(")", "'<(' is not closed")
                parts.append(Part("process", (char, body)))
            elif char in stops:
                break
            elif char == "\\":
                follower = self.text[self.at + 1 : self.at + 2]
                if follower != "\n":
                    text.append(QUOTED + (follower or "\\"))
                self.at += 2
            elif char == "'":
                text.append(QUOTED + self.single())
            elif char == '"':
                flush()
                self.at += 1
                parts.append(Part("text", QUOTED, True))
                parts += self.double('"')
            elif char in "$`":
                flush()
                parts += self.special(False)
            elif char == "~" and tilde and not parts and (not text or text[-1][-1:] in ":="):
                flush()
                parts.append(self.tilde())
            elif char in "?*+@!" and self.text[self.at + 1 : self.at + 2] == "(" and not nested:
                self.at += 1
                self.skip_parentheses()
                text.append(STAR)
            else:
                text.append(ACTIVE.get(char, char))
                self.at += 1
        flush()
        return parts

    def tilde(self) -> Part:
        found = TILDE.match(self.text, self.at)
        assert found
        self.at = found.end()
        return Part("tilde", found.group(1))

    def skip_parentheses(self) -> None:
        """Past a pattern such as `!(a|b)`."""
        depth = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            depth += (char == "(") - (char == ")")
            self.at += 1
            if not depth:
                return
        raise Unreadable("a parenthesis is not closed")

    def single(self) -> str:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise Unreadable("a quote is not closed")
        text = self.text[self.at + 1 : end]
        self.at = end + 1
        return text

    def double(self, stop: str) -> Word:
        """The parts of a quoted text, up to its end; of a here-document, up to the end of everything."""
        parts = []
        text = []
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
                parts += self.special(True)
            else:
                text.append(char)
                self.at += 1
        return parts + ([Part("text", QUOTED + "".join(text), True)] if text else [])

    def special(self, quoted: bool) -> Word:
        """What begins with a dollar sign or a backquote."""
        if self.char() == "`":
            return [Part("command", self.backquoted(), quoted)]
        after = self.text[self.at + 1 : self.at + 2]
        if after == "(":
            sum_ = self.arithmetic(self.at + 3) if self.looks_at("$((") else None
            if sum_:
                self.at = sum_[0]
                return [Part("sum", sum_[1], quoted)]
            self.at += 2
            body = self.sequence()
            self.skip_blanks()
            self.expect(")", "'$(' is not closed")
            return [Part("command", body, quoted)]
        if after == "{":
            return self.braced(quoted)
        if after == "[" and not quoted:
            end = self.text.find("]", self.at)
            if end > 0:
                inner = self.text[self.at + 2 : end]
                self.at = end + 1
                return [Part("sum", _Parser(inner, self.budget, self.depth + 1).double(""), quoted)]
        if after == "'" and not quoted:
            return [Part("text", QUOTED + self.ansi())]
        if after == '"' and not quoted:
            self.at += 2
            return [Part("text", QUOTED, True), *self.double('"')]
        found = NAME.match(self.text, self.at + 1)
        if not found:
            self.at += 1
            return [Part("text", "$", quoted)]
        self.at = found.end()
        return [Part("variable", Variable(found.group()), quoted)]

    def ansi(self) -> str:
        """`$'…'`."""
        end = self.at + 2
        while self.text[end : end + 1] not in ("'", ""):
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise Unreadable("a quote is not closed")
        text = self.text[self.at + 2 : end]
        self.at = end + 1
        return unescaped(text)

    def backquoted(self) -> Sequence:
        end = self.at + 1
        while self.text[end : end + 1] not in ("`", ""):
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise Unreadable("a backquote is not closed")
        inner = re.sub(r"\\([$`\\])", r"\1", self.text[self.at + 1 : end])
        self.at = end + 1
        parser = _Parser(inner, self.budget, self.depth)
        body = parser.sequence()
        if parser.at < len(inner):
            raise Unreadable("what stands in backquotes cannot be read")
        return body

    def arithmetic(self, start: int) -> tuple[int, Word] | None:
        """The end and the parts of a sum that begins here, or None if no `))` closes it."""
        depth = 2
        at = start
        while at < len(self.text):
            char = self.text[at]
            if char in "'\"`":
                return None
            depth += (char == "(") - (char == ")")
            at += 1
            if depth == 1 and char == ")" and self.text[at : at + 1] != ")":
                return None  # `$((a) | b)`: commands after all
            if not depth:
                inner = self.text[start : at - 2]
                return at, _Parser(inner, self.budget, self.depth + 1).double("")
        return None

    def braced(self, quoted: bool) -> Word:
        """`${…}`."""
        start = self.at
        self.at += 2
        prefix = ""
        if self.char() in "#!" and self.text[self.at + 1 : self.at + 2] not in ("}", ":", "-", "=", "?", "+", ""):
            prefix = self.char()
            self.at += 1
        found = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]").match(self.text, self.at)
        if not found:
            raise Unreadable(f"{self.text[start : start + 12]!r} cannot be read")
        variable = Variable(found.group(), prefix)
        self.at = found.end()
        if self.char() == "[":
            end = self.text.find("]", self.at)
            if end < 0:
                raise Unreadable("an index is not closed")
            variable.index = self.text[self.at + 1 : end]
            self.at = end + 1
        if prefix == "!" and self.char() in "*@":
            self.at += 1
        variable.operator = next((each for each in OPERATORS if self.looks_at(each)), "")
        self.at += len(variable.operator)
        self.deeper()
        if variable.operator:
            parts_of = variable.operator.startswith("/") or variable.operator == ":"
            separator = "/" if variable.operator.startswith("/") else ":"
            variable.argument = self.inside_braces(separator if parts_of else "")
            if parts_of and self.char() == separator:
                self.at += 1
                variable.other = self.inside_braces("")
        self.depth -= 1
        self.expect("}", "'${' is not closed")
        return [Part("variable", variable, quoted)]

    def inside_braces(self, separator: str) -> Word:
        return self.word("}" + separator, tilde=True, nested=True)


def decoded(text: str) -> str:
    """Text with every mark as the character it stands for."""
    text = text.replace(QUOTED, "")
    for mark, char in PLAIN.items():
        text = text.replace(mark, char)
    return text


_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(0?[0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def unescaped(text: str) -> str:
    """Text with `\\n`, `\\x2f`, `\\057` … as `echo -e`, `printf` and `$'…'` read them."""

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

    return PRIVATE.sub("\ufffd", _ESCAPE.sub(char, text))
