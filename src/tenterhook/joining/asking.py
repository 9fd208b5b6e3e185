"""A question at the hub, and the answer of a person there. Whatever fails here is no answer, neither way."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ..approvals.marks import Outcome
from ..approvals.requests import LASTS, Answer
from ..basics import callers, processes
from .calling_hub import CONNECT, HubAway, Line, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..approvals.requests import Request
    from .membership import Membership

_POLL = 25.0  # seconds that the hub may take for an answer to come
_SPARE = 5.0  # seconds that its answer may take on the way
_GONE = 10.0  # seconds that a hub may be gone while it has our question
_LOOK = 0.25  # seconds between two looks at who waits for us
_OPEN = "open"


class Question:
    """One request at the hub. `answer` waits in one thread; another may `withdraw` it."""

    def __init__(self, membership: Membership, request: Request, process: str | None) -> None:
        """`process` is the agent's: an approval for the session lasts as long as it."""
        self._membership = membership
        self._request = request
        self._process = process
        self._line = Line(membership)
        self._way = f"/requests/{quote(request.id, safe='')}"
        self._is_away = False

    def answer(self, until: float) -> Answer | None:
        """What a person says, until a time of `time.monotonic`; None if nobody does, or the hub is away."""
        try:
            said = self._line.call(
                "POST", "/requests", self._request.as_json(self._membership.name, self._process)
            ).body
            if said.get("hash") != self._request.hash:
                return None
            while said.get("state") == _OPEN and (left := until - time.monotonic()) > 0:
                said = self._poll(min(_POLL, left))
        except Exception:  # noqa: BLE001  # mostly that it is away; whatever it is, it is no answer
            self._is_away = True
            return None
        return _answer(said)

    def _poll(self, seconds: float) -> dict[str, Any]:
        """How the request stands, once that changes; a hub that is restarted in between is found again."""
        gone = time.monotonic() + _GONE
        while True:
            try:
                way = f"{self._way}/answer?wait={seconds:.3f}"
                return self._line.call("GET", way, within=seconds + _SPARE).body
            except Refused:
                raise
            except HubAway:
                if self._line.is_hung_up or time.monotonic() >= gone:
                    raise
                time.sleep(_LOOK)

    def withdraw(self, by: str, approved: bool | None = None) -> Answer | None:
        """Take the question back; if somebody at the hub had answered it before, this is their answer."""
        if self._is_away:  # what it may still have of us ends there by itself
            return None
        self._line.hang_up()
        try:
            told = {"by": by, "approved": approved}
            said = Line(self._membership).call("POST", f"{self._way}/withdraw", told, within=CONNECT).body
        except HubAway:
            return None
        return _answer(said) if said.get("hash") == self._request.hash else None


def _answer(said: dict[str, Any]) -> Answer | None:
    """The answer in what the hub says of a request; anything that is not clearly one is none."""
    approved = {"approved": True, "denied": False}.get(str(said.get("state")))
    given = said.get("answer")
    if not isinstance(given, dict):
        given = {"approved": approved, "by": said.get("answered_by"), **said}
    if approved is None or given.get("approved") is not approved or not isinstance(given.get("by"), str):
        return None
    by = f"{given['by']} (hub)"
    message = given.get("message")
    if approved:
        scope = "session" if given.get("scope") == "session" else "once"
        return Answer(True, by, scope, message if isinstance(message, str) and message else None)
    if isinstance(message, str) and message:
        return Answer(False, by, reason=f"{given['by']} refused this call: {message}")
    return Answer(False, by, reason=f"{given['by']} refused this call", ends_turn=True)


class HubSurface:
    """The hub as one of those whom `gate` asks."""

    def __init__(self, membership: Membership, process: str | None) -> None:
        self._membership = membership
        self._process = process

    async def ask(self, request: Request) -> Answer | None:
        """A person's answer at the hub, or None. Cancelled, the question is taken back there."""
        question = Question(self._membership, request, self._process)
        left = LASTS if request.expires_at is None else request.expires_at - time.time()
        until = time.monotonic() + left
        try:
            return await _in_thread(lambda: question.answer(until))
        except asyncio.CancelledError as cancelled:
            elsewhere = cancelled.args[0] if cancelled.args else None
            by, approved = (elsewhere.by, elsewhere.approved) if isinstance(elsewhere, Answer) else ("gone", None)
            earlier = await _in_thread(lambda: question.withdraw(by, approved))
            if earlier is None:
                raise
            return earlier


async def _in_thread(work: Callable[[], Answer | None]) -> Answer | None:
    """Wait for work in a thread; nobody waits for that thread when this is cancelled."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Answer | None] = loop.create_future()

    def give(answer: Answer | None) -> None:
        if not done.done():
            done.set_result(answer)

    def run() -> None:
        answer = work()
        try:
            loop.call_soon_threadsafe(give, answer)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    threading.Thread(target=run, name="tenterhook-hub", daemon=True).start()
    return await done


def wait_for_answer(
    membership: Membership,
    request: Request,
    process: str | None,
    until: float,
    outcome: Callable[[], Outcome] = lambda: Outcome.OPEN,
) -> Answer | None:
    """The same for a process that an agent waits for: ended by a signal, or left alone, it takes the question back.

    `outcome` says what has become of the call meanwhile.
    """
    question = Question(membership, request, process)
    ended = threading.Event()
    answers: list[Answer | None] = []

    def run() -> None:
        answers.append(question.answer(until))
        ended.set()

    threading.Thread(target=run, name="tenterhook-hub", daemon=True).start()
    with _Waiting() as waiting:
        while not ended.wait(_LOOK):
            if waiting.is_over():  # the agent has its answer from elsewhere
                question.withdraw("agent")
                return None
            if (found := outcome()) is not Outcome.OPEN:
                question.withdraw(*(("terminal", True) if found is Outcome.MADE else ("agent", None)))
                return None
        return answers[0] or question.withdraw("nobody")


class _Waiting:
    """Whether the agent still waits for us: no signal has come, and each process between it and us is there."""

    def __init__(self) -> None:
        self._signalled = False
        self._process = callers.pid()
        self._between = processes.shells_above(self._process)
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Waiting:
        import signal

        if callers.CURRENT.pid is not None:  # then it is that process that gets the signals, and ends
            return self
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self._before[number] = signal.signal(number, self._end)
        return self

    def _end(self, *_: object) -> None:
        self._signalled = True

    def is_over(self) -> bool:
        return self._signalled or processes.shells_above(self._process) != self._between

    def __exit__(self, *_: object) -> None:
        import signal

        for number, handler in self._before.items():
            signal.signal(number, handler)
