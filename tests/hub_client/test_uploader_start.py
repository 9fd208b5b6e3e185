"""Starting the uploader: one process, where a hub was joined, and not at every event."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from hub_client.hubs import BadHub, RealHub, joined
from support import alive, folder_hook, is_without_uploader, leave_hub, tenterhook, until, user_hooks
from tenterhook.hub_client import uploader_start

if TYPE_CHECKING:
    import socket
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]


@pytest.mark.slow
def test_one_process_delivers_at_a_time_and_it_ends_by_itself(
    hub: RealHub, deliverer: Callable[..., subprocess.Popen[bytes]]
) -> None:
    joined(hub)
    first = deliverer(idle=3)
    until(lambda: not is_without_uploader())
    assert deliverer().wait(20) == 0
    assert alive(first.pid)
    assert first.wait(30) == 0


def test_an_event_has_its_record_delivered(home: Path, project: Path, hub: RealHub, session: str) -> None:
    """By a process that nobody waits for, and that ends when there is no hub any more."""
    folder_hook(user_hooks(home), "guard", "exit 2")
    joined(hub)
    arguments = ("trigger", "pre-tool-call", "--tool", "Shell", "--input", '{"command": "ls"}', "--session", session)
    assert tenterhook(*arguments).returncode == 2
    until(lambda: [record["decision"] for record in hub.records(session)] == ["deny"])
    leave_hub()


def test_without_a_hub_nothing_is_started(home: Path, project: Path) -> None:
    uploader_start.ensure_uploader_running()
    assert not (home / ".local").exists()


def test_it_is_looked_for_at_most_once_a_second(home: Path, hub: RealHub) -> None:
    joined(hub)
    assert uploader_start.seconds_since_wake() == float("inf")
    with uploader_start.uploader_lock():  # as if one ran: none is started
        uploader_start.ensure_uploader_running()
        wake_file = home / ".local/state/tenterhook/hub-delivery/kicked"
        first = wake_file.stat().st_mtime_ns
        uploader_start.ensure_uploader_running()
        assert wake_file.stat().st_mtime_ns == first
        os.utime(wake_file, (1, 1))
        uploader_start.ensure_uploader_running()
        assert wake_file.stat().st_mtime_ns > first


def test_a_wake_file_from_the_future_holds_up_nothing(home: Path, hub: RealHub) -> None:
    joined(hub)
    with uploader_start.uploader_lock():
        uploader_start.ensure_uploader_running()
        os.utime(home / ".local/state/tenterhook/hub-delivery/kicked", (4e9, 4e9))
        assert uploader_start.seconds_since_wake() == float("inf")
