"""Makes text safe to display: nothing in it moves the cursor, changes colours or reverses the direction."""

from __future__ import annotations

import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_KEPT = "\n\t"
_LAST_LINES = 5  # of a failed hook's stderr that are shown
_LONGEST_LINE = 400  # characters
# Invisible characters of other categories: fillers, blanks, selectors, joiners.
_BLANKS = frozenset(
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))

LEFT_OUT = "…"


def is_hidden(char: str) -> bool:
    """Whether a character is invisible, or changes how other characters are shown."""
    return char != " " and (unicodedata.category(char) in _HIDDEN or ord(char) in _BLANKS)


def visible(text: str) -> str:
    """Return the text with hidden characters as escapes, except line breaks and tabs."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if is_hidden(char) and char not in _KEPT else char for char in text)


def one_line(text: str) -> str:
    """Return the text on one line: hidden characters, line breaks and tabs as escapes."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def listed(names: Sequence[str]) -> str:
    """Return `a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def text_of(data: bytes) -> str:
    """Return the text of a file without loss: a byte that is not UTF-8 becomes a character that `visible` escapes."""
    return data.decode("utf-8", "surrogateescape")


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, with their newlines. Only a newline ends a line; form feeds and U+2028 do not."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def with_stderr(said: str, stderr: str) -> str:
    """Return why a hook failed, followed by the last lines of its stderr. Nothing is escaped."""
    lines = stderr.rstrip().splitlines()
    if not lines:
        return said
    last = [line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…" for line in lines[-_LAST_LINES:]]
    if len(lines) == 1:
        return f"{said}: {last[0].strip()}"
    return "\n".join([f"{said}:", *(["…"] if len(lines) > _LAST_LINES else []), *last])


def _escape(char: str) -> str:
    number = ord(char)
    if 0xDC80 <= number <= 0xDCFF:  # a byte that is not UTF-8: see `text_of`
        return f"\\x{number - 0xDC00:02x}"
    return f"\\u{number:04x}" if 0x80 <= number <= 0xFF else char.encode("unicode_escape").decode()
