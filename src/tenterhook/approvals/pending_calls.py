"""Calls with an open request at the hub, as files of the session. The event after a call ends its request."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING

from ..basics import places
from . import configured
from .requests import content_hash

if TYPE_CHECKING:
    from .requests import Call


class CallStatus(Enum):
    """The state of a call with an open request at the hub."""

    OPEN = ""
    MADE = "made"  # the user has approved it at the agent
    OVER = "over"  # it has failed, or was refused


class PendingCall:
    """A call with an open request at the hub; its file exists inside the `with` block."""

    def __init__(self, call: Call, request_id: str) -> None:
        self._file = os.path.join(configured.asked_about(call.session_id), f"{_name(call)}.{request_id}")

    def __enter__(self) -> PendingCall:
        try:
            places.make_private(os.path.dirname(self._file))
            places.replace_file(self._file, b"")
        except OSError:  # the end of the call will not be noticed
            pass
        return self

    def status(self) -> CallStatus:
        """Return the status that was reported for the call; OPEN before that."""
        try:
            with open(self._file, encoding="utf-8") as file:
                return CallStatus(file.read())
        except (OSError, ValueError):
            return CallStatus.OPEN

    def __exit__(self, *_: object) -> None:
        try:
            os.unlink(self._file)
            os.rmdir(os.path.dirname(self._file))
        except OSError:  # it was not created, or another call is pending
            pass


def report(call: Call, status: CallStatus) -> None:
    """Report the end of a call to its oldest open request."""
    directory = configured.asked_about(call.session_id)
    try:
        with os.scandir(directory) as entries:
            asking = [(each.stat(), each.path) for each in entries if each.name.startswith(_name(call))]
        waiting = sorted((found.st_mtime_ns, path) for found, path in asking if not found.st_size)
        if waiting:
            descriptor = os.open(waiting[0][1], os.O_WRONLY | os.O_CLOEXEC)  # never created here
            try:
                os.write(descriptor, status.value.encode())
            finally:
                os.close(descriptor)
    except OSError:  # the request has ended
        pass


def _name(call: Call) -> str:
    """Return the beginning of a call's file name; without the working directory, which the call may change."""
    return content_hash(call.tool_name, call.tool_input, "")
