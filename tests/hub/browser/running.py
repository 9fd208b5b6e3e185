"""A real hub, real agents' tokens, and a real browser that looks at the hub's pages."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx

from tenterhook.approvals.requests import Call, content_hash
from tenterhook.hub import accounts
from tenterhook.hub.database import opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, Page

    from tenterhook.hub.database import Connection


CHROMIUM = "/usr/bin/chromium" if os.path.exists("/usr/bin/chromium") else shutil.which("chromium")
PASSWORD = "correct horse"
_QUIETLY = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP hub.example.org 127.0.0.1",  # a name that is not this machine's, for pages without TLS
)


class Agent(NamedTuple):
    """A machine that has joined the hub."""

    client: httpx.Client
    machine: str

    def ask(self, tool: str, tool_input: dict[str, Any], **more: Any) -> str:
        """Ask whether a call may run; the id of the request."""
        number = uuid.uuid4().hex
        call = Call(tool, tool_input, more.pop("work_dir", "/home/ann/shop"))
        given = {
            "id": number,
            "tool_name": tool,
            "tool_input": tool_input,
            "hash": content_hash(tool, tool_input, call.work_dir),
            "display": more.pop("display", {}),
            "action": call.action,
            "session_id": more.pop("session", "session-1"),
            "agent": more.pop("agent", "claude-code"),
            "machine": self.machine,
            "work_dir": call.work_dir,
            "expires_in": more.pop("expires_in", 600),
            "grant": call.grant,
            **more,
        }
        self.client.post("/requests", json=given).raise_for_status()
        return number

    def shell(self, command: str, **more: Any) -> str:
        return self.ask("Bash", {"command": command}, **more)

    def answer(self, request: str, wait: float = 20) -> dict[str, Any]:
        """Wait for what became of a request."""
        reply = self.client.get(f"/requests/{request}/answer", params={"wait": wait}, timeout=wait + 10)
        reply.raise_for_status()
        answered: dict[str, Any] = reply.json()
        return answered

    def withdraw(self, request: str, by: str = "terminal", approved: bool | None = True) -> None:
        reply = self.client.post(f"/requests/{request}/withdraw", json={"by": by, "approved": approved})
        reply.raise_for_status()

    def report(self, records: list[dict[str, Any]]) -> None:
        """Deliver records of the journal."""
        lines = [{"segment": "a", "line": at, "record": record} for at, record in enumerate(records)]
        self.client.post("/records", json={"machine": self.machine, "records": lines}).raise_for_status()


class Hub:
    """A hub that runs."""

    def __init__(self, folder: Path, *options: str, listen: str = "127.0.0.1:0") -> None:
        self.file = str(folder / "hub.db")
        self._options = options
        self._clients: list[httpx.Client] = []
        self.start(listen)

    def start(self, listen: str) -> None:
        command = [sys.executable, "-m", "tenterhook", "hub", "--listen", listen, "--database", self.file, "--json"]
        self._process = subprocess.Popen([*command, *self._options], stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.said: dict[str, Any] = json.loads(self._process.stdout.readline())
        self.url: str = self.said["listen"]

    def end(self) -> None:
        self._process.terminate()
        self._process.communicate(timeout=20)

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.end()

    def agent(self, machine: str) -> Agent:
        return Agent(self._client(self._token(machine, accounts.AGENT)), machine)

    def person(self, name: str, role: str = accounts.APPROVER) -> None:
        kept = accounts.hashed(PASSWORD)
        self._write(lambda connection: accounts.add(connection, name, role, kept))

    def program(self, person: str, name: str = "chat bot") -> httpx.Client:
        """A program that acts for a person, by a token."""
        return self._client(self._token(name, accounts.PERSON, person))

    def _token(self, name: str, kind: str, person: str | None = None) -> str:
        def make(connection: Connection) -> str:
            free = accounts.unused_token_name(connection, name, kind, person)
            return accounts.new_token(connection, free, kind, person)[1]

        return str(self._write(make))

    def link(self, person: str) -> str:
        """An address that signs a person in once."""
        return f"{self.url}/enter#{self._write(lambda connection: accounts.new_link(connection, person))}"

    def _write(self, work: Any) -> Any:
        database = opened(self.file)
        try:
            return database.write(work)
        finally:
            database.close()

    def _client(self, secret: str) -> httpx.Client:
        client = httpx.Client(base_url=f"{self.url}/api/v1", headers={"Authorization": f"Bearer {secret}"}, timeout=30)
        self._clients.append(client)
        return client


@contextlib.contextmanager
def running(folder: Path, *options: str, **more: Any) -> Iterator[Hub]:
    hub = Hub(folder, *options, **more)
    try:
        yield hub
    finally:
        hub.close()


@contextlib.contextmanager
def browsing(home: Path) -> Iterator[Browser]:
    """The machine's own Chromium; what it writes goes below `home`."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=_QUIETLY,
            env={**os.environ, "HOME": str(home), "TMPDIR": str(home)},
        )
        try:
            yield browser
        finally:
            browser.close()


def signed_in(hub: Hub, context: BrowserContext, person: str | None = None) -> Page:
    """A page of the inbox, by default of the person who started the hub."""
    page = context.new_page()
    page.goto(hub.link(person) if person else hub.link(hub.said["person"]))
    page.wait_for_url(f"{hub.url}/")
    page.wait_for_selector("main:not([data-shell])")  # its script has fetched the content
    return page
