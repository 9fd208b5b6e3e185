"""Expressions that are nothing but words, such as `Shell`, `Write|Edit` or `^Bash$`: they need no expression engine.

Most matchers are of this kind, and importing an engine costs an agent as much as starting an interpreter. Nothing is
imported here, and a word is a plain tuple: an index of hooks keeps them as they are.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Word = tuple[str, bool, bool]  # a text, to be found at the start, at the end, both or anywhere

_MEAN_THEMSELVES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,/:;<>=!@#%&~\"'-")
_MOST_REMEMBERED = 4096
_WORDS: dict[str, tuple[Word, ...] | None] = {}


def words(expression: str) -> tuple[Word, ...] | None:
    """The alternatives of an expression, or None if it is more than words. The same in either dialect."""
    if expression not in _WORDS:
        if len(_WORDS) >= _MOST_REMEMBERED:
            _WORDS.clear()
        _WORDS[expression] = _words(expression)
    return _WORDS[expression]


def _words(expression: str) -> tuple[Word, ...] | None:
    inner = expression[2:-2]
    if expression.startswith("^(") and expression.endswith(")$") and _is_plain(inner.replace("|", "")):
        return tuple((text, True, True) for text in inner.split("|"))
    found = []
    for branch in expression.split("|"):
        text = branch.removeprefix("^")
        at_start = text != branch
        at_end = text.endswith("$")
        text = text.removesuffix("$")
        if not _is_plain(text):
            return None
        found.append((text, at_start, at_end))
    return tuple(found)


def _is_plain(text: str) -> bool:
    return _MEAN_THEMSELVES.issuperset(text)


def search(dialect: str, expression: str) -> Callable[[str], bool] | None:
    """A function that tells whether a text holds one of the words; None if the expression is more than words."""
    alternatives = words(expression)
    if alternatives is None:
        return None
    return lambda text: found(dialect, alternatives, text)


def found(dialect: str, alternatives: Iterable[Word], text: str) -> bool:
    """Whether a text holds one of the words."""
    # in Python `$` also matches before a newline at the end
    ends = (text, text.removesuffix("\n")) if dialect == "python" else (text,)
    for word, at_start, at_end in alternatives:
        if not at_end:
            if text.startswith(word) if at_start else word in text:
                return True
        elif any(end == word if at_start else end.endswith(word) for end in ends):
            return True
    return False


def needed(expression: str) -> tuple[Word, ...] | None:
    """Words, one of which is in every text that an expression is found in; None if a look does not tell.

    So most calls that no expression is for are told from the others without an engine: `git push.*--force` is not
    found where there is no `git push`.
    """
    if "(?" in expression.replace("(?:", "") or "[]" in expression or "[^]" in expression:
        return None  # flags, names, looking around; a class that the dialects read differently
    longest = []
    for runs in _runs(expression):
        word = max(runs, key=len)
        if len(word) < _TELLING:
            return None
        longest.append((word, False, False))
    return tuple(longest) or None


_TELLING = 2  # a single character is found in almost any text
_CLASSES = frozenset("dDwWsSbB")


def _runs(expression: str) -> list[list[str]]:
    """For each alternative its runs of characters that mean themselves; empty for what is not read here."""
    runs = [[""]]
    depth = 0
    in_class = False
    chars = iter(expression)
    for char in chars:
        literal = ""
        if char == "\\":
            escaped = next(chars, "")
            if escaped.isalnum() or escaped in ("", "_"):
                if escaped not in _CLASSES:
                    return []  # a number, a code: of any length
            elif not in_class:
                literal = escaped
        elif in_class:
            in_class = char != "]"
            continue
        elif char == "[":
            in_class = True
        elif char in "()":
            depth += 1 if char == "(" else -1
        elif char == "|":
            if not depth:
                runs.append([""])
                continue
        elif char in "*?{":  # what stands before may be missing
            if not depth:
                runs[-1][-1] = runs[-1][-1][:-1]
            if char == "{" and not _is_count(chars):
                return []
        elif char not in "+.^$}":
            literal = char
        if depth or not literal:
            runs[-1].append("")
        else:
            runs[-1][-1] += literal
    return runs


def _is_count(chars: Iterator[str]) -> bool:
    """Read on to the closing brace; whether a count stands before it. What is none, the dialects read differently."""
    bounds = ""
    for char in chars:
        if char == "}":
            return bounds.replace(",", "", 1).isdigit()
        bounds += char
    return False
