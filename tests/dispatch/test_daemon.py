"""The daemon: there when it is enabled, once, of this version, and gone when it is stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dispatch.bridges import GUARD, HANG, call, install, line, payload
from support import alive, folder_hook, tenterhook, until, user_hooks
from tenterhook.basics import places
from tenterhook.dispatch import daemon
from tenterhook.dispatch.daemon import SERVICE
from tenterhook.hub.service import SERVICE as HUB

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="services in the background need Linux")


@pytest.fixture(autouse=True)
def ended(home: Path) -> Iterator[None]:
    """No service outlives a test."""
    yield
    for service in (SERVICE, HUB):
        service.disable()
        service.stop()


def begun() -> int:
    started = tenterhook("daemon", "start", "--json")
    assert started.returncode == 0, started.stderr
    pid: int = json.loads(started.stdout)["pid"]
    assert SERVICE.process_id() == pid
    return pid


def guarded(home: Path) -> str:
    """A guard that says who runs it, in force in an agent; the agent's line."""
    folder_hook(user_hooks(home), "guard", f'{GUARD}; printf \'{{"additional_context": "by %s."}}\' "$PPID"')
    install("claude-code")
    return line("claude-code", "PreToolUse")


def killed(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    until(lambda: SERVICE.process_id() is None)


def test_it_answers_events_until_it_is_stopped(home: Path, project: Path) -> None:
    written = guarded(home)
    pid = begun()
    until(lambda: f"by {pid}." in call(written, payload("claude-code", project)).stdout)
    assert SERVICE.disable()  # after an event this process counts as an agent: it may not say `daemon stop`
    assert SERVICE.stop()
    assert not alive(pid)
    assert f"by {pid}." not in call(written, payload("claude-code", project, session_id="s-2")).stdout
    assert SERVICE.process_id() is None


def test_it_listens_on_no_network(home: Path) -> None:
    pid = begun()
    sockets = {os.readlink(each) for each in Path(f"/proc/{pid}/fd").iterdir() if "socket" in os.readlink(each)}
    network = [Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:] for kind in ("tcp", "tcp6", "udp", "udp6")]
    assert sockets
    assert not sockets & {f"socket:[{line.split()[9]}]" for lines in network for line in lines}


def test_one_that_was_killed_is_there_again_in_the_next_session(home: Path, project: Path) -> None:
    written = guarded(home)
    killed(begun())
    for session in ("a", "b", "c"):  # each would start one
        said = call(written, payload("claude-code", project, session_id=session))
        assert (said.returncode, "by " in said.stdout) == (0, True)
    second = until(SERVICE.process_id)
    until(lambda: f"by {second}." in call(written, payload("claude-code", project, session_id="a")).stdout)
    until(lambda: daemons() == [second])
    SERVICE.disable()
    SERVICE.stop()
    until(lambda: not daemons())


