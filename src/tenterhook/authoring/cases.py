"""Test cases: an event, its environment, and what a hook must do. Read from TOML or JSON, checked once."""

from __future__ import annotations

import json
import os
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import HookError, Problem
from ..formats import hook_fields, toml_files
from ..formats.hook_fields import Field
from ..model import Event
from . import expectations, paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..model import Hook

SUFFIXES = (".toml", ".json")
_LARGEST = 4 * 1024 * 1024

CASE = (
    Field("name", str, None, 1, 200, meaning="what the case tests; default: the file's name"),
    Field("event", dict, {}, meaning="the fields of the event, as sent to the hook"),
    Field("env", dict, {}, meaning="variables for the hook; false removes one"),
    Field("files", dict, {}, meaning="path to content, in the case's working directory"),
    Field("setup", str, None, 1, meaning="a shell line to run there before the hook runs"),
    Field("timeout", int, None, 1, 600000, meaning="milliseconds, instead of the hook's own"),
    Field("expect", dict, None, meaning="what must happen"),
)
FILE = (
    Field("content", str, "", meaning="the text of the file"),
    Field("mode", str, None, meaning="octal, such as 755"),
    Field("link", str, None, 1, meaning="the target of a symbolic link"),
)

# Set by the test itself, so that nothing real is touched.
_RESERVED = re.compile(r"HOME|TMPDIR|XDG_\w*|TENTERHOOK_\w*|KIMI_\w*").fullmatch
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
_MERGED = ("event", "env", "files", "expect")


class Case(NamedTuple):
    """One case. `number` is its index among the `[[case]]` of its file; None if the file is the case."""

    name: str
    file: str
    line: int
    number: int | None
    event: Mapping[str, Any]
    env: Mapping[str, str | None]
    files: Mapping[str, Mapping[str, str | None]]
    setup: str | None
    timeout: float | None
    expect: Mapping[str, Any] | None

    def event_name(self, hook: Hook) -> str:
        """Return the event that is fired: the hook's own, unless the case names another."""
        return str(self.event.get("event_type") or self.event.get("hook_event_name") or hook.declared)


class CaseFile(NamedTuple):
    """The valid cases of a file, and the problems of the others."""

    cases: tuple[Case, ...] = ()
    problems: tuple[Problem, ...] = ()


def files_in(directory: str) -> list[str]:
    """Return the case files of a directory, sorted by name; none if there is no such directory."""
    try:
        names = sorted(os.listdir(directory), key=os.fsencode)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [os.path.join(directory, name) for name in names if name.endswith(SUFFIXES) and not name.startswith(".")]


def read(file: str, hook: Hook) -> CaseFile:
    """Return the cases in a file, for a hook."""
    loaded = _load(file)
    if isinstance(loaded, Problem):
        return CaseFile((), (loaded,))
    document, text = loaded
    lines = _Lines(text, file)
    entries = document.get("case")
    if entries is None:
        return _read_one(document, None, file, lines, hook)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        message = "'case' is not an array of tables"
        remedy = "write [[case]] for each case, or leave it out where the file is one case"
        return CaseFile((), (Problem("bad-value", file, lines.line_of(None, "case"), "case", message, remedy),))
    shared = {key: value for key, value in document.items() if key != "case"}
    problems: list[Problem] = []
    if "name" in shared:
        message = "'name' is outside the cases, each of which needs its own"
        line = lines.line_of(None, "name")
        problems.append(Problem("unknown-key", file, line, "name", message, "move it into a [[case]]"))
    found: list[Case] = []
    for number, entry in enumerate(entries):
        one = _read_one(_joined(shared, entry), number, file, lines, hook)
        found += one.cases
        problems += one.problems
    return CaseFile(tuple(found), tuple(problems))


