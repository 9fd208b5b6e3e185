"""The daemon answers events: the same answers, quicker; and without it, or if it is not ours, as ever."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dispatch import bridges
from dispatch.bridges import (
    BEFORE_TOOL,
    GUARD,
    HANG,
    PERL,
    PYTHON,
    SERVE,
    STOP,
    answered,
    ask,
    call,
    install,
    line,
    needs_perl,
    payload,
    serving,
    socket_of,
)
from support import few_first, folder_hook, until, user_hooks
from tenterhook.agents import AGENTS
from tenterhook.dispatch import start

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True, params=["python", pytest.param("perl", marks=needs_perl)])
def bridge(request: pytest.FixtureRequest) -> Iterator[str]:
    """Whichever of the two asks the daemon, all of this holds."""
    bridges.program[:] = [PERL if request.param == "perl" else PYTHON]
    yield request.param
    bridges.program[:] = [PYTHON]


def told(ended: subprocess.CompletedProcess[bytes]) -> tuple[int, bytes, bytes]:
    return ended.returncode, ended.stdout, ended.stderr


HOOKS = {
    "guard": GUARD,
    "context": 'grep -q context && echo \'{"additional_context": "mind this"}\' || true',
    "changes": 'grep -q to-be-changed && echo \'{"modified_input": {"command": "changed"}}\' || true',
    "asks": 'grep -q asked && echo \'{"decision": "ask", "reason": "are you sure"}\' || true',
    "fails": "grep -q broken && exit 3 || true",
    "dies": "grep -q dies && kill -9 $$ || true",
}


@pytest.mark.parametrize("host", few_first(AGENTS))
@pytest.mark.slow
def test_the_same_is_said_with_a_daemon_and_without(host: str, home: Path, project: Path) -> None:
    for name, script in HOOKS.items():
        folder_hook(user_hooks(home), name, script)
    folder_hook(user_hooks(home), "stop", "echo 'not yet' >&2; exit 2", "pre-agent-turn-stop")
    install(host)
    commands = ["ls", "forbidden", "context", "to-be-changed", "asked", "broken", "dies", "é\u202e"]
    events = [(payload(host, project, command), BEFORE_TOOL[host]) for command in commands]
    events.append(({**payload(host, project), "stop_hook_active": False}, STOP[host]))
    alone = [told(ask(host, *event)) for event in events]
    assert any(b"not this" in said[1] + said[2] for said in alone)
    with serving():
        assert [told(ask(host, *event)) for event in events] == alone
        for broken in (b"", b"[]", b"{", b"\xff", b'{"a": ' + b"[" * 100_000):
            assert _raw(host, broken, serving=True) == _raw(host, broken, serving=False)


def _raw(host: str, sent: bytes, *, serving: bool) -> tuple[int, bytes, bytes]:
    """What comes of any bytes; without the daemon, its socket is out of the way for a moment."""
    home = Path(os.environ["HOME"])
    path = socket_of(home)
    if not serving:
        path.rename(path.with_suffix(".away"))
    try:
        record = home / ".local" / "state" / "tenterhook" / "installed" / f"{host}.json"
        arguments = ["--host", host, "--event", BEFORE_TOOL[host], "--record", str(record)]
        run = [*bridges.program[0], *arguments]
        return told(subprocess.run(run, input=sent, capture_output=True, timeout=HANG))
    finally:
        if not serving:
            path.with_suffix(".away").rename(path)


def test_an_event_without_a_directory_is_in_that_of_the_agent_and_not_the_daemons(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "where", f"pwd >>{home}/where", "pre-session")
    install("goose")
    with serving(cwd="/"):
        ended = call(line("goose", "SessionStart"), {"event": "SessionStart", "session_id": "s-2"}, cwd=project)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert answered(home) == 1
    assert (home / "where").read_text() == f"{project}\n"


def test_hooks_see_the_agents_variables_directory_and_no_descriptor_of_ours(home: Path, project: Path) -> None:
    script = 'env | sort > "$TENTERHOOK_WORK_DIR/seen-$MARK"; pwd >> "$TENTERHOOK_WORK_DIR/seen-$MARK"; '
    script += 'ls /proc/self/fd | wc -l >> "$TENTERHOOK_WORK_DIR/seen-$MARK"'
    folder_hook(user_hooks(home), "looks", script)
    install("claude-code")
    ask("claude-code", payload("claude-code", project), MARK="alone", OWN="é\nx", BASH_ENV="/evil", LD_PRELOAD="")
    with serving(env={**os.environ, "DAEMONS_OWN": "1"}, cwd="/"):
        ask("claude-code", payload("claude-code", project), MARK="daemon", OWN="é\nx", BASH_ENV="/evil", LD_PRELOAD="")
    alone, daemon = ((project / f"seen-{mark}").read_text() for mark in ("alone", "daemon"))
    different = {"MARK", "TENTERHOOK_CHAIN", "TENTERHOOK_CHANGED_VARIABLES", "_"}  # the last but one is data
    assert _without(daemon, different) == _without(alone, different)
    assert "DAEMONS_OWN" not in daemon
    assert not any("/evil" in line for line in _without(daemon, different))


def _without(text: str, names: set[str]) -> list[str]:
    return [line for line in text.splitlines() if line.partition("=")[0] not in names]


def test_a_hook_that_calls_us_finds_its_circle_by_way_of_the_daemon(home: Path, project: Path) -> None:
    record = home / ".local" / "state" / "tenterhook" / "installed" / "claude-code.json"
    again = f"{' '.join(bridges.program[0])} --host claude-code --event PreToolUse --record {record}"
    folder_hook(user_hooks(home), "circle", f'echo x >> "$TENTERHOOK_WORK_DIR/times"; {again}')
    install("claude-code")
    with serving():
        ask("claude-code", payload("claude-code", project))
    assert len((project / "times").read_text().split()) < 8


def test_a_daemon_that_is_stuck_is_not_waited_for_and_no_hook_runs_twice(home: Path, project: Path) -> None:
    script = 'echo x >> "$TENTERHOOK_WORK_DIR/times"; echo "not this" >&2; exit 2'
    folder_hook(user_hooks(home), "guard", script)
    install("claude-code")
    with serving() as server:
        server.send_signal(signal.SIGSTOP)
        assert b"not this" in ask("claude-code", payload("claude-code", project)).stdout
        server.send_signal(signal.SIGCONT)  # it finds what it was sent, and that nobody waits for it
        assert b"not this" in ask("claude-code", payload("claude-code", project)).stdout
    assert (project / "times").read_text().split() == ["x", "x"]


def test_a_daemon_that_gets_stuck_or_is_killed_while_it_answers_is_left(home: Path, project: Path) -> None:
    script = 'echo $$ >> "$TENTERHOOK_WORK_DIR/began"; sleep 0.7; echo "not this" >&2; exit 2'
    folder_hook(user_hooks(home), "guard", script)
    install("claude-code")
    record = home / ".local" / "state" / "tenterhook" / "installed" / "claude-code.json"
    arguments = ["--host", "claude-code", "--event", "PreToolUse", "--record", str(record)]
    for number in (signal.SIGKILL, signal.SIGSTOP):
        (project / "began").unlink(missing_ok=True)
        with (
            serving() as server,
            subprocess.Popen(
                [*bridges.program[0], *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            ) as asking,
        ):
            assert asking.stdin is not None
            asking.stdin.write(json.dumps(payload("claude-code", project)).encode())
            asking.stdin.close()
            until((project / "began").exists)
            server.send_signal(number)
            assert asking.stdout is not None
            assert b"not this" in asking.stdout.read()


def test_a_daemon_of_another_version_or_another_home_does_not_answer(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder_hook(user_hooks(home), "who", 'echo "$PPID" >&2; exit 2')
    install("claude-code")

    def answered_by(server: subprocess.Popen[str]) -> bool:
        said = ask("claude-code", payload("claude-code", project)).stdout
        assert b'"deny"' in said
        return str(server.pid).encode() in said

    with serving() as server:
        assert answered_by(server)
    other = "from tenterhook.dispatch import start; start.__file__ = '/bin/sh'"
    with subprocess.Popen([sys.executable, "-c", other + SERVE], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()
        assert not answered_by(server)
        server.kill()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with serving(env={**os.environ, "HOME": str(elsewhere)}) as server:
        socket_of(home).unlink(missing_ok=True)
        socket_of(elsewhere).rename(socket_of(home))
        assert not answered_by(server)


@pytest.mark.promise("another account")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_what_another_account_listens_with_is_not_believed(home: Path, project: Path, tmp_path: Path) -> None:
    """An answer from a socket of another account is not believed."""
    folder_hook(user_hooks(home), "guard", GUARD)
    install("claude-code")
    lies = textwrap.dedent(
        """
        import os, socket, sys
        listener = socket.socket(socket.AF_UNIX)
        os.chdir(sys.argv[1])
        listener.bind("daemon.sock")
        os.setuid(65534)
        listener.listen()
        print("on", flush=True)
        while True:
            connection, _ = listener.accept()
            try:
                connection.sendall(b".0\\0\\0\\0end\\n")
            except OSError:
                pass
        """
    )
    command = [sys.executable, "-c", lies, str(socket_of(home).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as liar:
        try:
            assert liar.stdout is not None
            assert liar.stdout.readline() == "on\n"
            assert b"not this" in ask("claude-code", payload("claude-code", project, "forbidden")).stdout
        finally:
            liar.kill()


def test_nonsense_from_a_socket_is_no_answer(home: Path, project: Path) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    install("claude-code")
    for nonsense in (b"", b".", b"x\0y\0end\n", b"0\0", b"99999\0\0\0\0end\n", b"." * 100_000):
        path = socket_of(home)
        path.unlink(missing_ok=True)
        code = f"""
