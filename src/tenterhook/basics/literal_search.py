"""Regular expressions that are alternatives of literal words, such as `Shell`, `Write|Edit` or `^Bash$`.

Most matchers are of this kind, and importing `re` costs as much as starting an interpreter. Nothing is
imported here, and a word is a plain tuple: an index of hooks keeps them as they are.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Word = tuple[str, bool, bool]  # a text, and whether it is anchored at the start and at the end

_LITERAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,/:;<>=!@#%&~\"'-")
_MOST_REMEMBERED = 4096
_WORDS: dict[str, tuple[Word, ...] | None] = {}


def words(expression: str) -> tuple[Word, ...] | None:
    """Return the alternatives of an expression, or None if it has more than words. The same in both dialects."""
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
    return _LITERAL.issuperset(text)


def search(dialect: str, expression: str) -> Callable[[str], bool] | None:
    """Return a function that searches a text for the words; None if the expression has more than words."""
    alternatives = words(expression)
    if alternatives is None:
        return None
    return lambda text: found(dialect, alternatives, text)


def found(dialect: str, alternatives: Iterable[Word], text: str) -> bool:
    """Whether a text contains one of the words."""
    # in Python `$` also matches before a newline at the end
    ends = (text, text.removesuffix("\n")) if dialect == "python" else (text,)
    for word, at_start, at_end in alternatives:
        if not at_end:
            if text.startswith(word) if at_start else word in text:
                return True
        elif any(end == word if at_start else end.endswith(word) for end in ends):
            return True
    return False


def required_words(expression: str) -> tuple[Word, ...] | None:
    """Return words of which every matching text contains at least one; None if they cannot be determined.

    Most texts are ruled out by them without `re`: `git push.*--force` cannot match a text without `git push`.
    """
    if "(?" in expression.replace("(?:", "") or "[]" in expression or "[^]" in expression:
        return None  # flags, groups, lookarounds; a class that the dialects read differently
    longest = []
    for runs in _runs(expression):
        word = max(runs, key=len)
        if len(word) < _SHORTEST:
            return None
        longest.append((word, False, False))
    return tuple(longest) or None


_SHORTEST = 2  # a single character is found in almost any text
_CLASSES = frozenset("dDwWsSbB")


def _runs(expression: str) -> list[list[str]]:
    """Return the literal runs of each alternative; empty if the expression is not understood here."""
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
                    return []  # a back reference, a code point: of any length
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
        elif char in "*?{":  # the character before may be missing
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
    """Read up to the closing brace; whether it is a repetition. The dialects read anything else differently."""
    bounds = ""
    for char in chars:
        if char == "}":
            return bounds.replace(",", "", 1).isdigit()
        bounds += char
    return False
