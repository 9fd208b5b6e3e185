"""Shared by the guards: the tool call that a guard gets, its findings, and its answer.

Before a call, a guard collects findings; `objection` applies the hook's settings to them and writes the reason. The
settings are under `metadata` in HOOK.md, or in an override in hooks.toml:

    allow: [rule, …]        rules to disable
    ask: [rule, …] or all   rules that ask instead of refusing
    directories: [path, …]  further directories that count as the project
"""

from __future__ import annotations

import os

from ..basics import lazy_re as re
from ..basics.named_tuples import NamedTuple
from ..events import DIRECTORY_KEYS, NAMES_OF_TOOL
from ..shell import reader
from ..shell.programs import resolved

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from ..shell.commands import ShellCommand

    Rules = Mapping[str, tuple[str, str]]  # name of a rule to what it is about, and what to do instead

ASK, DENY = "ask", "deny"
ALL = "all"
SHELLS = ("shell", "bash", "run_shell_command", "exec_command", "local_shell", "execute")
SHOWN_FINDINGS = 3
_HEADERS = (
    *("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "),
    *("+++ ", "--- ", "diff --git ", "rename from ", "rename to ", "copy to "),
)
_PATH_KEY = r"path|file|source|destination|target|directory|uri|name|glob|include|^(?:from|to|src|dst|dest)$"
# Keys, without `_` and `-`, of shell lines, of input for a terminal, of a program's arguments, of code.
_LINES = frozenset("command cmd commands commandline cmdline script shell line code bash argv program exec run".split())
_TYPED = frozenset("text input chars keys data stdin source".split())
_ARGUMENTS = ("args", "arguments", "argv", "params")
_CODE = ("code", "source", "script")
_TERMINAL = (
    "term",
    "shell",
    "bash",
    "console",
    "tmux",
    "stdin",
    "pty",
    "repl",
    "keys",
    "exec",
    "eval",
    "ssh",
    "command",
)
_PLAIN = dict.fromkeys(map(ord, "_-"))  # removes these characters from a key
_RUNS_CODE = ("py", "node", "js", "exec", "eval", "run", "repl", "notebook", "kernel")
EDITORS = ("str_replace_editor", "str_replace_based_edit_tool")  # whose `command` may be `view`


class GuardFinding(NamedTuple):
    """A rule that a call violates."""

    rule: str
    decision: str  # ASK or DENY
    part: str  # the part of the line, or the path
    why: str
    span: tuple[int, int] | None = None  # of the part, if it occurs literally in the line


class Objection(NamedTuple):
    """A guard's decision about a call, with the reason for the agent and the user."""

    decision: str  # ASK or DENY
    reason: str
    findings: tuple[GuardFinding, ...] = ()  # the worst first, then in the order of the guard's rules


class Replacement(NamedTuple):
    """What the model sees instead of a call's output or error, and why."""

    output: Any
    reason: str


class GuardedCall(NamedTuple):
    """A tool call, with the variables that a hook would have and the settings of the hook."""

    tool_name: str
    tool_input: Any
    work_dir: str
    environment: Mapping[str, str]
    settings: Mapping[str, Any] = {}  # never changed
    output: Any = None  # or the error; None before the call

    def argument(self, name: str) -> Any:
        """Return one argument of the call, or None."""
        return self.tool_input.get(name) if isinstance(self.tool_input, dict) else None

    def directory(self) -> str:
        """Return the directory in which the call would run."""
        found = self.work_dir or os.getcwd()
        for key in DIRECTORY_KEYS:
            where = self.argument(key)
            if where and isinstance(where, str):
                found = os.path.join(found, where)
        return os.path.abspath(found)

    def directories(self) -> list[str]:
        """Return the absolute paths of further directories that count as the project."""
        named = self.settings.get("directories")
        names = [name for name in named if _is_path(name)] if isinstance(named, list) else []
        home = self.environment.get("HOME") or os.path.expanduser("~")
        expanded = [home + name[1:] if name == "~" or name.startswith("~/") else name for name in names]
        return [os.path.abspath(os.path.join(self.work_dir, name)) for name in expanded]


