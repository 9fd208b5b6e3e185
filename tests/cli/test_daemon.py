"""`tenterhook daemon`, and what was said before there was such a command."""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from dispatch.bridges import GUARD
from support import alive, folder_hook, on_a_terminal, tenterhook, until, user_hooks
from tenterhook.basics import places
from tenterhook.dispatch.daemon import SERVICE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="services in the background need Linux")


@pytest.fixture(autouse=True)
def ended(home: Path) -> Iterator[None]:
    """No daemon outlives a test."""
    yield
    SERVICE.disable()
    SERVICE.stop()


def test_there_is_one_and_then_there_is_none(home: Path) -> None:
    assert tenterhook("daemon", "start").stdout == (
        "the daemon is running in the background; stop it with: tenterhook daemon stop\n"
    )
    pid = SERVICE.process_id()
    assert pid is not None
    again = tenterhook("daemon", "start")
    assert (again.returncode, "a daemon is already running, in the background" in again.stderr) == (1, True)
    status = tenterhook("daemon", "status")
    assert (status.returncode, f"is running as process {pid}, in the background" in status.stdout) == (0, True)
    said = json.loads(tenterhook("daemon", "status", "--json").stdout)
    assert said == {"schema": 1, "running": pid, "enabled": True, "outdated": False, "log": SERVICE.log}
    assert tenterhook("daemon", "stop").stdout == "the daemon has stopped\n"
    assert not alive(pid)
    assert tenterhook("daemon", "stop").stdout == "the daemon is not running\n"
    assert tenterhook("daemon", "status").returncode == 1
    assert not os.path.exists(SERVICE.file)


def test_one_that_cannot_listen_says_so_and_is_not_tried_again(home: Path) -> None:
    os.makedirs(f"{places.state()}/daemon.sock")
    folder_hook(user_hooks(home), "guard", "exit 2")
    failed = tenterhook("install", "claude-code", "--daemon")
    assert failed.returncode == 1
    assert "Claude Code: guarded" in failed.stdout  # what was done is shown
    assert "the daemon did not start: events cannot be answered" in failed.stderr
    assert SERVICE.config() is None
    said = json.loads(tenterhook("install", "claude-code", "--daemon", "--json").stdout)
    assert "events cannot be answered" in said["daemon"]["why_not"]


def test_install_starts_it_and_the_last_uninstall_stops_it(home: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    installed = tenterhook("install", "claude-code", "codex", "--daemon")
    assert installed.returncode == 0, installed.stderr
    assert "stop it with: tenterhook daemon stop" in installed.stdout
    pid = SERVICE.process_id()
    assert pid is not None
    assert tenterhook("install", "claude-code", "--daemon").returncode == 0  # it is there already
    assert SERVICE.process_id() == pid
    assert "the daemon" not in tenterhook("uninstall", "codex", "--yes").stdout
    assert SERVICE.process_id() == pid
    assert "the daemon has stopped" in tenterhook("uninstall", "claude-code", "--yes").stdout
    assert not alive(pid)
    assert SERVICE.config() is None


def test_install_in_a_script_tells_of_it_and_starts_none(home: Path) -> None:
    folder_hook(user_hooks(home), "guard", "exit 2")
    assert "tenterhook daemon start" in tenterhook("install", "claude-code").stdout.splitlines()[-1]
    assert "daemon start" in tenterhook().stdout
    assert "daemon" not in tenterhook("install", "codex", "--no-daemon").stdout
    assert SERVICE.config() is None


def test_install_on_a_terminal_does_not_offer_to_start_one(home: Path) -> None:
    status, seen = on_a_terminal(["install", "claude-code"], {b"install into Claude Code? [Y/n]": b"\n"})
    assert (status, seen.count(b"?")) == (0, 1)
    assert b"tenterhook daemon start" in seen
    assert SERVICE.config() is None


def test_install_starts_one_again_that_was_killed(home: Path) -> None:
    tenterhook("daemon", "start")
    first = SERVICE.process_id()
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: SERVICE.process_id() is None)
    said = json.loads(tenterhook("install", "claude-code", "--daemon", "--json").stdout)
    assert said["daemon"] == said["hub"] == {"running": SERVICE.process_id(), "why_not": None}


# ---- as it was said before


def test_a_hub_without_pages_is_the_daemon(home: Path) -> None:
    started = tenterhook("hub", "start", "--no-pages", "--json")
    assert started.returncode == 0, started.stderr
    assert started.stderr == "`hub start --no-pages` is now: tenterhook daemon start\n"
    said = json.loads(started.stdout)
    assert (said["url"], said["pid"]) == (None, SERVICE.process_id())
    stopped = tenterhook("hub", "stop")
    assert stopped.stdout == "the daemon has stopped\n"
    assert stopped.stderr == "no hub is running; to stop the daemon: tenterhook daemon stop\n"
    assert tenterhook("hub", "stop").stdout == "no hub is running\n"


@pytest.mark.parametrize("option", [("--listen", "127.0.0.1:0"), ("--database", "x.db"), ("--insecure",)])
def test_what_a_hub_needs_is_refused_for_the_daemon(home: Path, option: tuple[str, ...]) -> None:
    refused = tenterhook("hub", "start", "--no-pages", *option)
    assert refused.returncode == 64
    assert option[0] in refused.stderr
    assert SERVICE.config() is None


def test_install_with_a_hub_is_install_with_the_daemon(home: Path) -> None:
    installed = tenterhook("install", "claude-code", "--hub")
    assert installed.returncode == 0, installed.stderr
    assert "`--hub` is now `--daemon`" in installed.stderr
    assert SERVICE.process_id() is not None
    assert "`--no-hub` is now `--no-daemon`" in tenterhook("install", "codex", "--no-hub").stderr
