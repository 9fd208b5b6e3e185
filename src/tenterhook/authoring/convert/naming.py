"""A name and a description for a hook that has none, from its event, its matchers and its command."""

from __future__ import annotations

import os
import re
import shlex
from typing import NamedTuple

from ...basics.display_text import one_line
from ...events import BY_NAME, Effect
from . import commands

_LONGEST_NAME = 48
_LONGEST_DESCRIPTION = 160


class Naming(NamedTuple):
    """The name and the description that are derived for a hook that has none."""

    name: str
    description: str


def naming(event: str, tool: str | None, pattern: str | None, command: str) -> Naming:
    """Return a name and a description; the same for the same arguments."""
    command = commands.split(command)[1]
    subject, searched = _subject(tool), _searched(command)
    call = _CALLS.get(subject) or (f"a call of {tool}" if tool else "a tool call")
    when, moment = _moment(event, subject or "call", call)
    matching = f" that matches {pattern}" if pattern else ""
    decision = _decision(event, command)
    if (done := _script(command) or _known_program(command)) is not None:
        name = f"{done.name}-{when}" if done.is_general else done.name
        description = f"{done.description} {moment}{matching}"
    elif decision is not None:
        is_call = event in _AROUND_CALLS
        of_tool = subject or _slug(tool or "") or "calls"
        name = f"{decision.name}-{_slug(pattern or '') or _slug(searched) or (of_tool if is_call else when)}"
        about = f"{decision.description} {call}" if is_call else f"{decision.description} something {moment}"
        description = about + (matching or (f", by looking for {searched}" if searched else ""))
    elif re.search(r">>\s*\S|\btee -a\b", command):
        name, description = f"log-{when}", f"Writes to a file {moment}{matching}"
    else:
        program = _program(command)
        name, description = f"{_slug(program) or 'hook'}-{when}", f"Runs {program or 'a command'} {moment}{matching}"
    return Naming(_shortened(name), one_line(description)[:_LONGEST_DESCRIPTION].strip())


# ---- when

_EDITS = "write edit multiedit writefile strreplacefile apply_patch notebookedit replace write_file"
_TOOLS = {
    **dict.fromkeys(("bash", "shell", "run_shell_command", "local_shell", "exec_command"), "shell"),
    **dict.fromkeys(_EDITS.split(), "edit"),
    **dict.fromkeys(("read", "readfile", "read_file", "view"), "read"),
    **dict.fromkeys(("webfetch", "websearch", "fetchurl", "searchweb", "web_fetch"), "web"),
}
_CALLS = {"shell": "a shell command", "edit": "an edit", "read": "the reading of a file", "web": "a web request"}
_MOMENTS = {
    "pre-session": ("at-start", "when a session starts"),
    "post-session": ("at-end", "when a session ends"),
    "pre-agent-turn": ("before-prompt", "before a prompt is answered"),
    "post-agent-turn": ("after-turn", "after a turn"),
    "pre-agent-turn-stop": ("before-stop", "before the agent stops"),
    "post-agent-turn-stop": ("after-stop", "after the agent has stopped"),
    "permission-request": ("at-approval", "when an approval is asked for"),
    "pre-context-compact": ("before-compaction", "before the context is compacted"),
    "pre-subagent": ("before-subagent", "before a subagent starts"),
    "post-subagent": ("after-subagent", "after a subagent has ended"),
    "notification": ("on-notification", "when the agent has something to say"),
}
_AROUND_CALLS = {
    "pre-tool-call": ("before", "before"),
    "post-tool-call": ("after", "after"),
    "post-tool-call-failure": ("after-failed", "after a failure of"),
}


def _subject(tool: str | None) -> str:
    """Return a word for the tools that an expression names; empty if it may be any."""
    names = re.findall(r"[A-Za-z]\w+", re.sub(r"\(\?P?<\w+>|\\\w", " ", tool or ""))
    words = {_TOOLS.get(name.lower(), "mcp" if name.startswith("mcp") else _slug(name)) for name in names}
    return words.pop() if len(words) == 1 else ""


def _moment(event: str, subject: str, call: str) -> tuple[str, str]:
    """Return when a hook runs, for its name and for its description."""
    if event not in _AROUND_CALLS:
        return _MOMENTS.get(event, (f"on-{event}", f"at {event}"))
    word, phrase = _AROUND_CALLS[event]
    return f"{word}-{subject}", f"{phrase} {call}"


# ---- what


class _Done(NamedTuple):
    name: str
    description: str
    is_general: bool = True  # it is done at several events: the name says at which


