"""Front matter: the YAML between the first two lines of HOOK.md that are exactly `---`."""

from __future__ import annotations

import os
import re
import stat

from ..basics.named_tuples import NamedTuple
from ..errors import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LONGEST_HEAD = 256 * 1024
_MOST_VALUES = 10_000
_DEEPEST = 50


class FrontMatter(NamedTuple):
    """The values of the YAML between the `---` lines, and its lines of text."""

    raw: dict[str, Any]
    lines: list[str]
    problems: tuple[Problem, ...] = ()

    def line_of(self, key: str) -> int | None:
        for number, line in enumerate(self.lines, start=2):
            if key and re.match(rf"\s*['\"]?{re.escape(key)}['\"]?\s*:", line):
                return number
        return 1


def read(file: str) -> FrontMatter | Problem:
    """Return the front matter of a file, or the problem."""
    try:
        head = _head(file)
    except OSError as error:
        return Problem("unreadable", file, None, None, f"cannot read it: {error.strerror}", "make it a readable file")
    except UnicodeDecodeError as error:
        return Problem("not-text", file, None, None, f"not UTF-8: {error.reason}", "save it as UTF-8")
    if head is None:
        message = "no front matter, or it is not closed"
        remedy = "begin with a line '---', then YAML with name and trigger, then a line '---'"
        return Problem("no-front-matter", file, 1, None, message, remedy)
    return parse(file, head)


def parse(file: str, head: list[str]) -> FrontMatter | Problem:
    """Return the front matter of these lines, or the problem."""
    import yaml  # slow to import, and most events are answered from the index

    loader = _loader()
    warnings: list[Problem] = []
    text = "\n".join(head) + "\n"
    unsafe = _unsafe_yaml(text)
    if unsafe:
        return Problem("bad-yaml", file, unsafe[1], unsafe[2], *unsafe[0])
    try:
        try:
            raw = yaml.load(text, loader)  # noqa: S506  # a safe loader, in C where there is one
        except yaml.YAMLError as error:
            fixed = _keep_backslashes(text)
            try:
                if fixed == text:
                    raise error
                raw = yaml.load(fixed, loader)  # noqa: S506  # the same
            except yaml.YAMLError:
                return _bad_yaml(file, error)
            warnings.append(_kept_backslash(file, head, error))
    except (ValueError, RecursionError, TypeError) as error:  # an invalid date, a loop of aliases, an unhashable key
        return Problem("bad-yaml", file, None, None, f"not valid YAML: {error}", "fix the front matter")
    if _too_much(raw):
        return Problem("bad-yaml", file, None, None, "too many values", "remove nested anchors")
    if not isinstance(raw, dict):
        return Problem("bad-yaml", file, 2, None, "the front matter is not a table of keys", "write 'key: value' lines")
    return FrontMatter(raw, head, tuple(warnings))


def _unsafe_yaml(text: str) -> tuple[tuple[str, str], int | None, str | None] | None:
    """Return a problem that YAML parsers do not report: message and remedy, line, key.

    A value that nests too deeply would crash the parser, which is recursive and written in C. Of a duplicate key, only
    one value would be kept.
    """
    import yaml

    tables: list[tuple[set[str], bool] | None] = []  # for each open one: its keys, and whether a key comes next
    try:
        for event in yaml.parse(text, _loader()):
            inside = tables[-1] if tables else None
            if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
                tables.pop()
                continue
            opens = isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent))
            if inside is not None and (opens or isinstance(event, (yaml.ScalarEvent, yaml.AliasEvent))):
                keys, is_key = inside
                if is_key and isinstance(event, yaml.ScalarEvent):
                    if event.value in keys:
                        said = (f"'{event.value}' is defined twice", "keep one of them")
                        return said, event.start_mark.line + 2 if event.start_mark else None, event.value
                    keys.add(event.value)
                tables[-1] = (keys, not is_key)
            if opens:
                tables.append((set(), True) if isinstance(event, yaml.MappingStartEvent) else None)
                if len(tables) > _DEEPEST:
                    return ("it nests too deeply", "use at most a table in a table"), None, None
    except yaml.YAMLError:
        pass  # not YAML: loading it reports that
    return None


def _too_much(raw: Any) -> bool:
    """Whether a document has more values than allowed, as a few lines with aliases can."""
    left, count = [raw], 0
    while left and count <= _MOST_VALUES:
        value = left.pop()
        count += 1
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)
    return count > _MOST_VALUES


def _head(file: str) -> list[str] | None:
    """Return the lines of the front matter, reading no further than needed; None if there is none."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file")
        data = os.read(descriptor, 4096)
        while True:
            text = data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf")
            if not text.startswith(b"---\n"):
                return None
            end = text.find(b"\n---\n", 3)
            if end < 0 and text.endswith(b"\n---"):
                end = len(text) - 4
            if end >= 0:
                return text[4 : max(end, 4)].decode().split("\n")
            more = os.read(descriptor, 65536)
            if not more or len(data) > _LONGEST_HEAD:
                return None
            data += more
    finally:
        os.close(descriptor)


def _loader() -> Any:
    import yaml

    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _kept_backslash(file: str, head: list[str], error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line = head[mark.line] if mark and mark.line < len(head) else ""
    key = line.partition(":")[0].strip() or None
    quoted = re.sub(r'"([^"\']*)"', r"'\1'", line).strip()
    message = "YAML has no such escape in double quotes; the backslash is kept"
    remedy = f"put the expression in single quotes: {quoted}"
    return Problem("escape-in-quotes", file, mark.line + 2 if mark else None, key, message, remedy)


def _bad_yaml(file: str, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    line = mark.line + 2 if mark else None
    remedy = "fix that line or one above it; quote values with : or #, and indent with spaces, not tabs"
    return Problem("bad-yaml", file, line, None, f"not valid YAML: {what}", remedy)


_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_UNKNOWN_ESCAPE = re.compile(r"\\(?:([0abt\tnvfre \"/\\N_LP]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|)")


def _keep_backslashes(text: str) -> str:
    r"""Return the text with the backslash of each unknown escape doubled: `"\."` means `"\\."`."""
    return _QUOTED.sub(
        lambda quoted: _UNKNOWN_ESCAPE.sub(lambda found: found[0] if found[1] else "\\\\", quoted[0]), text
    )
