"""A test leaves no journal open in the process that runs the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tenterhook.journal import writer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    for opened in writer._OPENED.values():
        opened.close()
    writer._OPENED.clear()
