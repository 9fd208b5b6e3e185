"""Open questions about an agent's calls, as files of its session: the end of a call tells whoever still asks of it."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING

from ..basics import places
from . import presence
from .requests import content_hash

if TYPE_CHECKING:
    from .requests import Call


class Outcome(Enum):
    """What has become of a call that somebody asks about."""

    OPEN = ""
    MADE = "made"  # the agent's person has said yes to it
    OVER = "over"  # it has failed, or was refused


class Mark:
    """One question, for as long as it is open."""

    def __init__(self, call: Call, request_id: str) -> None:
        self._file = os.path.join(presence.asked_about(call.session_id), f"{_name(call)}.{request_id}")

    def __enter__(self) -> Mark:
        try:
            places.make_private(os.path.dirname(self._file))
            places.replace_file(self._file, b"")
        except OSError:  # no place for it: what becomes of the call will not be noticed
            pass
        return self

    def outcome(self) -> Outcome:
        """What was told of the call; without a word of it, the question is open."""
        try:
            with open(self._file, encoding="utf-8") as file:
                return Outcome(file.read())
        except (OSError, ValueError):
            return Outcome.OPEN

    def __exit__(self, *_: object) -> None:
        try:
            os.unlink(self._file)
            os.rmdir(os.path.dirname(self._file))
        except OSError:  # there was no place for it, or somebody asks about another call
            pass


def tell(call: Call, outcome: Outcome) -> None:
    """Tell the first of those who still ask about a call what has become of it."""
    directory = presence.asked_about(call.session_id)
    try:
        with os.scandir(directory) as entries:
            asking = [(each.stat(), each.path) for each in entries if each.name.startswith(_name(call))]
        waiting = sorted((found.st_mtime_ns, path) for found, path in asking if not found.st_size)
        if waiting:
            descriptor = os.open(waiting[0][1], os.O_WRONLY | os.O_CLOEXEC)  # never made anew
            try:
                os.write(descriptor, outcome.value.encode())
            finally:
                os.close(descriptor)
    except OSError:  # nobody asks any more
        pass


def _name(call: Call) -> str:
    """How a mark's name begins. The directory is no part of it: a call may change that."""
    return content_hash(call.tool_name, call.tool_input, "")
