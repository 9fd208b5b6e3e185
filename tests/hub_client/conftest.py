"""Real hubs for the clients: one for agents, and one per file whose person is signed in at the inbox."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from hub import hubs
from hub_client.hubs import BadHub, RealHub
from tenterhook.hub_client import inbox_client

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import httpx

ENDS_SOON = "from tenterhook.hub_client import uploader; uploader._IDLE = {idle}; uploader.main({{}})"


@pytest.fixture(scope="session")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealHub]:
    running = RealHub(tmp_path_factory.mktemp("hub"))
    yield running
    running.stop()


@pytest.fixture
def bad_hub() -> Iterator[Callable[[Callable[[socket.socket], None]], BadHub]]:
    """Makes hubs that misbehave."""
    made: list[BadHub] = []

    def make(serve: Callable[[socket.socket], None]) -> BadHub:
        made.append(BadHub(serve))
        return made[-1]

    yield make
    for each in made:
        each.stop()


@pytest.fixture(scope="module")
def inbox_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hubs.Hub]:
    """A hub that the tests of a file share."""
    with hubs.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="module")
def agent(inbox_hub: hubs.Hub) -> httpx.Client:
    """A client with an agent's token."""
    return inbox_hub.agent()


@pytest.fixture(scope="module")
def bob(inbox_hub: hubs.Hub) -> httpx.Client:
    """Another person, who answers as well."""
    return inbox_hub.person("bob", password="bob's own password")


@pytest.fixture
def me(inbox_hub: hubs.Hub, home: Path) -> inbox_client.Credentials:
    """The hub's person, with what their own machine has of them."""
    folder = home / ".local/state/tenterhook/hub"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(inbox_hub.home / ".local/state/tenterhook/hub/person.json", folder)
    return inbox_client.signed_in()


@pytest.fixture
def session() -> str:
    return f"s-{os.urandom(6).hex()}"


@pytest.fixture
def deliverer() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts processes that deliver, as an event would."""
    started: list[subprocess.Popen[bytes]] = []

    def start(idle: float = 0.5) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen([sys.executable, "-c", ENDS_SOON.format(idle=idle)]))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait(20)
