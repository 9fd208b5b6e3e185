"""What the tests of approvals share."""

from __future__ import annotations

import pytest

from tenterhook.engine import bounded_search


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches have time on a busy machine: the limit itself is tested where it is made."""
    monkeypatch.setattr(bounded_search, "_SECONDS_PER_EVENT", 3.0)
