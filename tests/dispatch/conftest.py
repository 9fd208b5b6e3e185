"""What the tests of the bridge share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dispatch.bridges import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(params=["alone", pytest.param("daemon", marks=pytest.mark.slow)])
def answering(request: pytest.FixtureRequest, home: Path) -> Iterator[str]:
    """Everything here holds with the daemon, too."""
    if request.param == "alone":
        yield "alone"
        return
    with serving():
        yield "daemon"
