"""Tool calls, and requests to approve them."""

from __future__ import annotations

import os
import time

from ..basics import light_json, places
from ..basics.digests import sha256
from ..basics.named_tuples import NamedTuple
from ..events import DIRECTORY_KEYS, mcp_names, tool_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# The tools that each mode asks about.
MODES = {
    "ask": frozenset(("Shell", "WriteFile", "StrReplaceFile", "Task")),
    "auto": frozenset(("Shell",)),
    "yolo": frozenset[str](),
}
LASTS = 3600.0  # seconds that a request stays open by default
_MAX_ACTION, _MAX_WHY = 200, 4000  # characters that are sent to the hub
_MAX_DISPLAY = 200_000  # characters of each value of `display` that are sent to the hub
_MAX_COMPARED = 5_000_000  # bytes of a file that is compared


class Call(NamedTuple):
    """One call of a tool with its exact input."""

    tool_name: str
    tool_input: dict[str, Any]
    work_dir: str
    session_id: str = ""
    tool_use_id: str = ""
    more: Mapping[str, Any] = {}  # further fields of its events
    agent: str = "agent"  # claude-code, codex, …; the bundled one is `agent`

    @property
    def tool(self) -> str:
        """Tenterhook's name of the tool, or the agent's if it has none."""
        return next((name for name in self.tool_names if name in _NAMED), self.tool_name)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """All names of the tool, except `mcp:server/tool`."""
        return tool_names(self.tool_name, (), self.more.get("tool_kind"))

    def with_kind(self, kinds: Mapping[str, str]) -> Call:
        """Return the call with the tool's kind; `kinds` maps the names of custom tools to kinds."""
        kind = kinds.get(self.tool_name)
        return self if kind is None else self._replace(more={**self.more, "tool_kind": kind})

    @property
    def mcp_names(self) -> list[str]:
        """The names `mcp:server/tool` of an MCP server's tool: one for each reading of the agent's own name."""
        return self.more.get("mcp_names") or mcp_names(self.tool_name)

    @property
    def path(self) -> str | None:
        """The file of the call, with symbolic links resolved; None if there is none, or several."""
        return self._path(resolved)

    def _path(self, locate: Callable[[str, str], str]) -> str | None:
        path, paths = self.tool_input.get("file_path"), self.tool_input.get("file_paths")
        if not isinstance(path, str) or not path or "\0" in path or (isinstance(paths, list) and len(paths) > 1):
            return None
        return locate(self.work_dir, path)

    @property
    def directory(self) -> str:
        """The directory that it runs in: the session's, or the one in the input of a shell tool."""
        return self._directory(resolved)

    def _directory(self, locate: Callable[[str, str], str]) -> str:
        keys = self._directory_keys
        return locate(self.work_dir, self.tool_input[keys[0]]) if keys else self.work_dir

    @property
    def directories(self) -> list[str]:
        """The directories it may run in: all in the input of a shell tool, since agents differ in the key they read."""
        return [resolved(self.work_dir, self.tool_input[key]) for key in self._directory_keys] or [self.work_dir]

    @property
    def _directory_keys(self) -> list[str]:
        """The keys of directories in the input of a shell tool; the first one is shown as its directory."""
        given = self.tool_input if self.tool == "Shell" else {}
        found = {key: given.get(key) for key in DIRECTORY_KEYS}
        return [key for key, value in found.items() if isinstance(value, str) and value and "\0" not in value]

    @property
    def more_input(self) -> dict[str, Any]:
        """The rest of the input that may change how the call runs, such as a switch for the sandbox of a shell tool."""
        more = {key: value for key, value in self._further_input.items() if value}
        return {key: value for key, value in more.items() if value is True or not isinstance(value, (int, float))}

    @property
    def _further_input(self) -> dict[str, Any]:
        skipped: tuple[str, ...] = _PLAIN_KEYS
        if self.tool == "Shell":
            skipped = (*skipped, line_key(self.tool_input), *self._directory_keys[:1])
        return {key: value for key, value in self.tool_input.items() if key not in skipped}

    @property
    def action(self) -> str:
        """What the call does, in a few words; approvals are never bound to it."""
        return _ACTIONS.get(self.tool, f"use {self.tool_name}")

    @property
    def display(self) -> dict[str, Any]:
        """What must be shown to decide about the call: the command, the path and diff of a file, or the input."""
        given = self.tool_input
        if self.tool == "Shell":
            more = {"input": self.more_input} if self.more_input else {}
            return {"kind": "command", "command": given_command(self), "cwd": self.directory, **more}
        if self.path is not None:
            shown = {"kind": "file", "path": self.path, "cwd": self.work_dir}
            difference = _difference(self, self.path)
            return shown if difference is None else {**shown, "kind": "diff", "diff": difference}
        return {"kind": "input", "input": given, "cwd": self.work_dir}

    @property
    def grant(self) -> str:
        """The scope of an approval for the session: command and directory, file tool and path, or the exact input."""
        return self.grant_by(resolved)

    def grant_by(self, locate: Callable[[str, str], str]) -> str:
        """Return `grant` with paths resolved by `locate`, for files on another machine."""
        if self.tool == "Shell":
            # 0, 1 and false may be switches, such as of a sandbox; other numbers are limits of time or size
            more = {
                key: value for key, value in self._further_input.items() if value is not None and not _is_limit(value)
            }
            parts = ["Shell", given_command(self), self._directory(locate), *([more] if more else [])]
            return light_json.dumps(parts, sort_keys=True)
        if self.tool in FILE_TOOLS and (path := self._path(locate)) is not None:
            return light_json.dumps([self.tool, path])
        return light_json.dumps([self.tool_name, self.tool_input], sort_keys=True)


