"""The values of guards: a tool call as a guard sees it, and what it has against it."""

from __future__ import annotations

import os

from ..basics.named_tuples import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

ASK, DENY = "ask", "deny"
_HEADERS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: ", "+++ b/", "--- a/")
_DIRECTORIES = ("workdir", "cwd", "directory", "dir_path")  # keys under which agents say where a line runs


class Objection(NamedTuple):
    """A guard's decision about a call, with the reason that the agent and the person are given."""

    decision: str  # ASK or DENY
    reason: str


class GuardedCall(NamedTuple):
    """A tool call, with the variables that a hook would have and the settings of the hook."""

    tool_name: str
    tool_input: Any
    work_dir: str
    environment: Mapping[str, str]
    settings: Mapping[str, Any] = {}  # never changed

    def argument(self, name: str) -> Any:
        """Return one argument of the call, or None."""
        return self.tool_input.get(name) if isinstance(self.tool_input, dict) else None

    def line(self) -> str | list[str] | None:
        """Return the shell line, or the program with its arguments, that the call would run."""
        command = self.argument("command") if isinstance(self.tool_input, dict) else self.tool_input
        if isinstance(command, list):
            return [str(word) for word in command] or None
        return command if command and isinstance(command, str) else None

    def directory(self) -> str:
        """Return the directory in which the call would run."""
        found = self.work_dir or os.getcwd()
        for key in _DIRECTORIES:
            where = self.argument(key)
            if where and isinstance(where, str):
                found = os.path.join(found, where)
        return os.path.abspath(found)


def paths_in(value: Any, key: str = "path") -> Iterator[str]:
    """Yield every string that may be a path: of keys that sound like one, and of the headers of a patch."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from paths_in(each, str(name).lower())
    elif isinstance(value, list):
        for each in value:
            yield from paths_in(each, key)
    elif isinstance(value, str):
        if any(part in key for part in ("path", "file", "source", "destination", "target", "directory", "uri", "name")):
            yield value[len("file://") :] if value.startswith("file://") else value
        yield from patched(value)


def patched(text: str) -> Iterator[str]:
    """Yield the files that a patch names. As for Codex, blanks around a header do not count; `\\n` ends a line."""
    for line in text.split("\n") if "*** " in text or "+++ " in text else ():
        for head in _HEADERS:
            if line.strip().startswith(head):
                yield line.strip()[len(head) :]
