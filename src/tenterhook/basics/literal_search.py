"""Regular expressions that are alternatives of literal words, such as `Shell`, `Write|Edit` or `^Bash$`.

Most matchers are of this kind, and importing `re` takes as long as starting an interpreter. This module imports
nothing, and a word is a plain tuple that an index of hooks can store.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Word = tuple[str, bool, bool]  # a text, and whether it is anchored at the start and at the end

_LITERAL = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,/:;<>=!@#%&~\"'-")
_MOST_REMEMBERED = 4096
_WORDS: dict[str, tuple[Word, ...] | None] = {}


def words(expression: str) -> tuple[Word, ...] | None:
    """Return the alternatives of an expression in either dialect; None if it is more than literal words."""
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
    """Return a function that searches a text for an expression; None if it is more than literal words."""
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

    They rule out most texts without `re`: `git push.*--force` cannot match a text without `git push`.
    """
    if "[]" in expression or "[^]" in expression:  # a class that the dialects read differently
        return None
    try:
        needed = _required([*reversed(expression)])
    except (ValueError, IndexError):
        return None
    return tuple((word, False, False) for word in needed) or None


_SHORTEST = 2  # a single character is found in almost any text
_CLASSES = frozenset("dDwWsSbB")


def _required(chars: list[str]) -> list[str]:
    """Return words of which the alternatives up to the end of a group need one; empty if none are known.

    `chars` is the reversed expression, from which it removes what it reads. Raises `ValueError` for anything unknown.
    """
    alternatives: list[list[list[str]]] = [[]]  # each needs one word of each of its lists
    run = ""
    while chars and (char := chars.pop()) != ")":
        needed: list[str] = []
        if char == "\\" and not (chars[-1].isalnum() or chars[-1] == "_"):
            run += chars.pop()
            continue
        match char:
            case "\\":
                if chars.pop() not in _CLASSES:
                    raise ValueError  # a back reference, a code point: of any length
            case "[":
                while (inside := chars.pop()) != "]":
                    if inside == "\\":
                        chars.pop()
            case "(":
                needed = _required_by_group(chars)
            case "*" | "?" | "{":  # the character or the group before may be missing
                if not run:
                    del alternatives[-1][-1:]
                run = run[:-1]
                if char == "{" and not _is_count(chars):
                    raise ValueError
            case _ if char not in "+.^$}|":
                run += char
                continue
        alternatives[-1] += [[run], needed]
        run = ""
        alternatives += [[]] if char == "|" else []
    alternatives[-1].append([run])
    best = [max(words, key=lambda each: (min(map(len, each), default=0), -len(each))) for words in alternatives]
    is_known = all(words and min(map(len, words)) >= _SHORTEST for words in best)
    return [word for words in best for word in words] if is_known else []


def _required_by_group(chars: list[str]) -> list[str]:
    if chars[-1] != "?":
        return _required(chars)
    chars.pop()
    kind = chars.pop()
    kind += chars.pop() if kind == "<" else ""
    if kind not in (":", "=", "!", "<=", "<!"):
        raise ValueError  # flags, names
    needed = _required(chars)
    return [] if "!" in kind else needed


def _is_count(chars: list[str]) -> bool:
    """Remove the characters up to the closing brace; return whether they are a count, the same in both dialects."""
    bounds = ""
    while chars and (char := chars.pop()) != "}":
        bounds += char
    return bounds.replace(",", "", 1).isdigit()
