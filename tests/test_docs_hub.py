"""docs/approvals.md and docs/hub.md say what is so: sessions are played, settings loaded, tables compared."""

from __future__ import annotations

import contextlib
import getpass
import http.server
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hub import hubs
from support import console_steps, free_port, until, write_config

if TYPE_CHECKING:
    from collections.abc import Iterator

    import click

ROOT = Path(__file__).parent.parent
APPROVALS = (ROOT / "docs" / "approvals.md").read_text()
HUB = (ROOT / "docs" / "hub.md").read_text()
PORT = "7717"  # on the pages
SLOW = ("tenterhook inbox list", "cat said", "grep ", "curl -s ")  # what others must have done before


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def section(page: str, title: str) -> str:
    return re.split(r"^##+ ", page.partition(f"# {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def rows(page: str, title: str) -> list[list[str]]:
    """The cells of every table of a section, without headings."""
    found = re.findall(r"^\|(?!---)(.*)\|$", section(page, title), re.MULTILINE)
    return [[cell.strip() for cell in row.split(" | ")] for row in found]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


class Reader:
    """A reader who types what a page says, in a project."""

    def __init__(self, home: Path, project: Path, **instead: str) -> None:
        self._home = home
        self._project = project
        self._instead = instead
        self._groups: list[int] = []

    def _here(self, text: str) -> str:
        """What the page says, as it is here."""
        for page, here in self._instead.items():
            text = text.replace(page, here)
        return text

    def settled(self, text: str) -> list[str]:
        """Output without what differs from run to run and from reader to reader."""
        for page, here in self._instead.items():
            text = text.replace(here, page)
        text = text.replace(str(self._home), "~").replace("http://127.0.0.1/…", "https://ntfy.example.org/…")
        text = re.sub(rf"\b{re.escape(getpass.getuser())}\b", "me", text)
        text = re.sub(r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])", "ID", text)
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "DATE", text)
        text = re.sub(r"enter#[\w-]+", "enter#LINK", text)
        return sorted(re.sub(r" +", " ", line).strip() for line in text.splitlines())

    def type(self, command: str, expected: str) -> None:
        """Run it, and hold it to what the page shows; again, if others may not be ready."""
        end = time.monotonic() + 30
        while True:
            said = self._run(self._here(command))
            if self.settled(said) == self.settled(expected):
                return
            is_late = time.monotonic() > end or not command.startswith(SLOW)
            assert not is_late, f"{command}\n{said}\n{self.settled(said)}\n{self.settled(expected)}"
            time.sleep(0.1)

    def _run(self, command: str) -> str:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        with tempfile.TemporaryFile("w+") as said:  # not a pipe: what goes on in the background would hold it
            started = subprocess.Popen(
                ["bash", "-c", command],
                cwd=self._project,
                env={**os.environ, "PATH": path},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
            self._groups.append(started.pid)
            started.wait(60)
            said.seek(0)
            return said.read()

    def leave(self) -> None:
        """End what was left in the background; nothing is delivered to a hub that was left."""
        (self._home / ".config/tenterhook/hub.json").unlink(missing_ok=True)
        for group in self._groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)


# ------------------------------------------------------------------ docs/approvals.md


def test_the_rules_of_the_page_decide_as_it_says(home: Path, project: Path) -> None:
    write_config(home / ".config" / "tenterhook" / "config.toml", "\n".join(blocks(APPROVALS, "toml")))
    reader = Reader(home, project)
    (session,) = blocks(APPROVALS, "shellsession")
    for command, expected in console_steps(session):
        reader.type(command, expected)


def test_the_page_has_every_key_of_a_rule(home: Path) -> None:
    from tenterhook.approvals import rules

    keys = set(rules.Rule._fields) - {"source"}
    assert {*quoted(" ".join(row[0] for row in rows(APPROVALS, "Rules")))} == keys
    write_config(home / ".config" / "tenterhook" / "config.toml", blocks(APPROVALS, "toml")[0])
    written = {key for rule in rules.person() for key, value in rule._asdict().items() if value is not None}
    assert written - {"source"} == keys
    assert {rule.answer for rule in rules.person()} == set(rules.ANSWERS)


