"""A tool call that wants to run, and the question whether it may."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..basics import light_json
from ..events import tool_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# What each mode asks about.
MODES = {
    "ask": frozenset(("Shell", "WriteFile", "StrReplaceFile", "Task")),
    "auto": frozenset(("Shell",)),
    "yolo": frozenset[str](),
}
LASTS = 3600.0  # seconds that a question stays open where nobody says how long
_LONGEST_LABEL, _LONGEST_WHY = 200, 4000  # characters that the hub is sent
_LARGEST_SENT = 200_000  # characters of what is shown that the hub is sent
_LONGEST_DIFF = 5_000_000  # bytes of a file that a difference is made of


class Call(NamedTuple):
    """One call of a tool: exactly this tool, exactly this input."""

    tool_name: str
    tool_input: dict[str, Any]
    work_dir: str
    session_id: str = ""
    tool_use_id: str = ""
    more: Mapping[str, Any] = {}  # further fields of its events, such as whose call it is
    agent: str = "agent"  # claude-code, codex, …; the bundled one is `agent`

    @property
    def tool(self) -> str:
        """The tool's own name among those that other agents call it by."""
        return next((name for name in tool_names(self.tool_name) if name in _NAMED), self.tool_name)

    @property
    def path(self) -> str | None:
        """The file it is about, links and all resolved; None also for a patch of several files."""
        path, paths = self.tool_input.get("file_path"), self.tool_input.get("file_paths")
        if not isinstance(path, str) or not path or "\0" in path or (isinstance(paths, list) and len(paths) > 1):
            return None
        return resolved(self.work_dir, path)

    @property
    def directory(self) -> str:
        """Where it happens: some agents' shells can be told another directory than the session's."""
        if self.tool == "Shell":
            for key in _DIRECTORIES:
                if isinstance(told := self.tool_input.get(key), str) and told and "\0" not in told:
                    return resolved(self.work_dir, told)
        return self.work_dir

    @property
    def action(self) -> str:
        """What it does, in a few words: a label, never what an approval is bound to."""
        return _ACTIONS.get(self.tool, f"use {self.tool_name}")

    @property
    def display(self) -> dict[str, Any]:
        """What a person who decides must see: the real command, or the path and what would change in it."""
        given = self.tool_input
        if self.tool == "Shell":
            return {"kind": "command", "command": given_command(self), "cwd": self.directory}
        if self.path is not None:
            shown = {"kind": "file", "path": self.path, "cwd": self.work_dir}
            difference = _difference(self)
            return shown if difference is None else {**shown, "kind": "diff", "diff": difference}
        return {"kind": "input", "input": given, "cwd": self.work_dir}

    @property
    def grant(self) -> str:
        """What an approval for the session covers: the command and directory, the tool and path, or the exact input."""
        if self.tool == "Shell":
            return json.dumps(["Shell", given_command(self), self.directory])
        if self.path is not None:
            return json.dumps([self.tool, self.path])
        return json.dumps([self.tool_name, self.tool_input], sort_keys=True)


class Request(NamedTuple):
    """A call that a person is asked about."""

    id: str
    call: Call
    why: str | None = None  # what a hook or rule that forces the question says
    settled: Callable[[], Answer | None] | None = None  # asked by a surface whose turn has come: is it needed still?
    expires_at: float | None = None  # seconds since 1970
    is_forced: bool = False  # by a hook: no approval for the session answers it

    @property
    def hash(self) -> str:
        """What an answer is bound to: the SHA-256, in hex, of the canonical JSON of [tool name, tool input, directory].

        Canonical is what Python writes with `json.dumps(value, sort_keys=True, separators=(",", ":"))`: keys sorted
        by code point, no spaces, everything beyond ASCII escaped as \\uXXXX. The directory is the session's.
        """
        return content_hash(self.call.tool_name, self.call.tool_input, self.call.work_dir)

    def as_json(self, machine: str, process: str | None) -> dict[str, Any]:
        """What the hub is told of it. An approval for the session lasts as long as the agent's process."""
        call = self.call
        left = LASTS if self.expires_at is None else self.expires_at - time.time()
        return {
            "id": self.id,
            "tool_name": call.tool_name,
            "tool_input": light_json.plain(call.tool_input),
            "hash": self.hash,
            "display": light_json.plain(_small_enough(call.display)),
            "action": call.action[:_LONGEST_LABEL],
            "why": self.why and self.why[:_LONGEST_WHY],
            "session_id": call.session_id,
            "agent": call.agent,
            "machine": machine,
            "work_dir": call.work_dir,
            "expires_in": max(round(left, 3), 1.0),
            "grant": None if self.is_forced or process is None else f"{process} {call.grant}",
        }

    @property
    def fields(self) -> dict[str, Any]:
        """Its fields in the permission events."""
        call = self.call
        return {
            "permission_request_id": self.id,
            "id": self.id,
            "tool_name": call.tool_name,
            "tool_input": call.tool_input,
            "tool_use_id": call.tool_use_id,
            "tool_call_id": call.tool_use_id,
            "action": call.action,
            "display": call.display,
            **call.more,
        }


