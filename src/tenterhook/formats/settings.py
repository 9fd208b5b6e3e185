"""Reads hooks in the settings of Claude Code, Codex, Gemini CLI and Qwen Code.

Each event name has groups, each with a matcher and handlers. Handlers are checked one by one: a wrong or unsupported
one is reported, and the others run.
"""

from __future__ import annotations

import json
import os
import re

from ..agents import dialect as dialect_of
from ..basics.named_tuples import NamedTuple
from ..errors import Problem
from ..events import AGENT_FORMATS, BY_NAME
from ..model import Hook
from . import commented_json, expressions, hook_fields
from .hook_fields import Field
from .own_entries import is_own_command
from .toml_files import parsed, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .toml_files import LineNumbers

    Place = Callable[[str, int, int | None, str], int | None]  # event, group (-1: none), handler, key to a line

_FOR_THE_AGENT = ("statusMessage", "visibilityHint", "commandWindows", "command_windows")
GROUP = (
    Field("matcher", str, "", meaning="what the event is about: a tool's name, a source …"),
    Field("hooks", list, None, required=True, meaning="an array of handlers"),
    Field("sequential", bool, False, meaning="Gemini CLI: one after another"),
    Field("description", str, "", meaning="what the group is for"),
)
HANDLER = (
    Field("type", str, None, required=True, meaning='"command"'),
    Field("command", str, None, 1, required=True, meaning="a shell line"),
    Field("args", list, None, meaning="Claude Code: the command's arguments, without a shell"),
    Field("timeout", object, None, meaning="seconds; milliseconds for Gemini CLI"),
    Field("async", bool, False, meaning="do not wait, decide nothing"),
    Field("asyncRewake", bool, False, meaning="Claude Code: the same here"),
    Field("name", str, "", meaning="unnamed: `<event>[n]`"),
    Field("description", str, "", meaning="what the hook does"),
    Field("env", dict, {}, meaning="variables for the command"),
    Field("shell", str, "", choices=("bash", "sh"), meaning="the shell that runs the command"),
    *(Field(key, object, meaning="does nothing here") for key in _FOR_THE_AGENT),
)
_NOT_EVENTS = ("enabled", "disabled", "notifications", "state", "managed_dir", "windows_managed_dir")
_MATCHER_IGNORED = ("pre-agent-turn", "pre-agent-turn-stop", "interrupt")


def read_json(file: str) -> tuple[tuple[Hook, ...], tuple[Problem, ...]]:
    """Return the hooks and problems of a settings file in JSON, with comments and trailing commas allowed."""
    read = read_text(file)
    text = "" if isinstance(read, Problem) else commented_json.plain(read)
    document = read if isinstance(read, Problem) else parsed(file, text, json.loads, "bad-json")
    if isinstance(document, Problem):
        return (), (document,)
    lines = _lines(text)

    def place(event: str, group: int, handler: int | None, key: str) -> int | None:
        path = ("hooks", event, group) if handler is None else ("hooks", event, group, "hooks", handler)
        return next((lines[each] for each in ((*path, key), path, ("hooks", event)) if each in lines), None)

    hooks = document.get("hooks") if isinstance(document, dict) else None
    if not isinstance(hooks, dict):
        if isinstance(document, dict) and "hooks" not in document:
            remedy = "add hooks to it, or do not name it"
            return (), (Problem("no-hooks", file, None, "hooks", "no hooks in this file", remedy),)
        remedy = 'write {"hooks": {"<event>": [{"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}]}}'
        message = "'hooks' is not an object of event names"
        return (), (Problem("bad-hooks-section", file, lines.get(("hooks",)), "hooks", message, remedy),)
    off = _disabled(document, hooks)
    if off is True:
        message = "the file disables all its hooks"
        remedy = "remove that setting if they should run here"
        return (), (Problem("switched-off", file, None, None, message, remedy),)
    agent = _agent(file) or next((each for each in AGENT_FORMATS if _has_events_of(each, hooks)), AGENT_FORMATS[0])
    return _read(agent, hooks, file, place, off)


