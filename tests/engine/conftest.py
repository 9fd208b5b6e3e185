"""What the tests of the engine share."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from engine.one_hook import HANG

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def at_once() -> Iterator[None]:
    """The test is over long before a hook's `sleep 60` is."""
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < HANG
