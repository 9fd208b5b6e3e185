"""Words out of expanded text: where it falls apart, what braces and patterns stand for."""

from __future__ import annotations

import re

from .syntax import ACTIVE, BREAK, CLOSE, COMMA, ONE, OPEN, QUOTED, SET, STAR, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:  # names for people and checkers; importing them would cost a start
    from .syntax import Word

MOST_WORDS = 512  # out of one word


def plain_number(word: Word | None) -> int | None:
    """A word that is a plain number, or None."""
    if not word or any(part.kind != "text" for part in word):
        return None
    text = decoded("".join(part.value for part in word)).strip()
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def encoded(value: str, quoted: bool, separators: str) -> str:
    """A value as it comes out of a variable: unquoted, it falls apart and its patterns are active."""
    if quoted:
        return QUOTED + value
    return "".join(BREAK if char in separators else ACTIVE[char] if char in "*?[" else char for char in value)


def split_words(text: str) -> list[str]:
    """One expanded text as the words it falls apart into."""
    found = []
    for each in _braces(text)[:MOST_WORDS]:
        found += [piece for piece in each.split(BREAK) if piece]
    return [_without_marks(piece) for piece in found[:MOST_WORDS]]


def _without_marks(word: str) -> str:
    """A word with braces as they were written; its patterns stay active."""
    for mark, char in ((OPEN, "{"), (COMMA, ","), (CLOSE, "}"), (QUOTED, "")):
        word = word.replace(mark, char)
    return word


def _braces(text: str) -> list[str]:
    """`a{b,c}d` as `abd` and `acd`; `{1..3}` as its numbers."""
    start = text.find(OPEN)
    while start >= 0:
        depth, commas, end = 0, [], -1
        for at in range(start, len(text)):
            if text[at] == OPEN:
                depth += 1
            elif text[at] == CLOSE:
                depth -= 1
                if not depth:
                    end = at
                    break
            elif text[at] == COMMA and depth == 1:
                commas.append(at)
        if end >= 0:
            inside = text[start + 1 : end]
            choices = None
            if commas:
                starts = [at + 1 for at in (start, *commas)]
                choices = [text[first:last] for first, last in zip(starts, (*commas, end))]  # noqa: B905  # Python 3.8
            else:
                found = re.fullmatch(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.-?\d+)?", inside)
                choices = _range(found.group(1), found.group(2)) if found else None
            if choices:
                rests = _braces(text[end + 1 :])
                firsts = [each for choice in choices[:64] for each in _braces(choice)]
                return [text[:start] + first + rest for first in firsts for rest in rests][:MOST_WORDS]
        start = text.find(OPEN, start + 1)
    return [text]


def _range(first: str, last: str) -> list[str] | None:
    if first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        low, high = int(first), int(last)
        step = 1 if high >= low else -1
        return [str(number) for number in range(low, high + step, step)[:64]]
    if len(first) == len(last) == 1:
        low, high = ord(first), ord(last)
        step = 1 if high >= low else -1
        return [chr(number) for number in range(low, high + step, step)]
    return None


def as_expression(pattern: str, of_path: bool = False) -> str:
    """A shell pattern with active marks as a regular expression; in a path they stop at a slash."""
    pattern = pattern.replace(QUOTED, "").replace(BREAK, " ")
    found = ""
    at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == STAR:
            found += "[^/]*" if of_path else ".*"
        elif char == ONE:
            found += "[^/]" if of_path else "."
        elif char == SET:
            end = pattern.find("]", at + 1)
            if end < 0:
                found += r"\["
                continue
            inside = pattern[at:end]
            at = end + 1
            negated = inside[:1] in ("!", "^")
            inside = re.sub(r"([\\\[\]&~|])", r"\\\1", inside[1:] if negated else inside)
            found += f"[{'^' if negated else ''}{inside}]"
        else:
            found += re.escape(decoded(char))
    return found


def pattern_matches(pattern: str, text: str) -> bool:
    """Whether a word with active patterns stands for a path, or for a name."""
    try:
        return re.fullmatch(as_expression(pattern, of_path=True), text) is not None
    except re.error:
        return False
