"""Splits expanded text into fields, expands braces and matches patterns."""

from __future__ import annotations

from ..basics import lazy_re as re
from .syntax import ACTIVE, BREAK, CLOSE, COMMA, ONE, OPEN, PATTERNS, QUOTED, SET, STAR, before, decoded

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing these at run time would slow every hook down
    from .syntax import Budget, Word

LONGEST_PATTERN = 4096  # characters of a path's pattern; a longer one counts as matching
MOST_WORDS = 512  # of one brace expansion
MOST_OF_RANGE = 64  # of `{1..1000}`
DEEPEST_BRACES = 20
MOST_DIGITS = 15


class TooManyWords(Exception):
    """A brace expansion yields too many words; `words` are the first ones."""

    def __init__(self, words: list[str]) -> None:
        super().__init__()
        self.words = words


def small_number(text: str) -> int | None:
    """Return the value of a decimal integer with few digits, or None."""
    digits = text.removeprefix("-")
    return int(text) if digits.isdecimal() and digits.isascii() and len(digits) <= MOST_DIGITS else None


def plain_number(word: Word | None) -> int | None:
    """Return the value of a word that is a decimal integer, or None."""
    if not word or any(part.kind != "text" for part in word):
        return None
    return small_number(decoded("".join(part.value for part in word).replace(BREAK, " ")).strip())


def encoded(value: str, quoted: bool, separators: str) -> str:
    """Return a variable's value as part of a word, with marks for separators and patterns unless it is quoted."""
    if quoted:
        return QUOTED + value
    if separators == " \t\n" and not any(char in value for char in " \t\n*?["):
        return value
    table = {ord(char): ACTIVE[char] for char in "*?["}
    table.update((ord(char), BREAK) for char in separators)
    return value.translate(table)


def split_words(text: str, budget: Budget) -> list[str]:
    """Return the words of one expanded text. Raises `TooManyWords` if braces yield too many."""
    if OPEN not in text or (COMMA not in text and ".." not in text):
        if text.isascii():
            return [text] if text else []
        return [_without_marks(piece) for piece in text.split(BREAK) if piece]
    words, is_complete = _expand_braces(text, budget)
    found = [_without_marks(piece) for each in words for piece in each.split(BREAK) if piece]
    if not is_complete:
        raise TooManyWords(found)
    return found


def _without_marks(word: str) -> str:
    """Return a word with the marks of braces and quotes replaced; those of patterns are kept."""
    if word.isascii():
        return word
    for mark, char in ((OPEN, "{"), (COMMA, ","), (CLOSE, "}"), (QUOTED, "")):
        word = word.replace(mark, char)
    return word


_BRACE_MARK = f"[{OPEN}{COMMA}{CLOSE}]"
_RANGE = r"(-?[0-9]{1,15}|[A-Za-z])\.\.(-?[0-9]{1,15}|[A-Za-z])(?:\.\.(-?[0-9]{1,15}))?"