def test_the_page_has_the_keys_of_the_screen() -> None:
    from textual.binding import Binding

    from tenterhook.hub_client.inbox_screen import InboxApp

    shown = {key for row in rows(APPROVALS, "In a terminal") for key in quoted(row[0])}
    known = {binding.key for binding in InboxApp.BINDINGS if isinstance(binding, Binding)}
    assert shown - {"Tab", "?"} == known - {"question_mark"}


def test_no_example_shows_a_token_to_other_accounts() -> None:
    """Neither in a file that they can read, nor among the arguments of a process."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    lines = [line for page in pages for block in blocks(page.read_text(), r"\w+") for line in block.splitlines()]
    assert sum("token add" in line and ">" in line.lstrip("> ") for line in lines) >= 3
    for line in lines:
        assert not re.search(r"Authorization: Bearer (?!%s)", line), line
        assert "token add" not in line or ">" not in line.lstrip("> ") or "umask 077; " in line, line


def test_the_page_says_which_agents_wait_and_where() -> None:
    from tenterhook.agents import AGENTS

    told = {row[0]: row[1:] for row in rows(APPROVALS, "Which agents wait")[1:]}
    for agent in AGENTS.values():
        capabilities = agent.capabilities
        where, forced, otherwise = told.pop(agent.title)
        assert where == ("rules, then the hub" if capabilities.answers_permission else "its own question")
        is_asked_later = capabilities.asks and capabilities.answers_permission
        assert forced == ("it asks its user and the hub" if is_asked_later else "the hub")
        assert otherwise == ("it asks its user; refused if no one is there" if capabilities.asks else "refused")
    assert not told


def test_the_hash_is_made_as_the_page_says() -> None:
    import hashlib

    from tenterhook.approvals.requests import content_hash

    given = {"command": "ä\n", "a": [1, None]}
    text = json.dumps(["Shell", given, "/w"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    told = "`[tool_name, tool_input, work_dir]` (sorted keys, no whitespace, non-ASCII characters escaped)"
    assert told in " ".join(APPROVALS.split())
    assert content_hash("Shell", given, "/w") == hashlib.sha256(text.encode()).hexdigest()


# ------------------------------------------------------------------ docs/hub.md


def test_no_page_writes_a_token_into_a_file_that_other_accounts_can_read() -> None:
    pages = [*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*")]
    sources = [*(ROOT / "src").rglob("*.py")]
    lines = [line for page in (*pages, *sources) if page.is_file() for line in page.read_text("latin-1").splitlines()]
    into_files = [line for line in lines if re.search(r"token add\b[^|]*[^-]>|token add\b.*\btee\b", line)]
    assert len(into_files) >= 2
    assert [line for line in into_files if "(umask 077; " not in line] == []


@pytest.mark.skipif(not all(map(shutil.which, ("curl", "jq", "sqlite3"))), reason="needs curl, jq and sqlite3")
def test_the_examples_print_what_the_page_shows(home: Path, project: Path) -> None:
    port, me = free_port(), getpass.getuser()
    others = HUB.replace(section(HUB, "In the background"), "")
    steps = console_steps("".join(blocks(others, "shellsession")))
    assert steps[0][0] == "tenterhook hub start"
    assert len(steps) > 15
    with receiver() as (ntfy, _):
        instead = {PORT: port, "--person me": f"--person {me}", "https://ntfy.example.org/": ntfy}
        instead |= {"hub start": f"hub start --listen 127.0.0.1:{port}", "laptop": socket.gethostname()}
        reader = Reader(home, project, **instead)
        try:
            for command, expected in steps:
                reader.type(command, expected)
                written = project.glob("*token*")  # an account beside ours must not read one
                assert not [each for each in written if each.stat().st_mode & 0o077], command
                if command.endswith("> stream &"):
                    until(lambda: (project / "stream").exists() and (project / "stream").read_text())  # it listens
        finally:
            reader.leave()
            subprocess.run([sys.executable, "-m", "tenterhook", "hub", "stop"], check=True, capture_output=True)


def test_a_hub_in_the_background_does_what_the_page_shows(home: Path, project: Path) -> None:
    reader = Reader(home, project, **{PORT: free_port(), "laptop": socket.gethostname()})
    (session,) = blocks(section(HUB, "In the background"), "shellsession")
    try:
        for command, expected in console_steps(session):
            reader.type(command, expected)
    finally:
        reader.leave()
        subprocess.run([sys.executable, "-m", "tenterhook", "hub", "stop"], check=True, capture_output=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    """Whom a webhook calls."""

    got: list[bytes]

    def do_POST(self) -> None:
        self.got.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def receiver() -> Iterator[tuple[str, list[bytes]]]:
    got: list[bytes] = []
    handler = type("Here", (Receiver,), {"got": got})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/", got
        finally:
            server.shutdown()
            thread.join()


def test_a_webhook_is_sent_what_the_page_shows(tmp_path: Path) -> None:
    (shown,) = blocks(HUB, "json")
    with hubs.running(tmp_path / "hub", "--public-url", "https://hub.example.org") as hub, receiver() as (url, got):
        assert hub.admin is not None
        assert hub.admin.post("/webhooks", json={"kind": "json", "url": url}).status_code == 201
        asked = hubs.request("ls", agent="claude-code")
        laptop = hub.client(hub.command("token", "add", "laptop").stdout.strip())
        assert laptop.post("/requests", json=asked).status_code == 201
        until(lambda: got)
    sent = json.loads(got[0])
    page = json.loads(shown.replace("permission_4f2a9c0b71d3", asked["id"]))
    assert {**sent, "expires": 0} == {**page, "expires": 0}


def test_the_page_has_every_kind_of_webhook() -> None:
    from tenterhook.hub import webhooks

    kinds = [quoted(row[0])[0] for row in rows(HUB, "Notifications on a phone") if quoted(row[0])]
    assert kinds == list(webhooks.KINDS)
    assert webhooks._MAX_ATTEMPTS == 4
    assert "retried up to three times" in " ".join(HUB.split())


def test_every_table_is_on_the_page() -> None:
    from tenterhook.hub import migrations

    made = set(re.findall(r"create table (\w+)", " ".join(sum(migrations._STEPS, ()))))
    named = {name for row in rows(HUB, "What is stored") for name in quoted(row[0])}
    assert named == made | {"hub"}


def test_the_limits_are_those_of_the_page() -> None:
    from tenterhook.approvals.requests import LASTS
    from tenterhook.hub import accounts, change_feed, inbox, middleware

    told = dict(rows(HUB, "Limits"))
    assert told["a request's body"] == f"{middleware.LARGEST_BODY >> 20} MB"
    assert told["a batch of records"] == f"{middleware.LARGEST_RECORDS >> 20} MB"
    assert told["a question stays open"].startswith(f"{LASTS / 3600:.0f} hour")
    assert f"{inbox.LEASE:.0f} seconds" in told["an agent that is silent"]
    assert f"after {accounts._FREE_TRIES}, " in told["sign-ins that fail"]
    assert f"up to {accounts._LONGEST_PAUSE / 60:.0f} minutes" in told["sign-ins that fail"]
    assert told["a sign-in"] == f"{accounts.SIGN_IN_LASTS / 86400:.0f} days"
    assert told["a one-time link"] == f"{accounts.LINK_LASTS / 60:.0f} minutes"
    kept = {name: row[2] for row in rows(HUB, "What is stored") if len(row) > 2 for name in quoted(row[0])}
    assert (kept["changes"], change_feed._KEPT) == ("an hour", 3600)
    assert (kept["attempts"], accounts._ATTEMPTS_KEPT) == ("a day", 86400)


def test_every_address_of_the_interface_is_on_the_page(tmp_path: Path) -> None:
    with hubs.running(tmp_path / "hub") as hub:
        described = hub.client().get("/openapi.json").json()["paths"]
    known = {
        f"{method.upper()} {path.removeprefix('/api/v1')}": ", ".join(about["tags"])
        for path, ways in described.items()
        for method, about in ways.items()
    }
    told = {way: row[1] for row in rows(HUB, "The HTTP interface") for way in quoted(row[0])}
    assert told == known


def test_every_picture_is_on_the_page() -> None:
    made = {file.name for file in (ROOT / "docs" / "pictures").glob("hub-*.png")}
    assert made == set(re.findall(r"\(pictures/([\w-]+\.png)\)", HUB))


def ours(page: str) -> list[list[str]]:
    """The arguments of our commands in a page's sh examples."""
    lines = [line for text in blocks(page, "sh") for line in text.splitlines()]
    return [words[1:] for line in lines if (words := shlex.split(line, comments=True)) and words[0] == "tenterhook"]


