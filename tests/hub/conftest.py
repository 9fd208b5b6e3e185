"""Hubs over both databases: one over SQLite for all tests of a process, one over PostgreSQL for each file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest

from hub import hubs
from tenterhook.hub import accounts

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def postgresql() -> Iterator[hubs.PostgreSQL]:
    """A PostgreSQL server."""
    server = hubs.PostgreSQL()
    yield server
    server.remove()


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def database(request: pytest.FixtureRequest) -> str | None:
    """Where a hub keeps things; None for the usual file."""
    if request.param == "sqlite":
        return None
    server: hubs.PostgreSQL = request.getfixturevalue("postgresql")
    return server.new_database()


@pytest.fixture(scope="session")
def small_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hubs.Hub]:
    """A hub over SQLite that all tests share, since its start takes a second; each makes people of its own."""
    with hubs.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="module")
def hub(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, database: str | None
) -> Iterator[hubs.Hub]:
    """The same, and one over PostgreSQL, for what depends on the database."""
    if database is None:
        yield request.getfixturevalue("small_hub")
    else:
        with hubs.running(tmp_path_factory.mktemp("hub"), database=database) as running:
            yield running


@pytest.fixture
def agent(hub: hubs.Hub) -> httpx.Client:
    return hub.agent()


@pytest.fixture
def admin(hub: hubs.Hub) -> httpx.Client:
    assert hub.admin is not None
    return hub.admin


@pytest.fixture
def signed_in(small_hub: hubs.Hub) -> Iterator[httpx.Client]:
    """A browser in which the hub's own person has signed in, with the key of the sign-in."""
    name = small_hub.person_file["name"]
    link = small_hub.write(lambda connection: accounts.new_link(connection, name))
    with httpx.Client(base_url=small_hub.url, headers={"origin": small_hub.url}, timeout=60) as client:
        entered = client.post("/api/v1/enter", json={"link": link})
        assert entered.status_code == 200, entered.text
        client.headers["tenterhook-key"] = entered.json()["key"]
        yield client
