"""A temporary PostgreSQL server, run by an unprivileged account."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import subprocess
import tempfile
import uuid
from typing import Any

_NEVER_DURABLE = "fsync = off\n"


class NotInstalled(Exception):
    """There is no PostgreSQL server here."""


class Server:
    """A server that listens on a socket in its folder; without `is_durable` it is faster, but not safe in a crash."""

    def __init__(self, *, is_durable: bool = True, data: str | None = None, settings: str = "") -> None:
        """`data` is a folder for its files, if they are to be elsewhere."""
        self._programs = _programs()
        self._account: dict[str, Any] = {"user": "postgres", "group": "postgres"} if os.getuid() == 0 else {}
        self.place = tempfile.mkdtemp(prefix="tenterhook-pg-", dir=reachable() if self._account else None)
        self._data = os.path.join(data or self.place, "data")
        try:
            for each in {self.place, data or self.place} if self._account else ():
                shutil.chown(each, "postgres", "postgres")
            self._run("initdb", "-D", self._data, "-U", "postgres", "--auth=trust", "--locale=C.UTF-8")
            with open(f"{self._data}/postgresql.conf", "a") as file:
                file.write(f"listen_addresses = ''\nunix_socket_directories = '{self.place}'\n")
                file.write(settings if is_durable else settings + _NEVER_DURABLE)
            self.start()
        except BaseException:
            shutil.rmtree(self.place)
            raise

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [f"{self._programs}/{program}", *arguments],
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # the server would keep a pipe open
            stderr=subprocess.DEVNULL,
            cwd=self.place,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
            **self._account,
        )
        if done.returncode != 0:
            raise OSError(f"{program} failed: {done.returncode}")

    def start(self) -> None:
        self._run("pg_ctl", "-D", self._data, "-l", f"{self.place}/log", "-w", "start")

    def ensure_running(self) -> None:
        """Start it again if it has ended."""
        try:
            self._run("pg_ctl", "-D", self._data, "status")
        except OSError:
            self.start()

    def stop(self, how: str = "fast") -> None:
        self._run("pg_ctl", "-D", self._data, "-m", how, "-w", "stop")

    def new_database(self) -> str:
        """Return the address of an empty database."""
        name = f"hub_{uuid.uuid4().hex}"
        self._run("createdb", "-h", self.place, "-U", "postgres", name)
        return f"postgresql://postgres@/{name}?host={self.place}"

    def remove(self) -> None:
        with contextlib.suppress(OSError):  # it has ended
            self.stop("immediate")
        shutil.rmtree(self.place)


def reachable() -> str:
    """Return a temporary folder that other accounts can enter."""
    places = (tempfile.gettempdir(), "/var/tmp", "/dev/shm")
    return next(place for place in places if os.path.isdir(place) and os.stat(place).st_mode & 0o001)


def _programs() -> str:
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    initdb = found[-1] if found else shutil.which("initdb")
    if initdb is None:
        raise NotInstalled("no PostgreSQL server is installed here")
    return os.path.dirname(initdb)
