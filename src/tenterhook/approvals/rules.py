"""`[[approvals.rules]]` in settings files: rules that approve, deny or ask about tool calls.

There are two such files: the managed one, which must be writable by root only, and the user's.
"""

from __future__ import annotations

import glob
import itertools
import json
import os
import re
import time
import tomllib
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import places, private_files
from ..basics.expression_cost import is_quick_for
from ..basics.light_json import input_texts
from ..engine import bounded_search
from ..errors import HookError
from ..events import mcp_spellings
from ..formats.expressions import PYTHON, BadExpression, search
from ..model import Action
from . import configured
from .requests import FILE_TOOLS, LINE_KEYS, given_command, line_key, resolved

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..model import Verdict
    from ..shell.reader import Reading, ShellCommand
    from .requests import Call

    Line = str | tuple[str, ...]  # a shell line, or a program with its arguments

_LONGEST_DATE = len("2030-12-31")
ANSWERS = ("approve", "deny", "ask")
_TEXTS = ("tool", "command", "pattern", "directory", "agent", "answer", "reason")
_EXPRESSIONS = ("tool", "pattern", "agent")


class Rule(NamedTuple):
    """One rule; a field that is None matches everything."""

    answer: str
    tool: str | None = None  # an expression, searched in the tool's names
    command: str | None = None  # the exact command
    pattern: str | None = None  # an expression, searched in a command or in the strings of another tool's input
    directory: str | None = None
    reason: str | None = None
    agent: str | None = None  # an expression, searched in the agent's name: claude-code, agent, …
    expires: float | None = None  # seconds since 1970; from then on it matches nothing
    source: str = ""  # its file, or the address of its hub

    @property
    def said(self) -> str:
        """The rule's reason, or a description of the rule."""
        named = ", ".join(
            f"{key} = {value!r}" for key in ("tool", "command", "pattern") if (value := getattr(self, key))
        )
        whose = "the hub's" if "://" in self.source else "your"
        return self.reason or f"{whose} rule for {named or 'everything'} says: {self.answer}"


def read(found: object, where: str) -> list[Rule]:
    """Return the rules in a list of tables. Raises `HookError` if any is invalid, as it may be a denial."""
    if found is None:
        return []
    if not isinstance(found, list):
        raise HookError(f"{where}: approvals.rules is not a list", "write each rule below [[approvals.rules]]")
    return [_rule(each, f"{where}: approvals.rules[{number}]", where) for number, each in enumerate(found)]


def of_settings(settings: Mapping[str, Any], where: str) -> list[Rule]:
    """Return the rules in settings. Raises `HookError` if any is invalid."""
    approvals = settings.get("approvals", {})
    if not isinstance(approvals, dict):
        raise HookError(f"{where}: approvals is not a table", "write rules below [[approvals.rules]]")
    return read(approvals.get("rules"), where)


def _rule(found: Any, where: str, source: str) -> Rule:
    if not isinstance(found, dict):
        raise HookError(f"{where} is not a table", "write it below [[approvals.rules]]")
    for key, value in found.items():
        if key != "expires" and (key not in _TEXTS or not isinstance(value, str)):
            raise HookError(
                f"{where}: {key} = {value!r} is not a field of a rule",
                f"use {', '.join(_TEXTS)}, which are strings, and expires, a date",
            )
    if found.get("answer") not in ANSWERS:
        raise HookError(f"{where}: answer is {found.get('answer')!r}", f"use one of {', '.join(ANSWERS)}")
    for key in _EXPRESSIONS:
        try:
            search(PYTHON, found.get(key, ""))
        except BadExpression as error:
            raise HookError(f"{where}: {key} = {found[key]!r}: {error.message}", "correct the expression") from None
    expires = _moment(found["expires"], where) if "expires" in found else None
    return Rule(**{**found, "expires": expires}, source=source)


def _moment(given: Any, where: str) -> float:
    """Return when a rule expires: a date expires at its end, and a time without a zone is local."""
    try:
        if isinstance(given, str):
            given = date.fromisoformat(given) if len(given) <= _LONGEST_DATE else datetime.fromisoformat(given)
        if isinstance(given, date) and not isinstance(given, datetime):
            given = datetime(given.year, given.month, given.day) + timedelta(days=1)
        if isinstance(given, datetime):
            return given.timestamp()
        if isinstance(given, (int, float)) and not isinstance(given, bool):
            return float(given)  # from the hub
    except (ValueError, OverflowError, OSError):
        pass
    raise HookError(f"{where}: expires = {given!r} is not a date", "write it like 2030-12-31 or 2030-12-31T18:00:00Z")


def match(rules: Sequence[Rule], call: Call) -> Rule | None:
    """Return the rule that applies to a call, or None: the first that denies, otherwise the first that matches."""
    limit = bounded_search.TimeLimit()
    now = time.time()
    matching = [rule for rule in rules if (rule.expires is None or now < rule.expires) and _matches(rule, call, limit)]
    return next((rule for rule in matching if rule.answer == "deny"), matching[0] if matching else None)


