"""The folder format: `<name>/HOOK.md` with YAML front matter, and the script beside it.

Loading is progressive: the front matter when hooks are loaded, the body when it is shown, the script when it runs.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from ..errors import Problem
from ..events import BY_NAME, suggestion
from ..model import Hook
from . import fields, matchers

if TYPE_CHECKING:
    from collections.abc import Mapping

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LONGEST_HEAD = 256 * 1024
_MOST_VALUES = 10_000
ENTRY_POINTS = ("scripts/run", "scripts/run.sh", "scripts/run.py")


class Read(NamedTuple):
    """A definition, unless something is wrong with it that cannot be lived with."""

    hook: Hook | None
    problems: tuple[Problem, ...] = ()


class FrontMatter(NamedTuple):
    """What stands between the `---` lines, with the line each key is on."""

    raw: dict[str, Any]
    lines: list[str]
    problems: tuple[Problem, ...] = ()

    def line_of(self, key: str) -> int | None:
        for number, line in enumerate(self.lines, start=2):
            if key and re.match(rf"\s*['\"]?{re.escape(key)}['\"]?\s*:", line):
                return number
        return 1


def read(folder: str, layer: str, changes: Mapping[str, Any] | None = None) -> Read:
    """The hook in a folder. `changes` are defaults and overrides from `hooks.toml`, as front-matter fields."""
    file = os.path.join(folder, "HOOK.md")
    front = read_front_matter(file)
    if isinstance(front, Problem):
        return Read(None, (front,))
    raw = front.raw
    if changes:
        raw = {**changes.get("defaults", {}), **raw, **changes.get("override", {})}
    values, problems = fields.check(fields.FOLDER, raw, file, front.line_of)
    problems[:0] = front.problems
    matcher, matcher_problems = matchers.read(values["matcher"], file, front.line_of)
    problems += matcher_problems
    trigger = values["trigger"]
    if isinstance(trigger, str) and trigger not in BY_NAME:
        message = f"unknown event '{trigger}'"
        problems.append(
            Problem("unknown-event", file, front.line_of("trigger"), "trigger", message, suggestion(trigger))
        )
    name = values["name"]
    if isinstance(name, str):
        problems += _name_problems(name, folder, file, front)
    if any(problem.severity == "error" for problem in problems):
        return Read(None, tuple(problems))
    spec = BY_NAME[trigger]
    if not spec.has_tool and (matcher.tool or matcher.pattern):
        problems.append(matchers.on_other_event(file, front.line_of("matcher"), trigger))
    if not values["description"].strip():
        line = front.line_of("description")
        problems.append(
            Problem("no-description", file, line, "description", "no description", "say in a line what the hook does")
        )
    _, script_problem = entry_point(folder)
    if script_problem:
        problems.append(script_problem)
    metadata = values["metadata"]
    hook = Hook(
        name=name,
        event=spec.name,
        declared=trigger,
        format="folder",
        layer=layer,
        source=file,
        line=1,
        folder=folder,
        tool=matcher.tool,
        pattern=matcher.pattern,
        timeout=values["timeout"] / 1000,
        async_=values["async"],
        priority=values["priority"],
        description=values["description"],
        metadata=metadata,
        fail_closed=metadata.get("on_failure") == "block",
    )
    return Read(hook, tuple(problems))


def _name_problems(name: str, folder: str, file: str, front: FrontMatter) -> list[Problem]:
    line = front.line_of("name")
    if "/" in name or any(ord(char) < 32 or ord(char) == 127 for char in name):
        remedy = "use lower-case letters, digits and hyphens"
        return [Problem("bad-value", file, line, "name", f"'name' is {name!r}", remedy)]
    found = []
    if not re.fullmatch(r"[a-z0-9-]*", name):
        remedy = "use lower-case letters, digits and hyphens"
        found.append(Problem("odd-name", file, line, "name", f"the name '{name}' has other characters", remedy))
    if name != os.path.basename(folder):
        remedy = "give both the same name, so that people find it"
        message = f"the name is '{name}', the folder is '{os.path.basename(folder)}'"
        found.append(Problem("name-differs", file, line, "name", message, remedy))
    return found


def read_front_matter(file: str) -> FrontMatter | Problem:
    """Parse the lines between the first two that are exactly `---`."""
    try:
        head = _head(file)
    except OSError as error:
        return Problem("unreadable", file, None, None, f"cannot read it: {error.strerror}", "make it a readable file")
    except UnicodeDecodeError as error:
        return Problem("not-text", file, None, None, f"not UTF-8: {error.reason}", "save it as UTF-8")
    if head is None:
        message = "no front matter"
        remedy = "begin with a line '---', then YAML with name and trigger, then a line '---'"
        return Problem("no-front-matter", file, 1, None, message, remedy)
    warnings: list[Problem] = []
    text = "\n".join(head) + "\n"
    try:
        raw = yaml.load(text, _Loader)  # noqa: S506  # a safe loader, in C where there is one
    except yaml.YAMLError as error:
        mended = _keep_backslashes(text)
        try:
            if mended == text:
                raise error
            raw = yaml.load(mended, _Loader)  # noqa: S506  # the same
        except yaml.YAMLError:
            return _bad_yaml(file, error)
        mark = getattr(error, "problem_mark", None)
        warnings.append(
            Problem(
                "escape-in-quotes",
                file,
                mark.line + 2 if mark else None,
                None,
                "YAML knows no such escape in double quotes; the backslash is kept",
                "put the expression in single quotes: pattern: '\\.py$'",
            )
        )
    except (ValueError, RecursionError, TypeError) as error:  # a date that is none, a loop of aliases, an odd key
        return Problem("bad-yaml", file, None, None, f"not valid YAML: {error}", "mend the front matter")
    if _too_much(raw):
        return Problem("bad-yaml", file, None, None, "too many values", "do without anchors that multiply")
    if not isinstance(raw, dict):
        return Problem("bad-yaml", file, 2, None, "the front matter is not a table of keys", "write 'key: value' lines")
    return FrontMatter(raw, head, tuple(warnings))


def _too_much(raw: Any) -> bool:
    """Whether aliases have made a few lines into more than anyone would write."""
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
    """The lines of the front matter, reading no further than needed; None without any."""
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


def _bad_yaml(file: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    line = mark.line + 2 if mark else None
    return Problem("bad-yaml", file, line, None, f"not valid YAML: {what}", "mend that line; quote values with : or #")


_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_UNKNOWN_ESCAPE = re.compile(r"\\(?:([0abt\tnvfre \"/\\N_LP]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|)")


def _keep_backslashes(text: str) -> str:
    r"""The text with each escape that YAML does not know written out: `"\."` means `"\\."`."""
    return _QUOTED.sub(
        lambda quoted: _UNKNOWN_ESCAPE.sub(lambda found: found[0] if found[1] else "\\\\", quoted[0]), text
    )


def entry_point(folder: str) -> tuple[str | None, Problem | None]:
    """The script a folder runs, first found, and what is odd about it."""
    for relative in ENTRY_POINTS:
        script = os.path.join(folder, relative)
        try:
            mode = os.stat(script).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            continue
        if os.access(script, os.X_OK):
            return script, None
        remedy = f"chmod +x {script}"
        return script, Problem("not-executable", script, None, None, "the script has no exec bit", remedy)
    message = "no scripts/run, scripts/run.sh or scripts/run.py"
    remedy = "add one of them and make it executable"
    return None, Problem("no-script", os.path.join(folder, "HOOK.md"), None, None, message, remedy)


def body(folder: str) -> str:
    """The Markdown below the front matter."""
    with open(os.path.join(folder, "HOOK.md"), encoding="utf-8-sig", errors="replace") as file:
        text = file.read()
    _, _, rest = text.partition("---\n")
    _, _, rest = rest.partition("\n---\n")
    return rest.strip("\n")
