"""Starting and stopping a background service, for `daemon` and `hub`."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from ..basics import processes
from ..basics.display_text import visible
from ..dispatch import daemon
from ..errors import HookError
from .printing import short_path

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..basics.background_services import Service

_START_TIMEOUT = 30.0  # seconds for a service to start


def need_linux() -> None:
    """Raise `HookError` where background services are not supported."""
    if sys.platform != "linux":
        raise HookError("background services need Linux", "run a hub in a terminal: tenterhook hub")


def start(service: Service, options: Mapping[str, Any]) -> dict[str, Any]:
    """Enable a service and start it; return the JSON object that it prints first."""
    need_linux()
    daemon.migrate(leave=service)
    _refuse_if_running(service)
    service.enable(options)
    before = os.path.getsize(service.log) if os.path.exists(service.log) else 0
    pid = None
    try:
        pid = service.start()
        return _first_message(service, pid, before)
    except BaseException:  # do not try again at the next session
        if pid is not None:
            processes.end_group(processes.child(pid), 1.0)
        _refuse_if_running(service)  # another process started first, and keeps running
        service.disable()
        raise


def stop(service: Service) -> str | None:
    """Stop and disable a service. Return what to print, or None if it neither ran nor was enabled."""
    need_linux()
    was_running = daemon.migrate(leave=service)
    was_enabled = service.disable()
    if service.stop() or was_running:
        return f"the {service.name} has stopped"
    return f"the {service.name} was not running and will not be started" if was_enabled else None


def _refuse_if_running(service: Service) -> None:
    if service.process_id() is not None:
        how = "in the background" if service.config() else "started by hand"
        raise HookError(f"a {service.name} is already running, {how}", f"stop it first: tenterhook {service.name} stop")


def _first_message(service: Service, pid: int, before: int) -> dict[str, Any]:
    """Wait for the JSON object that a service prints first, after `before` bytes of its log."""
    with open(service.log, "rb") as log:
        log.seek(before if before <= os.fstat(log.fileno()).st_size else 0)  # else the log was truncated
        said = b""
        until = time.monotonic() + _START_TIMEOUT
        while time.monotonic() < until:
            has_ended = processes.find_process(pid) is None
            said += log.read()
            for line in said.split(b"\n")[:-1]:
                if line.startswith(b"{"):
                    found: dict[str, Any] = json.loads(line)
                    return found
            if has_ended:
                break
            time.sleep(0.02)
    last = visible(said.decode("utf-8", "replace").strip().rpartition("\n")[2]) or "it printed nothing"
    raise HookError(f"the {service.name} did not start: {last}", f"see {short_path(service.log)}")
