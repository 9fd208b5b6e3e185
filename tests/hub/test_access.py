"""Who may do what: no token, the wrong one, another site's page, another name, too large a body."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest

from hub import hubs
from hub.hubs import answered, opened, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hub.hubs import Hub

PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def alice(small_hub: Hub) -> httpx.Client:
    """A person with a password."""
    return small_hub.person("alice", password=PASSWORD)


@pytest.fixture
def browser(small_hub: Hub, alice: httpx.Client) -> Iterator[httpx.Client]:
    """Somebody signed in by a cookie, as a page of the hub's own."""
    with httpx.Client(base_url=f"{small_hub.url}/api/v1", headers={"origin": small_hub.url}) as client:
        signed_in = client.post("/sign-in", json={"name": "alice", "password": PASSWORD})
        assert signed_in.status_code == 200, signed_in.text
        client.headers["csrf"] = signed_in.json()["csrf"]
        yield client


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/inbox"),
        ("GET", "/requests/x"),
        ("POST", "/requests"),
        ("POST", "/requests/x/answer"),
        ("GET", "/requests/x/answer"),
        ("POST", "/records"),
        ("GET", "/rules"),
        ("POST", "/rules"),
        ("GET", "/people"),
        ("POST", "/people"),
        ("GET", "/tokens"),
        ("POST", "/tokens"),
        ("GET", "/webhooks"),
        ("GET", "/sessions"),
        ("GET", "/hooks"),
        ("GET", "/stream"),
        ("GET", "/me"),
    ],
)
def test_without_a_token_or_with_a_wrong_one_nothing_is_told(small_hub: Hub, method: str, path: str) -> None:
    body: dict[str, Any] = {"/requests": request(), "/requests/x/answer": {"approved": True, "hash": "0" * 64}}.get(
        path, {"name": "x", "answer": "deny", "machine": "x", "records": []}
    )
    for client in (small_hub.client(), small_hub.client("th_person_" + "x" * 43), small_hub.client("x")):
        refused = client.request(method, path, json=body if method == "POST" else None)
        assert refused.status_code == 401
        assert set(refused.json()["error"]) == {"code", "message", "remedy"}


def test_an_agents_token_can_ask_and_report_and_nothing_else(small_hub: Hub) -> None:
    agent = small_hub.agent()
    asked = opened(agent)
    assert answered(agent, asked).status_code == 403
    for path in ("/inbox", f"/requests/{asked['id']}", "/people", "/tokens", "/webhooks", "/sessions", "/hooks"):
        assert agent.get(path).status_code == 403, path
    assert agent.post("/rules", json={"answer": "approve"}).status_code == 403
    assert agent.post("/tokens", json={"name": "x"}).status_code == 403
    assert agent.get("/rules").status_code == 200


def test_a_persons_token_cannot_ask_for_an_agent(small_hub: Hub, alice: httpx.Client) -> None:
    assert alice.post("/requests", json=request()).status_code == 403
    assert alice.post("/records", json={"machine": "m", "records": []}).status_code == 403


def test_an_approver_answers_but_changes_no_rules_people_or_tokens(small_hub: Hub, alice: httpx.Client) -> None:
    assert answered(alice, opened(small_hub.agent())).status_code == 200
    assert alice.post("/rules", json={"answer": "approve"}).status_code == 403
    assert alice.get("/rules").status_code == 200
    for path in ("/people", "/tokens", "/webhooks"):
        assert alice.get(path).status_code == 403


def test_a_cookie_is_out_of_reach_of_scripts_and_other_sites(small_hub: Hub, alice: httpx.Client) -> None:
    signed_in = httpx.post(f"{small_hub.url}/api/v1/sign-in", json={"name": "alice", "password": PASSWORD})
    flags = {part.strip().lower() for part in signed_in.headers["set-cookie"].split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/"} <= flags
    assert "secure" not in flags


def test_behind_tls_a_cookie_is_secure(tmp_path: Path) -> None:
    with hubs.running(tmp_path / "hub", "--public-url", "https://hub.example.org") as hub:
        link = hub.first["enter"].partition("#")[2]
        entered = httpx.post(f"{hub.url}/api/v1/enter", json={"link": link})
        assert "secure" in entered.headers["set-cookie"].lower()
        assert httpx.get(f"{hub.url}/api/v1/health", headers={"host": "hub.example.org"}).status_code == 200


def test_a_page_of_the_hub_may_answer(small_hub: Hub, browser: httpx.Client) -> None:
    won = answered(browser, opened(small_hub.agent()))
    assert won.status_code == 200
    assert won.json()["request"]["answer"]["via"] == "page"
    assert won.json()["request"]["answer"]["by"] == "alice"


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"csrf": ""},
        {"csrf": "x" * 32},
        {"origin": "http://127.0.0.1:1"},
    ],
)
def test_a_page_of_another_origin_or_without_our_mark_may_not(
    small_hub: Hub, browser: httpx.Client, headers: dict[str, str]
) -> None:
    asked = opened(small_hub.agent())
    browser.headers.update(headers)
    assert answered(browser, asked).status_code == 403
    browser.headers["sec-fetch-site"] = "cross-site"
    assert answered(browser, asked).status_code == 403
    assert small_hub.admin is not None
    assert small_hub.admin.get(f"/requests/{asked['id']}").json()["state"] == "open"


