"""A tool call that wants to run, and the question whether it may."""

from __future__ import annotations

import difflib
import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..events import tool_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# What each mode asks about.
MODES = {
    "ask": frozenset(("Shell", "WriteFile", "StrReplaceFile", "Task")),
    "auto": frozenset(("Shell",)),
    "yolo": frozenset[str](),
}
_LONGEST_DIFF = 5_000_000  # bytes of a file that a difference is made of


class Call(NamedTuple):
    """One call of a tool: exactly this tool, exactly this input."""

    tool_name: str
    tool_input: dict[str, Any]
    work_dir: str
    session_id: str = ""
    tool_use_id: str = ""
    more: Mapping[str, Any] = {}  # further fields of its events, such as whose call it is

    @property
    def tool(self) -> str:
        """The tool's own name among those that other agents call it by."""
        return next((name for name in tool_names(self.tool_name) if name in _NAMED), self.tool_name)

    @property
    def path(self) -> str | None:
        """The file it is about, links and all resolved."""
        path = self.tool_input.get("file_path")
        return resolved(self.work_dir, path) if isinstance(path, str) and path and "\0" not in path else None

    @property
    def action(self) -> str:
        """What it does, in a few words: a label, never what an approval is bound to."""
        return _ACTIONS.get(self.tool, f"use {self.tool_name}")

    @property
    def display(self) -> dict[str, Any]:
        """What somebody who decides must see: the real command, or the path and what would change in it."""
        given = self.tool_input
        if self.tool == "Shell":
            return {"kind": "command", "command": str(given.get("command", "")), "cwd": self.work_dir}
        if self.path is not None:
            shown = {"kind": "file", "path": self.path, "cwd": self.work_dir}
            difference = _difference(self)
            return shown if difference is None else {**shown, "kind": "diff", "diff": difference}
        return {"kind": "input", "input": given, "cwd": self.work_dir}

    @property
    def grant(self) -> str:
        """What an approval for the session covers: the command and directory, the tool and path, or the exact input."""
        if self.tool == "Shell":
            return json.dumps(["Shell", given_command(self), self.work_dir])
        if self.path is not None:
            return json.dumps([self.tool, self.path])
        return json.dumps([self.tool_name, self.tool_input], sort_keys=True)


class Request(NamedTuple):
    """A call that somebody is asked about."""

    id: str
    call: Call
    why: str | None = None  # what a hook or rule that forces the question says
    settled: Callable[[], Answer | None] | None = None  # asked by a surface whose turn has come: is it needed still?

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
    """Where a question is put to somebody. Cancelled, it withdraws what it shows."""

    async def ask(self, request: Request) -> Answer | None:
        """The answer, or None if nobody will give one here."""


def resolved(work_dir: str, path: str) -> str:
    """The file that a path means to the tools: what is shown, approved and written must be the same."""
    return os.path.realpath(os.path.join(work_dir, os.path.expanduser(path)))


def given_command(call: Call) -> str:
    command = call.tool_input.get("command", "")
    return command if isinstance(command, str) else json.dumps(command)


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


def _lines(text: str) -> list[str]:
    """Lines that differ wherever the texts do, in their ends too."""
    *lines, last = text.split("\n")
    return [*lines, f"{last} [no line end]"] if last else lines