import os, socket
os.chdir({str(path.parent)!r})
listener = socket.socket(socket.AF_UNIX); listener.bind("daemon.sock"); listener.listen(); print("on", flush=True)
connection, _ = listener.accept(); connection.recv(100000); connection.sendall({nonsense!r}); connection.close()
"""
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as odd:
            assert odd.stdout is not None
            odd.stdout.readline()
            assert b"not this" in ask("claude-code", payload("claude-code", project, "forbidden")).stdout
            odd.kill()


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("bridge", ["python"], indirect=True)
def test_no_hook_runs_unless_the_bridge_says_that_it_waits(home: Path, project: Path, waits: bool) -> None:
    """One that waited too long for a busy daemon answers itself: the hook would run twice."""
    folder_hook(user_hooks(home), "guard", f"echo >>{project / 'ran'}; exit 2")
    install("claude-code")
    file = home / ".local/state/tenterhook/installed/claude-code.json"
    words = ["--host", "claude-code", "--event", "PreToolUse", "--record", str(file)]
    said = "\0".join([start.version(), *words, "", f"HOME={home}"]).encode()
    sent = json.dumps(payload("claude-code", project)).encode()
    with serving(), socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(HANG)
        place = os.open(socket_of(home).parent, os.O_RDONLY)
        connection.connect(f"/proc/self/fd/{place}/daemon.sock")
        os.close(place)
        connection.sendall(b"%d %d\n%b%b" % (len(said), len(sent), said, sent))
        assert connection.recv(1) == b"."
        if waits:
            connection.sendall(b"+")
        connection.shutdown(socket.SHUT_WR)
        heard = b""
        while piece := connection.recv(4096):
            heard += piece
    assert (b"Blocked by" in heard, (project / "ran").exists()) == (waits, waits)


@pytest.mark.promise("another account")
def test_others_cannot_reach_the_socket_and_strangers_are_not_served(home: Path, project: Path) -> None:
    """The daemon serves processes of your account alone."""
    folder_hook(user_hooks(home), "guard", GUARD)
    install("claude-code")
    with serving():
        path = socket_of(home)
        assert path.stat().st_mode & 0o777 == 0o600
        for sent in (b"", b"x", b"5 5\n", b"999999999999 1\n", b"-1 -1\nx", b"3 0\na\0b"):
            with socket.socket(socket.AF_UNIX) as connection:
                place = os.open(path.parent, os.O_RDONLY)
                connection.connect(f"/proc/self/fd/{place}/daemon.sock")
                os.close(place)
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(HANG)
                assert connection.recv(100).strip(b".") == b""
        assert b"not this" in ask("claude-code", payload("claude-code", project, "forbidden")).stdout


@pytest.mark.slow
@pytest.mark.parametrize("bridge", ["python"], indirect=True)  # what trickles in comes from neither of them
def test_a_request_that_trickles_in_is_given_up_and_does_not_keep_others_waiting(home: Path, project: Path) -> None:
    """Each byte used to give the next one another five seconds, and each such client took a thread for good."""
    folder_hook(user_hooks(home), "guard", GUARD)
    install("claude-code")
    with serving() as server, ExitStack() as stack:
        clients = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(64)]
        place = os.open(socket_of(home).parent, os.O_RDONLY)
        for client in clients:
            client.connect(f"/proc/self/fd/{place}/daemon.sock")
            client.sendall(b"1000 1000\n")
        os.close(place)
        until_then = time.monotonic() + 7
        while time.monotonic() < until_then:
            time.sleep(0.5)
            for client in clients:
                with suppress(OSError):
                    client.send(b"x")
        said = ask("claude-code", payload("claude-code", project, "forbidden")).stdout
        assert b"not this" in said
        until(lambda: len(os.listdir(f"/proc/{server.pid}/fd")) < 30)
        assert answered(home) == 1


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("events", "times"), [(200, 4), pytest.param(1000, 12, marks=pytest.mark.thorough)])
def test_killed_in_the_middle_of_many_events_every_answer_is_right(
    home: Path, project: Path, events: int, times: int
) -> None:
    folder_hook(user_hooks(home), "guard", GUARD)
    install("claude-code")
    commands = ["forbidden" if number % 2 else "ls" for number in range(events)]
    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(lambda said: ask("claude-code", payload("claude-code", project, said)).stdout, commands)
        for _ in range(times):
            with serving() as server:
                time.sleep(0.3)
                server.kill()
        said = list(answers)
    assert len(said) == events
    wrong = [number for number, each in enumerate(said) if (b"not this" in each) != (commands[number] == "forbidden")]
    assert not wrong


def test_every_host_is_tried() -> None:
    assert set(BEFORE_TOOL) == set(AGENTS)
