"""The hub as a background service, from `hub start` to `hub stop`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..basics import places
from ..basics.services import Service

if TYPE_CHECKING:
    from collections.abc import Callable

SERVICE = Service("hub", "tenterhook.hub.service:main", "hub-in-background.json")
OPTIONS = ("listen", "database", "public_url", "insecure", "keep_days", "trusted_proxies")


def main(fixed: dict[str, str]) -> None:
    """Run the hub, unless another process runs it."""
    places.FIXED.update(fixed)
    SERVICE.become(_run)


def _run(config: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
    from . import server

    given = {"trusted_proxies": (), **config}  # not in the configuration of earlier versions
    server.run(**{option: given[option] for option in OPTIONS}, say=say)
