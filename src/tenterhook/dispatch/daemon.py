"""The daemon: a process with everything loaded that answers the events of this account's agents.

It has no network sockets. `daemon start` and `install --daemon` enable it, `daemon stop` disables it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from ..basics import places, processes
from ..basics.background_services import Service
from ..basics.processes import Lock
from ..errors import HookError
from ..hub.service import SERVICE as HUB

if TYPE_CHECKING:
    from collections.abc import Callable

SERVICE = Service("daemon", "tenterhook.dispatch.daemon:main", "daemon.json")
ADVICE = "hooks are three times as fast with it: tenterhook daemon start"


def could_help() -> bool:
    """Whether the daemon would make hooks faster: it can run here, and is neither running nor enabled."""
    return sys.platform == "linux" and SERVICE.process_id() is None and not is_enabled()


def is_enabled() -> bool:
    """Whether the daemon is started at the start of a session if it is not running."""
    return SERVICE.config() is not None or _is_combined()


def ensure_running() -> None:
    """Start the daemon and the hub, without waiting, if they are enabled and not running, or run an older version."""
    if _is_combined():
        with contextlib.suppress(OSError):  # the next session tries again
            processes.start_detached("tenterhook.dispatch.daemon:migrate", places.FIXED)
    else:
        SERVICE.ensure_running()
        HUB.ensure_running()


def main(fixed: dict[str, str]) -> None:
    """Run the daemon, unless it is already running."""
    places.FIXED.update(fixed)
    SERVICE.become(lambda _, say: serve(say))


def run(say: Callable[[dict[str, Any]], None]) -> None:
    """Run the daemon in a terminal or under a service manager until a signal arrives. Raises `HookError` if it runs."""
    with SERVICE.claimed() as is_ours:
        if not is_ours:
            raise HookError("the daemon is already running", "stop it first: tenterhook daemon stop")
        serve(say)


def serve(say: Callable[[dict[str, Any]], None]) -> None:
    """Answer events until a signal arrives; `say` is called once the socket is open."""
    from . import daemon_server

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    server = daemon_server.Server()
    try:
        server.start()
        say({"pid": os.getpid(), "socket": server.path})
        ended.wait()
    except OSError as error:
        raise HookError(f"events cannot be answered: {error}", f"check {places.state()}") from None
    finally:
        server.stop()


def migrate(fixed: dict[str, str] | None = None, leave: Service | None = None) -> bool:
    """Replace a hub of an earlier version, which also answered events, with a daemon and a hub.

    Start those that are enabled, except `leave`. Return whether a running hub was stopped.
    """
    places.FIXED.update(fixed or {})
    if not _is_combined():
        return False
    with Lock(f"{HUB.file}.lock"):
        combined = HUB.config()
        if combined is None or not _is_combined():  # another process has done it
            return False
        was_running = HUB.stop()
        SERVICE.write({name: combined[name] for name in ("schema", "python", "path", "environment")})
        if combined["listen"] is None:
            HUB.disable()
        else:
            HUB.write({**combined, "schema": 2})
    for service in (SERVICE, HUB):
        if service is not leave:
            service.ensure_running()
    return was_running


def _is_combined() -> bool:
    """Whether the configuration is of an earlier version: one process that answers events, with or without pages."""
    config = HUB.config()
    return config is not None and config["schema"] == 1
