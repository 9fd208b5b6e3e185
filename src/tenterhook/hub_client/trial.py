"""A test request: this machine sends the hub that it has joined a request as an agent would, and reports the answer.

Nothing is run. The answer is written to the journal, whose records the uploader sends to the hub.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from ..approvals.requests import Call, Request, fresh_id
from ..basics import places, processes
from ..errors import HookError
from ..journal.journal import Journal
from . import membership as membership_
from .asking import HubRequest
from .uploader_start import ensure_uploader_running

if TYPE_CHECKING:
    from ..approvals.requests import Answer
    from .membership import Membership

AGENT = "test"  # the name of the agent that asks
LASTS = 600.0  # seconds
_WHY = "This is a test: nothing is run, whatever you answer."


class TrialResult(NamedTuple):
    """The answer that came back, or None, and after how many seconds."""

    answer: Answer | None
    seconds: float


def new_request(joined: Membership, request_id: str | None = None) -> Request:
    """Return a request of this machine."""
    number = request_id or fresh_id()
    given = {"command": f"echo 'A test request from {joined.name.replace(chr(39), '')}'"}
    call = Call("Shell", given, os.path.expanduser("~"), f"test-{number}", agent=AGENT)
    return Request(number, call, _WHY, expires_at=time.time() + LASTS, is_forced=True)


def ask(joined: Membership, request: Request, *, by: str = "gone") -> TrialResult:
    """Ask, wait for the answer, and write it to the journal. Interrupted, the request is withdrawn."""
    begun = time.monotonic()
    asked = HubRequest(joined, request, str(processes.this()))
    found: list[Answer | None] = []
    thread = threading.Thread(target=lambda: found.append(asked.answer(begun + LASTS)), daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        asked.withdraw(by)
        raise
    seconds = time.monotonic() - begun
    Journal(AGENT).add_approval(request, found[0], seconds * 1000)
    ensure_uploader_running()
    return TrialResult(found[0], seconds)


def main(fixed: dict[str, str], request_id: str) -> None:
    """Ask in a process of its own, for the hub's page."""
    places.FIXED.update(fixed)
    joined = membership_.read()
    if joined is None:
        raise HookError("this machine has not joined a hub", "tenterhook hub join URL")
    ask(joined, new_request(joined, request_id))