def match_verdict(verdict: Verdict, rules: Sequence[Rule], call: Call) -> tuple[Rule | None, bool]:
    """Return the rule that applies to a call, or None, and whether it answers what built-in guards ask (PROTOCOL 7).

    It does if it is an approve rule of the user that matches the whole command or path, not only its beginning. It does
    not if another rule says otherwise, a hook asks that is not a built-in guard, or a project defines the guard.
    """
    found = match(rules, call)
    if found is None or found.answer != "approve" or not _only_guards_ask(verdict):
        return found, False
    own = (rule for rule in rules if rule.source == places.settings_file() and rule.answer == "approve")
    answering = next((rule for rule in own if _matches_whole(rule, call)), None)
    return answering or found, answering is not None


def _only_guards_ask(verdict: Verdict) -> bool:
    runs = [run for run in verdict.runs if run.decision.action is Action.ASK and run.decision.ignored is None]
    are_guards = all(run.hook.guard is not None and run.hook.layer in ("managed", "user") for run in runs)
    return verdict.decision is Action.ASK and bool(runs) and are_guards


def _matches_whole(rule: Rule, call: Call) -> bool:
    if rule.pattern is not None:
        rule = rule._replace(pattern=rf"\A(?:{rule.pattern})\Z")
    elif rule.command is None:  # it is for a tool, and not for what the call does
        return False
    try:
        return match([rule], call) is not None
    except BadExpression:  # flags at the beginning of a pattern
        return False


def _matches(rule: Rule, call: Call, limit: bounded_search.TimeLimit) -> bool:
    if rule.tool is not None and not _finds_tool(rule, rule.tool, call, limit):
        return False
    if rule.agent is not None and not _found(rule, rule.agent, [call.agent], limit):
        return False
    if rule.directory is not None and not _is_inside(rule, rule.directory, call):
        return False
    if rule.command is None and rule.pattern is None:
        return True
    if rule.answer != "approve":
        return _names(rule, list(_texts(call)), limit)
    named = list(_everything(call))
    return bool(named) and all(_names(rule, texts, limit) for texts in named) and _names_all_programs(rule, call, limit)


def _finds_tool(rule: Rule, expression: str, call: Call, limit: bounded_search.TimeLimit) -> bool:
    """Whether an expression is found in a name of the tool; to approve, in each reading of an MCP tool's name."""
    readings = [_found(rule, expression, mcp_spellings(name), limit) for name in call.mcp_names]
    if any(readings) if rule.answer != "approve" else readings and all(readings):
        return True
    return _found(rule, expression, call.tool_names, limit)


def _names(rule: Rule, texts: list[str], limit: bounded_search.TimeLimit) -> bool:
    """Whether a rule's command and pattern match one of the texts."""
    texts = [text for text in texts if rule.command is None or text.strip() == rule.command.strip()]
    return bool(texts) and (rule.pattern is None or _found(rule, rule.pattern, texts, limit))


def _is_inside(rule: Rule, directory: str, call: Call) -> bool:
    """Whether a call or its session may run in a directory; for an approve rule, whether both only run there."""
    where = (places.is_inside(each, os.path.expanduser(directory)) for each in (call.work_dir, *call.directories))
    return all(where) if rule.answer == "approve" else any(where)


def _found(rule: Rule, expression: str, texts: Sequence[str], limit: bounded_search.TimeLimit) -> bool:
    """Whether an expression is found in one of the texts. If the search is cut off, an approve rule does not match."""
    if is_quick_for(expression, texts):
        return any(search(PYTHON, expression)(text) for text in texts)
    (found,) = bounded_search.search([(PYTHON, expression, list(texts))], limit)
    return rule.answer != "approve" if found is None else found


def _texts(call: Call) -> Iterator[str]:
    """Yield the texts in which the command and pattern of a rule that denies or asks are searched."""
    lines: list[Line] = [_given_line(call.tool_input)] if call.tool == "Shell" else list(_lines(call))
    yield from [given_command(call)] if call.tool == "Shell" else input_texts(call.tool_input)
    for line in lines:
        commands = _reading(line, call).commands
        aliases = dict(alias for command in commands if (alias := _git_alias(command)))
        for command in commands:
            yield from _spellings(command, line if isinstance(line, str) else json.dumps(line), aliases)


