"""Reads files with hooks: determines the format by the type of `hooks`, and finds the lines of keys."""

from __future__ import annotations

import re

from ..basics.named_tuples import NamedTuple
from ..errors import Problem
from . import array, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ..model import Hook


class TomlDefinitions(NamedTuple):
    """The hooks and problems of one file."""

    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()


class LineNumbers:
    """The line numbers of tables and keys in a TOML file, which `tomllib` does not give."""

    def __init__(self, text: str) -> None:
        # Multi-line strings may contain anything: blank them, keeping the lines.
        blanked = re.sub(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'', _blank, text, flags=re.DOTALL)
        self._lines = blanked.split("\n")
        self._headers: dict[str, list[int]] = {}  # the lines of each header, as they come
        for number, line in enumerate(self._lines, start=1):
            if found := _HEADER.match(line):
                name = re.sub(r"[\s\"']", "", found[1])
                self._headers.setdefault(name, []).append(number)

    def line_of(self, header: str, number: int, key: str) -> int | None:
        """Return the line of a key in the n-th `[[header]]` or `[header]`; that of the header for an unknown key."""
        starts = self._headers.get(header, ())
        if number >= len(starts):
            return next((n for n, line in enumerate(self._lines, 1) if re.match(r"\s*hooks\b", line)), None)
        return self.below(starts[number], key)

    def has(self, header: str) -> bool:
        return header in self._headers

    def below(self, start: int, key: str) -> int:
        """Return the line of a key in the table that begins on `start`; `start` for an unknown key."""
        if key:
            spelt = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]|.*[{{,]\s*{re.escape(key)}\s*=")
            for line_number in range(start, len(self._lines)):
                if _HEADER.match(self._lines[line_number]):
                    break
                if spelt.match(self._lines[line_number]):
                    return line_number + 1
        return start


_HEADER = re.compile(r"\s*\[\[?([^\]]*)\]")


def _blank(found: re.Match[str]) -> str:
    return "''" + "\n" * found[0].count("\n")


def read_text(file: str) -> str | Problem:
    """Return the text of a file, or the problem."""
    try:
        with open(file, "rb") as stream:
            return stream.read().decode("utf-8-sig")
    except OSError as error:
        remedy = "name a file or folder that exists and is readable"
        return Problem("unreadable", file, None, None, f"cannot read it: {error.strerror}", remedy)
    except UnicodeDecodeError as error:
        return Problem("not-text", file, None, None, f"not UTF-8: {error.reason}", "save it as UTF-8")


def parsed(file: str, text: str, parse: Callable[[str], Any], code: str) -> Any:
    """Return the result of a TOML or JSON parser for a file's text, or the problem."""
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:  # a syntax error, or a number of thousands of digits
        at = re.search(r"line (\d+)", str(error))
        line = int(at[1]) if at else None
        shown = text.splitlines()[line - 1 : line] if line else []
        remedy = f"fix that line or the one above it: {shown[0].strip()[:80]}" if shown else "fix the end of the file"
        return Problem(code, file, line, None, f"not valid {code[4:].upper()}: {error}", remedy)


def load(file: str) -> tuple[dict[str, Any], LineNumbers] | Problem:
    """Return the document and its line numbers, or the problem."""
    import tomllib

    text = read_text(file)
    document = text if isinstance(text, Problem) else parsed(file, text, tomllib.loads, "bad-toml")
    return document if isinstance(document, Problem) else (document, LineNumbers(str(text)))


def read(file: str) -> TomlDefinitions:
    """Return the hooks of a TOML file in the array or table format, or of an agent's settings."""
    if file.endswith((".json", ".jsonc")):
        from . import settings

        return TomlDefinitions(*settings.read_json(file))
    loaded = load(file)
    if isinstance(loaded, Problem):
        return TomlDefinitions((), (loaded,))
    document, lines = loaded
    if "hooks" not in document:
        message = "no hooks in this file"
        remedy = "add [[hooks]] or [[hooks.<event>]] tables, or do not name it"
        return TomlDefinitions((), (Problem("no-hooks", file, None, "hooks", message, remedy),))
    hooks = document["hooks"]
    if isinstance(hooks, list) and all(isinstance(entry, dict) for entry in hooks):
        return TomlDefinitions(*array.read(hooks, file, lines))
    if isinstance(hooks, dict):
        if _is_grouped(hooks):
            from . import settings

            return TomlDefinitions(*settings.read_toml(hooks, file, lines))
        return TomlDefinitions(*table.read(hooks, file, lines))
    line = lines.line_of("hooks", 0, "")
    message = f"'hooks' is {type(hooks).__name__}, neither an array of tables nor a table of events"
    remedy = "write [[hooks]] tables (array format) or [[hooks.<event>]] tables (table format)"
    return TomlDefinitions((), (Problem("bad-hooks-section", file, line, "hooks", message, remedy),))


def _is_grouped(hooks: dict[str, Any]) -> bool:
    """Whether these are Codex's hooks, whose `[[hooks.<event>]]` tables are groups that contain `hooks`."""
    return any(
        isinstance(group, dict) and isinstance(group.get("hooks"), list)
        for groups in hooks.values()
        if isinstance(groups, list)
        for group in groups
    )