def _joined(shared: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case merged with the values shared by all cases of its file; its own values win, key by key."""
    joined = {**shared, **entry}
    for key in _MERGED:
        if isinstance(shared.get(key), dict) and isinstance(entry.get(key), dict):
            joined[key] = {**shared[key], **entry[key]}
    return joined


def _load(file: str) -> tuple[dict[str, Any], str] | Problem:
    """Return the document and its text, or a problem."""
    if os.path.exists(file) and (not os.path.isfile(file) or os.path.getsize(file) > _LARGEST):
        message = "it is not a regular file of at most 4 MiB"
        return Problem("unreadable", file, None, None, message, "make it a readable file")
    text = toml_files.read_text(file)
    if isinstance(text, Problem):
        return text
    parse, code = (json.loads, "bad-json") if file.endswith(".json") else (tomllib.loads, "bad-toml")
    document = toml_files.parsed(file, text, parse, code)
    if isinstance(document, Problem):
        return document
    if not isinstance(document, dict):
        message = "a case must be an object"
        return Problem("bad-value", file, 1, None, message, 'write {"event": {…}, "expect": {…}}')
    return document, text


def _read_one(raw: Mapping[str, Any], number: int | None, file: str, lines: _Lines, hook: Hook) -> CaseFile:
    def line_of(*keys: str) -> int:
        return lines.line_of(number, *keys)

    values, problems = hook_fields.check(CASE, raw, file, line_of, extra="unknown-key")
    if any(problem.code == "bad-value" for problem in problems):
        return CaseFile((), tuple(problems))

    def wrong(code: str, message: str, remedy: str, *keys: str) -> None:
        problems.append(Problem(code, file, line_of(*keys), keys[-1] if keys else None, message, remedy))

    env = _env(values["env"], wrong)
    files = _files(values["files"], file, line_of, wrong, problems)
    expect = values["expect"]
    if expect is not None:
        checked, trouble = hook_fields.check(
            expectations.FIELDS, expect, file, lambda key: line_of("expect", key), extra="unknown-key"
        )
        problems += trouble
        for keys, message, remedy in expectations.problems_of({key: checked[key] for key in checked if key in expect}):
            wrong("bad-value", message, remedy, "expect", *keys)
    stem = os.path.basename(file).rpartition(".")[0]
    case = Case(
        name=values["name"] or (stem if number is None else f"{stem}[{number}]"),
        file=file,
        line=line_of(),
        number=number,
        event=values["event"],
        env=env,
        files=files,
        setup=values["setup"],
        timeout=values["timeout"] / 1000 if values["timeout"] else None,
        expect=expect,
    )
    _check_event(case, hook, wrong)
    return CaseFile((), tuple(problems)) if problems else CaseFile((case,))


def _check_event(case: Case, hook: Hook, wrong: Callable[..., None]) -> None:
    """Report what keeps the event from being fired."""
    given = dict(case.event)
    for key in ("work_dir", "cwd"):
        value = given.pop(key, "")
        if not isinstance(value, str) or not paths.is_below(value or "."):
            message = f"'{key}' is {value!r}: a case runs in a directory of its own"
            wrong("bad-value", message, "leave it out, or name a folder below that directory", "event", key)
    kinds = (("session_id", str, "a string"), ("timestamp", str, "a string"), ("context", dict, "a table"))
    for key, kind, what in kinds:
        if not isinstance(given.get(key) or kind(), kind):
            wrong("bad-value", f"'{key}' is {given[key]!r}", f"make it {what}", "event", key)
            given.pop(key)
    try:
        Event.from_payload(case.event_name(hook), given)
    except HookError as error:
        keys = [key for key in ("event_type", "hook_event_name") if key in given][:1]
        code = "unknown-event" if keys else "bad-value"
        wrong(code, error.message, error.remedy, "event", *keys)
    except TypeError as error:
        wrong("bad-value", f"the event cannot be made: {error}", "use the fields that tenterhook show EVENT", "event")


def _env(given: Mapping[str, Any], wrong: Callable[..., None]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for name, value in given.items():
        if not _VARIABLE(name):
            wrong("bad-value", f"{name!r} is not a variable name", "use letters, digits and _", "env", name)
        elif _RESERVED(name):
            message = f"the test sets {name} itself, so that nothing real is touched"
            wrong("bad-value", message, "leave it out; files for the home go under [files] as '~/…'", "env", name)
        elif value is False:
            found[name] = None
        elif isinstance(value, (str, int, float)) and not isinstance(value, bool) and "\0" not in str(value):
            found[name] = str(value)
        else:
            wrong("bad-value", f"{name} is {value!r}", "make it a string, or false to remove it", "env", name)
    return found


def _files(
    given: Mapping[str, Any],
    file: str,
    line_of: Callable[..., int],
    wrong: Callable[..., None],
    problems: list[Problem],
) -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {}
    for path, value in given.items():
        if not paths.is_below(path):
            wrong("bad-value", f"{path!r} is outside the working directory", paths.REMEDY, "files", path)
            continue
        entry = {"content": value} if isinstance(value, str) else value
        if not isinstance(entry, dict):
            wrong("bad-value", f"{path!r} is {value!r}", "give its content as a string", "files", path)
            continue
        checked, trouble = hook_fields.check(FILE, entry, file, lambda key: line_of("files", key), extra="unknown-key")
        problems += trouble
        if not trouble and checked["mode"] is not None and not paths.is_mode(checked["mode"]):
            wrong("bad-value", f"'mode' is {checked['mode']!r}", 'write it in octal, in quotes: "755"', "files", path)
        if checked["link"] is not None and checked["content"]:
            wrong("bad-value", f"{path!r} is a link and has content", "keep one of them", "files", path)
        found[path] = checked
    return found


class _Lines:
    """The approximate lines of a case's keys."""

    def __init__(self, text: str, file: str) -> None:
        self._lines = text.split("\n")
        self._json = file.endswith(".json")
        self._starts = [n for n, line in enumerate(self._lines) if re.match(r"\s*\[\[\s*case\s*\]\]", line)]

    def line_of(self, number: int | None, *keys: str) -> int:
        """Return the line of a key inside other keys; of the innermost that is found, or of the case."""
        start, end = 0, len(self._lines)
        if number is not None and number < len(self._starts):
            start = self._starts[number]
            end = self._starts[number + 1] if number + 1 < len(self._starts) else end
        for key in keys:
            quoted = re.escape(key)
            spelt = rf"\"{quoted}\"\s*:" if self._json else _toml_key(quoted)
            start = next((n for n in range(start, end) if re.search(spelt, self._lines[n])), start)
        return start + 1


def _toml_key(quoted: str) -> str:
    name = rf"[\"']?{quoted}[\"']?"
    return rf"^\s*{name}\s*[=.]|^\s*\[+(?:[^\]]*\.)?\s*{name}\s*\]|[{{,]\s*{name}\s*="
