"""Starting and stopping a service in the background, and what is said when it does not start."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from support import alive
from tenterhook.basics import places
from tenterhook.cli import services
from tenterhook.dispatch.daemon import SERVICE
from tenterhook.errors import HookError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="services in the background need Linux")


@pytest.fixture(autouse=True)
def ended(home: Path) -> Iterator[None]:
    """No service outlives a test."""
    yield
    SERVICE.disable()
    SERVICE.stop()


def test_one_that_runs_is_not_started_twice_and_stops_for_good() -> None:
    services.start(SERVICE, {})
    pid = SERVICE.process_id()
    assert pid is not None
    with pytest.raises(HookError, match="a daemon is already running, in the background"):
        services.start(SERVICE, {})
    assert SERVICE.process_id() == pid
    assert services.stop(SERVICE) == "the daemon has stopped"
    assert not alive(pid)
    assert SERVICE.config() is None


def test_one_that_cannot_start_says_its_last_line_and_is_not_tried_again() -> None:
    os.makedirs(os.path.join(places.state(), "daemon.sock"))
    with pytest.raises(HookError, match="the daemon did not start: events cannot be answered") as failed:
        services.start(SERVICE, {})
    assert failed.value.remedy == "see ~/.local/state/tenterhook/daemon.log"
    assert SERVICE.config() is None
    assert SERVICE.process_id() is None


def test_one_that_is_only_enabled_is_not_started_any_more() -> None:
    assert services.stop(SERVICE) is None
    SERVICE.enable({})
    assert services.stop(SERVICE) == "the daemon was not running and will not be started"
    assert services.stop(SERVICE) is None
