"""Presents a tool call that needs an approval, on a page, in a terminal and in an agent.

A presentation is made from the exact tool and input that an answer is bound to, never from labels. Only the diff of a
file tool and the resolved path come from the machine that has the file. Dangerous parts are marked. The texts are raw:
`text_lines` escapes hidden characters for terminals, `hub.request_html` for pages.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics.display_text import one_line, visible
from ..guards import block_dangerous_commands
from ..guards.calls import DENY, GuardedCall
from ..shell import reader
from .requests import FILE_TOOLS, line_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..guards.calls import GuardFinding
    from ..shell.reader import ShellCommand
    from .requests import Call

COMMAND, DIFF, INPUT = "command", "diff", "input"
_MAX_CHECKED = 20_000  # characters of a command
_PLAIN_KEYS = ("command", "description", "timeout")  # keys of a shell tool's input that are shown anyway, or harmless

# Words of a command that must not be overlooked, even if they are harmless there.
_NOTABLE_PROGRAMS = frozenset(
    (
        *("chmod", "chown", "curl", "dd", "doas", "eval", "kill", "killall", "mkfs", "pkill", "reboot", "rm", "rmdir"),
        *("scp", "shred", "shutdown", "ssh", "su", "sudo", "truncate", "wget"),
    )
)
_NOTABLE_OPTIONS = frozenset(
    ("-rf", "-fr", "-Rf", "-f", "--force", "--hard", "--no-verify", "--delete", "--privileged", "-delete")
)
NOTABLE, DANGEROUS = 1, 2  # how a part of a command is marked


class CommandDanger(NamedTuple):
    """A dangerous part of a command, why it is dangerous, and whether the guard would deny it."""

    part: str
    why: str
    is_grave: bool

    def __str__(self) -> str:
        return one_line(f"{self.why}: {self.part}" if self.part else self.why)


class Presentation(NamedTuple):
    """A tool call as it is shown to people."""

    title: str
    kind: str  # COMMAND, DIFF or INPUT
    text: str
    marks: bytes = b""  # of a command: for each character 0, NOTABLE or DANGEROUS
    dangers: tuple[CommandDanger, ...] = ()
    path: str | None = None  # of the file that the call is about

    def parts(self) -> Iterator[tuple[str, int]]:
        """Yield the text in parts, each with its mark; 0 for what follows the command."""
        at = 0
        for mark, group in groupby(self.marks):
            end = at + len(list(group))
            yield self.text[at:end], mark
            at = end
        if at < len(self.text):
            yield self.text[at:], 0


def present(call: Call, display: Any) -> Presentation:
    """Return the presentation of a call. Of its `display`, only a file tool's diff and path are used."""
    if call.tool == "Shell" and (line := shell_line(call)):
        plain = (*_PLAIN_KEYS, line_key(call.tool_input))
        more = {key: value for key, value in call.tool_input.items() if key not in plain}
        marks, dangers = command(line, call.work_dir)
        return Presentation(call.action, COMMAND, line + (f"\n\n{formatted(more)}" if more else ""), marks, dangers)
    path = call.tool_input.get("file_path")
    path = path if isinstance(path, str) else None
    display = display if isinstance(display, dict) and call.tool in FILE_TOOLS else {}
    difference, resolved = display.get("diff"), display.get("path")
    if path is not None and isinstance(resolved, str):
        path = _path(call.work_dir, path, resolved)
    if path is not None and isinstance(difference, str):
        return Presentation(call.action, DIFF, difference or "(no change)", path=path)
    return Presentation(call.action, INPUT, formatted(call.tool_input), path=path)


def _path(work_dir: str, path: str, resolved: str) -> str:
    """Return the target of a path, with the path itself if they differ: a symbolic link, a home."""
    is_plain = os.path.normpath(os.path.join(work_dir, path)) == os.path.normpath(resolved)
    return resolved if is_plain else f"{path} → {resolved}"


def summary(call: Call) -> str:
    """Return the call on one line, with hidden characters escaped."""
    about = call.tool_input.get("file_path") or json.dumps(call.tool_input)
    return one_line((call.tool == "Shell" and shell_line(call)) or f"{call.tool_name} {about}")


def headline(agent: str, call: Call) -> str:
    """Return which agent wants to do what; without the input, which may contain secrets."""
    return one_line(f"{agent or 'An agent'} wants to {call.action}")