def read_toml(hooks: dict[str, Any], file: str, lines: LineNumbers) -> tuple[tuple[Hook, ...], tuple[Problem, ...]]:
    """Return the hooks and problems of Codex's `config.toml`: `[[hooks.<event>]]` groups with `hooks` in them."""

    def place(event: str, group: int, handler: int | None, key: str) -> int | None:
        header = f"hooks.{event}"
        if handler is not None and lines.has(f"{header}.hooks"):
            before = sum(len(_handlers(each)) for each in hooks[event][:group])
            return lines.line_of(f"{header}.hooks", before + handler, key)
        return lines.line_of(header, max(group, 0), key)

    agent = _agent(file) or next(each for each in AGENT_FORMATS if dialect_of(each).has_toml)
    return _read(agent, hooks, file, place, ())


def _agent(file: str) -> str | None:
    """Return the agent that a settings file belongs to, by the innermost folder named after one; or None."""
    parts = reversed(os.path.abspath(file).split("/"))
    return next((part[1:] for part in parts if part[:1] == "." and part[1:] in AGENT_FORMATS), None)


def _has_events_of(agent: str, hooks: dict[str, Any]) -> bool:
    others = {name for each in AGENT_FORMATS if each != agent for name in dialect_of(each).events}
    return any(name in dialect_of(agent).events and name not in others for name in hooks)


def _disabled(document: dict[str, Any], hooks: dict[str, Any]) -> bool | tuple[str, ...]:
    """Return True if all hooks are disabled, else the names of those that are."""
    if document.get("disableAllHooks") is True:
        return True
    named: list[str] = []
    config = document.get("hooksConfig")
    for section in (config if isinstance(config, dict) else {}, hooks):
        if section.get("enabled") is False:
            return True
        disabled = section.get("disabled")
        named += [name for name in disabled if isinstance(name, str)] if isinstance(disabled, list) else []
    return tuple(named)


def _read(
    agent: str, events: dict[str, Any], file: str, place: Place, off: bool | tuple[str, ...]
) -> tuple[tuple[Hook, ...], tuple[Problem, ...]]:
    hooks: list[Hook] = []
    problems: list[Problem] = []
    for event, groups in events.items():
        if event in _NOT_EVENTS:
            continue
        if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
            message = f"'hooks.{event}' is not an array of groups"
            remedy = 'write [{"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}]'
            problems.append(Problem("bad-hooks-section", file, place(event, -1, None, ""), event, message, remedy))
            continue
        if event not in dialect_of(agent).events:
            if any(not _is_ours(handler) for group in groups for handler in _handlers(group) or [group]):
                problems.append(_foreign_event(agent, event, file, place(event, -1, None, "")))
            continue
        number = 0
        for index, group in enumerate(groups):
            read = _Group(agent, event, index, group, file, place)
            problems += read.problems
            for position, handler in enumerate(_handlers(group)):
                if _is_ours(handler):
                    continue
                hook, found = _read_one(read, position, handler, number)
                number += 1
                problems += found
                if hook is None:
                    continue
                if isinstance(off, tuple) and {hook.name, hook.command} & set(off):
                    message = f"the settings disable '{hook.name}'"
                    remedy = "remove it from 'disabled' if it should run here"
                    problems.append(Problem("switched-off", file, hook.line, None, message, remedy))
                else:
                    hooks.append(hook)
    return tuple(_with_own_names(hooks)), tuple(problems)


def _handlers(group: dict[str, Any]) -> list[Any]:
    handlers = group.get("hooks")
    return handlers if isinstance(handlers, list) else []


def _is_ours(handler: Any) -> bool:
    return isinstance(handler, dict) and is_own_command(str(handler.get("command") or handler.get("bash")))


def _foreign_event(agent: str, event: str, file: str, line: int | None) -> Problem:
    from difflib import get_close_matches

    close = get_close_matches(event, dialect_of(agent).events, n=1, cutoff=0.85)
    remedy = f"did you mean '{close[0]}'?" if close else "nothing to fix: it runs in that agent only"
    return Problem(
        "foreign-event", file, line, event, f"'{event}' has no counterpart here; its hooks do not run", remedy
    )


