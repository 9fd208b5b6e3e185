"""The joined hub in a session of the bundled agent: people to ask, rules, and a destination for journal records."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from ..basics import processes
from . import hub_rules
from .asking import HubSurface
from .uploader_start import ensure_uploader_running

if TYPE_CHECKING:
    from ..approvals.rules import Rule
    from .membership import Membership


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
        """Have new journal records uploaded, without waiting for it."""
        threading.Thread(target=ensure_uploader_running, name="tenterhook-upload", daemon=True).start()
