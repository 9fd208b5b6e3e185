"""Where a person can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .requests import Answer, Request


class Surface(Protocol):
    """Where a person is asked.

    When cancelled, it withdraws the question; the cancellation carries the `Answer` that another surface gave. If a
    person had answered here before that, it returns that earlier answer, which is the one that counts.
    """

    async def ask(self, request: Request) -> Answer | None:
        """Return the answer, or None if there will be none here."""