@pytest.mark.parametrize("arguments", [*ours(APPROVALS), *ours(HUB)], ids=" ".join)
def test_the_commands_of_the_pages_have_options_that_exist(arguments: list[str]) -> None:
    from tenterhook.cli import tenterhook

    command: click.Command = tenterhook
    context = tenterhook.make_context("tenterhook", arguments)
    while rest := [*context._protected_args, *context.args]:
        name, found, left = command.resolve_command(context, rest)  # type: ignore[attr-defined]
        command, context = found, found.make_context(name, left, parent=context)
        if not hasattr(command, "resolve_command"):
            break


def test_several_hubs_share_one_postgresql(tmp_path: Path) -> None:
    server = hubs.PostgreSQL()
    try:
        lines = [each[1:] for each in ours(HUB) if "--database" in each]
        assert len(lines) == 2
        url = server.new_database()
        options = [[url if word.startswith("postgresql:") else word for word in line] for line in lines]
        with contextlib.ExitStack() as running:
            both = []
            for number, line in enumerate(options):
                given = [word for word in line if word not in ("--listen", "127.0.0.1:7718")]
                both.append(running.enter_context(hubs.running(tmp_path / str(number), *given)))
            asked = hubs.opened(both[0].agent(), "make it")
            assert both[1].admin is not None
            assert hubs.answered(both[1].admin, asked).status_code == 200
            assert both[0].client().get("/health").json()["database"] == "postgresql"
    finally:
        server.remove()


