r"""An expression of one dialect written in the other.

What stands in the same words in both is left alone. In names (of tools) `.`, `$`, `\d`, `\w`, `\s` and `\b` are too:
the dialects differ there only in line ends and letters that no tool's name has. In other texts they are written out.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from typing import NamedTuple

from ..deciding import expressions
from ..deciding.expressions import JAVASCRIPT, PYTHON


class Rewritten(NamedTuple):
    """The expression in the other dialect, or None and why; `differs` is what it finds other than before."""

    expression: str | None
    why: str = ""
    differs: tuple[str, ...] = ()


class _NotThere(Exception):
    """The other dialect has nothing of the kind."""


def rewrite(expression: str, own: str, other: str, *, names: bool) -> Rewritten:
    """The same expression for another dialect; `names`: it is searched in names of tools."""
    if own == other:
        return Rewritten(expression)
    try:
        expressions.search(own, expression)
        reader = (_FromPython if own == PYTHON else _FromJavaScript)(expression, names)
        written = reader.whole()
    except expressions.BadExpression as error:
        return Rewritten(None, error.message)
    except _NotThere as error:
        return Rewritten(None, str(error))
    refusal = _refusal(other, written)
    if refusal:
        return Rewritten(None, refusal)
    return Rewritten(written, "", tuple(dict.fromkeys(reader.differs)))


def _refusal(dialect: str, expression: str) -> str | None:
    """Why a dialect does not take an expression, or takes it with a warning."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            expressions.search(dialect, expression)
    except expressions.BadExpression as error:
        return error.message
    except Warning as warning:
        return f"Python reads it otherwise one day: {warning}"
    return None


# What `\s` finds, as the inside of a class.
_SPACE = {
    PYTHON: r"\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000",
    JAVASCRIPT: r"\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff",
}
_COUNT = re.compile(r"\{(\d*)(?:(,)(\d*))?\}")


class _Reader:
    """A walk over an expression that writes it anew, piece by piece."""

    def __init__(self, expression: str, names: bool) -> None:
        self.text = expression
        self.names = names
        self.position = 0
        self.differs: list[str] = []

    def whole(self) -> str:
        written: list[str] = []
        while self.position < len(self.text):
            written.append(self.piece())
        return "".join(written)

    def piece(self) -> str:
        raise NotImplementedError

    def take(self, count: int = 1) -> str:
        taken = self.text[self.position : self.position + count]
        self.position += len(taken)
        return taken

    def ahead(self, text: str) -> bool:
        return self.text.startswith(text, self.position)

    def found(self, expression: str) -> re.Match[str] | None:
        """What stands here, taken if it is there."""
        match = re.compile(expression).match(self.text, self.position)
        if match:
            self.position = match.end()
        return match