class Answer(NamedTuple):
    """What a surface says about a request."""

    approved: bool
    by: str  # hook, rule, terminal, …
    scope: str = "once"
    reason: str | None = None
    ends_turn: bool = False  # a plain no: the agent stops and waits for its person


class Surface(Protocol):
    """Where a question is put to a person.

    Cancelled, it withdraws what it shows; the cancellation carries the `Answer` that came from elsewhere. If it finds
    that it was answered here before that, it returns this answer all the same, and this is the one that counts.
    """

    async def ask(self, request: Request) -> Answer | None:
        """The answer, or None if nobody will give one here."""


def fresh_id() -> str:
    return f"permission_{os.urandom(6).hex()}"


def content_hash(tool_name: str, tool_input: Any, work_dir: str) -> str:
    """The hash of `Request.hash`, from its parts."""
    parts = [tool_name, light_json.plain(tool_input), work_dir]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def resolved(work_dir: str, path: str) -> str:
    """The file that a path means to the tools: what is shown, approved and written must be the same."""
    return os.path.realpath(os.path.join(work_dir, os.path.expanduser(path)))


def given_command(call: Call) -> str:
    command = call.tool_input.get("command", "")
    return command if isinstance(command, str) else json.dumps(command)


_DIRECTORIES = ("workdir", "cwd", "directory", "dir_path", "working_directory")
_NAMED = ("Shell", "WriteFile", "ReadFile", "StrReplaceFile", "Glob", "Grep", "Task")
_ACTIONS = {
    "Shell": "run command",
    "WriteFile": "write file",
    "StrReplaceFile": "edit file",
    "ReadFile": "read file",
    "Task": "start a subagent",
}


def _difference(call: Call) -> str | None:
    """What a call would change in a file, as far as that can be told beforehand."""
    assert call.path is not None
    before = ""
    try:
        if os.path.isfile(call.path):  # a pipe, or a terminal, would be waited for
            if os.path.getsize(call.path) > _LONGEST_DIFF:
                return _pieces(call.tool_input)
            with open(call.path, encoding="utf-8", errors="replace", newline="") as file:
                before = file.read()
    except OSError:
        pass
    given = call.tool_input
    if call.tool == "WriteFile" and isinstance(given.get("content"), str):
        after = given["content"]
    elif call.tool == "StrReplaceFile" and isinstance(given.get("old_string"), str) and given["old_string"]:
        most = -1 if given.get("replace_all") else 1
        after = before.replace(given["old_string"], str(given.get("new_string", "")), most)
    else:
        return None
    name = os.path.basename(call.path)
    return "\n".join(difflib.unified_diff(_lines(before), _lines(after), name, name, lineterm=""))


def _pieces(given: Mapping[str, Any]) -> str | None:
    """What goes and what comes, where the file is too large to be compared."""
    pieces = [(sign, given.get(key)) for sign, key in (("-", "old_string"), ("+", "new_string"), ("+", "content"))]
    return (
        "\n".join(f"{sign}{line}" for sign, text in pieces if isinstance(text, str) for line in text.split("\n"))
        or None
    )


def _small_enough(display: dict[str, Any]) -> dict[str, Any]:
    """A display without what would make a message too long: the input is shown besides."""
    large = [key for key, value in display.items() if len(json.dumps(value)) > _LARGEST_SENT]
    if not large:
        return display
    return {
        **{key: value for key, value in display.items() if key not in large},
        "kind": "file" if "diff" in large else "input",
    }


def _lines(text: str) -> list[str]:
    """Lines that differ wherever the texts do, in their ends too."""
    *lines, last = text.split("\n")
    return [*lines, f"{last} [no line end]"] if last else lines
