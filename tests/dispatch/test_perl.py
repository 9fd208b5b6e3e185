"""The bridge in Perl: it is there for speed alone, and what it cannot do is done as ever."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from dispatch import bridges
from dispatch.bridges import GUARD, PERL, answered, ask, call, install, line, needs_perl, payload, serving, socket_of
from support import change_launcher, folder_hook, lose_tenterhook, until, user_hooks
from tenterhook import cli

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_perl


@pytest.fixture(autouse=True)
def guarded(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridges, "program", [PERL])
    folder_hook(user_hooks(home), "guard", GUARD)
    folder_hook(user_hooks(home), "who", """printf '{"additional_context": "by %s"}' "$PPID" """)
    install("claude-code")


def test_the_line_begins_no_python_where_a_daemon_is(home: Path, project: Path) -> None:
    lose_tenterhook(home, "/bin/false")
    written = line("claude-code", "PreToolUse")
    with serving() as server:  # on a busy machine it is not waited for
        until(lambda: f"by {server.pid}" in call(written, payload("claude-code", project)).stdout)
    assert call(written, payload("claude-code", project)).returncode == 1


def test_without_perl_the_line_does_as_ever(home: Path, project: Path, tmp_path: Path) -> None:
    change_launcher(home, ("/usr/bin/perl", str(tmp_path / "perl")))
    written = line("claude-code", "PreToolUse")
    with serving() as server:
        until(lambda: f"by {server.pid}" in call(written, payload("claude-code", project)).stdout)


@pytest.mark.parametrize(
    "variables",
    [
        {"PERL5OPT": "-Mevil"},
        {"PERL5OPT": "-d", "PERL5DB": "BEGIN { exit 0 }"},
        {"PERL5LIB": "{tmp}", "PERLLIB": "{tmp}"},
        {"PERL_UNICODE": ""},
        {"PERL_UNICODE": "SDA"},
        {"PERLIO": ":utf8"},
        {"PERLIO": ":crlf"},
        {"PERLIO": "nonsense"},
        {"PERLIO": ":pop"},
        {"PERLIO": "unix:pop"},
        {"LC_ALL": "xx_XX.UTF-8", "LANG": "yy"},
        {"PERL_SIGNALS": "unsafe", "PERL_HASH_SEED": "0"},
    ],
    ids=str,
)
def test_variables_of_a_repository_do_not_steer_it(variables: dict[str, str], project: Path, tmp_path: Path) -> None:
    for module in ("evil", "strict", "warnings", "sitecustomize"):
        (tmp_path / f"{module}.pm").write_text("exit 0; 1;\n")
    variables = {name: value.replace("{tmp}", str(tmp_path)) for name, value in variables.items()}
    written = line("claude-code", "PreToolUse")

    def said(command: str) -> tuple[int, str, str]:
        ended = call(written, payload("claude-code", project, command), env={**os.environ, **variables})
        return ended.returncode, ended.stdout, ended.stderr

    with serving() as server:
        status, refused, error = said("forbidden é")
        assert (status, "not this" in refused, error) == (0, True, "")

        def is_answered_by_daemon() -> bool:
            status, passed, error = said("ls é")
            assert (status, "by " in passed, error) == (0, True, "")
            return f"by {server.pid}" in passed

        until(is_answered_by_daemon)


def test_what_was_sent_reaches_python_whole_and_the_daemon_is_asked_once(home: Path, project: Path) -> None:
    with serving() as server:
        path = socket_of(home)
        server.send_signal(signal.SIGSTOP)
        for size in (10, 70_000, 3_000_000):
            big = "forbidden " + "é" * size
            assert b"not this" in ask("claude-code", payload("claude-code", project, big)).stdout
        before = answered(home)
        server.send_signal(signal.SIGCONT)
        assert b"not this" in ask("claude-code", payload("claude-code", project, "forbidden")).stdout
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as silent:
        os.chdir(path.parent)
        silent.bind(path.name)
        silent.listen(8)
        assert b"not this" in ask("claude-code", payload("claude-code", project, "forbidden")).stdout
        silent.setblocking(False)
        asked = 0
        while True:
            try:
                silent.accept()[0].close()
            except BlockingIOError:
                break
            asked += 1
    assert (before, asked) == (0, 1)


def test_doctor_sees_that_it_does_not_start(home: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with serving():
        cli.run(["doctor", "claude-code"])
        assert "the launcher answers" in capfd.readouterr().out
        broken = tmp_path / "bridge.pl"
        broken.write_text("print STDERR 'of old age'; exit 70")
        change_launcher(home, ('-f "${bridge%.py}.pl"', f"-f {broken}"))
        assert cli.run(["doctor", "claude-code"]) == 1
        assert "the launcher fails: of old ageTenterhook could not answer" in capfd.readouterr().out


def test_nobody_holds_the_agents_pipes_while_what_was_sent_is_not_read(
    home: Path, project: Path, tmp_path: Path
) -> None:
    daemon = socket.socket(socket.AF_UNIX)
    os.chdir(socket_of(home).parent)
    daemon.bind("daemon.sock")
    daemon.listen()

    def disconnect() -> None:
        daemon.accept()[0].close()

    Thread(target=disconnect).start()
    reader = tmp_path / "python"  # has gone on without reading, and left stdin open
    reader.write_text(f"#!/bin/sh\nexec 3<&0\nsleep 60 <&3 >/dev/null 2>&1 &\necho $! >{tmp_path}/pid\n")
    reader.chmod(0o755)
    change_launcher(home, (f"python={sys.executable}", f"python={reader}"))
    written = line("claude-code", "PreToolUse")
    try:
        ended = call(written, payload("claude-code", project, "x" * 1_000_000), timeout=45)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    finally:
        daemon.close()
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.mark.slow
def test_time_that_was_spent_with_a_daemon_is_not_spent_again(home: Path, project: Path, tmp_path: Path) -> None:
    folder_hook(user_hooks(home), "slow", "exec sleep 60", metadata={"on_failure": "block"})
    cli.run(["install", "claude-code"])
    record = home / ".local/state/tenterhook/installed/claude-code.json"
    known = json.loads(record.read_text())
    known["timeouts"]["PreToolUse"] = 9
    record.write_text(json.dumps(known))
    talks = f"""
import os, socket, time
os.chdir({str(socket_of(home).parent)!r})
listener = socket.socket(socket.AF_UNIX); listener.bind("daemon.sock"); listener.listen(); print("on", flush=True)
connection, _ = listener.accept(); connection.recv(100000)
for _ in range(10):
    connection.send(b"."); time.sleep(0.4)
"""
    with subprocess.Popen([sys.executable, "-c", talks], stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        daemon.stdout.readline()
        said = call(line("claude-code", "PreToolUse"), payload("claude-code", project), timeout=9)
    assert "is set to block when it fails" in said.stdout
