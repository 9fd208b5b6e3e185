"""Background services: the daemon and the hub.

A service is one process for each account, which runs while it is enabled. Its configuration, lock and log are files in
the state directory. If it is not running when an agent begins a session, it is started again, without waiting.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from ..errors import HookError
from . import env_policy, places, private_files, processes
from .processes import Lock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_STOP_TIMEOUT = 10.0  # seconds for a service to end
_LOCK_TIMEOUT = 0.5  # seconds; other processes take the lock for a moment to check whether it is held


class Service:
    """A process that runs in the background, defined by its name, main function and configuration file."""

    def __init__(self, name: str, function: str, file: str) -> None:
        self.name = name
        self._function = function
        self._file = file

    @property
    def file(self) -> str:
        """The path of its configuration, which exists while it is enabled."""
        return os.path.join(places.state(), self._file)

    @property
    def log(self) -> str:
        return os.path.join(places.state(), f"{self.name}.log")

    @property
    def _lock(self) -> str:
        return os.path.join(places.state(), f"{self.name}.lock")

    def config(self) -> dict[str, Any] | None:
        """Return its configuration; None if it is not enabled, or if another account could have written the file."""
        found = private_files.read_json(self.file)
        return found if found.keys() >= {"schema", "python", "path", "environment"} else None

    def enable(self, options: Mapping[str, Any]) -> None:
        """Store its configuration: these options, and this process's interpreter and environment."""
        started_with = {"python": sys.executable, "path": processes.module_path()}
        environment = env_policy.for_own_process(os.environ)
        self.write({"schema": 2, **options, **started_with, "environment": environment})

    def write(self, config: Mapping[str, Any]) -> None:
        places.make_private(places.state())
        places.replace_file(self.file, json.dumps(config).encode())

    def disable(self) -> bool:
        """Remove its configuration, so that it is no longer started; return whether it was enabled."""
        try:
            os.unlink(self.file)
        except FileNotFoundError:
            return False
        return True

    def process_id(self) -> int | None:
        """Return the ID of its process, or None if it is not running."""
        return self._holder()[0]

    def is_outdated(self) -> bool:
        """Whether it runs in the background with a version other than this one."""
        return self._holder()[1] not in ("", _version())

    def ensure_running(self) -> None:
        """Start it without waiting, if it is enabled and not running, or running an older version."""
        if self.config() is not None and (self.process_id() is None or self.is_outdated()):
            with contextlib.suppress(OSError):  # the next session tries again
                self.start()

    def start(self) -> int:
        """Start the service's process, and return its ID. Raises `OSError` if it cannot be started."""
        config = self.config()
        if config is None:
            raise FileNotFoundError(f"{self.file} does not exist")
        places.rotate(self.log)
        log = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        how = {"python": config["python"], "path": config["path"], "env": config["environment"]}
        try:
            return processes.start_detached(self._function, places.FIXED, output=log, **how)
        finally:
            os.close(log)

    def become(self, run: Callable[[dict[str, Any], Callable[[dict[str, Any]], None]], None]) -> None:
        """Run the service in this process unless it is already running; `run` gets its configuration and a log."""
        config = self.config()
        if config is None or (self.process_id() is not None and not self.is_outdated()):
            return
        logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
        try:
            self.stop()
            with self.claimed(_version()) as is_ours:
                if is_ours:
                    run(config, self._print)
        except HookError as error:
            sys.exit(f"{error.message}; {error.remedy}")

    def _print(self, said: dict[str, Any]) -> None:
        if self.config() is None:  # it was disabled while it started
            raise SystemExit
        print(json.dumps({"time": time.time(), **said}), flush=True)

    @contextlib.contextmanager
    def claimed(self, version: str = "") -> Iterator[bool]:
        """Hold the service's lock; yields False if another process holds it.

        Without a version, it was started by the user or a service manager, and an upgrade does not replace it.
        """
        places.make_private(places.state())
        with Lock(self._lock, _LOCK_TIMEOUT) as is_ours:
            if is_ours:
                with Lock(self._lock, wait=0) as is_free:
                    if is_free:
                        raise HookError(f"{self._lock} is on a file system without locks", "move the state directory")
                with open(self._lock, "w", encoding="utf-8") as file:
                    file.write(f"{os.getpid()} {version}")
            yield is_ours

    def stop(self) -> bool:
        """Stop its process and wait for the end; return whether it was running. Raises `HookError` if that fails."""
        pid = self.process_id()
        if pid is None:
            return False
        try:
            process = os.pidfd_open(pid)
            try:
                if not self._is_held_by(pid):
                    raise OSError(None, "it runs in another container")
                signal.pidfd_send_signal(process, signal.SIGTERM)
                if not select.select([process], [], [], _STOP_TIMEOUT)[0]:
                    signal.pidfd_send_signal(process, signal.SIGKILL)
                    select.select([process], [], [], _STOP_TIMEOUT)
            finally:
                os.close(process)
        except ProcessLookupError:
            pass  # it ended by itself
        except OSError as error:
            remedy = "stop it where it was started"
            raise HookError(f"the {self.name} cannot be stopped from here: {error.strerror}", remedy) from None
        return True

    def _is_held_by(self, pid: int) -> bool:
        """Whether a process has the lock open. Otherwise the ID is one of another container."""
        ours = os.stat(self._lock)
        directory = f"/proc/{pid}/fd"
        with contextlib.suppress(OSError):
            for name in os.listdir(directory):
                with contextlib.suppress(OSError):  # closed meanwhile
                    if os.path.samestat(ours, os.stat(f"{directory}/{name}")):
                        return True
        return False

    def _holder(self) -> tuple[int | None, str]:
        """Return the ID of the process that holds the lock, and its version; None and empty if there is none."""
        try:
            with open(self._lock, encoding="utf-8") as file:
                pid, _, version = file.read(200).partition(" ")
        except OSError:
            return None, ""
        if not pid.isdecimal():
            return None, ""
        with Lock(self._lock, wait=0) as is_free:
            return (None, "") if is_free else (int(pid), version)


def _version() -> str:
    """Return a value that changes with each upgrade, which replaces every file."""
    found = os.stat(os.path.join(places.PACKAGE, "dispatch", "start.py"))
    return f"{found.st_ino} {found.st_size} {int(found.st_mtime)}"