def _with_own_names(hooks: list[Hook]) -> Iterator[Hook]:
    """Yield the hooks; one whose name is already used is renamed to `<event>[n]`."""
    taken: set[str] = set()
    for hook in hooks:
        if hook.name in taken:
            hook = hook._replace(name=f"{hook.declared}[{hook.metadata['number']}]")  # noqa: PLW2901  # a replaced loop variable
        taken.add(hook.name)
        yield hook


class _Group:
    """One group of an event, checked: its matcher and problems."""

    def __init__(self, agent: str, event: str, index: int, group: dict[str, Any], file: str, place: Place) -> None:
        self.agent = agent
        self.event = event
        self.file = file
        self.spec = BY_NAME[dialect_of(agent).events[event]]

        def line_of(key: str) -> int | None:
            return place(event, index, None, key)

        def line_in(handler: int, key: str) -> int | None:
            return place(event, index, handler, key)

        self.line_in = line_in
        values, self.problems = hook_fields.check(GROUP, group, file, line_of)
        self.sequential = values["sequential"] is True
        given = values["matcher"]
        is_text = isinstance(given, str)  # if not, it is reported with the other fields
        self.matcher = matcher(agent, self.spec.name, given) if is_text else MatcherGroup(None, never=True)
        if self.matcher.never and is_text:
            message = f"'{given}' is not a valid expression; the hooks of this group match nothing"
            self.problems.append(
                Problem("never-matches-expression", file, line_of("matcher"), "matcher", message, "fix the expression")
            )
        if self.matcher.ignored:
            message = f"a matcher does nothing at {event}"
            self.problems.append(
                Problem("ignored-key", file, line_of("matcher"), "matcher", message, "remove the matcher")
            )


class MatcherGroup(NamedTuple):
    """What an agent's matcher matches: an expression, everything if that is None, nothing with `never`."""

    expression: str | None
    dialect: str = expressions.JAVASCRIPT
    never: bool = False
    ignored: bool = False


def matcher(agent: str, event: str, given: str) -> MatcherGroup:
    """Return what a matcher means to an agent: whole names, an expression to search for, or a literal text."""
    dialect = dialect_of(agent)
    if dialect.strips_matchers:
        given = given.strip()
    if given in ("", "*") or (dialect.splits_matchers and given == ".*"):
        return MatcherGroup(None)
    if event in _MATCHER_IGNORED:
        return MatcherGroup(None, ignored=True)
    if dialect.compares_matchers and not BY_NAME[event].has_tool:
        return MatcherGroup(f"^({re.escape(given)})$")
    if dialect.whole_names and re.fullmatch(dialect.whole_names, given, re.ASCII):
        found = [name.strip() for name in re.split(r"[|,]", given)]
        return MatcherGroup(f"^({'|'.join(filter(None, found))})$") if any(found) else MatcherGroup(None, never=True)
    if dialect.splits_matchers and "|" in given and given[0] not in "^(":
        found = [part for part in map(str.strip, re.split(r"(?<!\\)\|", given)) if part]
        if {"*", ".*"} & set(found):
            return MatcherGroup(None)
        given = "|".join(found)
        if not found:
            return MatcherGroup(None, never=True)
    language = expressions.PYTHON if dialect.has_python_expressions else expressions.JAVASCRIPT
    try:
        expressions.check(language, given)
    except expressions.BadExpression:
        return MatcherGroup(f"^({re.escape(given)})$") if dialect.compares_matchers else MatcherGroup(None, never=True)
    return MatcherGroup(given, language)