def test_a_cookie_without_any_word_of_where_it_comes_from_changes_nothing(
    small_hub: Hub, browser: httpx.Client
) -> None:
    del browser.headers["origin"]
    asked = opened(small_hub.agent())
    assert answered(browser, asked).status_code == 403
    browser.headers["sec-fetch-site"] = "same-origin"
    assert answered(browser, asked).status_code == 200


@pytest.mark.parametrize("name", ["evil.example", "127.0.0.1.evil.example", "evil.example:7717", "", "[", "hub@evil"])
def test_another_name_for_the_hub_is_refused(small_hub: Hub, name: str) -> None:
    assert small_hub.admin is not None
    assert small_hub.admin.get("/inbox", headers={"host": name}).status_code in (400, 421)


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1:1234", "[::1]:7717", "LOCALHOST"])
def test_its_own_names_are_fine(small_hub: Hub, name: str) -> None:
    assert small_hub.admin is not None
    assert small_hub.admin.get("/inbox", headers={"host": name}).status_code == 200


@pytest.mark.parametrize("path", ["/requests", "/records", "/sign-in", "/nowhere"])
def test_a_body_of_20_mb_is_refused_before_it_is_read(small_hub: Hub, path: str) -> None:
    refused = small_hub.agent().post(path, content=b"x" * 20_000_000)
    assert refused.status_code == 413
    assert refused.json()["error"]["code"] == "too-large"


def test_a_body_that_does_not_say_how_large_it_is_is_refused_too(small_hub: Hub) -> None:
    pieces = (b"x" * 65536 for _ in range(400))
    assert small_hub.agent().post("/requests", content=pieces).status_code == 413
    assert small_hub.client().get("/health").status_code == 200


def test_records_may_be_larger_than_other_bodies(small_hub: Hub) -> None:
    record = {"hash": "large", "type": "verdict", "time": 1.0, "fields": {"text": "x" * 2_000_000}}
    given = {"machine": "m", "records": [{"segment": "1", "line": 1, "record": record}]}
    assert small_hub.agent().post("/records", json=given).json() == {"taken": 1, "known": 0}


def test_headers_that_do_not_end_are_refused(small_hub: Hub) -> None:
    place = urlsplit(small_hub.url)
    with socket.create_connection((place.hostname, place.port), timeout=30) as wire:
        wire.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
        assert b" 400 " in wire.recv(1000)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[" * 100_000,
        b'{"id": 1e999}',
        b'{"tool_input": {"x": NaN}}',
        b"\xff\xfe",
        json.dumps({**request(), "more": 1}).encode(),
        json.dumps({**request(), "tool_input": {"x": float("inf")}}).encode(),
        json.dumps({**request(), "id": "../x"}).encode(),
        json.dumps({**request(), "agent": "\ud800"}).encode(),
        b'{"tool_input": ' + b"9" * 10_000 + b"}",
        json.dumps({**request(), "tool_input": {"x": 10**400}}).encode(),
    ],
)
def test_what_cannot_be_read_is_said_to_be_so(small_hub: Hub, body: bytes) -> None:
    headers = {"content-type": "application/json"}
    refused = small_hub.agent().post("/requests", content=body, headers=headers)
    assert refused.status_code in (400, 422)
    assert refused.json()["error"]["message"]


def test_every_answer_carries_the_headers_that_keep_pages_safe(small_hub: Hub) -> None:
    for path in ("/health", "/inbox", "/nowhere"):
        headers = small_hub.client().get(path).headers
        assert "default-src 'self'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers


def test_without_tls_nobody_signs_in_from_another_machine(tmp_path: Path) -> None:
    other = {"x-forwarded-for": "192.0.2.7"}  # as a reverse proxy on this machine says it
    with hubs.running(tmp_path / "hub") as hub:
        hub.person("bob", password=PASSWORD)
        url = f"{hub.url}/api/v1/sign-in"
        refused = httpx.post(url, json={"name": "bob", "password": PASSWORD}, headers=other)
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "no-tls"
    with hubs.running(tmp_path / "hub", "--insecure") as hub:
        url = f"{hub.url}/api/v1/sign-in"
        assert httpx.post(url, json={"name": "bob", "password": PASSWORD}, headers=other).status_code == 200


def test_a_second_hub_on_the_same_file_is_refused(small_hub: Hub) -> None:
    line = [sys.executable, "-m", "tenterhook", "hub", "--listen", "127.0.0.1:0"]
    ended = subprocess.run(line, capture_output=True, text=True, env=small_hub.environment, timeout=60)
    assert ended.returncode == 1
    assert "another hub is running" in ended.stderr


def test_what_is_kept_is_for_this_account_alone_and_holds_no_secret(small_hub: Hub) -> None:
    token = small_hub.token("secretive")
    place = small_hub.home / ".local/state/tenterhook/hub"
    assert (place / "person.json").stat().st_mode & 0o777 == 0o600
    assert (place / "hub.db").stat().st_mode & 0o777 == 0o600
    for file in place.glob("hub.db*"):
        assert token.encode() not in file.read_bytes()
    assert token not in small_hub.said