def _everything(call: Call) -> Iterator[list[str]]:
    """Yield each text of a call that an approve rule must match, as a list of forms, one of which it must match.

    For a call with a shell line, these are the line and what changes how it runs; for another tool every text, except
    the content that one of the agent's own file tools writes. The forms of a path are absolute, and relative to the
    session's directory. A text without forms cannot be matched.
    """
    line = _line(call)
    if line is not None:
        yield [line.strip()] if _is_plain(line) and _is_understood(_reading(_given_line(call.tool_input), call)) else []
        yield from ([text] for key, value in call.more_input.items() for text in _shown(key, value))
        return
    for key, text in _entries(call.tool_input):
        if call.tool in FILE_TOOLS and key in _CONTENT:
            from ..guards.calls import patched

            yield from (_path_forms(path, call) for path in patched(text))
        elif re.search(_PATH_KEY, key, re.IGNORECASE) or ".." in text.split("/"):
            yield _path_forms(text, call)
        else:
            yield [text]


_CONTENT = ["content", "file_text", "old_string", "new_string", "old_str", "new_str", "input", "patch", "diff"]
_PATH_KEY = r"path|file|dir|folder|source|dest|target"
_LONGEST_PATH = 4096


def _shown(key: str, value: Any) -> list[str]:
    return [key] if value is True else input_texts({key: value})


def _path_forms(path: str, call: Call) -> list[str]:
    if "\0" in path or len(path) > _LONGEST_PATH:
        return []
    path = resolved(call.work_dir, path)
    return [path, os.path.relpath(path, places.real_path(call.work_dir))]


def _entries(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each string of an input, including nested ones, with its key."""
    left: list[tuple[str, Any]] = [("", given)]
    while left:
        key, value = left.pop()
        if isinstance(value, dict):
            left.extend((str(name), each) for name, each in value.items())
        elif isinstance(value, list):
            left.extend((key, each) for each in value)
        elif isinstance(value, str):
            yield key, value


def _line(call: Call) -> str | None:
    """Return the shell line in a call of a shell tool, or of another tool with such a key; None if there is none."""
    if call.tool == "Shell":
        return given_command(call)
    if call.tool in FILE_TOOLS or not any(call.tool_input.get(key) for key in LINE_KEYS):
        return None
    line = _given_line(call.tool_input)
    return line if isinstance(line, str) else json.dumps(line)


def _lines(call: Call) -> Iterator[Line]:
    """Yield each shell line in another tool's input, including nested ones."""
    left: list[Any] = [call.tool_input]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield from (line for key in LINE_KEYS if (line := _given_line(value, key)))
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)


def _given_line(given: Mapping[str, Any], key: str = "") -> Line:
    """Return the line under a key, or the program with its arguments; empty if there is none."""
    key = key or line_key(given)
    value, arguments = given.get(key, ""), given.get("args") or given.get("arguments")
    if isinstance(value, str) and isinstance(arguments, list):
        value = [value, *arguments]
    if isinstance(value, list):
        return tuple(value) if all(isinstance(word, str) for word in value) else json.dumps(value)
    return value if isinstance(value, str) else json.dumps(value)


def _reading(line: Line, call: Call) -> Reading:
    """Return what a shell line, or a program with its arguments, would run."""
    return _read(line, call.directory)


@lru_cache(maxsize=64)
def _read(line: str | tuple[str, ...], directory: str) -> Reading:
    from ..shell import reader

    return reader.read(line if isinstance(line, str) else list(line), directory, os.environ)


def _git_alias(command: ShellCommand) -> tuple[str, str] | None:
    """Return the name and value of an alias that a `git config` command sets; None for any other command."""
    key, value = command.words[-2:] if len(command.words) > len(("git", "config", "key")) else ("", "")
    is_alias = command.name == "git" and "config" in command.words and key.lower().startswith("alias.")
    return (key[len("alias.") :], value) if is_alias else None


def _spellings(command: ShellCommand, line: str, aliases: Mapping[str, str]) -> Iterator[str]:
    """Yield a command as it is written, and as its words separated by single spaces.

    Further spellings have the program's name in place of its path or of a pattern for it, another name of the program,
    the value of a git alias, or no options before the subcommand.
    """
    from ..shell import programs, syntax

    if command.span is not None:
        yield line[slice(*command.span)].strip()
    if not command.words:
        return
    first, *rest = [syntax.decoded(word) for word in command.words]
    yield " ".join((first, *rest))
    named = [[name, *rest] for name in dict.fromkeys((os.path.basename(first), command.name))]
    if first != command.words[0]:  # an unquoted pattern: `/usr/bin/gi? push`
        places = (os.path.join(glob.escape(each), os.path.basename(first)) for each in os.get_exec_path())
        found = itertools.islice((path for place in places for path in glob.iglob(place)), _MOST_FILES)
        named += [[name, *rest] for name in dict.fromkeys(map(os.path.basename, found))]
    named += [other for words in list(named) for other in programs.other_names(words)]
    for name, *words in named:
        for subcommand in programs.from_subcommand([name, *words]):
            yield " ".join((name, *subcommand))
            if name == "git" and subcommand and subcommand[0] in aliases:
                yield " ".join((name, aliases[subcommand[0]], *subcommand[1:]))