def _read_one(group: _Group, position: int, handler: Any, number: int) -> tuple[Hook | None, list[Problem]]:
    def line_of(key: str) -> int | None:
        return group.line_in(position, key)

    def foreign(key: str, message: str, remedy: str) -> tuple[None, list[Problem]]:
        return None, [Problem("foreign-handler", group.file, line_of(key), key or None, message, remedy)]

    if not isinstance(handler, dict):
        return foreign("", f"a handler of {group.event} is not an object", 'write {"type": "command", "command": "…"}')
    kind = handler.get("type")
    if isinstance(kind, str) and kind != "command":
        return foreign("type", f"a handler of type '{kind}' does not run here", "only commands do")
    if "if" in handler:
        # without the condition, it would also run, and could block, where it must not
        message = "a handler with a condition ('if') does not run here"
        return foreign("if", message, "use a matcher, or check the input in the command")
    if handler.get("shell") == "powershell":
        return foreign("shell", "a handler for PowerShell does not run here", "write it for sh or bash")
    values, problems = hook_fields.check(HANDLER, handler, group.file, line_of)
    timeout, wrong = _timeout(group.agent, values["timeout"])
    if wrong:
        unit = "milliseconds" if dialect_of(group.agent).milliseconds_from == 0 else "seconds"
        remedy = f"make it a number above 0 ({unit})"
        problems.append(Problem("bad-value", group.file, line_of("timeout"), "timeout", wrong, remedy))
    if any(problem.severity == "error" for problem in problems):
        return None, problems
    spec, found = group.spec, group.matcher
    metadata: dict[str, Any] = {"number": number}
    for name, value in values["env"].items():
        if name.isidentifier() and name.isascii() and isinstance(value, (str, int, float)) and "\0" not in str(value):
            metadata.setdefault("env", {})[name] = str(value)
        else:
            remedy = "use a name of letters, digits and _, and a text"
            problems.append(
                Problem("ignored-key", group.file, line_of("env"), "env", f"'{name}' is not a valid variable", remedy)
            )
    if group.sequential:
        metadata["sequential"] = True
    hook = Hook(
        name=values["name"].strip() or f"{group.event}[{number}]",
        event=spec.name,
        declared=group.event,
        format=group.agent,
        layer="config",
        source=group.file,
        line=line_of(""),
        command=_command(values),
        tool=found.expression if spec.has_tool else None,
        target=found.expression if not spec.has_tool else None,
        dialect=found.dialect,
        timeout=timeout,
        async_=values["async"] or values["asyncRewake"],
        description=values["description"],
        metadata=metadata,
        never_matches=found.never,
    )
    return hook, problems


def _command(values: dict[str, Any]) -> str:
    command = str(values["command"])
    if values["args"] is None and values["shell"] != "bash":
        return command
    import shlex

    if values["args"] is not None:
        return "exec " + shlex.join([command, *map(str, values["args"])])
    return "exec bash -c " + shlex.quote(command)


def _timeout(agent: str, given: Any) -> tuple[float, str | None]:
    """Return the timeout in seconds, and what is wrong with it."""
    dialect = dialect_of(agent)
    if given is None:
        return dialect.timeout, None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 < given < 10**9:
        return dialect.timeout, f"'timeout' is {given!r}"
    least = dialect.milliseconds_from
    return given / 1000 if least is not None and given >= least else float(given), None


_TOKEN = re.compile(rf"{commented_json.STRING}|[{{}}\[\],\n]")


def _lines(text: str) -> dict[tuple[str | int, ...], int]:
    """Return the line of each key, object and array of a JSON text, by its path."""
    lines: dict[tuple[str | int, ...], int] = {}
    path: list[str | int] = []
    line, awaits_key = 1, False
    for found in _TOKEN.finditer(text):
        part = found[0]
        if part == "\n":
            line += 1
        elif part in ("{", "["):
            lines.setdefault(tuple(path), line)
            path.append("" if part == "{" else 0)
            awaits_key = part == "{"
        elif part in ("}", "]"):
            if path:
                path.pop()
            awaits_key = False
        elif part == ",":
            last = path[-1] if path else ""
            if isinstance(last, int):
                path[-1] = last + 1
            else:
                awaits_key = True
        elif awaits_key:
            path[-1] = json.loads(part)
            lines[tuple(path)] = line
            awaits_key = False
    return lines
