"""A journal with records of several kinds; and no journal stays open in the process that runs the next test."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from journal import journals
from tenterhook.journal import writer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    for opened in writer._OPENED.values():
        opened.close()
    writer._OPENED.clear()


@pytest.fixture
def mixed(home: Path, project: Path) -> Path:
    """Events of several kinds, over several hours."""
    now = time.time()
    place = journals.folder(home)
    journals.write(
        place,
        journals.record(1, time=now - 3 * 86400, session_id="old"),
        journals.record(2, time=now - 3 * 3600, session_id="a", decision="deny", runs=[journals.run("g", "blocked")]),
        journals.record(3, time=now - 90 * 60, session_id="b", event="pre-agent-turn", tool_name=None),
        journals.record(4, time=now - 360, session_id="a", decision="ask", runs=[journals.run("g", "asked")]),
        journals.record(5, time=now - 300, session_id="b", decision="allow", runs=[journals.run("other", "allowed")]),
        journals.record(6, time=now - 20, session_id="c", decision="approve", runs=[]),
    )
    ended = {"schema": 1, "type": "async", "time": now - 10, "hook": "later", "source": "/h", "session_id": "c"}
    ended |= {"event": "post-session", "event_name": "session_end", "outcome": "ok", "meaning": "no_decision"}
    journals.write(place, {**ended, "why": None, "exit_code": 0, "duration_ms": 5.0, "stdout": "", "stderr": ""})
    return place