class _FromPython(_Reader):
    """Python to JavaScript, which has no flags in the middle of an expression that every engine knows."""

    def __init__(self, expression: str, names: bool) -> None:
        super().__init__(expression, names)
        self.flags = frozenset[str]()
        self.outer: list[frozenset[str]] = []

    def piece(self) -> str:
        if "x" in self.flags and self.found(r"\s+|#[^\n]*\n?"):
            return ""
        if self.ahead("("):
            return self.group()
        char = self.take()
        if char == ")":
            self.flags = self.outer.pop()
            return char
        if char == "[":
            return self.char_class()
        if char == "\\":
            return self.escape()
        if char == ".":
            return r"[\s\S]" if "s" in self.flags else "." if self.names else r"[^\n]"
        if char == "^":
            return r"(?<=^|\n)" if "m" in self.flags else "^"
        if char == "$":
            return r"(?=\n|$)" if "m" in self.flags else "$" if self.names else r"(?=\n?$)"
        if char in "*+?" or char == "{":
            return self.repetition(char)
        return self.literal(char)

    def group(self) -> str:
        if named := self.found(r"\(\?P<(\w+)>"):
            self.outer.append(self.flags)
            return f"(?<{named[1]}>"
        if self.found(r"\(\?#[^)]*\)"):
            return ""
        for opening, what in (("(?P=", "a back-reference"), ("(?(", "a condition (?(…)…)"), ("(?>", "an atomic group")):
            if self.ahead(opening):
                raise _NotThere(_means_other(what) if "back" in what else f"JavaScript has nothing like {what}")
        if flags := self.found(r"\(\?([aiLmsux]*)(?:-([imsx]+))?([:)])"):
            if flags[3] == ")":
                self.flags |= set(flags[1])
                return ""
            self.outer.append(self.flags)
            self.flags = (self.flags | set(flags[1])) - set(flags[2] or "")
            return "(?:"
        self.outer.append(self.flags)
        same = self.found(r"\((?:\?(?:=|!|<=|<!))?")
        return same[0] if same else "("

    def repetition(self, char: str) -> str:
        written = char
        if char == "{":
            self.position -= 1
            count = self.found(_COUNT.pattern)
            if count is None or not (count[1] or count[2]):
                self.position = count.end() if count else self.position + 1
                return "\\{" + (count[0][1:] if count else "")
            written = f"{{{count[1] or '0'}{count[2] or ''}{count[3] or ''}}}"
        if self.ahead("+"):
            raise _NotThere("JavaScript has no possessive repetition such as a++")
        return written + (self.take() if self.ahead("?") else "")

    def literal(self, char: str) -> str:
        if "i" not in self.flags or not char.isalpha():
            return char
        return f"[{''.join(self.cases(char))}]"

    def cases(self, char: str) -> list[str]:
        """Every character that Python takes for this one when case does not matter."""
        if not char.isascii():
            raise _NotThere(f"{char!r} without regard to case")
        ascii_only = self.names or "a" in self.flags
        ignoring = re.compile(char, re.IGNORECASE | (re.ASCII if ascii_only else 0))
        return [each for each in (char, char.swapcase(), *_LIKE_ASCII) if ignoring.fullmatch(each)]

    def escape(self, *, in_class: bool = False) -> str:
        char = self.take()
        if char == "A" and not in_class:
            return "^"
        if char == "Z" and not in_class:
            return "$"
        if char in "dDwWsSbB" and not (char == "b" and in_class):
            return self.kind_of_char(char, in_class)
        if char.isdigit():
            self.position -= 1
            octal = self.found(r"0[0-7]{0,2}|[0-3][0-7]{2}" if not in_class else r"[0-7]{1,3}")
            if octal is None:
                raise _NotThere(_means_other("a back-reference"))
            return f"\\x{int(octal[0], 8):02x}"
        if char == "N" and (name := self.found(r"\{([^}]*)\}")):
            return self.code(ord(unicodedata.lookup(name[1])), in_class)
        if char in "xuU":
            digits = self.take({"x": 2, "u": 4, "U": 8}[char])
            folded = "i" in self.flags and chr(int(digits, 16)).isalpha()
            return f"\\{char}{digits}" if char != "U" and not folded else self.code(int(digits, 16), in_class)
        return r"\x07" if char == "a" else f"\\{char}"

    def code(self, number: int, in_class: bool) -> str:
        if "i" in self.flags and chr(number).isalpha():
            cases = "".join(self.cases(chr(number)))
            return cases if in_class else f"[{cases}]"
        if number > 0xFFFF:
            return chr(number)
        return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"

    def kind_of_char(self, char: str, in_class: bool) -> str:
        if char in "sS" and not self.names and "a" not in self.flags:
            if in_class and char == "S":
                raise _NotThere(r"\S inside a class, as Python understands it")
            inside = _SPACE[PYTHON]
            return inside if in_class else f"[{'^' if char == 'S' else ''}{inside}]"
        if char in "sS" and "a" in self.flags and not self.names:
            if in_class and char == "S":
                raise _NotThere(r"\S inside a class, as Python understands it")
            return r" \t-\r" if in_class else f"[{'^' if char == 'S' else ''} \\t-\\r]"
        if char not in "sS" and "a" not in self.flags:
            self.differs.append(f"\\{char}")
        return r"(?!^$)\B" if char == "B" and not self.names else f"\\{char}"

    def char_class(self) -> str:
        negated = "^" if self.found(r"\^") else ""
        items: list[str] = []
        while not (self.ahead("]") and items):
            items.append(self.class_item())
        self.take()
        return f"[{negated}{''.join(items)}]"

    def class_item(self) -> str:
        start, low = self.class_char()
        if low is not None and self.found(r"-(?!\])"):
            end, high = self.class_char()
            if high is None:
                raise _NotThere("a range that ends in a class")
            return self.range_of(low, high) if "i" in self.flags else f"{start}-{end}"
        if "i" in self.flags and low is not None and chr(low).isalpha():
            return "".join(self.cases(chr(low)))
        return start

    def class_char(self) -> tuple[str, int | None]:
        """One character of a class as it is written, and its code; None for a class of characters."""
        char = self.take()
        if char != "\\":
            return (r"\]" if char == "]" else char), ord(char)
        flags, self.flags = self.flags, self.flags - {"i"}
        begin = self.position
        written = self.escape(in_class=True)
        self.flags = flags
        if self.text[begin] in "dDwWsS":
            return written, None
        return written, ord(_char_of(written))

    def range_of(self, low: int, high: int) -> str:
        chars = sorted({case for code in range(low, high + 1) for case in self._cases_of(chr(code))})
        if len(chars) > _MOST_IN_RANGE:
            raise _NotThere("so wide a range without regard to case")
        return "".join(map(_in_class, chars))

    def _cases_of(self, char: str) -> list[str]:
        return self.cases(char) if char.isalpha() else [char]


