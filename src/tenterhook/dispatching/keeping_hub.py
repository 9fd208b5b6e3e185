"""A hub that is kept running in the background, from `hub start` or `install --hub` to `hub stop`.

What they wrote down says which one: with its pages, or one that answers events alone. Whoever begins a session and
finds none starts it again, and waits for nothing: the process that is started sees for itself whether it is needed.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..basics import locks, places, private_files, processes, variables
from ..errors import HookError
from . import starting

if TYPE_CHECKING:
    from collections.abc import Callable

_BOOT = "import sys; sys.path += {path!r}; from tenterhook.dispatching import keeping_hub; keeping_hub.main({places!r})"
_PASSED_ON = ("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER")
_PASSED_ON_KINDS = ("LC_", "PG", "SSL_CERT_", "TENTERHOOK_", "XDG_")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")  # in either case
_PATIENCE = 10.0  # seconds for a hub to end
ADVICE = "hooks answer about three times as fast with one: tenterhook hub start --no-pages"


class Wanted(NamedTuple):
    """A hub as somebody asked for it."""

    listen: str | None  # no pages: it answers events alone
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


def want(listen: str | None, database: str | None, public_url: str | None, keep_days: int, *, insecure: bool) -> Wanted:
    """Write down which hub is to run from now on."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON
        or name.startswith(_PASSED_ON_KINDS)
        or name.lower() in _PROXIES
        or variables.is_from_record(os.fsencode(name))
    }
    environment.pop("TENTERHOOK_CHAIN", None)
    if database is not None and "://" not in database:
        database = os.path.abspath(database)
    asked = Wanted(
        listen, database, public_url, keep_days, insecure, sys.executable, processes.module_path(), environment
    )
    places.make_private(places.state())
    _write_down(asked)
    return asked


def _write_down(asked: Wanted) -> None:
    places.replace_file(file(), json.dumps({"schema": 1, **asked._asdict()}).encode())


def forget() -> bool:
    """Have none run from now on; whether one was to."""
    try:
        os.unlink(file())
    except FileNotFoundError:
        return False
    return True


def process_id() -> int | None:
    """The process of the hub that answers events on this machine; None if there is none."""
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


def could_help() -> bool:
    """Whether hooks would answer sooner with a hub: there is none, and there could be one."""
    return sys.platform == "linux" and process_id() is None and wanted() is None


def see_to_it() -> None:
    """Have the hub started that is to run, if none is there or the one that is has been upgraded since."""
    if process_id() is not None and not _is_outdated():
        return
    asked = wanted()
    if asked is not None:
        with contextlib.suppress(OSError):  # no process to be had: the next session tries again
            start(asked)


def start(asked: Wanted) -> subprocess.Popen[bytes]:
    """Begin a process that becomes the hub, with what it says in the log; raises `OSError` if there can be none."""
    places.keep_small(log())
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
    """End the hub that runs on this machine, and wait until it has; whether there was one.

    Raises `HookError` if it cannot be ended from here.
    """
    pid = process_id() or _holder()[0]
    if pid is not None:
        _end(pid)
    return pid is not None


def end_without_pages() -> Wanted | None:
    """End the hub that answers events alone, if that is the one that is to run, for good; which one that was."""
    known = wanted()
    if known is None or known.listen is not None:
        return None
    forget()
    pid = _holder()[0]  # one that was started by hand holds no lock, and goes on
    if pid is not None:
        _end(pid)
    return known


def want_again(asked: Wanted) -> None:
    """Have a hub run that was to run before."""
    _write_down(asked)
    see_to_it()


def _end(pid: int) -> None:
    try:
        process = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(process, signal.SIGTERM)
            if not select.select([process], [], [], _PATIENCE)[0]:
                signal.pidfd_send_signal(process, signal.SIGKILL)
                select.select([process], [], [], _PATIENCE)
        finally:
            os.close(process)
    except ProcessLookupError:  # it was quicker
        pass
    except OSError as error:  # it runs in another container, or the system is too old
        raise HookError(f"the hub cannot be ended from here: {error.strerror}", "end it where it was started") from None


def main(where: dict[str, str]) -> None:
    """Be the hub that is to run, unless somebody else is."""
    places.FIXED.update(where)
    asked = wanted()
    other = process_id()
    if asked is None or (other is not None and not _is_outdated()):
        return
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s")
    try:
        if other is not None:
            _end(other)
        with _Lock() as is_ours:
            if is_ours and process_id() is None:
                run(*asked[:5], say=_say)
    except HookError as error:
        sys.exit(f"{error.message}; {error.remedy}")


class _Lock:
    """Held by the hub in the background for as long as it lives; it says there who it is."""

    def __enter__(self) -> bool:
        self._descriptor = os.open(_lock_file(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        until = time.monotonic() + _PATIENCE
        while not locks.acquire(self._descriptor, 0):
            if process_id() is not None or time.monotonic() > until:
                return False
            time.sleep(0.05)
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()} {starting.version()}".encode())
        return True

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _lock_file() -> str:
    return os.path.join(places.state(), "hub.lock")


def _holder() -> tuple[int | None, str]:
    """The hub that holds the lock, though nobody may reach it, and its version."""
    try:
        descriptor = os.open(_lock_file(), os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None, ""
    try:
        pid, _, version = os.read(descriptor, 200).decode().partition(" ")
        return (int(pid), version) if pid.isdecimal() and not locks.acquire(descriptor, 0) else (None, "")
    finally:
        os.close(descriptor)


def run(
    listen: str | None,
    database: str | None,
    public_url: str | None,
    keep_days: int,
    is_insecure: bool,
    *,
    say: Callable[[dict[str, Any]], None],
) -> None:
    """Serve people and agents until a signal comes; `say` hears where."""
    if listen is None:
        _answer_events(say)
        return
    from ..hub import server
    from . import serving

    with contextlib.ExitStack() as stack:

        def begin(said: dict[str, Any]) -> None:
            if process_id() is None:  # else another hub answers events, and goes on to
                stack.enter_context(serving.Server())
            say(said)

        server.run(listen, database, public_url, is_insecure, keep_days, begin)


def _answer_events(say: Callable[[dict[str, Any]], None]) -> None:
    """Be a hub without pages."""
    from . import serving

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    server = serving.Server()
    try:
        server.start()
        say({"url": None, "listen": None})
        ended.wait()
    except OSError as error:
        raise HookError(f"events cannot be answered: {error}", f"look at {places.state()}") from None
    finally:
        server.stop()


def _say(said: dict[str, Any]) -> None:
    if wanted() is None:  # somebody has thought better of it while this began
        raise SystemExit
    print(json.dumps({"time": time.time(), **said}), flush=True)


def _is_outdated() -> bool:
    """Whether the hub in the background is of another version than this."""
    pid, version = _holder()
    return pid is not None and version != starting.version()
