"""Hubs for tests: the real one in a process of its own, and bad ones that accept and then do something else."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from support import until
from tenterhook.hub_client import membership, uploader
from tenterhook.hub_client.membership import Membership

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MACHINE = "desk"


class RealHub:
    """A hub process with a home of its own. Its person is the account that runs the tests."""

    def __init__(self, home: Path, listen: str = "127.0.0.1:0") -> None:
        home.mkdir(exist_ok=True)
        self._home = home
        environment = {**os.environ, "HOME": str(home)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tenterhook", "hub", "--listen", listen, "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        assert self._process.stdout is not None
        self.url: str = json.loads(self._process.stdout.readline())["url"].rstrip("/")
        kept = json.loads((home / ".local/state/tenterhook/hub/person.json").read_text())
        self._token, self.person = kept["token"], kept["name"]

    @property
    def listen(self) -> str:
        return self.url.removeprefix("http://")

    def api(self, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
        """Ask as the person."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as response:
                said = response.read()
                return response.status, json.loads(said) if said else {}
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read() or b"{}")

    def sign_in(self, home: Path) -> None:
        """Sign the account with this home in as the person, as `hub start` does."""
        file = ".local/state/tenterhook/hub/person.json"
        (home / file).parent.mkdir(parents=True, mode=0o700)
        shutil.copy(self._home / file, home / file)

    def agent_token(self) -> str:
        return str(
            self.api("POST", "/tokens", {"name": f"{MACHINE} {uuid.uuid4().hex[:12]}", "kind": "agent"})[1]["token"]
        )

    def open_requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.api("GET", "/inbox")[1]["requests"]
        return found

    def waiting(self, command: str) -> dict[str, Any]:
        """The request for a command, once it is there."""

        def look() -> dict[str, Any] | None:
            mine = [each for each in self.open_requests() if each["tool_input"].get("command") == command]
            return mine[0] if mine else None

        found: dict[str, Any] = until(look)
        return found

    def look(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.api("GET", f"/requests/{request['id']}")[1]

    def answer(self, request: dict[str, Any], *, approved: bool, **more: Any) -> tuple[int, dict[str, Any]]:
        body = {"approved": approved, "scope": "once", "hash": request["hash"], **more}
        return self.api("POST", f"/requests/{request['id']}/answer", body)

    def records(self, session: str) -> list[dict[str, Any]]:
        """What the hub knows of a session, in order."""
        sessions = self.api("GET", "/sessions?limit=1000")[1]["sessions"]
        machines = {quote(each["machine"]) for each in sessions if each["session"] == session}
        found = [self.api("GET", f"/sessions/{machine}/{session}/timeline")[1]["records"] for machine in machines]
        return [each["record"] for each in sorted(itertools.chain(*found), key=lambda each: int(each["number"]))]

    def kill(self) -> None:
        self._process.kill()
        self._end()

    def stop(self) -> None:
        self._process.terminate()
        self._end()

    def _end(self) -> None:
        self._process.wait(20)
        assert self._process.stdout is not None
        self._process.stdout.close()


def joined(hub: RealHub) -> Membership:
    """Join a hub as this test's account."""
    member = Membership(hub.url, hub.agent_token(), MACHINE)
    uploader.skip_existing(member)
    membership.save(member)
    return member


class BadHub:
    """Accepts connections and lets a function do with them what it likes."""

    def __init__(self, serve: Callable[[socket.socket], None]) -> None:
        self._serve = serve
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.calls = 0
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.calls += 1
            self._connections.append(connection)
            threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        try:
            self._serve(connection)
        except OSError:
            pass

    def member(self) -> Membership:
        return Membership(self.url, "th_agent_x", MACHINE)

    def stop(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._socket.close()
        self._thread.join(5)
        for connection in self._connections:
            connection.close()


def read_request(connection: socket.socket) -> bytes:
    """What came, up to the end of its head at least."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece
    return data


def silent(connection: socket.socket) -> None:
    """Accepts, and says nothing."""
    while connection.recv(65536):
        pass


def dripping(connection: socket.socket) -> None:
    """Always has a little more to say."""
    read_request(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    pause = threading.Event()
    while True:
        connection.sendall(b"{")
        pause.wait(0.05)


def says(data: bytes) -> Callable[[socket.socket], None]:
    """Says this to everybody, and hangs up."""

    def serve(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        silent(connection)

    return serve


def said(body: object, status: int = 200) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        status,
        len(data),
        data,
    )