def daemons() -> list[int]:
    """The processes that are, or would like to be, the daemon of this home."""
    found = []
    for name in os.listdir("/proc"):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes()
            variables = Path(f"/proc/{name}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"dispatch.daemon" in words and b"HOME=" + os.environb[b"HOME"] in variables:
            found.append(int(name))
    return found


def test_one_that_cannot_be_reached_any_more_is_stopped_all_the_same(home: Path) -> None:
    pid = begun()
    (home / ".local/state/tenterhook/daemon.sock").unlink()
    assert tenterhook("daemon", "stop").stdout == "the daemon has stopped\n"
    assert not alive(pid)


def test_hooks_that_run_end_with_it(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "slow", 'echo $$ > "$TENTERHOOK_WORK_DIR/pid"; exec sleep 60')
    install("claude-code")
    begun()
    with subprocess.Popen(["sh", "-c", line("claude-code", "PreToolUse")], stdin=subprocess.PIPE) as agent:
        assert agent.stdin is not None
        agent.stdin.write(json.dumps(payload("claude-code", project)).encode())
        agent.stdin.close()
        until(lambda: (project / "pid").exists() and (project / "pid").read_text())
        hook = int((project / "pid").read_text())
        SERVICE.disable()
        SERVICE.stop()
        until(lambda: not alive(hook))
        until(lambda: (project / "pid").read_text() not in ("", f"{hook}\n"))  # the bridge has answered itself
        with suppress(ProcessLookupError):
            os.kill(int((project / "pid").read_text()), signal.SIGKILL)


def test_after_an_upgrade_a_new_one_replaces_it(home: Path, tmp_path: Path) -> None:
    package = tmp_path / "lib" / "tenterhook"
    shutil.copytree(places.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    variables = {**os.environ, "PYTHONPATH": str(package.parent)}

    def run(code: str) -> str:
        code = f"from tenterhook.dispatch import daemon, start; {code}"
        done = subprocess.run([sys.executable, "-P", "-c", code], env=variables, capture_output=True, text=True)
        assert not done.stderr, done.stderr
        return done.stdout.strip()

    assert Path(run("print(start.__file__)")).is_relative_to(package)
    run("daemon.SERVICE.enable({}); daemon.ensure_running()")
    first = until(SERVICE.process_id)
    run("daemon.ensure_running()")
    assert SERVICE.process_id() == first
    os.utime(package / "dispatch" / "start.py", (1, 1))
    run("daemon.ensure_running()")
    until(lambda: SERVICE.process_id() not in (None, first))


def test_in_the_foreground_it_is_there_once_and_no_upgrade_replaces_it(home: Path) -> None:
    line = [sys.executable, "-m", "tenterhook", "daemon", "run", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert json.loads(running.stdout.readline())["pid"] == running.pid == SERVICE.process_id()
        assert not SERVICE.is_outdated()
        again = tenterhook("daemon", "start", "--foreground")
        assert (again.returncode, "is already running" in again.stderr) == (1, True)
        assert "started by hand" in tenterhook("daemon", "start").stderr
        assert "started by hand" in tenterhook("daemon", "status").stdout
        running.terminate()
        assert running.wait(HANG) == 0
    assert not (home / ".local/state/tenterhook/daemon.sock").exists()


# ---- what version 0.1 left: one process, the hub, which answered events too or did nothing else

BEFORE = """
import fcntl, os, signal, socket, sys, time
os.chdir(sys.argv[1])
lock = open("hub.lock", "w"); fcntl.flock(lock, fcntl.LOCK_EX)
lock.write(f"{os.getpid()} 1 2 3"); lock.flush()
listener = socket.socket(socket.AF_UNIX); listener.bind("hub.sock"); listener.listen()
print("on", flush=True)
signal.pause()
"""


@pytest.fixture
def before(home: Path) -> Iterator[subprocess.Popen[str]]:
    """A hub of version 0.1, as others see it."""
    places.make_private(places.state())
    with subprocess.Popen([sys.executable, "-c", BEFORE, places.state()], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "on\n"
        yield running
        running.kill()


def wanted(listen: str | None) -> None:
    """What version 0.1 wrote down for `hub start` and `install --hub`."""
    options = {"listen": listen, "database": None, "public_url": None, "keep_days": 90, "insecure": False}
    SERVICE.enable({})
    started_with = SERVICE.config()
    assert started_with is not None
    SERVICE.disable()
    HUB.write({**started_with, **options, "schema": 1})


def test_a_hub_without_pages_becomes_the_daemon_in_the_next_session(
    home: Path, project: Path, before: subprocess.Popen[str]
) -> None:
    written = guarded(home)
    wanted(None)
    assert daemon.is_enabled()
    assert "by " in call(written, payload("claude-code", project)).stdout
    pid = until(SERVICE.process_id)
    assert before.wait(HANG) == -signal.SIGTERM
    assert HUB.config() is None
    until(lambda: f"by {pid}." in call(written, payload("claude-code", project)).stdout)


@pytest.mark.slow
def test_a_hub_with_pages_becomes_the_daemon_and_a_hub(home: Path, before: subprocess.Popen[str]) -> None:
    wanted("127.0.0.1:0")
    daemon.ensure_running()
    until(SERVICE.process_id)
    until(HUB.process_id)
    assert before.wait(HANG) == -signal.SIGTERM
    assert (HUB.config() or {})["schema"] == 2
    assert "in the background" in tenterhook("hub", "status").stdout


def test_stop_ends_what_an_earlier_version_has_started(home: Path, before: subprocess.Popen[str]) -> None:
    wanted(None)
    assert tenterhook("daemon", "stop").stdout == "the daemon has stopped\n"
    assert before.wait(HANG) == -signal.SIGTERM
    assert not daemon.is_enabled()
