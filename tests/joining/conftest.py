"""One real hub for all tests that do not end it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from joining.hubs import BadHub, RealHub

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator


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
