"""Ask people at the hub whether a tool call may run. A failure here is never an answer.

`JoinedHub` is the hub in a session of the bundled agent: people to ask, rules, and a destination for journal records.
"""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..approvals.pending_calls import CallStatus
from ..approvals.requests import LASTS, Answer
from ..basics import processes
from . import hub_rules
from .connection import CONNECT_TIMEOUT, HubConnection, HubRefused, HubUnavailable
from .uploader_start import ensure_uploader_running

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..approvals.requests import Request
    from ..approvals.rules import Rule
    from ..basics.callers import Caller
    from .membership import Membership

_POLL = 50.0  # seconds of one long poll; many proxies end one after 60
_MARGIN = 5.0  # seconds that the response to a poll may be late
_RESTART = 10.0  # seconds for a hub that has our request to restart, or for one with many requests to respond
_INTERVAL = 0.25  # seconds between two checks whether the agent still waits
_OPEN = "open"


class HubRequest:
    """One request at the hub. `answer` waits in one thread; another may `withdraw` it."""

    def __init__(self, membership: Membership, request: Request, process: str | None) -> None:
        """`process` is the agent's process: approvals for the session end with it."""
        self._membership = membership
        self._request = request
        self._process = process
        self._connection = HubConnection(membership)
        self._path = f"/requests/{quote(request.id, safe='')}"
        self._is_unavailable = False

    def answer(self, until: float) -> Answer | None:
        """Return a person's answer, or None at `until` (`time.monotonic`) or if the hub is unavailable."""
        try:
            opened = self._request.as_json(self._membership.name, self._process)
            state = self._connection.call("POST", "/requests", opened, timeout=_RESTART).body
            if state.get("hash") != self._request.hash:
                return None
            while state.get("state") == _OPEN and time.monotonic() < until:
                state = self._poll(until)
        except Exception:  # noqa: BLE001  # a failure is no answer
            self._is_unavailable = True
            return None
        return _answer(state)

    def _poll(self, until: float) -> dict[str, Any]:
        """Return the request's state when it changes, or after a while; survives a restart of the hub."""
        give_up = 0.0
        while True:
            seconds = max(0.0, min(_POLL, until - time.monotonic()))
            try:
                path = f"{self._path}/answer?wait={seconds:.3f}"
                return self._connection.call("GET", path, timeout=seconds + _MARGIN).body
            except HubRefused:
                raise
            except HubUnavailable:
                now = time.monotonic()
                give_up = give_up or min(
                    now + _RESTART, until
                )  # from when the hub was lost, however long the poll took
                if self._connection.is_aborted or now >= give_up:
                    raise
                time.sleep(_INTERVAL)

    def withdraw(self, by: str, approved: bool | None = None) -> Answer | None:
        """Withdraw the request; return the answer if a person at the hub had already given one."""
        if self._is_unavailable:  # if it has the request, that expires by itself
            return None
        self._connection.abort()
        withdrawal = {"by": by, "approved": approved}
        try:
            connection = HubConnection(self._membership)
            state = connection.call("POST", f"{self._path}/withdraw", withdrawal, timeout=CONNECT_TIMEOUT).body
        except HubUnavailable:
            return None
        return _answer(state) if state.get("hash") == self._request.hash else None


def _answer(state: dict[str, Any]) -> Answer | None:
    """Return the answer in a request's state; None unless it is a valid one."""
    approved = {"approved": True, "denied": False}.get(str(state.get("state")))
    given = state.get("answer")
    if approved is None or not isinstance(given, dict):
        return None
    person, message = given.get("by"), given.get("message")
    if given.get("approved") is not approved or not isinstance(person, str):
        return None
    message = message if isinstance(message, str) and message else None
    if approved:
        return Answer(True, f"{person} (hub)", "session" if given.get("scope") == "session" else "once", message)
    reason = f"{person} refused this call" + (f": {message}" if message else "")
    return Answer(False, f"{person} (hub)", reason=reason, ends_turn=message is None)