class _Brace:
    """A matched pair of braces, with the commas directly inside it."""

    __slots__ = ("commas", "end", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = -1
        self.commas: list[int] = []


def _expand_braces(text: str, budget: Budget) -> tuple[list[str], bool]:
    """Return `abd` and `acd` for `a{b,c}d`, the numbers for `{1..3}`; and whether the words are complete."""
    pairs: list[_Brace] = []
    stack: list[_Brace] = []
    for found in re.finditer(_BRACE_MARK, text):
        budget.spend()
        mark = found.group()
        if mark == OPEN:
            stack.append(_Brace(found.start()))
        elif mark == CLOSE and stack:
            stack[-1].end = found.start()
            pairs.append(stack.pop())
        elif mark == COMMA and stack:
            stack[-1].commas.append(found.start())
    pairs.sort(key=lambda pair: pair.start)
    return _expand(text, 0, len(text), pairs, 0, budget)


def _expand(text: str, start: int, end: int, pairs: list[_Brace], depth: int, budget: Budget) -> tuple[list[str], bool]:
    words = [""]
    is_complete = True
    at = start
    for number, pair in enumerate(pairs):
        if pair.start < at or pair.end >= end:
            continue
        choices: list[str] = []
        if pair.commas and depth < DEEPEST_BRACES:
            inside = [each for each in pairs[number + 1 :] if each.end < pair.end]
            budget.spend(len(pairs) // 16 + 1)
            bounds = [pair.start, *pair.commas, pair.end]
            for first, last in zip(bounds, bounds[1:], strict=False):  # noqa: RUF007  # itertools would be imported for this
                more, complete = _expand(text, first + 1, last, inside, depth + 1, budget)
                choices += more
                is_complete = is_complete and complete
        elif pair.commas:
            is_complete = False
            continue
        elif found := re.fullmatch(_RANGE, text[pair.start + 1 : pair.end]):
            choices = _range(*found.groups())
        if not choices:
            continue  # a literal brace, whose inside may still be expanded
        before = text[at : pair.start]
        budget.spend(len(choices))
        is_complete = is_complete and len(words) * len(choices) <= MOST_WORDS
        words = [word + before + choice for word in words for choice in choices[:MOST_WORDS]][:MOST_WORDS]
        budget.spend(len(words))
        budget.spend_on(sum(map(len, words)))
        at = pair.end + 1
    rest = text[at:end]
    return ([word + rest for word in words] if rest else words), is_complete


def _range(first: str, last: str, step: str | None) -> list[str]:
    """Return the items of `{first..last..step}`: of many, the first ones and the last; none if it is not a range."""
    low, high = small_number(first), small_number(last)
    by = abs(small_number(step) or 0) or 1 if step else 1
    if low is not None and high is not None:
        numbers = range(low, high + 1, by) if high >= low else range(low, high - 1, -by)
        some = [*numbers[: MOST_OF_RANGE - 1], numbers[-1]] if len(numbers) > MOST_OF_RANGE else list(numbers)
        padded = any(len(each.lstrip("-")) > 1 and each.lstrip("-").startswith("0") for each in (first, last))
        width = max(len(first), len(last)) if padded else 0
        return [f"{number:0{width}d}" for number in some]
    if low is not None or high is not None:
        return []
    start, end = ord(first), ord(last)
    letters = range(start, end + 1, by) if end >= start else range(start, end - 1, -by)
    return [chr(number) for number in letters]


# -- patterns -----------------------------------------------------------------------------------------------------

_CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "xdigit": "0-9a-fA-F",
    "space": r"\s", "blank": r" \t", "punct": r"!-/:-@\[-`{-~", "word": r"\w", "cntrl": r"\x00-\x1f", "print": r" -~",
    "graph": "!-~",
}  # fmt: skip
_SET = r"([!^]?)(\]?(?:\[:\w+:\]|[^]])*)\]"


class Pattern:
    """A shell pattern, given as text with marks. Matching takes time proportional to the text, for any pattern."""

    def __init__(self, pattern: str) -> None:
        # Each piece between two stars has a fixed length and no alternatives.
        self._pieces: list[list[str]] = [[]]
        pattern = pattern.replace(QUOTED, "").replace(BREAK, " ")
        at = 0
        while at < len(pattern):
            char = pattern[at]
            at += 1
            if char == STAR:
                if self._pieces[-1] or len(self._pieces) == 1:
                    self._pieces.append([])
            elif char == ONE:
                self._pieces[-1].append(".")
            elif char == SET and (found := re.match(_SET, decoded(pattern[at : at + 200]))):
                self._pieces[-1].append(_expression_of_set(found))
                at += found.end()
            else:
                self._pieces[-1].append(re.escape(decoded(char)))

    def matches(self, text: str) -> bool:
        return self.prefix(text, longest=True) == len(text)

    def prefix(self, text: str, longest: bool) -> int | None:
        """Return the length of the shortest or longest beginning of a text that matches, or None."""
        return _prefix(self._pieces, text, longest)

    def suffix(self, text: str, longest: bool) -> int | None:
        """Return the length of the shortest or longest end of a text that matches, or None."""
        return _prefix([piece[::-1] for piece in reversed(self._pieces)], text[::-1], longest)

    def find(self, text: str, start: int) -> tuple[int, int] | None:
        """Return the span of the first and longest match in a text, or None."""
        first = _compiled(self._pieces[0]).search(text, start) if self._pieces[0] else None
        if self._pieces[0] and not first:
            return None
        at = first.start() if first else start
        length = _prefix(self._pieces, text[at:], True)
        return None if length is None else (at, at + length)


def _expression_of_set(found: re.Match[str]) -> str:
    negated, inside = found.groups()
    inside = re.sub(
        r"\[:(\w+):\]|([\\\[\]&~|^])", lambda each: _CLASSES.get(each[1] or "", "\\" + (each[2] or "]")), inside
    )
    expression = f"[{'^' if negated else ''}{inside}]"
    try:
        re.compile(expression)
    except re.error:
        return r"[^\s\S]"
    return expression


def _compiled(piece: list[str], before: str = "") -> re.Pattern[str]:
    return re.compile(before + "".join(piece), re.DOTALL)


def _prefix(pieces: list[list[str]], text: str, longest: bool) -> int | None:
    found = _compiled(pieces[0]).match(text)
    if not found:
        return None
    at = found.end()
    if len(pieces) == 1:
        return at
    for piece in pieces[1:-1]:
        found = _compiled(piece).search(text, at)
        if not found:
            return None
        at = found.end()
    last = pieces[-1]
    if not last:
        return len(text) if longest else at
    found = _compiled(last, ".*").match(text, at) if longest else _compiled(last).search(text, at)
    return found.end() if found else None


_PATTERNS: dict[str, tuple[str, list[Pattern]]] = {}  # a cache, with the plain text before the first mark


def pattern_matches(pattern: str, text: str) -> bool:
    """Whether a word with marks of patterns matches a path or name; True if it is too long to tell."""
    if len(pattern) > LONGEST_PATTERN:
        return True
    found = _PATTERNS.get(pattern)
    if found is None:
        if len(_PATTERNS) > MOST_WORDS:
            _PATTERNS.clear()
        plain = decoded(before(pattern, (*PATTERNS, BREAK)))
        found = _PATTERNS[pattern] = plain, [Pattern(each) for each in pattern.split("/")]
    start, patterns = found
    if not text.startswith(start):
        return False
    names = text.split("/")
    return len(patterns) == len(names) and all(map(Pattern.matches, patterns, names))
