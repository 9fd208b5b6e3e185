"""The hub as a process: how it starts, what it stores, and how it ends."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from hub import hubs
from hub.hubs import answered, opened
from hub.listening import listening
from support import until

if TYPE_CHECKING:
    from pathlib import Path

    from hub.hubs import Hub


def test_headers_that_do_not_end_are_refused(small_hub: Hub) -> None:
    place = urlsplit(small_hub.url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as wire:
        wire.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
        assert b" 400 " in wire.recv(1000)


def test_a_second_hub_on_the_same_file_is_refused(small_hub: Hub) -> None:
    line = [sys.executable, "-m", "tenterhook", "hub", "--listen", "127.0.0.1:0"]
    ended = subprocess.run(line, capture_output=True, text=True, env=small_hub.environment, timeout=60)
    assert ended.returncode == 1
    assert "another hub is running" in ended.stderr


def test_what_is_kept_is_for_this_account_alone_and_holds_no_secret(small_hub: Hub) -> None:
    token = small_hub.token("secretive")
    place = small_hub.home / ".local/state/tenterhook/hub"
    assert place.stat().st_mode & 0o777 == place.parent.stat().st_mode & 0o777 == 0o700
    assert (place / "person.json").stat().st_mode & 0o777 == 0o600
    assert (place / "hub.db").stat().st_mode & 0o777 == 0o600
    for file in place.glob("hub.db*"):
        assert token.encode() not in file.read_bytes()
    assert token not in small_hub.said


def test_a_state_directory_that_others_could_read_is_closed_when_the_hub_starts(tmp_path: Path) -> None:
    state = tmp_path / "hub/.local/state/tenterhook"
    state.mkdir(parents=True)
    state.chmod(0o755)
    with hubs.running(tmp_path / "hub"):
        assert state.stat().st_mode & 0o777 == 0o700


def test_a_hub_that_ends_closes_its_streams_and_long_polls(tmp_path: Path, database: str | None) -> None:
    with hubs.running(tmp_path / "hub", database=database) as hub:
        asked = opened(hub.agent())
        with listening(hub) as listener:
            hub.process.terminate()
            assert hub.process.wait(30) == 0
            until(lambda: listener.has_ended_well)
        assert hub.said == ""
        assert asked["state"] == "open"


@pytest.mark.slow
def test_after_a_restart_a_request_that_nobody_waits_for_is_withdrawn_soon(tmp_path: Path) -> None:
    with hubs.running(tmp_path / "hub") as hub:
        token = hub.token()
        agent = hub.client(token)
        left, kept = opened(agent), opened(agent)
    with hubs.running(tmp_path / "hub") as hub:
        started = time.monotonic()
        agent = hub.client(token)
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(agent.get, f"/requests/{kept['id']}/answer", params={"wait": 20})
            assert hub.admin is not None
            person = hub.admin
            until(lambda: person.get(f"/requests/{left['id']}").json()["state"] == "withdrawn", 25)
            assert time.monotonic() - started > 8  # it has had time to poll again
            assert not answered(person, left).json()["won"]
            assert answered(person, kept).json()["won"]
            assert waiting.result(30).json()["state"] == "approved"
