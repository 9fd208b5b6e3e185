"""What the tests of the bridge share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dispatch.bridges import serving
from support import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With the daemon, what holds in every agent is tried in a few: that it says the same is a test of its own."""
    for item in items:
        given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        is_another = given.get("answering") == "daemon" and given.get("host", FEW[0]) not in FEW
        if is_another and item.get_closest_marker("promise") is None:
            item.add_marker(pytest.mark.thorough)


@pytest.fixture(params=["alone", pytest.param("daemon", marks=pytest.mark.slow)])
def answering(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """Everything here holds with the daemon, too."""
    if request.param == "alone":
        yield "alone"
        return
    with serving():
        yield "daemon"
