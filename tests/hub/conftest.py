"""Hubs over both databases, started once for all tests of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hub import hubs

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


@pytest.fixture(scope="session")
def postgresql() -> Iterator[hubs.PostgreSQL]:
    """A PostgreSQL server."""
    server = hubs.PostgreSQL()
    yield server
    server.remove()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """Where a hub keeps things; None for the usual file."""
    if request.param == "sqlite":
        return None
    server: hubs.PostgreSQL = request.getfixturevalue("postgresql")
    return server.new_database()


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory, database: str | None) -> Iterator[hubs.Hub]:
    """A hub that the tests of a file share."""
    with hubs.running(tmp_path_factory.mktemp("hub"), database=database) as running:
        yield running


@pytest.fixture(scope="module")
def small_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[hubs.Hub]:
    """The same over SQLite alone, for what does not depend on the database."""
    with hubs.running(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture
def agent(hub: hubs.Hub) -> httpx.Client:
    return hub.agent()


@pytest.fixture
def admin(hub: hubs.Hub) -> httpx.Client:
    assert hub.admin is not None
    return hub.admin