_PROGRAMS = (
    (r"black|ruff format|autopep8|yapf|isort", _Done("format-python", "Formats Python files")),
    (r"prettier|biome", _Done("format-web-files", "Formats files for the web")),
    (r"gofmt|goimports|go fmt", _Done("format-go", "Formats Go files")),
    (r"rustfmt|cargo fmt", _Done("format-rust", "Formats Rust files")),
    (r"clang-format", _Done("format-c", "Formats C files")),
    (r"shfmt", _Done("format-shell", "Formats shell scripts")),
    (r"terraform fmt", _Done("format-terraform", "Formats Terraform files")),
    (r"ruff|flake8|pylint", _Done("lint-python", "Checks Python files")),
    (r"eslint", _Done("lint-javascript", "Checks JavaScript files")),
    (r"shellcheck", _Done("lint-shell", "Checks shell scripts")),
    (r"mypy|pyright|tsc", _Done("check-types", "Checks types")),
    (
        r"pytest|unittest|tox|nox|vitest|jest|(?:npm|pnpm|yarn|bun)(?: run)? test|(?:cargo|go|make|mvn|gradle) test",
        _Done("run-tests", "Runs tests"),
    ),
    (
        r"notify-send|osascript|terminal-notifier|ntfy|afplay|paplay|hooks\.slack\.com",
        _Done("notify", "Notifies you"),
    ),
    (r"git commit", _Done("git-commit", "Commits")),
)
_KNOWN = [(re.compile(rf"(?:^|[\s;|&(/'\"])(?:{words})(?![\w.-])"), done) for words, done in _PROGRAMS]


def _known_program(command: str) -> _Done | None:
    return next((done for program, done in _KNOWN if program.search(command)), None)


_GENERIC = frozenset(("run", "main", "index", "hook", "hooks", "script", "scripts", "start", "bin", "src"))
_ENDINGS = (".py", ".sh", ".bash", ".zsh", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php")


def _script(command: str) -> _Done | None:
    """Return what runs if a command is nothing but the call of a script: the script's name."""
    if re.search(r"[;|&<>\n`]|\$\(", command):
        return None
    words = [word for word in _words(command) if not word.startswith("-")]
    while words and (words[0] == "run" or re.fullmatch(_INTERPRETER, os.path.basename(words[0]))):
        words.pop(0)
    script = words[0] if words else ""
    if not script.endswith(_ENDINGS) and ("/" not in script or _known_program(script)):
        return None
    parts = [part for part in script.split("/") if part and "$" not in part]
    names = [slug for part in reversed(parts) if (slug := _slug(os.path.splitext(part)[0])) and slug not in _GENERIC]
    return _Done(names[0], f"Runs {parts[-1]}", is_general=False) if names else None


_INTERPRETER = r"(?:python|perl|ruby|node|bash|sh|zsh|env|deno|bun|uv|npx|tsx)[\d.]*"


def _program(command: str) -> str:
    """Return the program that a command runs first; empty if it begins with a construct of the shell."""
    first = next((word for word in _words(command) if "=" not in word), "")
    return "" if first in _CONSTRUCTS or not re.search(r"\w", first) else os.path.basename(first)


_CONSTRUCTS = frozenset(("if", "case", "for", "while", "until", "test", "set", "cd"))


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command.strip().partition("\n")[0])
    except ValueError:
        return command.split()


_BLOCK, _ASK = _Done("block", "May refuse"), _Done("ask", "May ask about")


def _decision(event: str, command: str) -> _Done | None:
    """Return what a command answers itself."""
    if BY_NAME[event].effect("folder") is not Effect.DECIDES:
        return None
    if re.search(r"exit 2\b|decision\W{1,8}(?:deny|block)\b", command, re.IGNORECASE):
        return _BLOCK
    return _ASK if re.search(r"decision\W{1,8}ask\b", command, re.IGNORECASE) else None


def _searched(command: str) -> str:
    """Return the text that a command looks for in its input with grep."""
    found = re.search(r"\bgrep\s+(?:-\S+\s+)*(?:'([^']+)'|\"([^\"]+)\"|([^\s'\"|;&]+))", command)
    return next(filter(None, found.groups()), "") if found else ""


# ---- names of folders


def _slug(text: str) -> str:
    """Return lower-case words with hyphens; of an expression, its literal text."""
    text = re.sub(r"\\[bBsSdDwWAZnt]|\[[^\]]*\]|\(\?\w+\)", " ", text)
    return "-".join(re.findall(r"[a-z0-9]+", text.lower()))


def _shortened(name: str) -> str:
    if len(name) <= _LONGEST_NAME:
        return name
    cut = name[:_LONGEST_NAME]
    return cut.rpartition("-")[0] or cut