class Request(NamedTuple):
    """A request to approve a call."""

    id: str
    call: Call
    why: str | None = None  # the reason of the hook or rule that requires the question
    settled: Callable[[], Answer | None] | None = None  # called by a surface before it asks: returns an answer if any
    expires_at: float | None = None  # seconds since 1970
    is_forced: bool = False  # a hook requires it: no approval for the session answers it

    @property
    def hash(self) -> str:
        """What an answer is bound to: the SHA-256, in hex, of the canonical JSON of [tool name, tool input, directory].

        Canonical JSON is the output of `json.dumps(value, sort_keys=True, separators=(",", ":"))`: keys sorted by code
        point, no spaces, characters beyond ASCII escaped as \\uXXXX. The directory is the session's.
        """
        return content_hash(self.call.tool_name, self.call.tool_input, self.call.work_dir)

    def as_json(self, machine: str, process: str | None) -> dict[str, Any]:
        """Return the JSON for the hub. An approval for the session lasts as long as `process`, the agent's."""
        call = self.call
        left = LASTS if self.expires_at is None else self.expires_at - time.time()
        return {
            "id": self.id,
            "tool_name": call.tool_name,
            "tool_input": light_json.plain(call.tool_input),
            "hash": self.hash,
            "display": light_json.plain(_shortened(call.display)),
            "action": call.action[:_MAX_ACTION],
            "why": self.why and self.why[:_MAX_WHY],
            "session_id": call.session_id,
            "agent": call.agent,
            "machine": machine,
            "work_dir": call.work_dir,
            "expires_in": max(round(left, 3), 1.0),
            "grant": None if self.is_forced or process is None else f"{process} {call.grant}",
        }

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of the request's permission events."""
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
    """An answer to a request."""

    approved: bool
    by: str  # hook, rule, terminal, …
    scope: str = "once"
    reason: str | None = None
    ends_turn: bool = False  # a denial without a reason: the agent stops and waits for its user


def fresh_id() -> str:
    return f"permission_{os.urandom(6).hex()}"


def content_hash(tool_name: str, tool_input: Any, work_dir: str) -> str:
    """Return the hash that is described at `Request.hash`."""
    parts = [tool_name, light_json.plain(tool_input), work_dir]
    return str(sha256(light_json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest())


def resolved(work_dir: str, path: str) -> str:
    """Return the file that tools open for a path, so that the file shown and approved is the one written."""
    return places.real_path(os.path.join(work_dir, os.path.expanduser(places.encodable(path))))


def _is_limit(value: Any) -> bool:
    return isinstance(value, (int, float)) and value not in (0, 1)


LINE_KEYS = ("command", "cmd", "script", "shell_command", "command_line")


def line_key(given: Mapping[str, Any]) -> str:
    """Return the key of the shell line in a tool's input; `command` if there is none."""
    return next((key for key in LINE_KEYS if given.get(key)), LINE_KEYS[0])


def given_command(call: Call) -> str:
    """Return the command of a shell tool; as JSON if it is not a string."""
    command = call.tool_input.get(line_key(call.tool_input), "")
    return command if isinstance(command, str) else light_json.dumps(command)


# Keys of the input that are shown anyway, or do not affect what runs.
_PLAIN_KEYS = (
    *("command", "description", "justification", "timeout", "run_in_background", "is_background", "fireAndForget"),
    *("riskLevel", "riskLevelReason", "tty"),
)
FILE_TOOLS = ("WriteFile", "ReadFile", "StrReplaceFile", "Glob", "Grep")
_NAMED = ("Shell", "Task", *FILE_TOOLS)
_ACTIONS = {
    "Shell": "run command",
    "WriteFile": "write file",
    "StrReplaceFile": "edit file",
    "ReadFile": "read file",
    "Task": "start a subagent",
}


def _difference(call: Call, path: str) -> str | None:
    """Return the diff that a call would make in a file; None if its input does not tell."""
    import difflib

    before = ""
    try:
        if os.path.isfile(path):  # reading a pipe or a terminal could block
            if os.path.getsize(path) > _MAX_COMPARED:
                return _uncompared(call.tool_input)
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
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
    name = os.path.basename(path)
    return "\n".join(difflib.unified_diff(_lines(before), _lines(after), name, name, lineterm=""))


def _uncompared(given: Mapping[str, Any]) -> str | None:
    """Return the removed and added lines in an input, for a file that is too large for a diff; None without any."""
    texts = [(sign, given.get(key)) for sign, key in (("-", "old_string"), ("+", "new_string"), ("+", "content"))]
    lines = [f"{sign}{line}" for sign, text in texts if isinstance(text, str) for line in text.split("\n")]
    return "\n".join(lines) or None


def _shortened(display: dict[str, Any]) -> dict[str, Any]:
    """Return a display without its large values: the hub also gets the input."""
    large = [key for key, value in display.items() if len(light_json.dumps(value)) > _MAX_DISPLAY]
    if not large:
        return display
    kind = "file" if "diff" in large else "input"
    return {**{key: value for key, value in display.items() if key not in large}, "kind": kind}


def _lines(text: str) -> list[str]:
    """Return the lines of a text, with a mark for a missing line end, so that a diff shows it."""
    *lines, last = text.split("\n")
    return [*lines, f"{last} [no line end]"] if last else lines
