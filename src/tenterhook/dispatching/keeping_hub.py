"""A hub that is kept running in the background, from `hub start` to `hub stop`.

What `hub start` wrote down says which one. Whoever begins a session and finds none starts it again, and waits for
nothing: the process that is started sees for itself whether it is needed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import callers, places, private_files
from . import starting

if TYPE_CHECKING:
    from collections.abc import Callable

_BOOT = "import sys; sys.path += {path!r}; from tenterhook.dispatching import keeping_hub; keeping_hub.main({places!r})"
_PASSED_ON = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER")
_PASSED_ON_KINDS = ("LC_", "SSL_CERT_", "TENTERHOOK_", "XDG_")
_PATIENCE = 10.0  # seconds for a hub to end
_LARGEST_LOG = 8 * 1024 * 1024


class Wanted(NamedTuple):
    """A hub as `hub start` was asked for it."""

    listen: str
    database: str | None
    public_url: str | None
    keep_days: int
    insecure: bool
    python: str
    path: list[str]
    environment: dict[str, str]


def file() -> str:
    """Where it is written down which hub is to run, if any is."""
    return os.path.join(places.state(), "hub-in-background.json")


def log() -> str:
    return os.path.join(places.state(), "hub.log")


def wanted() -> Wanted | None:
    """The hub that is to run; None if there is none, or somebody else could have said so."""
    data = private_files.read(file())
    try:
        found = json.loads(data) if data else {}
        del found["schema"]
        return Wanted(**found)
    except (KeyError, TypeError, ValueError):
        return None


def want(listen: str, database: str | None, public_url: str | None, keep_days: int, *, insecure: bool) -> Wanted:
    """Write down which hub is to run from now on."""
    from ..installing import records

    environment = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith(_PASSED_ON_KINDS) or callers.is_steering(os.fsencode(name))
    }
    asked = Wanted(
        listen, database, public_url, keep_days, insecure, sys.executable, records.module_path(), environment
    )
    places.make_private(places.state())
    places.replace_file(file(), json.dumps({"schema": 1, **asked._asdict()}).encode())
    return asked


def forget() -> bool:
    """Have none run from now on; whether one was to."""
    try:
        os.unlink(file())
    except FileNotFoundError:
        return False
    return True


def running() -> int | None:
    """The process of the hub that answers events on this machine."""
    try:
        place = os.open(places.state(), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(1)
            asking.connect(f"/proc/self/fd/{place}/hub.sock")
            credentials = asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    except OSError:
        return None
    finally:
        os.close(place)
    pid, user = (int.from_bytes(credentials[start : start + 4], sys.byteorder) for start in (0, 4))
    return pid if user == os.getuid() else None


def advice() -> str | None:
    """What a hub would be good for, where there could be one and is none."""
    if sys.platform != "linux" or running() is not None or wanted() is not None:
        return None
    from importlib.util import find_spec

    return (
        "hooks answer about three times as fast while one runs: tenterhook hub start" if find_spec("uvicorn") else None
    )


def see_to_it() -> None:
    """Have the hub started that is to run, if none is there or the one that is has been upgraded since."""
    if running() is not None and not _is_outdated():
        return
    asked = wanted()
    if asked is not None:
        with contextlib.suppress(OSError):  # no process to be had: the next session tries again
            start(asked)


def start(asked: Wanted) -> subprocess.Popen[bytes]:
    """Begin a process that becomes the hub, with what it says in the log; raises `OSError` if there can be none."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.getsize(log()) > _LARGEST_LOG:
            os.replace(log(), log() + ".1")
    written = os.open(log(), os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        return subprocess.Popen(
            [asked.python, "-I", "-S", "-c", _BOOT.format(path=asked.path, places=places.FIXED)],
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=written,
            cwd="/",
            env=asked.environment,
            start_new_session=True,
        )
    finally:
        os.close(written)


def stop() -> bool:
    """End the hub that runs on this machine, and wait until it has; whether there was one."""
    pid = running()
    if pid is not None:
        _end(pid)
    return pid is not None


def _end(pid: int) -> None:
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(process, signal.SIGTERM)
        if not select.select([process], [], [], _PATIENCE)[0]:
            signal.pidfd_send_signal(process, signal.SIGKILL)
            select.select([process], [], [], _PATIENCE)
    except ProcessLookupError:  # it was quicker
        pass
    finally:
        os.close(process)


def main(where: dict[str, str]) -> None:
    """Be the hub that is to run, unless somebody else is."""
    places.FIXED.update(where)
    asked = wanted()
    other = running()
    if asked is None or (other is not None and not _is_outdated()):
        return
    if other is not None:
        _end(other)
    held = os.open(os.path.join(places.state(), "hub.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    if not _is_ours_alone(held) or running() is not None:
        return
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
    from ..errors import HookError

    try:
        run(*asked[:5], say=_say)
    except HookError as error:
        sys.exit(f"{error.message}; {error.remedy}")


def run(
    listen: str,
    database: str | None,
    public_url: str | None,
    keep_days: int,
    is_insecure: bool,
    *,
    say: Callable[[dict[str, Any]], None],
) -> None:
    """Serve people and agents until a signal comes; `say` hears where."""
    from ..hub import server
    from . import serving

    with contextlib.ExitStack() as stack:

        def begin(said: dict[str, Any]) -> None:
            stack.enter_context(serving.Server())  # not before: where there is a hub already, it stays the one
            say(said)

        server.run(listen, database, public_url, is_insecure, keep_days, begin)


def _say(said: dict[str, Any]) -> None:
    print(json.dumps({"time": time.time(), **said}), flush=True)


def _is_ours_alone(descriptor: int) -> bool:
    """Whether nobody else is at it; held until this process ends."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if running() is not None or time.monotonic() > until:
                return False
            time.sleep(0.05)
        else:
            return True


def _is_outdated() -> bool:
    """Whether the program was written anew after the hub began."""
    try:
        began = os.stat(os.path.join(places.state(), "hub.sock")).st_ctime
        return os.stat(starting.__file__).st_ctime > began
    except OSError:
        return False