def is_shell(call: GuardedCall) -> bool:
    """Whether the tool of a call is known as a shell."""
    return call.tool_name in NAMES_OF_TOOL["Shell"] or call.tool_name.lower() in SHELLS


def shell_lines(call: GuardedCall) -> list[str | list[str]]:
    """Return the shell lines, and programs with their arguments, that a call may run, from any depth of its input.

    Code in another language is returned as the program that would run it.
    """
    given = call.tool_input if isinstance(call.tool_input, dict) or not is_shell(call) else {"command": call.tool_input}
    if call.tool_name in EDITORS or not isinstance(given, dict):
        return []
    name = call.tool_name.lower()
    keys = _LINES | _TYPED if any(part in name for part in _TERMINAL) else _LINES
    found = [*_lines_in(given, keys, any(part in name for part in _RUNS_CODE))]
    return found or ([text for _, text in strings_in(given, "")] if is_shell(call) else [])


def _lines_in(value: Any, keys: frozenset[str], runs_code: bool) -> Iterator[str | list[str]]:
    given = {str(key).lower().translate(_PLAIN): each for key, each in value.items()} if isinstance(value, dict) else {}
    for key, each in given.items():
        if key not in keys or not each or not isinstance(each, str | list):
            yield from _lines_in(each, keys, runs_code)
        elif isinstance(each, str):
            rest = next((given[name] for name in _ARGUMENTS if name != key and given.get(name)), None)
            yield [each, *map(str, rest)] if isinstance(rest, list) else f"{each} {rest}" if rest else each
            if key in _CODE and runs_code:
                yield ["python3", "-c", each]
        elif all(isinstance(word, str) for word in each):
            yield each
            yield from each if key == "commands" and any(" " in word for word in each) else ()
        else:
            yield from (word for word in each if isinstance(word, list) and all(isinstance(part, str) for part in word))
            yield from _lines_in(each, keys, runs_code)
    for each in value if isinstance(value, list) else ():
        yield from _lines_in(each, keys, runs_code)


_last_reading: tuple[object, reader.Reading] | None = None


def read(line: str | list[str], directory: str, variables: Mapping[str, str]) -> reader.Reading:
    """Return what a line would run. The guards of an event share the reading, and must not change it."""
    global _last_reading  # noqa: PLW0603  # a pure cache: other threads can only cause another reading
    last, asked = _last_reading, (line, directory, variables)
    if last is None or last[0] != asked:
        last = _last_reading = asked, reader.read(line, directory, variables)
    return last[1]


def judged(
    call: GuardedCall,
    rules: Rules,
    of_line: Callable[[str | list[str]], Iterable[GuardFinding]],
    of_tool: Callable[[], Iterable[GuardFinding]] = tuple,
) -> Objection | None:
    """Return a guard's objection to the shell lines of a call and, if its tool is not a shell, to the tool."""
    found = [finding for line in shell_lines(call) for finding in of_line(line)]
    return objection(call, found if is_shell(call) else (*found, *of_tool()), rules)


def objection(call: GuardedCall, findings: Iterable[GuardFinding], rules: Rules) -> Objection | None:
    """Return the objection for a guard's findings under the hook's settings, or None if none are left.

    Settings that are not valid have no effect.
    """
    allowed, asked = _rules_of(call.settings, "allow"), _rules_of(call.settings, "ask")
    distinct: dict[tuple[str, str], GuardFinding] = {}
    for each in findings:
        if each.rule in allowed:
            continue
        if each.decision == DENY and (each.rule in asked or ALL in asked):
            each = each._replace(decision=ASK)  # noqa: PLW2901  # the same finding
        known = distinct.setdefault((each.rule, each.part), each)
        if known.decision == ASK and each.decision == DENY:
            distinct[each.rule, each.part] = each
    if not distinct:
        return None
    order = list(rules)
    worst = sorted(distinct.values(), key=lambda each: (each.decision != DENY, order.index(each.rule)))
    said = (
        f"`{each.part}`: {each.why} [{each.rule}]. Instead: {rules[each.rule][1]}." for each in worst[:SHOWN_FINDINGS]
    )
    return Objection(worst[0].decision, "\n".join(said), tuple(worst))


