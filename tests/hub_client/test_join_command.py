"""`tenterhook hub join`, `leave` and `status`, as a person or a script uses them."""

from __future__ import annotations

import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

from hub_client import hubs
from hub_client.hubs import BadHub, RealHub, joined
from support import tenterhook
from tenterhook import cli
from tenterhook.basics import agent_marks, places, processes
from tenterhook.hub_client import membership
from tenterhook.journal import writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    BadHubs = Callable[[Callable[[socket.socket], None]], BadHub]


@pytest.fixture(autouse=True)
def _leave() -> Iterator[None]:
    """The uploader ends when there is no hub any more."""
    yield
    membership.delete()


def join(hub: RealHub, *arguments: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
    return tenterhook("hub", "join", hub.url, "--yes", *arguments, input=token or hub.agent_token())


def kept(home: Path) -> Path:
    return home / ".config/tenterhook/hub.json"


def test_joining_by_a_token_on_stdin(home: Path, hub: RealHub) -> None:
    token = hub.agent_token()
    ended = join(hub, token=token + "\n")
    assert ended.returncode == 0, ended.stderr
    joined_as = membership.load()
    assert joined_as is not None
    assert joined_as.name.startswith(f"{hubs.MACHINE} ")  # what the token is called
    assert f"joined as {joined_as.name};" in ended.stdout
    assert token not in ended.stdout + ended.stderr
    assert joined_as == membership.Membership(hub.url, token, joined_as.name)
    assert kept(home).stat().st_mode & 0o777 == 0o600


def test_a_machine_is_called_what_its_token_is_called_whatever_it_says(home: Path, hub: RealHub) -> None:
    ended = join(hub, "--name", "the-boss")
    assert ended.returncode == 0, ended.stderr
    assert "--name is ignored: its token calls this machine desk " in ended.stderr
    assert "joined as desk " in ended.stdout


def test_joining_by_a_token_in_a_file(tmp_path: Path, hub: RealHub) -> None:
    (tmp_path / "token").write_text(hub.agent_token() + "\n")
    ended = tenterhook("hub", "join", hub.url + "/", "--yes", "--token-file", tmp_path / "token")
    assert ended.returncode == 0, ended.stderr
    assert (membership.load() or pytest.fail()).url == hub.url


def test_at_a_terminal_the_token_is_asked_for_and_not_shown(home: Path, hub: RealHub) -> None:
    token = hub.agent_token()
    child: pexpect.spawn[str] = pexpect.spawn(
        sys.executable,
        ["-m", "tenterhook", "hub", "join", hub.url],
        encoding="utf-8",
        timeout=30,
        env=os.environ,
        use_poll=True,
    )
    child.expect("Token: ")
    child.sendline(token)
    child.expect("Join it")
    assert token not in str(child.before)
    assert not kept(home).exists()
    child.sendline("y")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert kept(home).exists()


def test_without_tls_no_token_is_sent_to_another_machine_unless_it_is_confirmed(home: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("th_agent_x")
    with socket.create_server(("127.0.0.2", 0)) as other:  # not one of the names of this machine
        other.settimeout(0.1)
        url = f"http://127.0.0.2:{other.getsockname()[1]}"
        words = ["-m", "tenterhook", "hub", "join", url, "--token-file", f"{tmp_path}/token"]
        child: pexpect.spawn[str] = pexpect.spawn(sys.executable, words, encoding="utf-8", timeout=30, use_poll=True)
        child.expect_exact("others on the network can read the requests")
        child.expect_exact("anyway? [y/N]")
        child.sendline("")
        child.expect(pexpect.EOF)
        child.close()
        with pytest.raises(TimeoutError):
            other.accept()
    assert child.exitstatus == 1
    assert not kept(home).exists()


def test_without_a_terminal_it_needs_to_be_told_that_one_is_sure(home: Path, hub: RealHub) -> None:
    ended = tenterhook("hub", "join", hub.url, input=hub.agent_token())
    assert ended.returncode == 1
    assert "--yes" in ended.stderr
    assert not kept(home).exists()


def test_below_an_agent_that_is_guarded_it_is_refused(home: Path, hub: RealHub) -> None:
    agent_marks.mark(processes.this())
    ended = join(hub)
    assert ended.returncode == 1
    assert "called from an agent that Tenterhook guards" in ended.stderr
    assert not kept(home).exists()


def test_below_an_agent_that_is_guarded_nobody_leaves_either(home: Path, hub: RealHub) -> None:
    """The hub's rules deny, too."""
    joined(hub)
    agent_marks.mark(processes.this())
    assert tenterhook("hub", "leave").returncode == 1
    assert kept(home).exists()


def test_a_token_that_the_hub_does_not_know_is_refused(home: Path, hub: RealHub) -> None:
    for token in ("th_agent_wrong", "", "two words", "é"):
        ended = join(hub, token=token or "\n")
        assert ended.returncode == 1
        assert "token" in ended.stderr
        assert not kept(home).exists()


def test_a_token_of_a_person_is_not_for_agents(home: Path, hub: RealHub) -> None:
    """It allows answering, and the agents of this machine could read it."""
    person = hub.api("POST", "/tokens", {"name": "x", "kind": "person", "person": hub.person})[1]["token"]
    ended = join(hub, token=person)
    assert ended.returncode == 1
    assert not kept(home).exists()


def test_a_hub_that_is_not_there_is_not_joined(home: Path, bad_hub: BadHubs) -> None:
    for bad in (bad_hub(hubs.says(b"nonsense\r\n")), bad_hub(hubs.silent)):
        ended = tenterhook("hub", "join", bad.url, "--yes", input="th_agent_x")
        assert ended.returncode == 1
        assert "that the hub is running" in ended.stderr
        assert not kept(home).exists()


def test_agents_that_are_guarded_are_wired_on_the_spot(home: Path, project: Path, hub: RealHub) -> None:
    assert cli.run(["install", "claude-code"]) == 0
    ended = join(hub)
    assert "wired in Claude Code: PreToolUse, " in ended.stdout
    settings = json.loads((home / ".claude/settings.json").read_text())
    assert {"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure"} <= set(settings["hooks"])
    assert "wired" not in join(hub).stdout


def test_status_tells_where_one_stands(home: Path, hub: RealHub, tmp_path: Path) -> None:
    told = json.loads(tenterhook("hub", "status", "--json").stdout)
    assert told == {"schema": 1, "running": None, "background": False, "joined": False}
    assert "this machine has not joined a hub" in tenterhook("hub", "status").stdout
    own = RealHub(tmp_path / "own")
    try:
        joined(own)
        writer.append(places.journal(), {"schema": 1, "type": "verdict", "time": 1.0})
        ended = tenterhook("hub", "status", "--json")
        told = json.loads(ended.stdout)
        assert (ended.returncode, told["reachable"], told["url"], told["name"]) == (0, True, own.url, hubs.MACHINE)
        assert told["undelivered"] == 2  # the segment's own first line, too
    finally:
        own.stop()
    ended = tenterhook("hub", "status")
    assert ended.returncode == 1
    assert "cannot be used" in ended.stdout


def test_status_shows_a_token_that_is_worth_nothing_any_more(hub: RealHub) -> None:
    member = joined(hub)
    tokens = hub.api("GET", "/tokens")[1]["tokens"]
    hub.api("DELETE", f"/tokens/{max(each['id'] for each in tokens)}")
    told = json.loads(tenterhook("hub", "status", "--json").stdout)
    assert (told["url"], told["reachable"]) == (member.url, False)
    assert "token" in told["why_not"]


def test_leaving(home: Path, hub: RealHub) -> None:
    join(hub)
    ended = tenterhook("hub", "leave")
    assert ended.returncode == 0
    left, token = ended.stdout.splitlines()
    assert left == f"left {hub.url}"
    assert token.startswith("its token is valid until an admin revokes it: tenterhook hub token list  (")
    assert not kept(home).exists()
    assert tenterhook("hub", "leave").stdout.strip() == "this machine has not joined a hub"


def test_leaving_a_hub_of_this_account_revokes_the_token_so_that_its_name_is_free(home: Path, hub: RealHub) -> None:
    hub.sign_in(home)
    for _ in range(2):
        assert tenterhook("hub", "join", hub.url, "--yes").returncode == 0
        member = membership.load()
        assert member is not None
        assert member.name == socket.gethostname()
        assert tenterhook("hub", "leave").stdout == f"left {hub.url}\n"
    names = [each["name"] for each in hub.api("GET", "/tokens")[1]["tokens"] if each["kind"] == "agent"]
    assert not [name for name in names if name.startswith(socket.gethostname())]


def test_leaving_works_with_a_broken_file_too(home: Path) -> None:
    kept(home).parent.mkdir(parents=True)
    kept(home).write_text("{")
    assert tenterhook("hub", "leave").returncode == 0
    assert not kept(home).exists()


# ------------------------------------------------------------------ https


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"rules": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server with a certificate that only those believe who were told to; its address, and the certificate."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    made += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"https://localhost:{server.server_port}", certificate
    server.shutdown()
    thread.join(10)
    server.server_close()


def test_a_certificate_that_nobody_vouches_for_is_refused(home: Path, secure: tuple[str, Path]) -> None:
    ended = tenterhook("hub", "join", secure[0], "--yes", input="th_agent_x")
    assert ended.returncode == 1
    assert "certificate" in ended.stderr
    assert not kept(home).exists()


def test_whom_to_believe_is_settled_when_joining(home: Path, secure: tuple[str, Path], monkeypatch: Any) -> None:
    """Later, variables that a repository may have set say nothing about it."""
    url, certificate = secure
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    assert tenterhook("hub", "join", url, "--yes", input="th_agent_x").returncode == 0
    monkeypatch.setenv("SSL_CERT_FILE", "/dev/null")
    assert json.loads(tenterhook("hub", "status", "--json").stdout)["reachable"]
