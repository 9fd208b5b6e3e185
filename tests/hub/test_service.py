"""The hub in the background: there when it is enabled, once, and gone when it is stopped."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from dispatch.bridges import GUARD, call, install, line, payload
from support import alive, folder_hook, leave_hub, tenterhook, until, user_hooks
from tenterhook.dispatch import daemon
from tenterhook.hub.service import SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="services in the background need Linux")


@pytest.fixture(autouse=True)
def ended(home: Path) -> Iterator[None]:
    """No hub outlives a test, and nobody delivers records to it."""
    yield
    SERVICE.disable()
    SERVICE.stop()
    leave_hub()


def begun(*options: str) -> dict[str, Any]:
    started = tenterhook("hub", "start", "--listen", "127.0.0.1:0", "--json", *options)
    assert started.returncode == 0, started.stderr
    said: dict[str, Any] = json.loads(started.stdout)
    return said


def test_there_is_one_and_then_there_is_none(home: Path) -> None:
    assert begun()["url"].startswith("http://127.0.0.1:")
    assert "in the background" in tenterhook("hub", "status").stdout
    again = tenterhook("hub", "start", "--keep-days", "5")
    assert (again.returncode, "a hub is already running, in the background" in again.stderr) == (1, True)
    pid = SERVICE.process_id()
    assert json.loads(tenterhook("hub", "status", "--json").stdout)["running"] == pid
    assert tenterhook("hub", "stop").stdout == "the hub has stopped\n"
    assert pid is not None
    assert not alive(pid)
    assert tenterhook("hub", "stop").stdout == "no hub is running\n"
    assert not os.path.exists(SERVICE.file)


@pytest.mark.slow
def test_it_answers_no_events_and_the_daemon_runs_beside_it(home: Path) -> None:
    begun()
    assert not (home / ".local/state/tenterhook/daemon.sock").exists()
    assert tenterhook("daemon", "start").returncode == 0
    assert daemon.SERVICE.process_id() not in (None, SERVICE.process_id())
    assert tenterhook("hub", "stop").stdout == "the hub has stopped\n"
    assert daemon.SERVICE.process_id() is not None
    assert tenterhook("daemon", "stop").returncode == 0


@pytest.mark.slow
def test_one_that_was_killed_is_there_again_in_the_next_session(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    install("claude-code")
    begun()
    first = SERVICE.process_id()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: SERVICE.process_id() is None)
    assert call(line("claude-code", "PreToolUse"), payload("claude-code", project)).returncode == 0
    until(SERVICE.process_id)


@pytest.mark.slow
def test_what_cannot_start_says_why_and_is_not_tried_again(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        started = tenterhook("hub", "start", "--listen", f"127.0.0.1:{port}")
    assert started.returncode == 1
    assert f"the hub did not start: cannot listen on 127.0.0.1:{port}: Address already in use" in started.stderr
    assert SERVICE.config() is None


@pytest.mark.slow
def test_its_database_is_where_the_person_says(home: Path, project: Path) -> None:
    begun("--database", "own.db")
    assert (project / "own.db").exists()


@pytest.mark.slow
def test_one_in_a_terminal_is_known_and_a_second_runs_beside_it(home: Path) -> None:
    line = [sys.executable, "-m", "tenterhook", "hub", "--listen", "127.0.0.1:0", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline()
        assert SERVICE.process_id() == first.pid
        assert "started by hand" in tenterhook("hub", "start", "--listen", "127.0.0.1:0").stderr
        other = [*line, "--database", str(home / "other.db")]
        with subprocess.Popen(other, stdout=subprocess.PIPE) as second:
            assert second.stdout is not None
            assert second.stdout.readline()
            assert SERVICE.process_id() == first.pid
            second.terminate()
        first.terminate()
    assert SERVICE.process_id() is None