def test_the_address_that_a_proxy_tells_is_believed(tmp_path: Path) -> None:
    with hubs.running(tmp_path / "hub") as hub:
        elsewhere = hub.client(**{"x-forwarded-for": "203.0.113.9"})
        refused = elsewhere.post("/sign-in", json={"name": "x", "password": "y"})
        assert refused.json()["error"]["code"] == "no-tls"
    with hubs.running(tmp_path / "hub", "--public-url", "https://hub.example.org") as hub:
        behind = hub.client(**{"x-forwarded-for": "203.0.113.9", "host": "hub.example.org"})
        hub.command("person", "add", "alice", "--password-stdin", input="correct horse battery staple\n")
        given = {"name": "alice", "password": "correct horse battery staple"}
        assert behind.post("/sign-in", json=given).json()["error"]["code"] == "no-tls"  # plain HTTP to the proxy
        signed_in = behind.post("/sign-in", json=given, headers={"x-forwarded-proto": "https"})
        assert signed_in.status_code == 200, signed_in.text
        assert "Secure" in signed_in.headers["set-cookie"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_the_unit_is_one(tmp_path: Path) -> None:
    (unit,) = blocks(HUB, "ini")
    file = tmp_path / "tenterhook-hub.service"
    file.write_text(unit.replace("/opt/tenterhook/bin/tenterhook", "/bin/true"))
    checked = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True)
    assert "tenterhook-hub" not in checked.stderr, checked.stderr


@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
def test_the_settings_for_nginx_are_read(tmp_path: Path) -> None:
    from hub_client import relays

    certificate, key = relays.certificate(tmp_path)
    (server,) = blocks(HUB, "nginx")
    server = re.sub(r"/etc/\S+fullchain.pem", str(certificate), server)
    server = re.sub(r"/etc/\S+privkey.pem", str(key), server)
    settings = tmp_path / "nginx.conf"
    settings.write_text(f"error_log stderr;\npid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{server}}}\n")
    checked = subprocess.run(["nginx", "-t", "-c", str(settings)], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