def setting_problems(settings: Mapping[str, Any], rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Yield the key, a message and a remedy for each setting that has no effect as it is written."""
    for key, known in (("allow", [*rules]), ("ask", [*rules, ALL])):
        value = settings.get(key, [])
        if key == "ask" and value == ALL:
            continue
        if not isinstance(value, list):
            yield key, f"'{key}' is not a list of rules; it has no effect", f"write {key}: [rule, …]"
            continue
        for name in value:
            if name not in known:
                yield key, f"there is no rule {name!r}; naming it has no effect", f"rules: {', '.join(rules)}"
    directories = settings.get("directories", [])
    if not isinstance(directories, list) or not all(_is_path(name) for name in directories):
        yield "directories", "'directories' is not a list of paths", "write directories: [~/notes, ../other]"


def _rules_of(settings: Mapping[str, Any], key: str) -> list[Any]:
    value = settings.get(key)
    return value if isinstance(value, list) else [ALL] if key == "ask" and value == ALL else []


def _is_path(name: object) -> bool:
    return isinstance(name, str) and name != ""


def project_root(directory: str, home: str) -> str:
    """Return the nearest directory with a `.git`, below the home; else the directory itself."""
    current = directory
    while current != home and os.path.dirname(current) != current:
        if os.path.exists(os.path.join(current, ".git")):
            return current
        current = os.path.dirname(current)
    return directory


def by_program(rows: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of a table by program; each row begins with the names of its programs."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for programs, *row in rows:
        for name in programs.split():
            found.setdefault(name, []).append(tuple(row))
    return found


def is_below(path: str, directory: str) -> bool:
    """Whether a path is a directory or inside it."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def path_here(command: ShellCommand, path: str, home: str) -> str | None:
    """Return the absolute path on this machine that a command's path means; None if it is only in a container."""
    path = resolved(path, command.directory, home)
    if not command.contained:
        return path
    mounts = sorted(((there.rstrip("/"), here) for there, here in command.mounts), reverse=True)  # the innermost first
    inside = (here + path[len(there) :] for there, here in mounts if f"{path}/".startswith(f"{there}/"))
    return next((resolved(each, "/", home) for each in inside), None)


def strings_in(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """Yield each string in a tool's arguments with its key in lower case, and each key with an empty key."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield "", str(name)
            yield from strings_in(each, str(name).lower())
    elif isinstance(value, list):
        for each in value:
            yield from strings_in(each, key)
    elif isinstance(value, str):
        yield key, value


def paths_in(value: Any) -> Iterator[str]:
    """Yield every string that may be a path: those with keys for paths, and those in the headers of a patch."""
    for key, text in strings_in(value, "path"):
        if re.search(_PATH_KEY, key) or re.match("(?i)file:", text):
            yield re.sub(r"(?i)^file:(?://[^/]*)?(?=/)", "", text)
        yield from patched(text)


def patched(text: str) -> Iterator[str]:
    """Yield the files that a patch names. As in Codex, blanks around a header are ignored; only `\\n` ends a line."""
    for line in text.split("\n") if any(head in text for head in ("*** ", "+++ ", "diff --git ")) else ():
        for head in _HEADERS:
            path = line.strip()[len(head) :] if line.strip().startswith(head) else ""
            if path and head[0] != "*":  # of a diff: `b/path`, tab, time; with and without the first name
                path = path.partition("\t")[0].rpartition(" b/")[2] if head[0] == "d" else path.partition("\t")[0]
                yield path.partition("/")[2]
            if path and path != "/dev/null":
                yield path
