"""The hub as a session of the bundled agent has it: somebody to ask, rules, and a place for its records."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

from ..basics import processes
from . import hub_rules, waking
from .asking import HubSurface

if TYPE_CHECKING:
    from ..approvals.rules import Rule
    from .membership import Membership

_AT_MOST_EVERY = 1.0  # seconds


class Hub:
    """One hub for the life of this process."""

    def __init__(self, joined: Membership) -> None:
        self._joined = joined
        self._kicked = 0.0

    def surface(self) -> HubSurface:
        return HubSurface(self._joined, str(processes.this()))

    async def rules(self) -> list[Rule]:
        """The hub's rules, fetched without holding anything else up."""
        return await asyncio.to_thread(hub_rules.current, self._joined)

    def kick(self) -> None:
        """See to it that what was written down is delivered."""
        if time.monotonic() - self._kicked >= _AT_MOST_EVERY:
            self._kicked = time.monotonic()
            threading.Thread(target=waking.kick, name="tenterhook-delivery", daemon=True).start()
