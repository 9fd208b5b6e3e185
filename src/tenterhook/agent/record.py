"""A session as JSON lines: every message, hook result and decision, in the order in which they happened.

Each line is written at once, so that a killed process loses at most the line it was writing.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, ToolReturnPart

from ..basics import places
from ..errors import HookError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic_ai.messages import ModelMessage

SCHEMA = 1


def directory() -> str:
    return os.path.join(places.state(), "agent")


class Record:
    """One session's file. Trouble with it is said once and costs nobody the session."""

    def __init__(self, session_id: str, say: Callable[[str], None]) -> None:
        self.path = os.path.join(directory(), f"{places.file_name(session_id)}.jsonl")
        self._say = say
        self._descriptor: int | None = None
        self._said = False
        self._written = 0  # of the messages of the history

    def write(self, kind: str, **data: Any) -> bool:
        """Append a line; False if it could not be."""
        line = json.dumps({"type": kind, "time": round(time.time(), 3), **data}, default=str).encode() + b"\n"
        try:
            if self._descriptor is None:
                self._descriptor = self._open()
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            if not self._said:
                self._said = True
                self._say(f"tenterhook: this session is not kept: {error.strerror}: {self.path}")
            return False
        return True

    def _open(self) -> int:
        places.make_private(directory())
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.path, flags, 0o600)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":  # what was cut off stays a line of its own
            os.write(descriptor, b"\n")
        return descriptor

    def write_new(self, messages: Sequence[ModelMessage]) -> None:
        """Append the messages of a history that are not there yet."""
        for message in messages[self._written :]:
            self.write("message", message=_plain([message])[0])
        self._written = len(messages)

    def replace(self, messages: Sequence[ModelMessage], **data: Any) -> bool:
        """From here on the history is another one."""
        self._written = len(messages)
        return self.write("compaction", **data, messages=_plain(messages))

    def follows(self, messages: Sequence[ModelMessage]) -> None:
        """The history that the file holds already."""
        self._written = len(messages)

    def close(self) -> None:
        """Get everything onto the disk."""
        if self._descriptor is not None:
            try:
                os.fsync(self._descriptor)
            except OSError:
                pass
            os.close(self._descriptor)
            self._descriptor = None


def read(session_id: str) -> list[dict[str, Any]]:
    """The lines of a session; one that is cut off or broken is left out."""
    path = os.path.join(directory(), f"{places.file_name(session_id)}.jsonl")
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise HookError(
            f"no session {session_id}: {error.strerror}: {path}", "see: tenterhook agent --resume"
        ) from None
    found = [entry for line in lines if (entry := _entry(line)) is not None]
    if not found:
        raise HookError(f"{path} holds no session", "start a new one: tenterhook agent")
    return found


def _entry(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and isinstance(entry.get("type"), str) else None


def history(entries: Sequence[dict[str, Any]]) -> list[ModelMessage]:
    """What the model knows of a session, in a form that it can go on from."""
    plain: list[Any] = []
    for entry in entries:
        if entry["type"] == "message":
            plain.append(entry.get("message"))
        elif entry["type"] == "compaction" and isinstance(entry.get("messages"), list):
            plain = list(entry["messages"])
    messages: list[ModelMessage] = []
    for each in plain:
        try:
            messages += ModelMessagesTypeAdapter.validate_python([each])
        except ValueError:  # written by another version: the rest still tells most of it
            continue
    return mended(messages)


def mended(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The history with a result for every call: a process that ends in the middle of one leaves it without."""
    whole: list[ModelMessage] = []
    for number, message in enumerate(messages):
        whole.append(message)
        if not isinstance(message, ModelResponse):
            continue
        following = messages[number + 1] if number + 1 < len(messages) else None
        answered = {
            part.tool_call_id
            for part in (following.parts if isinstance(following, ModelRequest) else ())
            if hasattr(part, "tool_call_id")
        }
        missing = [call for call in message.tool_calls if call.tool_call_id not in answered]
        if missing:
            whole.append(ModelRequest(parts=[_interrupted(call.tool_name, call.tool_call_id) for call in missing]))
    return whole


def _interrupted(tool_name: str, tool_call_id: str) -> ToolReturnPart:
    said = "Interrupted: the call was not finished; look at what it has done before you go on"
    return ToolReturnPart(tool_name, said, tool_call_id, outcome="interrupted")


def lost_tasks(entries: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Background tasks that began and of whose end nothing is known."""
    tasks = {number: entry for entry in entries if (number := task_number(entry))}
    yield from (entry for entry in tasks.values() if entry.get("status") == "started" and entry.get("background"))


def task_number(entry: dict[str, Any]) -> int:
    """Which task a line is about; 0 if it is about none."""
    found = str(entry.get("task_id")).removeprefix("task_")
    return int(found) if entry["type"] == "task" and found.isascii() and found.isdigit() else 0


def unheard(entries: Sequence[dict[str, Any]]) -> list[str]:
    """Notifications that no request to the model has held yet."""
    told = [
        entry["text"] for entry in entries if entry["type"] == "notification" and isinstance(entry.get("text"), str)
    ]
    sent = [json.dumps(entry.get("message")) for entry in entries if entry["type"] == "message"]
    return [text for text in told if not any(json.dumps(text)[1:-1] in message for message in sent)]


def newest(work_dir: str, *, but: str | None = None) -> str | None:
    """The session of a directory that was used last, this one left out."""
    found: list[tuple[float, str]] = []
    for name in os.listdir(directory()) if os.path.isdir(directory()) else ():
        path = os.path.join(directory(), name)
        try:
            if name.endswith(".jsonl") and os.path.isfile(path):
                found.append((os.path.getmtime(path), path))
        except OSError:  # gone meanwhile
            continue
    for _, path in sorted(found, reverse=True):
        try:
            with open(path, "rb") as file:
                first = _entry(file.readline())
        except OSError:
            continue
        if first is not None and first["type"] == "session" and first.get("work_dir") == work_dir:
            session_id = str(first.get("session_id"))
            if session_id != but:
                return session_id
    return None


def _plain(messages: Sequence[ModelMessage]) -> list[Any]:
    return list(ModelMessagesTypeAdapter.dump_python(list(messages), mode="json"))