class RequestEnd(NamedTuple):
    """How a request ended, in a few words, and who answered it."""

    outcome: str
    by: str  # empty if no person at the hub did

    def __str__(self) -> str:
        return f"{self.outcome} by {self.by}" if self.by else self.outcome


def ending(
    state: str,
    approved: bool | None = None,
    via: str | None = None,
    scope: str | None = None,
    by: str | None = None,
    machine: str | None = None,
) -> RequestEnd:
    """Return how a request ended.

    For a withdrawn request, `approved` and `via` are the decision made elsewhere and its place, as `machine` reports.
    """
    if state == "approved":
        outcome = "approved for this session" if scope == "session" else "approved once"
    elif state == "withdrawn":
        decision = "withdrawn" if approved is None else "approved" if approved else "denied"
        outcome = f"{decision}: {_ENDED_ELSEWHERE.get(via, via)}" if via else decision
        if approved is not None and machine:
            outcome += f", says {machine}"
    else:
        outcome = {"open": "waiting", "expired": "expired: nobody answered in time"}.get(state, state)
    if not by:
        return RequestEnd(outcome, "")
    where = ", earlier in this session" if via == "session" else "" if via == "page" else f" ({via})"
    return RequestEnd(outcome, by + where)


_ENDED_ELSEWHERE = {
    "gone": "the agent no longer waits",
    "agent": "the agent no longer waits",
    "nobody": "nobody answered in time",
    "revoked": "the token of the machine was revoked",
    "terminal": "in the terminal",
    "hook": "by a hook",
    "rule": "by a rule",
    "session": "earlier in this session",
    "allow": "by tenterhook allow",
}


def text_lines(presented: Presentation) -> list[str]:
    """Return the lines of the text for a terminal, with hidden characters escaped."""
    return visible(presented.text).split("\n")


def shell_line(call: Call) -> str:
    """Return the command of a shell tool as one line; empty if there is none."""
    given = call.tool_input.get(line_key(call.tool_input))
    if isinstance(given, list) and all(isinstance(word, str) for word in given):
        return shlex.join(given)
    return given if isinstance(given, str) else ""


def formatted(value: Any) -> str:
    """Return a value as indented JSON; a string as it is."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


@functools.lru_cache(maxsize=512)
def command(line: str, directory: str = "/") -> tuple[bytes, tuple[CommandDanger, ...]]:
    """Return the marks of a shell line, one for each character, and its dangers."""
    if len(line) > _MAX_CHECKED:
        return b"", (CommandDanger("", "Too long to be checked for dangers", is_grave=False),)
    directory = directory.replace("\0", "") if directory.startswith("/") else "/"
    home = re.match(r"/(?:home|Users)/[^/]+|/root", directory)
    env = {"HOME": home[0] if home else "/root"}
    call = GuardedCall("Shell", {"command": line}, directory, env)
    dangers = tuple(dict.fromkeys(map(_danger, block_dangerous_commands.dangers(call, line))))
    commands = [each for each in reader.read(line, directory, env).commands if each.span is not None]
    marks = bytearray(len(line))
    for start, end in (span for each in commands for span in _notable(each, line)):
        marks[start:end] = bytes([NOTABLE]) * (end - start)
    for start, end in (span for danger in dangers for span in _find(danger.part, commands, line)):
        marks[start:end] = bytes([DANGEROUS]) * (end - start)
    return bytes(marks), dangers


def _danger(found: GuardFinding) -> CommandDanger:
    why = found.why.removeprefix("it ")
    return CommandDanger(found.part, why[:1].upper() + why[1:], is_grave=found.decision == DENY)


def _find(part: str, commands: list[ShellCommand], line: str) -> list[tuple[int, int]]:
    """Return the spans of a dangerous part of a line: a command, or else its words with any blanks between them."""
    spans = [each.span for each in commands if each.shown == part and each.span is not None]
    words = part.removesuffix("…").split()
    return spans or [found.span() for found in re.finditer(r"\s+".join(map(re.escape, words)), line) if words]


def _notable(command: ShellCommand, line: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of a command's notable words in the line."""
    programs = [word for word in command.words[:1] if word in _NOTABLE_PROGRAMS]
    for word in programs + [word for word in command.words if word in _NOTABLE_OPTIONS]:
        found = re.compile(rf"(?<!{_INSIDE}){re.escape(word)}(?!{_INSIDE})").search(line, *(command.span or ()))
        if found:
            yield found.span()


_INSIDE = r"""[^\s;|&(){}"'`]"""  # a character of a word
