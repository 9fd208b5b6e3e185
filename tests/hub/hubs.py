"""Real hubs, real PostgreSQL servers, and what agents and people say to them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING, Any, TypeVar

import httpx
import pytest

from bench import postgres
from support import until
from tenterhook.approvals.requests import content_hash
from tenterhook.hub import database as databases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tenterhook.hub.database import Connection

WORK_DIR = "/work/here"
PASSWORD = "correct horse battery"
T = TypeVar("T")


class Hub:
    """A hub process with a home of its own."""

    def __init__(self, home: Path, *options: str, database: str | None = None) -> None:
        self.home = home
        self.database = database
        self._clients = contextlib.ExitStack()
        where = ["--database", database] if database else []
        self.log = (home / f"hub-{uuid.uuid4().hex}.log").open("w+")
        listen = [] if "--listen" in options else ["--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tenterhook", "hub", *listen, *where, "--json", *options],
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=self.environment,
        )
        try:
            self.first = self._first_line()
            self.url: str = self.first["listen"]
            until(self._answers)
        except BaseException:
            self.end()
            raise
        self.admin = self.client(self.person_file["token"]) if "enter" in self.first else None

    def _first_line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.said
        first: dict[str, Any] = json.loads(line)
        return first

    def _answers(self) -> bool:
        with contextlib.suppress(httpx.TransportError):
            return httpx.get(f"{self.url}/api/v1/health", timeout=20).status_code == 200
        assert self.process.poll() is None, self.said
        return False

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "HOME": str(self.home)}

    @property
    def person_file(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.home / ".local/state/tenterhook/hub/person.json").read_text())
        return found

    @property
    def said(self) -> str:
        """What it wrote to stderr."""
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def client(self, token: str | None = None, **headers: str) -> httpx.Client:
        """A client of the hub's interface; closed with the hub."""
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        client = httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=60)
        return self._clients.enter_context(client)

    def token(self, name: str = "machine", **more: str) -> str:
        """A new token, whose name is nobody else's."""
        assert self.admin is not None
        made = self.admin.post("/tokens", json={"name": f"{name} {uuid.uuid4().hex[:12]}", **more})
        assert made.status_code == 201, made.text
        token: str = made.json()["token"]
        return token

    def agent(self, name: str = "machine") -> httpx.Client:
        return self.client(self.token(name))

    def person(self, name: str, role: str = "approver", password: str | None = None) -> httpx.Client:
        """A new person, with a token of theirs."""
        assert self.admin is not None
        given = {"name": name, "role": role, **({"password": password} if password else {})}
        assert self.admin.post("/people", json=given).status_code == 201
        return self.client(self.token(f"{name}'s", kind="person", person=name))

    def command(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """`tenterhook hub …` on this hub's database."""
        where = ["--database", self.database] if self.database else []
        line = [sys.executable, "-m", "tenterhook", "hub", *where, *arguments]
        return subprocess.run(line, capture_output=True, text=True, env=self.environment, timeout=60, **options)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do a piece of work in its database, beside it."""
        kept = databases.opened(self.database or str(self.home / ".local/state/tenterhook/hub/hub.db"))
        try:
            return kept.write(work)
        finally:
            kept.close()

    def end(self) -> int:
        """Ask it to end, as a person or a service manager would; its exit status."""
        self._clients.close()
        if self.process.poll() is None:
            self.process.terminate()
        assert self.process.stdout is not None
        self.process.stdout.close()
        status = self.process.wait(90)
        self.log.close()
        return status


@contextlib.contextmanager
def running(home: Path, *options: str, database: str | None = None) -> Iterator[Hub]:
    home.mkdir(parents=True, exist_ok=True)
    hub = Hub(home, *options, database=database)
    try:
        yield hub
    finally:
        hub.end()


def name_of(client: httpx.Client) -> str:
    """What the token of a machine or a person is called."""
    return str(client.get("/me").json()["name"])


def request(command: str = "ls", **more: Any) -> dict[str, Any]:
    """A request as an agent opens it."""
    given = {"command": command}
    return {
        "id": f"permission_{uuid.uuid4().hex[:12]}",
        "tool_name": "Shell",
        "tool_input": given,
        "hash": content_hash("Shell", given, WORK_DIR),
        "display": {"kind": "command", "command": command, "cwd": WORK_DIR},
        "action": "run command",
        "session_id": "session",
        "agent": "agent",
        "machine": "machine",
        "work_dir": WORK_DIR,
        **more,
    }


def opened(agent: httpx.Client, command: str = "ls", **more: Any) -> dict[str, Any]:
    """A request that waits."""
    made = agent.post("/requests", json=request(command, **more))
    assert made.status_code == 201, made.text
    found: dict[str, Any] = made.json()
    return found


def answered(person: httpx.Client, asked: dict[str, Any], approved: bool = True, **more: Any) -> httpx.Response:
    """A person's answer to a request."""
    given = {"approved": approved, "hash": asked["hash"], **more}
    return person.post(f"/requests/{asked['id']}/answer", json=given)


class PostgreSQL(postgres.Server):
    """A server of our own, with its data in a temporary folder."""

    def __init__(self, settings: str = "") -> None:
        try:
            super().__init__(is_durable=False, settings=settings)
        except postgres.NotInstalled as reason:
            pytest.skip(str(reason))