_MOST_FILES = 5_000


def _is_plain(line: str) -> bool:
    """Whether a line is a single command without redirections and variables."""
    from ..shell import syntax

    if "$" in _QUOTED.sub("", line):  # also `$'…'`, which the parser does not count as an expansion
        return False
    command = syntax.only_command(line)
    return command is not None and not command.redirects and not command.assignments


_QUOTED = re.compile(r"""'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.""", re.DOTALL)


def _is_understood(reading: Reading) -> bool:
    """Whether nothing in a line, or in the commands that it runs, is unknown, expanded, assigned or redirected."""
    is_certain = (each.is_certain and not each.redirects and not each.assignments for each in reading.commands)
    return not reading.notes and all(is_certain)


def _names_all_programs(rule: Rule, call: Call, limit: bounded_search.TimeLimit) -> bool:
    """Whether a pattern that approves a plain command covers each program that the command runs.

    It covers an inner command if it matches that alone, or if it does not match the text before it: `^uv run pytest`
    covers the pytest of `uv run pytest -x`, `^find` does not cover the rm of `find . -exec rm x +`.
    """
    line, pattern = _line(call), rule.pattern
    if line is None or pattern is None:
        return True
    for command in _reading(line, call).commands[1:]:
        inner = " ".join(command.words)
        at = line.rfind(inner, *(command.span or ()))
        is_named = at >= 0 and not _found(rule._replace(answer="deny"), pattern, [line[:at].lstrip()], limit)
        if not is_named and not _found(rule, pattern, [inner], limit):
            return False
    unnamed = _unnamed_at(line, _reading(line, call).commands)
    if unnamed is None or (unnamed > 0 and not _found(rule._replace(answer="deny"), pattern, [line[:unnamed]], limit)):
        return True
    try:
        return _found(rule, rf"\A(?:{pattern})\Z", [line.strip()], limit)
    except BadExpression:  # flags at the beginning of a pattern
        return False


def _unnamed_at(line: str, commands: Sequence[ShellCommand]) -> int | None:
    """Return the position of the first word that makes a plain line run code or write a file; None if there is none.

    Such a word is usually an option of a program that otherwise only reads. 0: the cause is not a single word.
    """
    at = [found.start() for found in _WORD.finditer(line)]
    outer = commands[0].words if commands else []
    found = []
    for command in commands:
        words = command.words
        if not words or not _does_more(words):
            continue
        first = len(outer) - len(words)
        causes = [n for n in range(1, min(len(words), _MOST_CAUSES)) if not _does_more(words[:n] + words[n + 1 :])]
        causes = [n for n in causes if words[n].startswith("-")][:1] or causes[-1:]
        is_here = len(at) == len(outer) and outer[first:] == words and causes
        found.append(at[first + causes[0]] if is_here else 0)
    return min(found, default=None)


_WORD = re.compile(r"""(?:[^\s'"\\]++|'[^']*+'|"(?:[^"\\]++|\\.)*+"|\\.)+""", re.DOTALL)
_MOST_CAUSES = 100


def _does_more(words: list[str]) -> bool:
    """Whether a program runs code or writes a file because of its options or its script."""
    from ..shell import effects, program_text, programs

    written = (each.path for each in effects.by_option(words))
    ran = (each.kind == "code" and each.language != "awk" for each in programs.nested_commands(words, None))
    is_writing = any(not path.startswith(("/tmp/", "/var/tmp/", "/dev/null", "-")) for path in written)  # noqa: S108
    return is_writing or any(ran) or bool(program_text.code_options(words, elsewhere=True))


def managed() -> list[Rule]:
    """Return the administrator's rules. Raises `HookError` if they are invalid, or another account could write them."""
    file = configured.MANAGED
    found = settings(file)
    if found and not private_files.owned_by_root(file):
        raise HookError(f"another account could have written {file}", f"make it root's: chown root {file}; chmod 644")
    return of_settings(found, file)


def person() -> list[Rule]:
    """Return the user's own rules. Raises `HookError` if they are invalid, or another account could write them."""
    file = places.settings_file()
    found = settings(file)
    if found and (other := private_files.writable_by_others(file)):
        raise HookError(f"another account could change {other}: {file}", f"chmod go-w {other}, and make it your own")
    return of_settings(found, file)


def settings(file: str) -> dict[str, Any]:
    """Return the settings in a file; empty if there is none. Raises `HookError` if it is unreadable, as it may deny."""
    try:
        with open(file, "rb") as stream:
            return tomllib.load(stream)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise HookError(f"{error.strerror}: {file}", "it contains your rules: make it readable") from None
    except (ValueError, RecursionError) as error:
        raise HookError(f"{file}: {error}", "it contains your rules: fix it, or move it away") from None
