"""A session as JSON lines: every message, hook result and decision, in the order in which they happened.

Each line is written at once, so that a killed process loses at most the line it was writing.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, ModelResponse, RetryPromptPart, ToolReturnPart

from ..basics import places
from .session_files import directory, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic_ai.messages import ModelMessage, ModelRequestPart

    Merged: TypeAlias = "ModelResponse | list[ModelRequestPart]"  # a response, or the parts of adjacent requests

SCHEMA = 1


class SessionRecord:
    """One session's file. An error is reported once; the session continues."""

    def __init__(self, session_id: str, say: Callable[[str], None]) -> None:
        self.path = path_of(session_id)
        self._say = say
        self._descriptor: int | None = None
        self._said = False
        self._written: list[Merged] = []  # the history that reading the file gives

    def write(self, kind: str, **data: Any) -> bool:
        """Append a line. Return False if that failed."""
        line = json.dumps({"type": kind, "time": round(time.time(), 3), **data}, default=str).encode() + b"\n"
        try:
            if self._descriptor is None:
                self._descriptor = self._open()
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            if not self._said:
                self._said = True
                self._say(f"tenterhook: this session is not saved: {error.strerror}: {self.path}")
            return False
        return True

    def _open(self) -> int:
        places.make_private(directory())
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self.path, flags, 0o600)
        size = os.fstat(descriptor).st_size
        if size and os.pread(descriptor, 1, size - 1) != b"\n":  # an incomplete line stays a line of its own
            os.write(descriptor, b"\n")
        return descriptor

    def write_new(self, messages: Sequence[ModelMessage]) -> None:
        """Append the part of a history that is not in the file yet.

        Contents are compared, not positions: pydantic-ai merges, copies and reorders the requests of a history.
        """
        unwritten = _unwritten(self._written, messages)
        if unwritten is None:  # what was written has changed
            self.write("history", messages=_plain(messages))
        else:
            for message in unwritten:
                self.write("message", message=_plain([message])[0])
        self._written = _merged(messages)

    def replace(self, messages: Sequence[ModelMessage], **data: Any) -> bool:
        """Record that the history is replaced by another one, by compaction. Return False if that failed."""
        self._written = _merged(messages)
        return self.write("compaction", **data, messages=_plain(messages))

    def follows(self, messages: Sequence[ModelMessage]) -> None:
        """Set the history that the file already contains."""
        self._written = _merged(messages)

    def close(self) -> None:
        """Flush to disk and close the file; it is opened again by the next `write`."""
        if self._descriptor is not None:
            try:
                os.fsync(self._descriptor)
            except OSError:
                pass
            os.close(self._descriptor)
            self._descriptor = None


def _merged(messages: Sequence[ModelMessage]) -> list[Merged]:
    """Return a history as the model gets it: adjacent requests merged, with the results of calls first."""
    merged: list[Merged] = []
    for message in messages:
        if not message.parts:
            continue
        if isinstance(message, ModelResponse):
            merged.append(message)
        elif merged and isinstance(last := merged[-1], list):
            last += message.parts
        else:
            merged.append(list(message.parts))
    for each in merged:
        if isinstance(each, list):
            each.sort(key=lambda part: not hasattr(part, "tool_call_id"))
    return merged


def _unwritten(written: list[Merged], messages: Sequence[ModelMessage]) -> list[ModelMessage] | None:
    """Return the messages, or parts of them, after `written`; None if they do not begin with it."""
    *before, last = written or [[]]
    merged = _merged(messages)
    if merged[: len(before)] != before:
        return None
    new = merged[len(before) :]
    if isinstance(last, ModelResponse):
        if new[:1] != [last]:
            return None
        del new[0]
    elif last:
        request = new[0] if new else None
        for part in last:
            if not isinstance(request, list) or part not in request:
                return None
            request.remove(part)
    ids = {id(part) for each in new for part in (each if isinstance(each, list) else [each])}
    return [only for message in messages if (only := _only(message, ids)) is not None]


def _only(message: ModelMessage, ids: set[int]) -> ModelMessage | None:
    """Return the message with only the parts that have these ids; None if none has."""
    if isinstance(message, ModelResponse):
        return message if id(message) in ids else None
    parts = [part for part in message.parts if id(part) in ids]
    if not parts:
        return None
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def history(entries: Sequence[dict[str, Any]]) -> list[ModelMessage]:
    """Return the history of a session, in a form that the model can continue."""
    plain: list[Any] = []
    for entry in entries:
        if entry["type"] == "message":
            plain.append(entry.get("message"))
        elif entry["type"] in ("compaction", "history") and isinstance(entry.get("messages"), list):
            plain = list(entry["messages"])
    messages: list[ModelMessage] = []
    for each in plain:
        try:
            messages += ModelMessagesTypeAdapter.validate_python([each])
        except ValueError:  # written by another version; the rest is still useful
            continue
    return repaired(messages)


def repaired(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Return the history with a result for every call, and without empty responses of failed requests.

    A process that ends in the middle of a call leaves it without a result.
    """
    whole: list[ModelMessage] = []
    left: dict[str, str] = {}  # calls of the last response without a result: their tools' names
    place = 0  # of the last response, or of the last results of its calls
    for message in [each for each in messages if each.parts]:
        if isinstance(message, ModelResponse):
            whole[place + 1 : place + 1] = _interrupted(left)
            left = {call.tool_call_id: call.tool_name for call in message.tool_calls}
            place = len(whole)
        else:
            ids = {part.tool_call_id for part in message.parts if isinstance(part, (ToolReturnPart, RetryPromptPart))}
            if ids & set(left):
                place = len(whole)
            left = {number: name for number, name in left.items() if number not in ids}
        whole.append(message)
    whole[place + 1 : place + 1] = _interrupted(left)
    return whole


def _interrupted(calls: dict[str, str]) -> list[ModelMessage]:
    """Return a request with results for these calls; nothing if there are none."""
    said = "Interrupted: the call did not finish; check what it has done before you continue"
    parts = [ToolReturnPart(name, said, number, outcome="interrupted") for number, name in calls.items()]
    return [ModelRequest(parts=parts)] if parts else []


def lost_tasks(entries: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the background tasks that started and have no recorded end."""
    tasks = {number: entry for entry in entries if (number := task_number(entry))}
    yield from (entry for entry in tasks.values() if entry.get("status") == "started" and entry.get("background"))


def task_number(entry: dict[str, Any]) -> int:
    """Return the number of the task that an entry is about; 0 if it is about none."""
    found = str(entry.get("task_id")).removeprefix("task_")
    return int(found) if entry["type"] == "task" and found.isascii() and found.isdigit() else 0


def unsent_texts(entries: Sequence[dict[str, Any]], kind: str) -> list[str]:
    """Return the texts of notification or context entries that no later request to the model contains."""
    sent = [
        (place, json.dumps(entry)) for place, entry in enumerate(entries) if entry["type"] in ("message", "history")
    ]
    return [
        text
        for place, entry in enumerate(entries)
        if entry["type"] == kind and isinstance(text := entry.get("text"), str)
        if not any(later > place and json.dumps(text)[1:-1] in message for later, message in sent)
    ]


def _plain(messages: Sequence[ModelMessage]) -> list[Any]:
    return list(ModelMessagesTypeAdapter.dump_python(list(messages), mode="json"))