class HubSurface:
    """The hub as a surface of the gate."""

    def __init__(self, membership: Membership, process: str | None) -> None:
        self._membership = membership
        self._process = process

    async def ask(self, request: Request) -> Answer | None:
        """Return a person's answer at the hub, or None. Cancelled, the request is withdrawn there."""
        asked = HubRequest(self._membership, request, self._process)
        left = LASTS if request.expires_at is None else request.expires_at - time.time()
        until = time.monotonic() + left
        try:
            return await _in_thread(lambda: asked.answer(until))
        except asyncio.CancelledError as cancelled:
            elsewhere = cancelled.args[0] if cancelled.args else None
            by, approved = (elsewhere.by, elsewhere.approved) if isinstance(elsewhere, Answer) else ("gone", None)
            earlier = await _in_thread(lambda: asked.withdraw(by, approved))
            if earlier is None:
                raise
            return earlier


async def _in_thread(work: Callable[[], Answer | None]) -> Answer | None:
    """Wait for work in a daemon thread; cancelled, this does not wait for the thread."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Answer | None] = loop.create_future()

    def give(answer: Answer | None) -> None:
        if not done.done():
            done.set_result(answer)

    def run() -> None:
        answer = work()
        try:
            loop.call_soon_threadsafe(give, answer)
        except RuntimeError:  # the loop is closed
            pass

    threading.Thread(target=run, name="tenterhook-hub", daemon=True).start()
    return await done


def wait_for_answer(
    membership: Membership,
    request: Request,
    process: str | None,
    caller: Caller,
    until: float,
    status: Callable[[], CallStatus] = lambda: CallStatus.OPEN,
) -> Answer | None:
    """Return a person's answer at the hub, in a process that an agent waits for.

    Withdraws the request on a signal, when the agent no longer waits, and when `status` reports the end of the call.
    """
    asked = HubRequest(membership, request, process)
    ended = threading.Event()
    answers: list[Answer | None] = []

    def run() -> None:
        answers.append(asked.answer(until))
        ended.set()

    threading.Thread(target=run, name="tenterhook-hub", daemon=True).start()
    with _AgentWaits(caller) as agent:
        while not ended.wait(_INTERVAL):
            if agent.has_gone():
                asked.withdraw("agent")
                return None
            if (found := status()) is not CallStatus.OPEN:
                asked.withdraw(*(("terminal", True) if found is CallStatus.MADE else ("agent", None)))
                return None
        return answers[0] or asked.withdraw("nobody")


class _AgentWaits:
    """Detects that the agent no longer waits: by a signal, or by the end of a process between it and us."""

    def __init__(self, caller: Caller) -> None:
        self._signalled = False
        self._caller = caller
        self._process = caller.pid
        self._between = processes.shells_above(self._process)
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _AgentWaits:
        import signal

        if self._caller.is_another:  # the daemon answers: that process gets the signals
            return self
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._end)
        return self

    def _end(self, *_: object) -> None:
        self._signalled = True

    def has_gone(self) -> bool:
        return self._signalled or processes.shells_above(self._process) != self._between

    def __exit__(self, *_: object) -> None:
        import signal

        for number, handler in self._before.items():
            signal.signal(number, handler)


class JoinedHub:
    """The hub that this account has joined, for the life of this process."""

    def __init__(self, membership: Membership) -> None:
        self._membership = membership

    def surface(self) -> HubSurface:
        return HubSurface(self._membership, str(processes.this()))

    async def rules(self) -> list[Rule]:
        """Return the hub's rules, fetched in a thread."""
        return await asyncio.to_thread(hub_rules.current, self._membership)

    def upload(self) -> None:
        """Start the upload of new journal records, without waiting for it."""
        threading.Thread(target=ensure_uploader_running, name="tenterhook-upload", daemon=True).start()
