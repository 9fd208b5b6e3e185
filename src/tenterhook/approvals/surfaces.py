"""Where a person can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .requests import Answer, Request


class Surface(Protocol):
    """A place where people are asked, such as a terminal or the hub."""

    async def ask(self, request: Request) -> Answer | None:
        """Return the answer, or None if there will be none here.

        On cancellation, which carries the `Answer` of another surface, withdraw the question. If it had been answered
        here before, return that answer instead of raising: it counts.
        """
