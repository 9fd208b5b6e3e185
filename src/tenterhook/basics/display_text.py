"""Text made safe to display: nothing in it moves the cursor, changes colours or reverses the direction."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t"
_LAST_LINES = 5  # of what a failed hook wrote to stderr
_LONGEST_LINE = 400  # characters
# Invisible characters of other categories: fillers, blanks, selectors, joiners.
_BLANKS = frozenset(
    (0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
)
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))

LEFT_OUT = "…"


def is_hidden(char: str) -> bool:
    """Whether a character is invisible or changes how others are shown."""
    return char != " " and (unicodedata.category(char) in _HIDDEN or ord(char) in _BLANKS)


def visible(text: str) -> str:
    """The text with control, escape, bidirectional and blank characters written out as escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if is_hidden(char) and char not in _KEPT else char for char in text)


def one_line(text: str) -> str:
    """The same on one line: line breaks and tabs are escaped too."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def text_of(data: bytes) -> str:
    """The text of a file, without loss: a byte that is not UTF-8 becomes a character that `visible` writes out."""
    return data.decode("utf-8", "surrogateescape")


def lines_of(text: str) -> list[str]:
    """The lines of a text, with their newlines. Only a newline ends a line; form feeds and U+2028 do not."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def with_stderr(said: str, stderr: str) -> str:
    """Why a hook failed, followed by the last lines of its stderr. Nothing is escaped yet."""
    lines = stderr.rstrip().splitlines()
    if not lines:
        return said
    last = [line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…" for line in lines[-_LAST_LINES:]]
    if len(lines) == 1:
        return f"{said}: {last[0].strip()}"
    return "\n".join([f"{said}:", *(["…"] if len(lines) > _LAST_LINES else []), *last])


def columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def fitted(line: str, width: int) -> str:
    """A line that fits into `width` columns: the end of a longer one is left out."""
    return line if columns(line) <= width else _beginning(line, width - columns(LEFT_OUT)).rstrip() + LEFT_OUT


def without_middle(line: str, width: int) -> str:
    """A line that fits into `width` columns: the middle of a longer one is left out."""
    if columns(line) <= width:
        return line
    kept = max(width - columns(LEFT_OUT), 2)
    return _beginning(line, kept - kept // 2) + LEFT_OUT + _beginning(line[::-1], kept // 2)[::-1]


def _beginning(text: str, most: int) -> str:
    taken = 0
    for number, char in enumerate(text):
        taken += _columns_of(char)
        if taken > most:
            return text[:number]
    return text


def _columns_of(char: str) -> int:
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _escape(char: str) -> str:
    number = ord(char)
    if 0xDC80 <= number <= 0xDCFF:  # a byte, see text_of
        return f"\\x{number - 0xDC00:02x}"
    return f"\\u{number:04x}" if 0x80 <= number <= 0xFF else char.encode("unicode_escape").decode()
