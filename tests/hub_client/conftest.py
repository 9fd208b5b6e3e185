"""Real hubs for the clients: one for agents, and one per file whose person is signed in at the inbox."""

from __future__ import annotations

import shutil
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
    """Somebody who asks."""
    return inbox_hub.agent()


@pytest.fixture(scope="module")
def bob(inbox_hub: hubs.Hub) -> httpx.Client:
    """Another person, who answers as well."""
    return inbox_hub.person("bob", password="bob's own password")


@pytest.fixture
def me(inbox_hub: hubs.Hub, home: Path) -> inbox_client.Person:
    """The hub's person, with what their own machine has of them."""
    folder = home / ".local/state/tenterhook/hub"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(inbox_hub.home / ".local/state/tenterhook/hub/person.json", folder)
    return inbox_client.signed_in()
