"""The hub as a background service, from `hub start` to `hub stop`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..basics import places, private_files
from ..basics.background_services import Service

if TYPE_CHECKING:
    from collections.abc import Callable

SERVICE = Service("hub", "tenterhook.hub.service:main", "hub-in-background.json")
OPTIONS = ("listen", "database", "public_url", "insecure", "keep_days", "trusted_proxies")


def _address_file() -> str:
    return os.path.join(places.state(), "hub", "address")


def save_address(url: str) -> None:
    """Save the address at which programs on this machine reach the hub that starts."""
    private_files.write(_address_file(), url.encode())


def last_address() -> str | None:
    """Return that address of the hub that was started last, which may have ended since."""
    data = private_files.read(_address_file())
    return data.decode("ascii", "replace") if data else None


def main(fixed: dict[str, str]) -> None:
    """Run the hub, unless another process runs it."""
    places.FIXED.update(fixed)
    SERVICE.become(_run)


def _run(config: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
    from . import server

    given = {"trusted_proxies": (), **config}  # not in the configuration of earlier versions
    server.run(**{option: given[option] for option in OPTIONS}, say=say)
