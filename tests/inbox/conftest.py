"""A hub with a home of its own, and a test's home in which its person is signed in."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from hub import hubs
from tenterhook.inbox import client as inbox_client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hubs.Hub]:
    """A hub that the tests of a file share."""
    with hubs.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="module")
def agent(hub: hubs.Hub) -> httpx.Client:
    """Somebody who asks."""
    return hub.agent()


@pytest.fixture(scope="module")
def bob(hub: hubs.Hub) -> httpx.Client:
    """Another person, who answers as well."""
    return hub.person("bob", password="bob's own password")


@pytest.fixture
def me(hub: hubs.Hub, home: Path) -> inbox_client.Person:
    """The hub's person, with what their own machine has of them."""
    folder = home / ".local/state/tenterhook/hub"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(hub.home / ".local/state/tenterhook/hub/person.json", folder)
    return inbox_client.signed_in()
