"""A gate whose surfaces the test plays: the hub, and a terminal."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from typing import TYPE_CHECKING, Any

from tenterhook import Engine
from tenterhook.approvals.gate import Gate, Permit
from tenterhook.approvals.requests import Answer, Call, Request
from tenterhook.hub_client.asking import HubSurface

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenterhook.hub_client.membership import Membership

BOUNDED = 25  # seconds: what takes longer hangs
_numbers = itertools.count()


def call(command: str | None = None, session: str = "s-1") -> Call:
    """A shell call; another command each time, for the hub is shared."""
    return Call("Shell", {"command": command or f"echo {time.time_ns()}-{next(_numbers)}"}, "/tmp", session)


class Terminal:
    """A surface on which the test answers, and which notes that its question was withdrawn."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.withdrawn_for: Any = None
        self._answer: asyncio.Future[Answer] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def ask(self, request: Request) -> Answer | None:
        self._loop = asyncio.get_running_loop()
        self._answer = self._loop.create_future()
        self.asked.set()
        try:
            return await self._answer
        except asyncio.CancelledError as cancelled:
            self.withdrawn_for = cancelled.args[0] if cancelled.args else None
            raise

    def press(self, answer: Answer) -> None:
        assert self.asked.wait(BOUNDED)
        assert self._loop is not None
        assert self._answer is not None
        self._loop.call_soon_threadsafe(self._answer.set_result, answer)


class Session:
    """A gate in a thread of its own, so that the test can play the person."""

    def __init__(self, surfaces: list[Any], **options: Any) -> None:
        self._surfaces = surfaces
        self._options = options
        self.told: list[Answer | None] = []

    def permits(self, *calls: Call) -> list[Permit]:
        async def run() -> list[Permit]:
            def told(_: Request, answer: Answer | None, __: float) -> None:
                self.told.append(answer)

            gate = Gate(Engine().adecide, surfaces=self._surfaces, told=told, **self._options)
            return [await asyncio.wait_for(gate.permit(each), BOUNDED) for each in calls]

        return asyncio.run(run())

    def begin(self, *calls: Call) -> Callable[[], list[Permit]]:
        """Start, and return what waits for the end."""
        ended: list[list[Permit]] = []
        thread = threading.Thread(target=lambda: ended.append(self.permits(*calls)))
        thread.start()

        def end() -> list[Permit]:
            thread.join(BOUNDED)
            return ended[0]

        return end


def surface(member: Membership) -> HubSurface:
    return HubSurface(member, "123.456")