_MOST_IN_RANGE = 200
_LIKE_ASCII = "\u017f\u212a\u0130\u0131"  # long s, the sign of kelvin, i with and without a dot


def _char_of(escape: str) -> str:
    """The character behind an escape that both dialects know."""
    if not escape.startswith("\\"):
        return escape
    known = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "b": "\b"}
    if escape[1] in "xu" and len(escape) > 2:
        return chr(int(escape[2:], 16))
    return known.get(escape[1], escape[1])


def _in_class(char: str) -> str:
    return f"\\{char}" if char in "]^[-\\" else char


def _means_other(what: str) -> str:
    return f"{what} to a group that took no part is found nowhere in Python and everywhere in JavaScript"


class _FromJavaScript(_Reader):
    """JavaScript to Python."""

    def piece(self) -> str:
        if self.ahead("("):
            return self.group()
        char = self.take()
        if char == "[":
            return self.char_class()
        if char == "\\":
            return self.escape()
        if char == "." and not self.names:
            return r"[^\n\r\u2028\u2029]"
        if char == "$" and not self.names:
            return r"\Z"
        if char == "{":
            self.position -= 1
            count = self.found(_COUNT.pattern)
            if count and count[1]:
                return count[0]
            self.position = count.end() if count else self.position + 1
            return "\\{" + (count[0][1:] if count else "")
        return char

    def group(self) -> str:
        if named := self.found(r"\(\?<([^>=!]*)>"):
            if not named[1].isidentifier():
                raise _NotThere(f"Python takes no group named {named[1]!r}")
            return f"(?P<{named[1]}>"
        if flags := self.found(r"\(\?[ims]*(?:-[ims]+)?:"):
            if flags[0] != "(?:" and not self.names:
                raise _NotThere(f"{flags[0]}…) means something else in Python")
            return flags[0]
        return self.take()

    def escape(self, *, in_class: bool = False) -> str:
        char = self.take()
        if char in "dDwWsSbB" and not (char == "b" and in_class):
            return self.kind_of_char(char, in_class)
        if char in "pP" and self.ahead("{"):
            raise _NotThere("Python's re knows no \\p{…}")
        if char == "k" or (char in "123456789" and not in_class):
            raise _NotThere(_means_other("a back-reference"))
        if char == "0" and not self.found(r"(?=\d)"):
            return r"\x00"
        if char.isdigit():
            raise _NotThere("an octal escape")
        if char == "c" and (letter := self.found("[A-Za-z]")):
            return f"\\x{ord(letter[0]) % 32:02x}"
        if char in "xu" and (code := self.found(r"[0-9A-Fa-f]{2}" if char == "x" else r"[0-9A-Fa-f]{4}")):
            return f"\\{char}{code[0]}"
        if char == "u" and (code := self.found(r"\{([0-9A-Fa-f]+)\}")):
            return f"\\U{int(code[1], 16):08x}"
        if char in "fnrtv":
            return f"\\{char}"
        return char if char.isascii() and (char.isalnum() or char == "_") else f"\\{char}"

    def kind_of_char(self, char: str, in_class: bool) -> str:
        if self.names:
            if char not in "sS":
                self.differs.append(f"\\{char}")
            return f"\\{char}"
        if char in "bB":  # the empty text is the inside of a word in JavaScript
            return r"(?a:\b)" if char == "b" else r"(?:(?a:\B)|\A\Z)"
        inside = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACE[JAVASCRIPT]}[char.lower()]
        if char.islower():
            return inside if in_class else f"[{inside}]"
        if not in_class:
            return f"[^{inside}]"
        if char == "S":
            raise _NotThere(r"\S inside a class, as JavaScript understands it")
        return r"\x00-/:-\U0010ffff" if char == "D" else r"\x00-/:-@\[-\^`{-\U0010ffff"

    def char_class(self) -> str:
        if self.found(r"\^\]"):
            return r"[\s\S]"
        if self.found(r"\]"):
            return "(?!)"
        written = ["["]
        if self.found(r"\^"):
            written.append("^")
        while not self.ahead("]"):
            char = self.take()
            # what Python may one day read as a set operation
            odd = (char == "[" and written[-1] in ("[", "^")) or (char in "&~|" and written[-1] == char)
            written.append(self.escape(in_class=True) if char == "\\" else f"\\{char}" if odd else char)
        self.take()
        return "".join(written) + "]"
